"""The form that answers what a call asks: one for all of its questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.record.events import AskedQuestion

DECLINED = "decline"
"""The answer of a person who does not want to answer; the asker is told so."""


@dataclass(frozen=True)
class CallForm:
    """The questions of one call: their text, and the JSON Schema of the answer.

    The answer to a single question is its form, to several an object of forms by their ids.
    """

    questions: tuple[AskedQuestion, ...]

    @property
    def text(self) -> str:
        """All questions, one a line if there are several."""
        texts = [question.text for question in self.questions]
        return texts[0] if len(texts) == 1 else "\n".join(f"{one.id}: {one.text}" for one in self.questions)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the answer."""
        if len(self.questions) == 1:
            return self.questions[0].schema
        forms = {one.id: one.schema for one in self.questions}
        return {"type": "object", "properties": forms, "required": list(forms), "additionalProperties": False}

    def forms(self, answer: Any) -> Mapping[str, Any]:
        """Return the filled forms by the ids of their questions, None for all if the person declined."""
        if answer == DECLINED:
            return {one.id: None for one in self.questions}
        return {self.questions[0].id: answer} if len(self.questions) == 1 else answer


def form_of(questions: Sequence[AskedQuestion]) -> CallForm:
    """Return the form of a call's questions."""
    return CallForm(tuple(questions))


def fit_form(given: JsonValue, schema: Any) -> tuple[JsonValue, str | None]:
    """Return (answer, fault): a bare value fills the only field, or the only required one; `decline` answers any form.

    >>> form = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}
    >>> fit_form("M", form), fit_form("decline", form)
    (({'size': 'M'}, None), ('decline', None))
    """
    if given == DECLINED:
        return given, None
    fields = list(schema.get("required") or schema.get("properties", {}))
    form: Any = given if isinstance(given, dict) or len(fields) != 1 else {fields[0]: given}
    faults = schema_errors(schema, form)
    return form, faults[0] if faults else None
