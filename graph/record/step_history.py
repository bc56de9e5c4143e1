"""What steps took: samples of seconds and tokens by likeness, folded from the events of a run and kept at its end.

Two calls are alike if they are of one tool; two steps of a model, if it is the same model with the same tools.
"""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from graph.errors import UnknownEventError
from graph.record.events import CallFinished, CallStarted, Event, ModelFinished, ModelStarted, PlanRevised, StepFinished
from graph.record.results import StepResult
from graph.record.summary import CHANGED

KEPT = 40
"""So many samples are kept of what is alike: the latest."""
Tokens = tuple[int, int]
"""Tokens of prompts, and of answers."""


@dataclass(frozen=True)
class Sample:
    """What one call or step took; it ended at `at` (Unix seconds). `tokens` are by model."""

    at: float
    seconds: float
    tokens: Mapping[str, Tokens] = field(default_factory=dict)

    def to_text(self) -> str:
        """Return the sample as a ledger keeps it."""
        tokens = {model: list(counts) for model, counts in self.tokens.items()}
        return json.dumps([round(self.at, 3), round(self.seconds, 3), tokens], separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> "Sample":
        """Parse the output of `to_text`."""
        at, seconds, tokens = json.loads(text)
        return cls(at, seconds, {model: (read, written) for model, (read, written) in tokens.items()})


Samples = Mapping[str, Sequence[Sample]]
"""Likeness -> samples."""


def of_tool(tool: str) -> str:
    """Return the likeness of a tool's calls."""
    return f"tool {tool}"


def of_model(model: str, tools: Iterable[str]) -> str:
    """Return the likeness of a model's steps with these tools.

    >>> of_model("gpt-5-mini", ["search", "fetch"])
    'model gpt-5-mini: fetch, search'
    """
    return f"model {model}: {', '.join(sorted(tools))}"


def latest(samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples that are kept, the latest first."""
    return sorted(samples, key=lambda sample: sample.at, reverse=True)[:KEPT]


class StepHistory:
    """Folds the events of one run, each once and in order."""

    def __init__(self) -> None:
        self._tools: dict[tuple[str | None, int | None, int], str] = {}
        self._granted: Mapping[str, Sequence[str]] = {}
        self._models: dict[str, str] = {}
        self._tokens: defaultdict[str, dict[str, Tokens]] = defaultdict(dict)
        self._taken: defaultdict[str, deque[Sample]] = defaultdict(lambda: deque(maxlen=KEPT))

    def apply(self, events: Iterable[Event]) -> Samples:
        """Fold more events; return the samples of the run if it has ended with them, and nothing before."""
        ended: Samples = {}
        for event in events:
            if event.kind == "run_ended":
                ended = {likeness: latest(samples) for likeness, samples in self._taken.items()}
                self._taken.clear()
            elif (fold := FOLDS.get(event.kind)) is not None:
                with suppress(UnknownEventError, *CHANGED):
                    fold(self, event, event.data)
        return ended

    def plan_revised(self, _event: Event, data: PlanRevised) -> None:
        """Note the tools of the steps that a model carries out; those of each item of a list cannot be told apart."""
        steps = data.plan["steps"]
        self._granted = {
            step["id"]: step.get("tools", ()) for step in steps if not step.get("tool") and "for_each" not in step
        }

    def call_started(self, event: Event, data: CallStarted) -> None:
        """Note the tool of a call."""
        self._tools[event.step, data.item, data.call] = data.tool

    def call_finished(self, event: Event, data: CallFinished) -> None:
        """Add what a call took, if it succeeded."""
        tool = self._tools.pop((event.step, data.item, data.call), None)
        if tool is not None:
            self._add(of_tool(tool), event, data.result, {})

    def model_started(self, event: Event, data: ModelStarted) -> None:
        """Note the model of a step."""
        if event.step is not None and data.role == "executor":
            self._models[event.step] = data.model

    def model_finished(self, event: Event, data: ModelFinished) -> None:
        """Count the tokens of a step."""
        if event.step is not None and data.role == "executor" and data.usage is not None and data.model is not None:
            read, written = self._tokens[event.step].get(data.model, (0, 0))
            more = data.usage
            self._tokens[event.step][data.model] = read + more.input_tokens, written + more.output_tokens

    def step_finished(self, event: Event, data: StepFinished) -> None:
        """Add what a step of a model took, if it succeeded."""
        step = event.step or ""
        model, tokens = self._models.pop(step, None), self._tokens.pop(step, {})
        if model is not None and step in self._granted:
            self._add(of_model(model, self._granted[step]), event, data.result, tokens)

    def _add(self, likeness: str, event: Event, result: StepResult, tokens: Mapping[str, Tokens]) -> None:
        if result.status == "succeeded" and result.started_at is not None and result.ended_at is not None:
            self._taken[likeness].append(Sample(event.at, max(0.0, result.ended_at - result.started_at), tokens))


FOLDS: Mapping[str, Callable[..., None]] = {
    "plan_revised": StepHistory.plan_revised,
    "call_started": StepHistory.call_started,
    "call_finished": StepHistory.call_finished,
    "model_started": StepHistory.model_started,
    "model_finished": StepHistory.model_finished,
    "step_finished": StepHistory.step_finished,
}
"""Kind of event -> what it adds."""


def samples_of(events: Iterable[Event]) -> dict[str, list[Sample]]:
    """Return all samples of a run up to its last end."""
    fold, found = StepHistory(), defaultdict[str, list[Sample]](list)
    for event in events:
        for likeness, samples in fold.apply([event]).items():
            found[likeness].extend(samples)
    return found
