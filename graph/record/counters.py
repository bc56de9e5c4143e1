"""Counters for dashboards, folded from events: runs, steps, calls, tokens, cost, questions."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from planner_executor.graph.record.events import (
    CallFinished,
    CallRefused,
    CallStarted,
    CapReached,
    Event,
    ModelFinished,
    ModelStarted,
    PlanRevised,
    ReviewRequested,
    RunEnded,
    RunReopened,
    RunStarted,
    StepFinished,
)
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.summary import UNREADABLE

Labels = tuple[tuple[str, str], ...]
Counts = Counter[tuple[str, Labels]]
"""Name and labels -> count."""

HELP: Mapping[str, str] = {
    "runs_total": "Runs that were started.",
    "runs_ended_total": "Runs that have ended, by status.",
    "runs_reopened_total": "Ended runs that were retried.",
    "steps_total": "Steps that have ended, by status.",
    "tool_calls_total": "Calls of tools that have ended, by tool and status.",
    "caps_reached_total": "Calls that had to wait for a cap across runs, by cap.",
    "calls_refused_total": "Calls that a step's grant or the policy did not allow, by tool.",
    "model_calls_total": "Calls of models, by role and model.",
    "model_failures_total": "Calls of models that gave no answer, by role.",
    "tokens_total": "Tokens, by direction: of prompts, of answers, and others that a server counts in neither.",
    "cost_usd_total": "US dollars, where prices are known.",
    "questions_total": "Things that people were asked, by kind.",
    "replans_total": "Revisions after failures.",
}
STEP_SECONDS = "step_seconds"
HISTOGRAMS: Mapping[str, str] = {STEP_SECONDS: "Seconds from the start of a step to its end, by status."}
"""Each has the counts `<name>_bucket`, by the upper bound that a value falls under first, and `<name>_sum`."""
BOUNDS_S = (0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
"""Upper bounds of the buckets of seconds; the last bucket, `+Inf`, has none."""
_BUCKETS = (*(f"{bound:g}" for bound in BOUNDS_S), "+Inf")
_BUCKET, _SUM = f"{STEP_SECONDS}_bucket", f"{STEP_SECONDS}_sum"
GAUGES: Mapping[str, str] = {
    "runs_waiting": "Runs that wait, by what they wait for.",
    "runs_stopped": "Runs that died, are paused, or failed within a week, 50 of each at most, by how they stopped.",
    "oldest_wait_seconds": "How long the run that has waited longest has waited.",
}


class Counters(NamedTuple):
    """Counters over all runs, and gauges."""

    counts: Mapping[tuple[str, Labels], float]
    gauges: Mapping[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float:
        """Return one count or gauge, 0 if nothing was counted."""
        return (self.gauges if name in GAUGES else self.counts).get((name, tuple(sorted(labels.items()))), 0)


def waiting_gauges(waits: Iterable[tuple[str, int, float]]) -> dict[tuple[str, Labels], float]:
    """Return the gauges of waiting runs: of what they wait for, how many do, and the longest wait in seconds."""
    gauges: dict[tuple[str, Labels], float] = {}
    for waits_for, count, waited_s in waits:
        labels = (("waits_for", waits_for),)
        gauges["runs_waiting", labels] = count
        gauges["oldest_wait_seconds", labels] = max(0.0, waited_s)
    return gauges


class RunCounter:
    """Counts the events of one run, each once and in order."""

    def __init__(self) -> None:
        self._counts: Counts = Counter()
        self._tools: dict[tuple[str | None, int | None, int], str] = {}

    def count(self, events: Iterable[Event]) -> Counts:
        """Return the increments of the counters for these events."""
        self._counts = Counter()
        for event in events:
            if (fold := FOLDS.get(event.kind)) is not None:
                try:  # not `suppress`, which costs as much as the rest
                    fold(self, event, event.data)
                except UNREADABLE:
                    continue
        return self._counts

    def run_started(self, _event: Event, _data: RunStarted) -> None:
        """Count the run."""
        self._add("runs_total")

    def run_ended(self, _event: Event, data: RunEnded) -> None:
        """Count the end."""
        self._add("runs_ended_total", ("status", data.status))

    def run_reopened(self, _event: Event, _data: RunReopened) -> None:
        """Count the retry."""
        self._add("runs_reopened_total")

    def plan_revised(self, _event: Event, data: PlanRevised) -> None:
        """Count a revision after a failure."""
        self._add("replans_total", amount=int(data.answers_failure))

    def review_requested(self, _event: Event, data: ReviewRequested) -> None:
        """Count what is asked, once if it is asked again after a refused answer."""
        for kind in data.asked if not data.error else ():
            self._add("questions_total", ("kind", kind))

    def call_refused(self, _event: Event, data: CallRefused) -> None:
        """Count the refusal."""
        self._add("calls_refused_total", ("tool", data.tool))

    def cap_reached(self, _event: Event, data: CapReached) -> None:
        """Count the wait."""
        self._add("caps_reached_total", ("cap", data.cap))

    def call_started(self, event: Event, data: CallStarted) -> None:
        """Note the tool."""
        self._tools[event.step, data.item, data.call] = data.tool

    def call_finished(self, event: Event, data: CallFinished) -> None:
        """Count the call, and the step if it was the step's own."""
        tool = self._tools.get((event.step, data.item, data.call), "unknown")
        self._add("tool_calls_total", ("status", data.result.status), ("tool", tool))
        if data.is_the_step and not data.again:
            self._step(data.result)

    def step_finished(self, _event: Event, data: StepFinished) -> None:
        """Count the step."""
        self._step(data.result)

    def model_started(self, _event: Event, data: ModelStarted) -> None:
        """Count the call."""
        self._add("model_calls_total", ("model", str(data.model)), ("role", data.role))

    def model_finished(self, _event: Event, data: ModelFinished) -> None:
        """Count a failure, and what the call took."""
        if data.error is not None:
            self._add("model_failures_total", ("role", data.role))
        if data.usage is not None:
            self._add("tokens_total", ("direction", "input"), amount=data.usage.input_tokens)
            self._add("tokens_total", ("direction", "output"), amount=data.usage.output_tokens)
            self._add("tokens_total", ("direction", "other"), amount=data.usage.other_tokens)
        self._add("cost_usd_total", amount=data.paid_usd or 0)

    def _step(self, result: StepResult) -> None:
        status = ("status", result.status)
        self._add("steps_total", status)
        if (seconds := result.seconds) is None:
            return
        self._add(_BUCKET, ("le", _BUCKETS[bisect_left(BOUNDS_S, seconds)]), status)
        self._add(_SUM, status, amount=seconds)

    def _add(self, name: str, *labels: tuple[str, str], amount: float = 1) -> None:
        """Count, under labels in the order of their names."""
        if amount:
            self._counts[name, labels] += amount  # type: ignore[assignment]


FOLDS: Mapping[str, Callable[..., None]] = {
    RunStarted.kind: RunCounter.run_started,
    RunEnded.kind: RunCounter.run_ended,
    RunReopened.kind: RunCounter.run_reopened,
    PlanRevised.kind: RunCounter.plan_revised,
    ReviewRequested.kind: RunCounter.review_requested,
    CallRefused.kind: RunCounter.call_refused,
    CapReached.kind: RunCounter.cap_reached,
    CallStarted.kind: RunCounter.call_started,
    CallFinished.kind: RunCounter.call_finished,
    StepFinished.kind: RunCounter.step_finished,
    ModelStarted.kind: RunCounter.model_started,
    ModelFinished.kind: RunCounter.model_finished,
}
"""Kind of event -> what it counts."""
