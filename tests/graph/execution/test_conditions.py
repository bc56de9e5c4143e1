"""Conditions of steps: what is skipped, what goes on, and what is evaluated again."""

from typing import Any

from desk import at_desk

from planner_executor.graph.record.events import ConditionEvaluated
from planner_executor.graph.testing import LoggedTools, step

SEEN = {"total": 7, "word": "x"}


def gathered(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "objective": f"gather {name}", "gather": value, **more}


def when(of: Any, condition: str = "@ > `5`") -> dict[str, Any]:
    return {"when": {"of": of, "condition": condition}}


async def passed(prepared: Any, *steps: Any, tools: LoggedTools | None = None) -> tuple[dict[str, str], dict[str, Any]]:
    logged = tools or LoggedTools()
    async with at_desk(logged.tool("look", lambda **args: args, effect="read")) as desk:
        done = await (await prepared(desk, gathered("seen", SEEN), *steps)).run()
        errors = {name: result.error for name, result in done.results.items() if result.error}
        return (done.statuses, {**done.flow.work.values, **errors})


async def test_a_step_runs_only_if_its_condition_is_true(prepared: Any) -> None:
    tools = LoggedTools()
    above = {**step("above", "look", n=1), **when("{seen_result.total}")}
    below = {**step("below", "look", n=2), **when("{seen_result.total}", "@ <= `5`")}

    statuses, told = await passed(prepared, above, below, tools=tools)

    assert statuses == {"seen": "succeeded", "above": "succeeded", "below": "skipped"}
    assert told["below"] == "its condition is false: @ <= `5`"
    assert tools.calls == [("look", {"n": 1})]


async def test_what_a_condition_came_to_is_on_record(prepared: Any) -> None:
    above = gathered("above", 1, **when("{seen_result.total}"))
    below = gathered("below", 1, **when("{seen_result.total}", "@ <= `5`"))

    async with at_desk() as desk:
        await (await prepared(desk, gathered("seen", SEEN), above, below)).run()
        told = [event for event in await desk.ledger.events(desk.run) if isinstance(event.data, ConditionEvaluated)]
        assert (await desk.record()).steps.conditions == {"above": True, "below": False}
        assert [(event.step, event.payload["condition"]) for event in told] == [
            ("above", "@ > `5`"), ("below", "@ <= `5`")
        ]  # fmt: skip


async def test_what_waits_for_a_skipped_step_is_skipped_too(prepared: Any) -> None:
    skipped = gathered("no", 1, **when("{seen_result.total}", "@ > `9`"))

    statuses, told = await passed(
        prepared, skipped, gathered("next", "{no_result}"), gathered("last", 2, depends_on=["next"])
    )

    assert statuses == {"seen": "succeeded", "no": "skipped", "next": "skipped", "last": "skipped"}
    assert told["last"] == "needs no, which was skipped"


async def test_a_step_with_run_if_gets_null_for_what_was_skipped(prepared: Any) -> None:
    yes = gathered("yes", {"n": 1}, **when("{seen_result.total}"))
    no = gathered("no", {"n": 2}, **when("{seen_result.total}", "@ > `9`"))
    values = {"yes": "{yes_result.n}", "no": "{no_result.n}", "one": "{not_null(no_result.n, yes_result.n)}"}
    joined = gathered("joined", {**values, "text": "<{no_result}>"}, run_if="any")

    _, told = await passed(prepared, yes, no, joined)

    assert told["joined"] == {"yes": 1, "no": None, "one": 1, "text": "<null>"}


async def test_a_step_with_run_if_is_skipped_if_all_that_it_waits_for_was(prepared: Any) -> None:
    no, none = (gathered(name, 1, **when("{seen_result.total}", "@ > `9`")) for name in ("no", "none"))

    statuses, _ = await passed(prepared, no, none, gathered("joined", 1, depends_on=["no", "none"], run_if="any"))

    assert statuses["joined"] == "skipped"


async def test_a_failed_dependency_blocks_a_step_with_run_if(prepared: Any) -> None:
    no = gathered("no", 1, **when("{seen_result.total}", "@ > `9`"))
    failed = gathered("failed", "{seen_result.absent}")

    statuses, _ = await passed(
        prepared, no, failed, gathered("joined", 1, depends_on=["no", "failed", "seen"], run_if="any")
    )

    assert statuses["joined"] == "blocked"


async def test_a_condition_that_is_neither_true_nor_false_fails_its_step(prepared: Any) -> None:
    number = gathered("number", 1, **when("{seen_result}", "total"))
    absent = gathered("absent", 1, **when("{seen_result.absent}"))
    wrong = gathered("wrong", 1, **when("{seen_result.word}", "abs(@) > `1`"))
    null = gathered("null", 1, **when("{seen_result}", "other"))

    statuses, told = await passed(prepared, number, absent, wrong, null)

    assert {name: statuses[name] for name in told if name != "seen"} == dict.fromkeys(
        ("number", "absent", "wrong", "null"), "failed"
    )
    assert told["number"] == "when.condition 'total' gives a number; it has to give true or false"
    assert "gives null" in told["null"]


async def test_a_condition_decides_about_a_list_as_a_whole(prepared: Any) -> None:
    tools = LoggedTools()
    each = {**step("each", "look", n="{item_result}"), "for_each": [1, 2], **when("{seen_result.total}", "@ > `9`")}

    statuses, _ = await passed(prepared, each, tools=tools)

    assert statuses["each"] == "skipped" and not tools.calls
