"""When each step ran, and the critical path: the chain of steps that sets the shortest time of the run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner_executor.graph.desk.views.event_part import Part, part_of_event
from planner_executor.graph.plan.schedule import critical_path
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import Event, ReviewRequested
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.text.drawing.labels import waits_within

UNITS = 1000
"""Width of the drawing in its own units."""
NARROWEST = 5.0
"""Least width of a bar, so that a short step can be seen."""


@dataclass(frozen=True)
class Bar:
    """A step: when it ran, from `left` over `width` units; `critical` if the run cannot be shorter than its chain."""

    step: str
    status: str
    left: float
    width: float
    took_s: float | None
    critical: bool


@dataclass(frozen=True)
class Timeline:
    """The bars in plan order, and the times: of the whole, and of the critical path. Times are in seconds.

    `waits` are (left, width) of the spans in which the run waited for people, `waited_s` is their sum.
    """

    bars: Sequence[Bar]
    began_at: float
    span_s: float
    critical_s: float
    waits: Sequence[tuple[float, float]] = ()
    waited_s: float = 0.0

    @property
    def ticks(self) -> list[tuple[float, float]]:
        """Return (units, seconds) of the marks along the time."""
        return [(UNITS * part / 4, self.span_s * part / 4) for part in range(5)]


def timeline(
    plan: Plan,
    statuses: Mapping[str, str],
    results: Mapping[str, StepResult],
    now: float,
    waited: Iterable[tuple[float, float]] = (),
) -> Timeline:
    """Return the timeline of a plan; a step that is running lasts until `now`, `waited` are spans (Unix seconds)."""
    times = {step: _times(result, statuses.get(step, ""), now) for step, result in results.items()}
    known = {step: span for step, span in times.items() if span is not None}
    began_at = min((start for start, _ in known.values()), default=0.0)
    span_s = max((end for _, end in known.values()), default=began_at) - began_at
    waits = waits_within(plan)
    took = {step: known[step][1] - known[step][0] if step in known else 0.0 for step in waits}
    critical_s, chain = critical_path([step for step in plan.order if step in waits], waits, took)
    critical = set(chain)  # it may have thousands of steps
    scale = UNITS / max(span_s, 1e-6)
    bars = []
    for step in plan.steps:
        span = known.get(step.id)
        left = (span[0] - began_at) * scale if span else 0.0
        width = max(NARROWEST, (span[1] - span[0]) * scale) if span else 0.0
        is_critical = step.id in critical and span is not None
        took_s = took[step.id] if span else None
        bars.append(Bar(step.id, statuses.get(step.id, "pending"), left, width, took_s, is_critical))
    # Before the first step and after the last one, the time of people is not part of the drawing.
    clipped = [(max(begun, began_at), min(ended, began_at + span_s)) for begun, ended in waited]
    spans = [(begun, ended) for begun, ended in clipped if ended > begun]
    return Timeline(
        bars,
        began_at,
        span_s,
        critical_s,
        [((begun - began_at) * scale, max(NARROWEST, (ended - begun) * scale)) for begun, ended in spans],
        sum(ended - begun for begun, ended in spans),
    )


def spans_of_people(events: Iterable[Event], now: float) -> Iterator[tuple[float, float]]:
    """Yield the spans in which a run waited for people, the open one until `now` (Unix seconds)."""
    since: float | None = None
    for event in events:
        if event.kind == ReviewRequested.kind and since is None:
            since = event.at
        elif since is not None and Part.ANSWERS in part_of_event(event.data_if_known):
            yield since, event.at
            since = None
    if since is not None:
        yield since, now


def _times(result: StepResult, status: str, now: float) -> tuple[float, float] | None:
    if result.started_at is None:
        return None
    ended = result.ended_at if result.ended_at is not None else (now if status == "running" else result.started_at)
    return result.started_at, max(ended, result.started_at)
