import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.schema import Plan, Step, is_step_id
from planner_executor.graph.record.expansion_names import MOST_CHARACTERS, names_in, places_in

IDS = st.one_of(
    st.sampled_from(["work", "work_", "work_a", "a", "a_2", "work_work", "w" * 79, "w" * 300, f"work_{'a' * 90}"]),
    st.from_regex(re.compile(r"[A-Za-z][A-Za-z0-9_]{0,100}", re.ASCII), fullmatch=True),
)


def plan_of(*ids: str) -> tuple[Plan, Step]:
    steps = [Step(id=name, objective="o", refine=True) for name in ids]
    return Plan(steps=tuple(steps)), steps[0]


@given(st.lists(IDS, min_size=1, max_size=8, unique=True), st.lists(IDS, max_size=8, unique=True))
def test_names_are_usable_free_and_the_same_each_time(present: list[str], chosen: list[str]) -> None:
    plan, step = plan_of(*present)

    names = names_in(plan, step)(chosen)

    assert list(names) == chosen and names == names_in(plan, step)(chosen)
    assert all(is_step_id(name) and len(name) <= MOST_CHARACTERS for name in names.values())
    assert len({*names.values(), *present}) == len(chosen) + len(present)
    assert all(name.startswith(step.id[:39]) for name in names.values()), "each is under its parent's"


@pytest.mark.parametrize(
    ("present", "chosen", "names"),
    [
        (["work"], ["look"], ["work_look"]),
        (["work"], ["work_look"], ["work_look"]),
        (["work"], ["look", "work_look"], ["work_look", "work_look_2"]),
        (["work", "work_look"], ["look", "look_2"], ["work_look_2", "work_look_2_2"]),
        (["work", "work_look", "work_look_2"], ["look"], ["work_look_3"]),
        (["work"], ["work", "workshop"], ["work_2", "work_workshop"]),
        (["work_dig"], ["work_look"], ["work_dig_work_look"]),
        (["p" * 50], ["a" * 60], [f"{'p' * 39}_{'a' * 40}"]),
        (["p"], ["a" * 100, "a" * 101], [f"p_{'a' * 78}", f"p_{'a' * 76}_2"]),
        (["p" * 100], ["a", "b"], [f"{'p' * 78}_a", f"{'p' * 78}_b"]),
    ],
)
def test_a_name_is_that_of_the_planner_under_the_parents(
    present: list[str], chosen: list[str], names: list[str]
) -> None:
    assert list(names_in(*plan_of(*present))(chosen).values()) == names


def test_by_place_a_name_that_is_taken_gets_an_underscore() -> None:
    plan, step = plan_of("work", "work_2")

    assert places_in(plan, step)(["a", "b"]) == {"a": "work_1", "b": "work_2_"}
