"""What the steps of a run took: samples by likeness, folded from its events and kept at its end."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import starmap

from graph.errors import UnknownEventError
from graph.record.events import CallFinished, CallStarted, Event, ModelFinished, ModelStarted, PlanRevised, StepFinished
from graph.record.results import StepResult
from graph.record.sample import KEPT, Sample, Samples, Tokens, latest, of_model, of_tool
from graph.record.summary import CHANGED

Taken = tuple[float, float, Mapping[str, Tokens]]
"""The fields of a sample."""
UNREADABLE = (UnknownEventError, *CHANGED)


class StepHistory:
    """Folds the events of one run, each once and in order."""

    def __init__(self) -> None:
        self._tools: dict[tuple[str | None, int | None, int], str] = {}
        self._granted: Mapping[str, Sequence[str]] = {}
        self._models: dict[str, str] = {}
        self._tokens: defaultdict[str, dict[str, Tokens]] = defaultdict(dict)
        self._taken: defaultdict[str, deque[Taken]] = defaultdict(lambda: deque(maxlen=KEPT))

    def apply(self, events: Iterable[Event]) -> Samples:
        """Fold more events; return the samples of the run up to its last end among them, nothing without one."""
        ended: defaultdict[str, list[Sample]] = defaultdict(list)
        for event in events:
            if event.kind == "run_ended":
                for likeness, taken in self._taken.items():
                    ended[likeness].extend(latest(starmap(Sample, taken)))
                self._taken.clear()
            elif (fold := FOLDS.get(event.kind)) is not None:
                try:  # not `suppress`, which costs as much as the fold
                    fold(self, event, event.data)
                except UNREADABLE:
                    continue
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
            self._taken[likeness].append((event.at, max(0.0, result.ended_at - result.started_at), tokens))


FOLDS: Mapping[str, Callable[..., None]] = {
    "plan_revised": StepHistory.plan_revised,
    "call_started": StepHistory.call_started,
    "call_finished": StepHistory.call_finished,
    "model_started": StepHistory.model_started,
    "model_finished": StepHistory.model_finished,
    "step_finished": StepHistory.step_finished,
}
"""Kind of event -> what it adds."""
