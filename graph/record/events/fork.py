"""Events of a run that begins as a fork of another one: results and calls that it takes over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from planner_executor.graph.record.events.content import Arguments, Content, content_in, result_from_json, result_json
from planner_executor.graph.record.events.payload import Json, Payload, given, integer, number
from planner_executor.graph.record.former_owner import FormerOwner, former_owner_in
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True, kw_only=True, slots=True)
class RunForked(Payload):
    """The run begins as a fork of the run `source`, from the steps `again` on, which are done anew.

    `tainted` are steps that a model planned after it had read untrusted results, `new_effects` what of them no approved
    plan had (see `PlanRevised`), `attached` are the pictures of the goal. `askers` asked for what was forked, and
    `values` are what people gave it, by name, as `GivenValue` has them as JSON (decision 136).
    """

    kind: ClassVar[Literal["run_forked"]] = "run_forked"

    source: str
    again: tuple[str, ...] = ()
    tainted: tuple[str, ...] = ()
    new_effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attached: Content | None = None
    askers: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        attached = self.attached and self.attached.to_json()
        return {
            "source": self.source,
            "again": list(self.again),
            **given(tainted=list(self.tainted), attached=attached),
            **given(new_effects={step: list(tools) for step, tools in self.new_effects.items()} or None),
            **given(
                askers=list(self.askers), values={name: dict(value) for name, value in self.values.items()} or None
            ),
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            source=raw["source"],
            again=tuple(raw["again"]),
            tainted=tuple(raw.get("tainted", ())),
            new_effects={step: tuple(tools) for step, tools in raw.get("new_effects", {}).items()},
            attached=content_in(raw, "attached"),
            askers=tuple(raw.get("askers", ())),
            values=raw.get("values", {}),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Inherited(Payload):
    """A step has the result that it has in another run, and its trust label; `seq` is the source's last event.

    `missing` describes what the result lacks.
    """

    kind: ClassVar[Literal["inherited"]] = "inherited"

    source: str
    seq: int
    result: StepResult
    label: TrustLabel
    missing: tuple[str, ...] = ()

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        told = {**result_json(self.result), "label": self.label.to_json(), **given(missing=list(self.missing))}
        return {"source": self.source, "seq": self.seq, **told}

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            source=raw["source"],
            seq=integer(raw, "seq"),
            result=result_from_json(raw),
            label=TrustLabel.of(raw["label"]),
            missing=tuple(raw.get("missing", ())),
            checkpoint=raw.get("checkpoint"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CallInherited(Payload):
    """A call that may not be repeated was made, or may have been, in another run: event `seq` there, at `at`.

    `error` and `unmet` are there if it is uncertain: how it failed, and why its step failed although it succeeded.
    `left_by` is the process that left it without an outcome.
    """

    kind: ClassVar[Literal["call_inherited"]] = "call_inherited"

    source: str
    seq: int | None
    at: float | None
    key: str
    tool: str
    args: Arguments
    happened: bool
    error: str | None = None
    unmet: str | None = None
    left_by: FormerOwner | None = None

    def own_json(self) -> dict[str, Any]:
        """See `Payload`."""
        told = given(seq=self.seq, at=self.at, error=self.error, unmet=self.unmet)
        told |= given(left_by=self.left_by and self.left_by.to_json())
        return {
            "source": self.source,
            "key": self.key,
            "tool": self.tool,
            **self.args.to_json(),
            "happened": self.happened,
            **told,
        }

    @classmethod
    def from_json(cls, raw: Json) -> Self:
        """See `Payload`."""
        return cls(
            source=raw["source"],
            seq=integer(raw, "seq") if "seq" in raw else None,
            at=number(raw.get("at")),
            key=raw["key"],
            tool=raw["tool"],
            args=Arguments.from_json(raw),
            happened=raw["happened"],
            error=raw.get("error"),
            unmet=raw.get("unmet"),
            left_by=former_owner_in(raw),
            checkpoint=raw.get("checkpoint"),
        )
