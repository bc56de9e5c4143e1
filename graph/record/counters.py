"""Counters for dashboards, folded from events: runs, steps, calls, tokens, cost, questions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graph.record.events import (
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
from graph.record.results import StepResult
from graph.record.summary import UNREADABLE

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
    "tokens_total": "Tokens, by direction.",
    "cost_usd_total": "US dollars, where prices are known.",
    "questions_total": "Things that people were asked, by kind.",
    "replans_total": "Revisions after failures.",
}
STEP_SECONDS = "step_seconds"
HISTOGRAMS: Mapping[str, str] = {STEP_SECONDS: "Seconds from the start of a step to its end, by status."}
"""Each has the counts `<name>_bucket`, by the upper bound that a value falls under first, and `<name>_sum`."""
BOUNDS_S = (0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
"""Upper bounds of the buckets of seconds; the last bucket, `+Inf`, has none."""
GAUGES: Mapping[str, str] = {
    "runs_waiting": "Runs that wait, by what they wait for.",
    "oldest_wait_seconds": "How long the run that has waited longest has waited.",
}


@dataclass(frozen=True)
class Counters:
    """Counters over all runs, and gauges."""

    counts: Mapping[tuple[str, Labels], float]
    gauges: Mapping[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float:
        """Return one count or gauge, 0 if nothing was counted."""
        key = name, tuple(sorted(labels.items()))
        return (self.gauges if name in GAUGES else self.counts).get(key, 0)


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
            try:  # not `suppress`, which costs as much as the rest
                self._event(event)
            except UNREADABLE:
                continue
        return self._counts

    def _add(self, name: str, amount: float = 1, *labels: tuple[str, str]) -> None:
        """Count, under labels in the order of their names."""
        if amount:
            self._counts[name, labels] += amount  # type: ignore[assignment]

    def _event(self, event: Event) -> None:  # noqa: C901, PLR0912  (one case for each kind that is counted)
        match event.data:
            case RunStarted():
                self._add("runs_total")
            case RunEnded(status=status):
                self._add("runs_ended_total", 1, ("status", status))
            case RunReopened():
                self._add("runs_reopened_total")
            case StepFinished(result=result):
                self._step(result)
            case PlanRevised(answers_failure=answers):
                self._add("replans_total", int(answers))
            case ReviewRequested(error=error, asked=asked) if not error:
                for kind in asked:
                    self._add("questions_total", 1, ("kind", kind))
            case CallRefused(tool=tool):
                self._add("calls_refused_total", 1, ("tool", tool))
            case CapReached(cap=cap):
                self._add("caps_reached_total", 1, ("cap", cap))
            case CallStarted(item=item, call=call, tool=tool):
                self._tools[event.step, item, call] = tool
            case CallFinished() as data:
                self._call(event, data)
            case ModelStarted(role=role, model=model):
                self._add("model_calls_total", 1, ("model", str(model)), ("role", role))
            case ModelFinished() as data:
                self._model(data)

    def _call(self, event: Event, data: CallFinished) -> None:
        tool = self._tools.get((event.step, data.item, data.call), "unknown")
        self._add("tool_calls_total", 1, ("status", data.result.status), ("tool", tool))
        if data.is_the_step and not data.again:
            self._step(data.result)

    def _step(self, result: StepResult) -> None:
        status = ("status", result.status)
        self._add("steps_total", 1, status)
        if result.started_at is None or result.ended_at is None:
            return
        seconds = max(result.ended_at - result.started_at, 0.0)
        bound = next((f"{bound:g}" for bound in BOUNDS_S if seconds <= bound), "+Inf")
        self._add(f"{STEP_SECONDS}_bucket", 1, ("le", bound), status)
        self._add(f"{STEP_SECONDS}_sum", seconds, status)

    def _model(self, data: ModelFinished) -> None:
        if data.error is not None:
            self._add("model_failures_total", 1, ("role", data.role))
        if data.usage is not None:
            self._add("tokens_total", data.usage.input_tokens, ("direction", "input"))
            self._add("tokens_total", data.usage.output_tokens, ("direction", "output"))
        self._add("cost_usd_total", data.cost_usd or 0)
