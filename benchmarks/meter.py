"""What a run cost: its own clock, and the spans in which a model or a tool was at work."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Span:
    """Something at work, from `start_s` to `end_s` on the performance counter."""

    name: str
    start_s: float
    end_s: float


@dataclass
class Meter:
    """One run: `prompts` has the number of characters of each model call's messages, in order."""

    prompts: list[int] = field(default_factory=list)
    models: list[Span] = field(default_factory=list)
    tools: list[Span] = field(default_factory=list)
    begun_s: float = 0.0
    wall_s: float = 0.0
    processor_s: float = 0.0

    @contextmanager
    def run(self) -> Iterator[None]:
        """Time the whole run, and what the processor spent on it."""
        processor_s = time.process_time()
        self.begun_s = time.perf_counter()
        yield
        self.wall_s = time.perf_counter() - self.begun_s
        self.processor_s = time.process_time() - processor_s

    @contextmanager
    def spent(self, spans: list[Span], name: str) -> Iterator[None]:
        """Note a span of work."""
        start_s = time.perf_counter()
        try:
            yield
        finally:
            spans.append(Span(name, start_s, time.perf_counter()))

    @property
    def orchestration_s(self) -> float:
        """Seconds in which no model and no tool was at work: what the system itself took."""
        return self.wall_s - covered_s([*self.models, *self.tools])

    @property
    def makespan_s(self) -> float:
        """Seconds from the start of the first tool call to the end of the last."""
        return max(span.end_s for span in self.tools) - min(span.start_s for span in self.tools)

    @property
    def after_planning_s(self) -> float:
        """Seconds from the end of the first model call, the planning, to the end of the run."""
        return self.begun_s + self.wall_s - min(span.end_s for span in self.models)


def covered_s(spans: list[Span]) -> float:
    """Return the seconds that at least one of the spans covers.

    >>> covered_s([Span("a", 0.0, 2.0), Span("b", 1.0, 3.0), Span("c", 5.0, 6.0)])
    4.0
    """
    total_s, reached_s = 0.0, float("-inf")
    for span in sorted(spans, key=lambda span: span.start_s):
        start_s = max(span.start_s, reached_s)
        total_s += max(0.0, span.end_s - start_s)
        reached_s = max(reached_s, span.end_s)
    return total_s
