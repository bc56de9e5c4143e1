"""Values in events: inline, or replaced by an artifact."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.record.codec import As, Inline, Json
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.values import Kept


@dataclass(frozen=True, slots=True)
class Content:
    """A value, or the artifact that replaces it: an object with `id`, and optionally `size` and `preview`.

    A value that can be derived from others has `of` instead of `id`.
    """

    value: Any = None
    artifact: Json | None = None

    @classmethod
    def of(cls, kept: Kept) -> "Content":
        """Return the content of a stored value."""
        return cls(**kept.fields())

    @classmethod
    def from_json(cls, raw: Json) -> "Content":
        """Read the output of `to_json`; other fields are ignored."""
        artifact = raw.get("artifact")
        return cls(raw.get("value"), artifact if isinstance(artifact, Mapping) else None)

    @property
    def shown(self) -> Any:
        """The value as the state shows it: inline, or `{"artifact": {...}}`."""
        return self.value if self.artifact is None else self.to_json()

    def to_json(self) -> dict[str, Any]:
        """Return `{"value": ...}` or `{"artifact": {...}}`."""
        return {"artifact": dict(self.artifact)} if self.artifact is not None else {"value": self.value}


NO_CONTENT = Content()


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a tool call; `digest_beside` is set if `shown` holds the artifact of larger arguments."""

    shown: Any = field(default_factory=dict)
    digest_beside: str | None = None

    @classmethod
    def of(cls, kept: Kept) -> "Arguments":
        """Return stored arguments."""
        if kept.artifact is None:
            return cls(kept.value)
        return cls({"artifact": kept.artifact.to_json()}, digest(kept.value))

    @classmethod
    def from_json(cls, raw: Json) -> "Arguments":
        """Read the arguments from the fields of an event."""
        return cls(raw["args"], raw.get("args_digest"))

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the arguments."""
        return {"args": self.shown, **({"args_digest": self.digest_beside} if self.digest_beside is not None else {})}

    @property
    def digest(self) -> str:
        """The digest of the arguments."""
        return digest(self.shown) if self.digest_beside is None else self.digest_beside

    @property
    def artifact(self) -> Json | None:
        """The artifact of the arguments; an argument named `artifact` does not count."""
        if self.digest_beside is None or not isinstance(self.shown, Mapping):
            return None
        artifact = self.shown.get("artifact")
        return artifact if isinstance(artifact, Mapping) else None

    @property
    def artifact_id(self) -> str | None:
        """The id of that artifact."""
        return str(self.artifact["id"]) if self.artifact is not None else None


def _result_json(result: StepResult) -> dict[str, Any]:
    raw = result.to_json()
    for name in ("started_at", "ended_at"):
        if raw[name] is None:
            del raw[name]
    return raw


def _result_from_json(raw: Json) -> StepResult:
    """Read a result without the times that a redaction replaced."""
    times = {name: raw[name] for name in ("started_at", "ended_at") if is_number(raw.get(name))}
    return StepResult(raw["status"], raw.get("value"), raw.get("artifact"), raw.get("error"), **times)


Result = Annotated[Inline[StepResult], As(_result_json, _result_from_json)]
"""The result of a call or a step, whose fields stand among those of the event that ends it."""
