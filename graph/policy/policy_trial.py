"""A policy tried on the past: what it would have said of the plans and calls of a recorded run, without any of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue, ValidationError

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.day_limits import rate_cap
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import UNIT, unit_in_words
from planner_executor.graph.record.caps import DayCap, RateCap
from planner_executor.graph.record.events import (
    WITHOUT_ANSWER,
    CallRefused,
    CallStarted,
    Decided,
    Event,
    PlanRefused,
    PlanRevised,
    StepHeld,
)
from planner_executor.graph.record.redaction import MARK
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.trust_label import argument_labels, joined, label_of_tool
from planner_executor.graph.words.name_list import listed

Answer = Literal["asked", "denied", "let through", "unknown"]
Args = Mapping[int, Mapping[str, JsonValue] | None]
"""Number of an event -> the whole arguments of its call, None if they are kept no more."""


@dataclass(frozen=True)
class Tried:
    """A plan, without a step, or a call: what happened, and what would have, with the reason, also if it is unknown."""

    what: str
    was: Answer
    would: Answer
    why: str = ""
    step: str | None = None

    @property
    def differs(self) -> bool:
        """Whether it would have gone otherwise, or may have."""
        return self.was != self.would


@dataclass
class PolicyTrial:
    """A run under the policy on record, `was`, and under another one, `would`, with the tools that the run had."""

    record: RunState
    was: ExecutionTerms
    would: ExecutionTerms
    args: Args
    plan: Plan | None = None
    waits: bool = False
    is_approved: bool = False
    held: dict[str, StepHeld] = field(default_factory=dict)
    with_plan: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)

    def of(self, events: Sequence[Event]) -> Iterator[Tried]:
        """Yield what is found of each plan that came into force or was refused, and of each call, once."""
        started = (event.data_if_known for event in events)
        made = {data.key for data in started if isinstance(data, CallStarted)}
        for event in events:
            data = event.data_if_known
            if isinstance(data, StepHeld):
                self.held[data.key] = data
                # One that was made afterwards is told by its start.
                if data.key not in made:
                    yield from self._of_call(event, data.key, data.tool, "asked")
            elif isinstance(data, CallStarted):
                was: Answer = "asked" if data.key in self.held or data.key in self.with_plan else "let through"
                yield from self._of_call(event, data.key, data.tool, was)
            elif isinstance(data, CallRefused) and (refused := self._refused(event.seq, data.tool)) is not None:
                yield from self._of_call(event, f"refused {event.seq}", data.tool, refused)
            else:
                yield from self._of_plans(event)
        yield from self._of_limits()
        yield from self._of_caps()

    def _of_limits(self) -> Iterator[Tried]:
        """Yield the limits of a run beyond which this one went."""
        limits = self.would.policy.limits
        used = self.record.spending.usage_under(limits)
        for name in limits.names:
            # Under this limit the run would have stopped on its way to what it used.
            if used.of(name) > (most := limits.of(name) or 0):
                yield Tried("the run", "let through", "denied", f"it went beyond {unit_in_words(name, most)} in a run")

    def _of_caps(self) -> Iterator[Tried]:
        """Yield the caps that are new to what the run did: they count over all runs, and one tells nothing."""
        before, used = {*map(str, _caps(self.was.policy))}, self.record.spending.usage
        for cap in _caps(self.would.policy):
            name = cap.name if cap.name in UNIT or cap.name.startswith("calls.") else f"calls.{cap.name}"
            counts = used.of(name) or (isinstance(cap, RateCap) and cap.name not in self.would.tools)
            if counts and str(cap) not in before:
                yield Tried("the run", "let through", "unknown", f"{cap}, which is counted over all runs")

    def _refused(self, seq: int, tool: str) -> Answer | None:
        """Return what the policy on record had to do with a refusal, None if it was refused for something else.

        Its words are not read: they hold what a model wrote.
        """
        args, spec = self.args.get(seq), self.was.tools.get(tool)
        if args is None or spec is None or MARK in str(args):
            return "unknown"
        return "denied" if self.was.policy.faults(spec, args) else None

    def _of_plans(self, event: Event) -> Iterator[Tried]:
        """Follow the plans, and yield what is found of one when it is approved or refused."""
        data = event.data_if_known
        if isinstance(data, PlanRevised):
            self.waits = True
            try:
                self.plan = Plan.model_validate(data.plan)
            # A redaction may have left no plan; what rests on one is then unknown.
            except ValidationError:
                self.plan = None
        # Of a refusal by an earlier release it is not known whether the policy denied it.
        elif isinstance(data, PlanRefused) and data.denied is not False:
            yield Tried(
                "the plan", "denied" if data.denied else "unknown", "unknown", "a refused plan is not on record"
            )
        elif isinstance(data, Decided):
            self.with_plan |= {one.key for one in data.with_plan or ()}
            # Further approvals are of single calls; a plan counts once for each revision.
            if self.waits and data.decision == "approve":
                self.waits = False
                yield (found := self._of_plan("let through" if data.by in WITHOUT_ANSWER else "asked"))
                # Who decides is compared only where both policies ask; elsewhere the first finding says more.
                if self.plan is not None and found.was == found.would == "asked":
                    yield from self._of_people(self.plan)
                self.is_approved = True

    def _of_people(self, plan: Plan) -> Iterator[Tried]:
        """Yield that others would have decided about a plan, if the rules on people are others."""
        before, now = (terms.rules_on(plan) for terms in (self.was, self.would))
        if before != now:
            who = listed([str(rule) for rule in now]) or "anybody"
            yield Tried("who decides about the plan", "asked", "unknown", f"by other rules, {who} has to approve")

    def _of_plan(self, was: Answer) -> Tried:
        if self.plan is None or MARK in str(self.plan.to_json()):
            return Tried("the plan", was, "unknown", "it was redacted")
        named = {name for step in self.plan.steps for name in step.tool_names}
        if missing := sorted(named - self.would.tools.keys()):
            return Tried("the plan", was, "unknown", f"what {missing[0]} was is not on record")
        if issues := self.would.policy.issues(self.plan, self.would.tools):
            return Tried("the plan", was, "denied", str(issues[0]))
        if self.would.needs_person(self.plan) and (was == "asked" or not self.is_approved):
            return Tried("the plan", was, "asked", "it is shown before it runs")
        # A revision that widened nothing asks nobody, and one that did is shown for what nobody approved.
        stays = was == "asked" and self.is_approved
        return Tried(
            "the plan", was, "asked" if stays else "let through", "it widened what was approved" if stays else ""
        )

    def _of_call(self, event: Event, key: str, tool: str, was: Answer) -> Iterator[Tried]:
        if key in self.done or not event.step:
            return
        self.done.add(key)
        args, spec = self.args.get(event.seq), self.would.tools.get(tool)
        if spec is None:
            found: tuple[Answer, str] = ("unknown", f"what {tool} was is not on record")
        elif args is None:
            found = ("unknown", "its arguments are kept no more")
        elif MARK in str(args):
            found = ("unknown", "its arguments were redacted")
        else:
            found = self._answer(event.step, key, spec, args)
        yield Tried(tool, was, *found, step=event.step)

    def _answer(self, step: str, key: str, tool: ToolSpec, args: Mapping[str, JsonValue]) -> tuple[Answer, str]:
        held = self.held.get(key)
        if faults := self.would.policy.faults(tool, args):
            return "denied", faults[0][1]
        if why := self.would.policy.asks(tool, args):
            return "asked", why
        if held is not None and (held.before or held.values):
            return "asked", "it happened before, or rests on what people gave"
        if self.would.mode == "never":
            return "let through", ""
        labels = dict(held.labels) if held is not None else self._labels(step)
        if labels is not None:
            unseen = self.would.policy.arguments_to_review(tool, labels)
            words = f"{', '.join(unseen)} came from untrusted data"
            return ("asked", words) if unseen else ("let through", "")
        # A model chose the arguments: each may come from any result that it may have seen.
        worst = dict.fromkeys(args, joined(map(label_of_tool, self._seen())))
        before, now = (terms.policy.arguments_to_review(tool, worst) for terms in (self.was, self.would))
        if not now or (before and self.was.mode != "never"):  # it was not held, so that nothing in it was untrusted
            return "let through", ""
        return "unknown", f"whether {', '.join(now)} came from untrusted data is not on record"

    def _labels(self, name: str) -> dict[str, Any] | None:
        """Return the labels of a step's arguments, None if a model gave them or the plan is not known."""
        step = self.plan.by_id.get(name) if self.plan is not None else None
        if step is None or kind_spec(step.kind).done_by != "tool":
            return None
        return argument_labels(step, self.record.steps.labels)

    def _seen(self) -> list[ToolSpec]:
        """Return the tools whose results the model of a step may have seen: all of the plan's."""
        named = {tool for step in self.plan.steps for tool in step.tool_names} if self.plan is not None else set()
        return [self.would.tools[tool] for tool in sorted(named) if tool in self.would.tools]


def _caps(policy: Policy) -> list[DayCap | RateCap]:
    return [*policy.per_day.all_caps(), *(rate_cap(name, rate) for name, rate in policy.rates.items())]
