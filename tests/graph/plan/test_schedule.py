from graphlib import TopologicalSorter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.schedule import (
    blocked_by,
    critical_path,
    cycles,
    in_order,
    last_steps,
    levels,
    waits_for,
    waits_without,
)
from planner_executor.graph.plan.schema import Step

Waits = dict[str, tuple[str, ...]]


@st.composite
def graphs(draw: st.DrawFn) -> Waits:
    """Any graph of up to six steps, circles and self-loops included."""
    steps = [f"s{place}" for place in range(draw(st.integers(0, 6)))]
    return {step: tuple(draw(st.sets(st.sampled_from(steps), max_size=3))) for step in steps}


@st.composite
def dags(draw: st.DrawFn) -> Waits:
    """A graph without circles, its steps in any order."""
    steps = [f"s{place}" for place in range(draw(st.integers(1, 7)))]
    waits = {
        step: tuple(draw(st.sets(st.sampled_from(steps[:place]), max_size=3))) if place else ()
        for place, step in enumerate(steps)
    }
    return {step: waits[step] for step in draw(st.permutations(steps))}


def chains(waits: Waits, step: str) -> list[tuple[str, ...]]:
    """Every way from a step that waits for nothing to this one."""
    return [(*chain, step) for before in waits[step] for chain in chains(waits, before)] or [(step,)]


def reaches(waits: Waits, step: str) -> set[str]:
    """Every step that this one waits for, near or far."""
    found: set[str] = set()
    waiting = list(waits[step])
    while waiting:
        before = waiting.pop()
        if before not in found:
            found.add(before)
            waiting += waits[before]
    return found


def test_a_step_waits_for_what_it_names_and_for_what_it_refers_to_once() -> None:
    step = Step(
        id="c", objective="o", args={"x": ["{a_result}", "{b_result} {a_result.y}"]}, depends_on=("a", "d", "a")
    )

    assert waits_for([step]) == {"c": ("a", "d", "b")}


def test_a_literal_reference_is_no_dependency() -> None:
    assert waits_for([Step(id="a", objective="{b_result}", args={"x": "{{b_result}}", "{b_result}": 1})]) == {"a": ()}


@given(graphs())
def test_there_is_a_circle_exactly_where_no_order_exists(waits: Waits) -> None:
    ordered = any(
        all(order.index(before) < order.index(step) for step, befores in waits.items() for before in befores)
        for order in permutations(waits)
    )

    assert (not cycles(waits)) == ordered


@given(graphs())
def test_every_circle_is_one_and_no_step_is_in_two(waits: Waits) -> None:
    found = cycles(waits)

    members = [step for circle in found for step in circle[:-1]]
    assert len(members) == len(set(members))
    for circle in found:
        assert circle[0] == circle[-1]
        pairs = list(pairwise(circle))
        forwards = all(after in waits[before] for before, after in pairs)
        backwards = all(before in waits[after] for before, after in pairs)
        assert forwards or backwards


def test_ids_that_are_not_there_close_no_circle() -> None:
    assert cycles({"a": ("gone",), "b": ("a", "gone")}) == []


def test_circles_are_listed_up_to_a_bound() -> None:
    pairs = {f"{name}{side}": (f"{name}{1 - side}",) for name in "abcde" for side in (0, 1)}

    assert len(cycles(pairs)) == 5
    assert len(cycles(pairs, most=3)) == 3


@given(dags())
def test_in_order_each_step_comes_after_those_it_waits_for_and_a_plan_written_so_stays_as_it_is(waits: Waits) -> None:
    order = list(in_order(waits))

    assert sorted(order) == sorted(waits)
    assert all(order.index(before) < order.index(step) for step, befores in waits.items() for before in befores)
    assert list(in_order({step: waits[step] for step in order})) == order


@given(dags())
def test_a_level_is_the_longest_chain_before_a_step(waits: Waits) -> None:
    assert levels(waits) == {step: max(len(chain) for chain in chains(waits, step)) - 1 for step in waits}


@given(dags(), st.data())
def test_blocked_are_those_behind_a_stuck_step_and_their_cause_is_one(waits: Waits, data: st.DataObject) -> None:
    stuck = data.draw(st.sets(st.sampled_from(list(waits)), max_size=2))

    blocked = blocked_by(waits, stuck)

    assert set(blocked) == {step for step in waits if step not in stuck and reaches(waits, step) & stuck}
    assert all(cause in stuck & reaches(waits, step) for step, cause in blocked.items())


def test_of_several_stuck_steps_the_first_that_a_step_depends_on_is_its_cause() -> None:
    waits: Waits = {"a": (), "b": (), "c": ("b",), "d": ("c", "a")}

    assert blocked_by(waits, {"a", "b"}) == {"c": "b", "d": "b"}


def all_before(waits: Waits, step: str) -> set[str]:
    return {one for before in waits[step] for one in {before, *all_before(waits, before)}}


@given(dags(), st.data())
def test_given_steps_wait_for_nothing_and_nobody_else_starts_any_earlier(waits: Waits, data: st.DataObject) -> None:
    given_ = data.draw(st.sets(st.sampled_from(sorted(waits))))

    without = waits_without(waits, given_)

    assert list(without) == list(waits)
    assert all(all_before(without, step) == (set() if step in given_ else all_before(waits, step)) for step in waits)
    assert all(len(set(befores)) == len(befores) for befores in without.values())


def test_who_waits_for_a_given_step_waits_for_what_it_waited_for() -> None:
    chain: Waits = {"a": (), "b": ("a",), "c": ("b",), "d": ("c",)}

    assert waits_without(chain, {"b"}) == {"a": (), "b": (), "c": ("b", "a"), "d": ("c",)}


@given(dags())
def test_last_steps_are_awaited_by_nobody_and_stand_in_plan_order(waits: Waits) -> None:
    awaited = {before for befores in waits.values() for before in befores}

    assert last_steps(waits) == [step for step in waits if step not in awaited]


@given(dags(), st.data())
def test_the_critical_path_is_the_longest_chain(waits: Waits, data: st.DataObject) -> None:
    duration_s = {step: data.draw(st.integers(0, 9)) for step in waits}
    longest = max(sum(duration_s[step] for step in chain) for step in waits for chain in chains(waits, step))

    total_s, chain = critical_path(TopologicalSorter(waits).static_order(), waits, duration_s)

    assert total_s == longest
    assert sum(duration_s[step] for step in chain) == longest
    assert all(before in waits[after] for before, after in pairwise(chain))


@pytest.mark.parametrize("count", [1, 5])
def test_steps_that_wait_for_nothing_run_at_once(count: int) -> None:
    waits: Waits = {f"s{place}": () for place in range(count)}

    assert critical_path(waits, waits, dict.fromkeys(waits, 2.0))[0] == 2.0


def test_a_plan_without_steps_takes_no_time() -> None:
    assert critical_path((), {}, {}) == (0.0, ())
    assert last_steps({}) == []
    assert levels({}) == {}
