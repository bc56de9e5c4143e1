"""The event of a call that ended with questions to a person."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.payload import Json, Payload, given, integer, number


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question under a name of the asker's, and the JSON Schema of the form that answers it."""

    id: str
    text: str
    schema: Mapping[str, Any]

    @classmethod
    def from_json(cls, raw: Json) -> "AskedQuestion":
        """Read what `to_json` wrote."""
        return cls(raw["id"], raw["text"], raw["schema"])

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        return {"id": self.id, "text": self.text, "schema": dict(self.schema)}


@dataclass(frozen=True, kw_only=True, slots=True)
class CallAsked(Payload):
    """A call ended with questions; `state` is what takes it up, and `worked_s` the working time of the run."""

    kind: ClassVar[Literal["call_asked"]] = "call_asked"
    must_last: ClassVar[bool] = True

    key: str
    call: int
    item: int | None = None
    tool: str
    questions: tuple[AskedQuestion, ...]
    state: str | None = None
    revision: int
    worked_s: float | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        return {
            "key": self.key,
            "call": self.call,
            **given(item=self.item),
            "tool": self.tool,
            "questions": [question.to_json() for question in self.questions],
            **given(state=self.state),
            "revision": self.revision,
            **given(worked_s=self.worked_s),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            key=raw["key"],
            call=integer(raw, "call"),
            item=integer(raw, "item") if "item" in raw else None,
            tool=raw["tool"],
            questions=tuple(map(AskedQuestion.from_json, raw["questions"])),
            state=raw.get("state"),
            revision=integer(raw, "revision"),
            worked_s=number(raw.get("worked_s")),
            checkpoint=raw.get("checkpoint"),
        )
