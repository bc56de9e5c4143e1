"""Events of a run that begins as a fork of another one: results and calls that it takes over."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner_executor.graph.record.codec import Inline, Needed, Shown
from planner_executor.graph.record.events.content import Arguments, Content, Result
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.former_owner import FormerOwner
from planner_executor.graph.record.trust_label import TrustLabel


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RunForked(Payload):
    """The run begins as a fork of the run `source`, from the steps `again` on, which are done anew.

    `tainted` are steps that a model planned after it had read untrusted results, `new_effects` what of them no approved
    plan had (see `PlanRevised`), `attached` are the pictures of the goal. `askers` asked for what was forked, and
    `values` are what people gave it, by name, as `GivenValue` has them as JSON (decision 136).
    """

    source: str
    again: Needed[tuple[str, ...]] = ()
    tainted: tuple[str, ...] = ()
    attached: Content | None = None
    new_effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    askers: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Inherited(Payload):
    """A step has the result that it has in another run, and its trust label; `seq` is the source's last event.

    `missing` describes what the result lacks.
    """

    source: str
    seq: int
    result: Result
    label: TrustLabel
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class CallInherited(Payload):
    """A call that may not be repeated was made, or may have been, in another run: event `seq` there, at `at`.

    `error` and `unmet` are there if it is uncertain: how it failed, and why its step failed although it succeeded.
    `left_by` is the process that left it without an outcome.
    """

    source: str
    key: str
    tool: str
    args: Inline[Arguments]
    happened: bool
    seq: int | None = None
    at: Shown[float | None] = None
    error: str | None = None
    unmet: str | None = None
    left_by: FormerOwner | None = None
