"""What a dashboard counts, folded from events: runs, steps, calls, tokens, cost, questions."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from graph.record.events import Event
from graph.record.summary import CHANGED

Labels = tuple[tuple[str, str], ...]
Counts = Counter[tuple[str, Labels]]
"""Name and labels -> how many."""

HELP: Mapping[str, str] = {
    "runs_total": "Runs that were started.",
    "runs_ended_total": "Runs that have ended, by status.",
    "steps_total": "Steps that have ended, by status.",
    "tool_calls_total": "Calls of tools that have ended, by tool and status.",
    "calls_refused_total": "Calls that a step's grant or the policy did not allow, by tool.",
    "model_calls_total": "Calls of models, by role and model.",
    "model_failures_total": "Calls of models that gave no answer, by role.",
    "tokens_total": "Tokens, by direction.",
    "cost_usd_total": "US dollars, where prices are known.",
    "questions_total": "Things that people were asked, by kind.",
    "replans_total": "Revisions after failures.",
}
GAUGES: Mapping[str, str] = {
    "runs_waiting": "Runs that wait, by what they wait for.",
    "oldest_wait_seconds": "How long the run that has waited longest has waited.",
}


@dataclass(frozen=True)
class Counters:
    """Counts over all runs, and gauges as they are now."""

    counts: Mapping[tuple[str, Labels], float]
    gauges: Mapping[tuple[str, Labels], float]

    def value(self, name: str, **labels: str) -> float:
        """Return one count or gauge, 0 if nothing was counted."""
        key = name, tuple(sorted(labels.items()))
        return (self.gauges if name in GAUGES else self.counts).get(key, 0)


class RunCounter:
    """Counts the events of one run, each once and in order."""

    def __init__(self) -> None:
        self._counts: Counts = Counter()
        self._tools: dict[tuple[str | None, int | None, int], str] = {}

    def count(self, events: Iterable[Event]) -> Counts:
        """Return what these events add to the counts."""
        self._counts = Counter()
        for event in events:
            with suppress(*CHANGED):
                self._event(event)
        return self._counts

    def _add(self, name: str, amount: float = 1, **labels: str) -> None:
        if not amount:
            return
        self._counts[name, tuple(sorted(labels.items()))] += amount  # type: ignore[assignment]

    def _event(self, event: Event) -> None:
        said = event.payload
        if event.kind == "run_started":
            self._add("runs_total")
        elif event.kind == "run_ended":
            self._add("runs_ended_total", status=said["status"])
        elif event.kind == "step_finished":
            self._add("steps_total", status=said["status"])
        elif event.kind in ("plan_revised", "review_requested"):
            self._plan(event)
        elif event.kind.startswith("call_"):
            self._call(event)
        elif event.kind.startswith("model_"):
            self._model(event)

    def _plan(self, event: Event) -> None:
        said = event.payload
        if event.kind == "plan_revised":
            replanned = said["author"] == "replanner" and said.get("cause", "failure") == "failure"
            self._add("replans_total", int(replanned))
        elif not said.get("error"):
            for kind in said["asked"]:
                self._add("questions_total", kind=kind)

    def _call(self, event: Event) -> None:
        said = event.payload
        if event.kind == "call_refused":
            self._add("calls_refused_total", tool=said["tool"])
            return
        call = event.step, said.get("item"), said["call"]
        if event.kind == "call_started":
            self._tools[call] = said["tool"]
            return
        self._add("tool_calls_total", tool=self._tools.get(call, "unknown"), status=said["status"])
        if said["call"] == 0 and said.get("item") is None:
            self._add("steps_total", status=said["status"])

    def _model(self, event: Event) -> None:
        said, usage = event.payload, event.payload.get("usage") or {}
        if event.kind == "model_started":
            self._add("model_calls_total", role=said["role"], model=str(said["model"]))
            return
        if "error" in said:
            self._add("model_failures_total", role=said["role"])
        self._add("tokens_total", usage.get("input_tokens") or 0, direction="input")
        self._add("tokens_total", usage.get("output_tokens") or 0, direction="output")
        self._add("cost_usd_total", said.get("cost_usd") or 0)
