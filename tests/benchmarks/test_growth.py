"""What runs cost through the doors that people use, in calls of functions: it grows no faster than the plan."""

import gc
import sys
import threading
from asyncio import Handle
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from postgres_server import new_schema

from benchmarks import doors
from benchmarks.doors import DOORS, SHAPES, WATCHED, Cost, Costs, once
from planner_executor.graph import large_work
from planner_executor.graph.plan.schema import FrozenModel
from planner_executor.graph.replay import record_loading
from planner_executor.graph.words.tables import ClosedTable

FEW, MANY = 5, 25
GROWTH = 4
"""Five times the steps make at most so many times the calls: some are made once, whatever the plan."""
CASES = [
    *((door, shape, None) for door in WATCHED for shape in SHAPES),
    *((door, "chain", None) for door in DOORS if door not in WATCHED),  # they stand on `AsyncAgent`
    *(pytest.param(door, "chain", new_schema, marks=pytest.mark.e2e) for door in WATCHED),
]
MOST_HELD = 12
"""So many calls for each step may be made in one callback of an event loop that others share: 50 ms at 5,000 steps."""
MOST_KEPT = 2
"""So many models for each step are alive when a run is shown, for a collection to walk through: in its plan, twice."""
WALKS = {"Plan._bound", "Dataflow.__post_init__", "critical_path", "plan_content", "proof_of"}
"""Functions that walk through a whole plan, the first in its check: of a large one they never run on a loop."""

WARM: set[str] = set()
"""The doors that were gone through in this process."""


class Calls:
    """Calls of this project's functions while something is measured, by thread, and the names of those of one loop."""

    def __init__(self) -> None:
        self.by_thread: Counter[int] = Counter()
        self.on_loop: set[str] = set()
        self.here = threading.get_ident()
        self.measures = self.looks = False
        self.kept = 0

    def counter(self) -> Callable[[FrameType, str, Any], None]:
        """Return the function that counts a call and traces no further; a method would cost more, at each call."""

        def count(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and self.measures and "planner_executor" in frame.f_code.co_filename:
                self.by_thread[thread := threading.get_ident()] += 1
                if thread == self.here:
                    self.on_loop.add(frame.f_code.co_qualname)

        return count

    @contextmanager
    def measured(self, costs: Costs, what: str) -> Iterator[None]:
        """Count what happens in the block, as all of it and as the longest callback on this thread's event loop."""
        cost, run, here = costs.setdefault(what, Cost()), Handle._run, threading.get_ident()

        def counted(handle: Handle) -> None:
            before = self.by_thread[here]
            run(handle)
            if threading.get_ident() == here:
                cost.held_ms = max(cost.held_ms, self.by_thread[here] - before)

        before, self.measures = self.by_thread.total(), True
        sys.settrace(self.counter())
        Handle._run = counted  # type: ignore[method-assign]
        try:
            yield
        finally:
            sys.settrace(None)
            Handle._run, self.measures = run, False  # type: ignore[method-assign]
            cost.processor_s += self.by_thread.total() - before
            if what == "show" and self.looks:
                gc.collect()
                self.kept = sum(isinstance(one, FrozenModel | ClosedTable) for one in gc.get_objects())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Calls]:
    """Doors whose costs are calls, and large work that is large for few steps."""
    calls = Calls()
    monkeypatch.setattr(doors, "measured", calls.measured)
    for module in (large_work, record_loading):
        monkeypatch.setattr(module, "LARGE", FEW // 2)
    threading.settrace(calls.counter())
    yield calls
    threading.settrace(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("door", "shape", "database"), CASES)
def test_work_at_a_door_grows_no_faster_than_the_plan_and_holds_up_no_event_loop(
    calls: Calls, door: str, shape: str, database: Callable[[], str] | None
) -> None:
    def costs(steps: int) -> Costs:
        return once(door, SHAPES[shape](steps), None if database is None else database())

    if door in WATCHED and door not in WARM:
        costs(3)  # what is made on first use
        WARM.add(door)
        calls.on_loop.clear()
    few = costs(FEW)
    calls.looks = door == "AsyncAgent"
    many = costs(MANY)

    assert {what: cost for what, cost in many.items() if cost.processor_s > GROWTH * few[what].processor_s} == {}
    if door in WATCHED:
        held = {what: (cost.held_ms - few[what].held_ms) / (MANY - FEW) for what, cost in many.items()}
        assert {what: count for what, count in held.items() if count > MOST_HELD} == {}
        assert shape == "for_each" or calls.on_loop & WALKS == set()
    assert calls.kept <= MOST_KEPT * (MANY + 3)  # two steps stand beside those of the shape, and the plan itself
