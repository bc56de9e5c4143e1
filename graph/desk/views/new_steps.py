"""Steps that a person adds to a plan in the form, and the order in which the form has all steps."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.step_kind import KINDS, NAMING, StepKind


@dataclass(frozen=True)
class KindForm:
    """How the form adds steps of a kind: its words for the kind, and the fields that such a step is `without`."""

    words: str
    without: tuple[str, ...]


def kind_form(kind: StepKind) -> KindForm | None:
    """Return how the form adds steps of a kind, None if it does not."""
    match kind:
        case "tool":
            return KindForm("one tool, with arguments given here", ("question",))
        case "model":
            return KindForm("a model, with these tools", ("question",))
        case "ask":
            return KindForm("a question to a person", ("does", "args"))
        case "gate":
            return KindForm("a gate, which a person has to pass", ("does", "args", "success_criteria"))
        case "refine" | "gather":
            return None
        case _:
            assert_never(kind)


_PEOPLE_LAST = sorted(KINDS, key=lambda kind: kind_spec(kind).done_by == "person")
KIND_FORMS: Mapping[str, KindForm] = {kind: form for kind in _PEOPLE_LAST if (form := kind_form(kind)) is not None}
FIRST = next(iter(KIND_FORMS))
"""The kind of a new step until a person chooses another one."""
NAMED = KIND_FORMS.keys() & NAMING
"""The kinds whose own field the form fills in."""
NUMBERED = re.compile(r"([0-9]{1,4}):(.+)", re.DOTALL)


def new_steps(fields: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the forms of new steps by their number; one in which nothing was written is left out.

    >>> new_steps({"new:2:id": "send", "new:2:does": "mail", "new:3:id": "", "goal": "x"})
    {'2': {'id': 'send', 'does': 'mail'}}
    """
    found: dict[str, dict[str, str]] = {}
    for name, text in fields.items():
        if name.startswith("new:") and (match := NUMBERED.fullmatch(name.removeprefix("new:"))):
            found.setdefault(match[1], {})[match[2]] = text
    return {number: form for number, form in found.items() if any(text for key, text in form.items() if key != "kind")}


def empty_step(number: str, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the step that a form begins: its id and its kind; the fields are filled in as those of any step.

    Raises:
        InputError: It has no id.
    """
    if not (name := form.get("id", "")):
        raise InputError(f"new step {number}", "give it an id, such as send_report")
    kind = form.get("kind", FIRST)
    return {"id": name, **({kind: ""} if kind in NAMED else {})}


def in_order(steps: Sequence[tuple[str, Any]], order: str) -> list[Any]:
    """Return (key, step) pairs as the steps in an order of keys; what it does not name comes last.

    >>> in_order([("a", {"id": "a"}), ("b", {"id": "b"}), ("new:1", {"id": "c"})], "new:1,b,zzz")
    [{'id': 'c'}, {'id': 'b'}, {'id': 'a'}]
    """
    places = {key: place for place, key in enumerate(order.split(","))}
    # The text has more characters than keys, so that its length is behind all places.
    return [step for _, step in sorted(steps, key=lambda one: places.get(one[0], len(order)))]
