"""The page of a step: its attempts, the checks of its result, and what else the plan says of it."""

from typing import Any

import pytest
from recorded_run import recorded

from planner_executor.graph.desk.views.step import MOST_CALLS, StepView, step_view
from planner_executor.graph.record.events import Draft
from planner_executor.graph.testing import drafted, step

CHECKED = {"checks": [{"matches": "x"}], "success_criteria": "it is good"}
A = {**step("a", "look", at="x"), **CHECKED, "output": "json"}
STEPS = [A, step("b", "look", after=["a"]), step("c", "look", after=["b"]), step("d", "look", after=["a"])]


def started(call: int = 0, name: str = "a", item: int | None = None, **more: Any) -> Draft:
    payload = {"key": f"{name}{call}{item}", "tool": "look", "args": {"at": "x"}, "call": call, "item": item, **more}
    return drafted("call_started", payload, name)


def finished(call: int = 0, name: str = "a", item: int | None = None, status: str = "succeeded") -> Draft:
    return drafted("call_finished", {"call": call, "item": item, "status": status, "value": call}, name)


def view(*drafts: Draft, name: str = "a", steps: Any = STEPS) -> StepView:
    begun = [drafted("run_started"), drafted("plan_revised", {"plan": {"steps": steps}}), drafted("decided")]
    found = step_view(recorded(*begun, *drafts), name, {})
    assert found is not None
    return found


def test_a_step_says_who_does_it_what_it_waits_for_and_what_waits_for_it() -> None:
    found, last = view(), view(name="b")

    assert (found.status, found.doer, found.waits, found.awaited_by) == ("pending", "look", (), ("b", "d"))
    assert (last.waits, last.awaited_by) == (("a",), ("c",))
    assert found.fields == {"output": '"json"'} and last.fields == {}
    assert (found.result, found.cost, found.calls, found.earlier) == (None, None, [], 0)
    assert not found.is_called and not found.has_other_calls
    assert step_view(recorded(drafted("run_started")), "a", {}) is None
    assert (
        step_view(recorded(drafted("run_started"), drafted("plan_revised", {"plan": {"steps": STEPS}})), "x", {})
        is None
    )


def test_each_attempt_has_its_result_and_one_without_may_have_happened() -> None:
    found = view(started(), finished(status="failed"), started(attempt=2), started(name="b"), finished(name="b"))
    first, second = found.calls

    assert first.result is not None and first.result.status == "failed" and not first.is_uncertain
    assert (second.result, second.is_uncertain, second.began_at, second.args) == (None, True, 6.0, '{\n  "at": "x"\n}')
    assert found.is_called and not found.has_other_calls and found.cost is not None and found.cost.tool_calls == 2


def test_results_of_calls_of_a_model_and_of_items_stand_with_their_own() -> None:
    found = view(started(1), started(2), finished(2), finished(1))
    items = view(started(item=0), started(item=1), finished(item=1))

    assert [one.result and one.result.value for one in found.calls] == [1, 2] and found.has_other_calls
    assert not any(one.is_uncertain for one in found.calls) and found.arguments[0].given is None
    assert [one.result is not None for one in items.calls] == [False, True] and items.has_other_calls


def test_of_many_attempts_the_latest_are_shown_and_the_others_counted() -> None:
    calls = [one for call in range(1, MOST_CALLS + 3) for one in (started(call), finished(call))]

    found, fewer = view(*calls), view(*calls[: 2 * MOST_CALLS])

    assert (len(found.calls), found.earlier, found.calls[0].started.call) == (100, 2, 3)
    assert (len(fewer.calls), fewer.earlier) == (100, 0)


def revised(*steps: Any, **diff: Any) -> Draft:
    return drafted("plan_revised", {"revision": 2, "plan": {"steps": [*steps]}, "diff": diff})


def test_what_was_called_before_the_step_was_changed_is_earlier() -> None:
    other = {**A, "args": {"at": "y"}}
    changed = view(started(), finished(), revised(other, *STEPS[1:], changed=["a"]))
    same = view(started(), finished(), revised(A, other | {"id": "b"}, *STEPS[2:], changed=["b"]))
    again = view(started(), finished(), revised(other, *STEPS[1:], changed=["a"]), started(1, key="n"), finished(1))

    assert [one.is_earlier for one in changed.calls] == [True] and not changed.is_called
    assert [one.is_earlier for one in same.calls] == [False] and same.is_called
    assert [one.is_earlier for one in again.calls] == [True, False] and again.is_called
    (before,), (kept,) = changed.arguments, same.arguments
    assert (before.given, kept.given) == (None, '"x"')


MATCH = "its text matches x"


def checked(met: bool, judged: Any = None, step: str = "a") -> Draft:
    checks = [{"check": {"matches": "x"}, "met": met, "seen": "y"}]
    return drafted("step_checked", {"met": met, "checks": checks, "judged": judged}, step)


@pytest.mark.parametrize(
    ("drafts", "checks"),
    [
        ([], [(None, ""), (None, "")]),
        (
            [checked(True), checked(False), checked(True, step="b"), started()],
            [(False, "y"), (None, "nobody judged it")],
        ),
        ([checked(True, {"criterion": "it is good", "met": True, "why": "w"})], [(True, "y"), (True, "w")]),
    ],
)
def test_each_check_has_what_was_seen_at_the_last_one(drafts: list[Draft], checks: list[Any]) -> None:
    found = view(*drafts)

    assert [one[1:] for one in found.checks] == checks
    assert found.checks[1][0] == "it is good" and "x" in found.checks[0][0]
    assert view(name="b").checks == []
    assert [
        one[1:] for one in view(checked(True), steps=[{**step("a", "look"), "checks": CHECKED["checks"]}]).checks
    ] == [(True, "y")]
