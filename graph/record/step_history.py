"""What the steps of a run took: samples by likeness, folded from its events and kept at its end."""

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import assert_never

from planner_executor.graph.record.events import (
    BudgetReached,
    CallAsked,
    CallFinished,
    CallInherited,
    CallPreviewed,
    CallRefused,
    CallStarted,
    CapReached,
    ConditionEvaluated,
    Configured,
    Decided,
    Event,
    EventData,
    Executing,
    Inherited,
    LateAnswer,
    ModelFinished,
    ModelStarted,
    OwnerReplaced,
    Paused,
    PlanRefused,
    PlanRevised,
    ResponseGiven,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunEnded,
    RunForked,
    RunReopened,
    RunStarted,
    StandingGiven,
    StandingRevoked,
    Steered,
    StepChecked,
    StepFinished,
    StepHeld,
    StepSkipped,
    StepUncertain,
    TakeOverAsked,
    ValueRedacted,
    Voted,
)
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.sample import KEPT, Sample, Samples, Tokens, latest, of_model, of_tool
from planner_executor.graph.record.summary import UNREADABLE

Taken = tuple[float, float, Mapping[str, Tokens]]
"""The fields of a sample."""
Place = tuple[str | None, int | None]
"""A step, and the index of its list item if it runs once per item."""
NOT_ASKED: tuple[Place, float] = (None, None), 0.0


@dataclass
class ModelWork:
    """What a model did for a step or an item of it: `seconds` of its calls, its tools' included, and their tokens."""

    model: str
    seconds: float = 0.0
    tokens: dict[str, Tokens] = field(default_factory=dict)
    has_failed: bool = False


class StepHistory:
    """Folds the events of one run, each once and in order."""

    def __init__(self) -> None:
        self._tools: dict[tuple[str | None, int | None, int], str] = {}
        self._granted: Mapping[str | None, Sequence[str]] = {}
        self._for_each: Container[str | None] = ()
        self._asked: dict[str, tuple[Place, float]] = {}
        self._work: defaultdict[str | None, dict[int | None, ModelWork]] = defaultdict(dict)
        self._taken: defaultdict[str, deque[Taken]] = defaultdict(lambda: deque(maxlen=KEPT))

    def apply(self, events: Iterable[Event]) -> Samples:
        """Fold more events; return the samples of the run up to its last end among them, nothing without one."""
        ended: defaultdict[str, list[Sample]] = defaultdict(list)
        for event in events:
            try:  # not `suppress`, which costs as much as the fold
                data = event.data
                if isinstance(data, RunEnded):
                    for likeness, taken in self._taken.items():
                        ended[likeness].extend(latest(starmap(Sample, taken)))
                    self._taken.clear()
                else:
                    self._fold(event, data)
            except UNREADABLE:
                continue
        return ended

    def _fold(self, event: Event, data: EventData) -> None:
        match data:
            case PlanRevised():
                self.plan_revised(data)
            case CallStarted():
                self.call_started(event, data)
            case CallFinished():
                self.call_finished(event, data)
            case ModelStarted():
                self.model_started(event, data)
            case ModelFinished():
                self.model_finished(event, data)
            case StepFinished():
                self.step_finished(event, data)
            case (
                RunStarted() | Configured() | TakeOverAsked() | OwnerReplaced() | PlanRefused() | ReviewRequested()
                | Decided() | Steered() | Executing() | CallAsked() | CallRefused() | StepHeld() | StepUncertain()
                | ConditionEvaluated()
                | StepChecked() | BudgetReached() | Paused() | ValueRedacted() | RunEnded() | RunReopened()
                | StepSkipped() | ResultSupplied() | RunForked() | Inherited() | CallInherited() | StandingGiven()
                | StandingRevoked() | Voted() | ResponseGiven() | CapReached() | ReviewReminded() | ReviewEscalated()
                | ReviewExpired() | LateAnswer() | CallPreviewed()
            ):  # fmt: skip
                pass
            case _:
                assert_never(data)

    def plan_revised(self, data: PlanRevised) -> None:
        """Note the tools of the steps that a model carries out, and which of them it does for each item of a list."""
        steps = [step for step in data.plan["steps"] if not step.get("tool")]
        self._granted = {step["id"]: step.get("tools", ()) for step in steps}
        self._for_each = {step["id"] for step in steps if "for_each" in step}

    def call_started(self, event: Event, data: CallStarted) -> None:
        """Note the tool of a call."""
        self._tools[event.step, data.item, data.call] = data.tool

    def call_finished(self, event: Event, data: CallFinished) -> None:
        """Add what a call took, if it succeeded."""
        tool = self._tools.pop((event.step, data.item, data.call), None)
        if tool is not None:
            self._add(of_tool(tool), event, data.result, {})
        if (work := self._work[event.step].get(data.item)) is not None:
            work.seconds += data.result.seconds or 0.0

    def model_started(self, event: Event, data: ModelStarted) -> None:
        """Note the model of a step."""
        if data.role == "executor":
            self._asked[data.key] = (event.step, data.item), event.at
            self._work[event.step].setdefault(data.item, ModelWork(data.model)).model = data.model

    def model_finished(self, event: Event, data: ModelFinished) -> None:
        """Count the time and the tokens of a model's call."""
        (step, item), began = self._asked.pop(data.key, NOT_ASKED)
        if (work := self._work[step].get(item)) is None:
            return
        work.seconds += max(0.0, event.at - began)
        work.has_failed = data.error is not None
        if data.usage is not None and data.model is not None:
            read, written = work.tokens.get(data.model, (0, 0))
            work.tokens[data.model] = read + data.usage.input_tokens, written + data.usage.output_tokens

    def step_finished(self, event: Event, data: StepFinished) -> None:
        """Add what a step of a model took, or each item of it, if it succeeded."""
        step, result = event.step, data.result
        work, granted = self._work.pop(step, {}), self._granted.get(step)
        if granted is None or result.status != "succeeded":
            return
        if step not in self._for_each and None in work:
            one = work[None]
            self._add(of_model(one.model, granted), event, result, one.tokens)
        for one in (one for item, one in work.items() if item is not None and not one.has_failed):
            self._taken[of_model(one.model, granted)].append((event.at, one.seconds, one.tokens))

    def _add(self, likeness: str, event: Event, result: StepResult, tokens: Mapping[str, Tokens]) -> None:
        if result.status == "succeeded" and (seconds := result.seconds) is not None:
            self._taken[likeness].append((event.at, seconds, tokens))
