"""What the model of a step is shown, and what stays fixed from the event that starts it."""

import json
from typing import Any

import pytest
from desk import at_desk
from langchain_core.messages import AIMessage

from planner_executor.graph.chat_models.retry import Clock, is_time_zone
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

DAY = 86_400.0
ASKS = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}])
LOOKS = {**step("a"), "tools": ["look"], "max_calls": 3}
REVIEWS = [{"id": n, "text": f"review number {n} " + "of a kettle " * 5} for n in range(30)]
EACH = {**step("each", review="{item_result}"), "for_each": "{list_result}", "max_items": 30}
LIST = {**step("list"), "gather": REVIEWS}


def document(model: ScriptedModel, call: int = -1) -> dict[str, Any]:
    """Return the document in a model's first message."""
    told: dict[str, Any] = json.loads(str(model.prompts[call][1].text).partition("\n\n(turns left")[0])
    return told


async def passed(prepared: Any, *steps: Any, model: ScriptedModel, tools: Any = (), events: Any = ()) -> Any:
    async with at_desk(*tools) as desk:
        await desk.ledger.append(desk.lease, list(events))
        return (await (await prepared(desk, *steps, model=model, slots=1)).run()).results


async def test_the_first_message_says_constraints_date_and_limits(prepared: Any) -> None:
    model = ScriptedModel([ASKS, "done"])
    steered = drafted("steered", {"constraints": ["be kind"], "added": ["be kind"]})

    await passed(prepared, LOOKS, model=model, tools=[LoggedTools().tool("look", effect="read")], events=[steered])

    told = document(model)
    assert told["constraints"] == ["be kind"] and told["limits"] == {"turns": 10, "calls": {"look": 3}}
    assert len(told["date"]) == len("2026-01-31")


async def test_a_step_is_told_the_constraints_that_it_names_and_those_given_since(prepared: Any) -> None:
    model = ScriptedModel(["done"])
    began = drafted("run_started", {"goal": "g", "constraints": ["be brief", "in German", "be kind"]})
    steered = drafted("steered", {"constraints": ["be brief", "in German", "be kind"], "added": ["be kind"]})

    await passed(prepared, {**step("a"), "constraints": ["in German"]}, model=model, events=[began, steered])

    assert document(model)["constraints"] == ["in German", "be kind"]


async def test_what_changes_per_turn_stands_at_the_end_of_the_newest_message_only(prepared: Any) -> None:
    model = ScriptedModel([ASKS, ASKS, "done"])

    await passed(prepared, LOOKS, model=model, tools=[LoggedTools().tool("look", effect="read")])

    notes = [[str(message.text).partition("\n\n(")[2] for message in prompt] for prompt in model.prompts]
    assert notes == [
        ["", ""],
        ["", "", "", "turns left, this one included: 9; calls left: look 2)"],
        ["", "", "", "", "", "turns left, this one included: 8; calls left: look 1)"],
    ]


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"review": "{item_result}"}, {}),
        ({"words": "{item_result.text}"}, {"item": REVIEWS[0]}),
        ({}, {"item": REVIEWS[0]}),
    ],
)
async def test_of_a_list_only_the_item_is_shown_and_once(prepared: Any, args: Any, shown: Any) -> None:
    model = ScriptedModel(["ok"] * 30)

    await passed(prepared, LIST, {**EACH, "args": args}, model=model)

    assert document(model, 0).get("results", {}) == shown


async def test_a_list_that_the_arguments_hold_as_a_whole_is_shown_in_them(prepared: Any) -> None:
    model = ScriptedModel(["ok"] * 30)

    await passed(prepared, LIST, {**EACH, "args": {"all": "{list_result}"}}, model=model)

    told = document(model, 0)
    assert told["args"]["all"] == REVIEWS and set(told["results"]) == {"item"}


async def test_a_persons_answer_stands_apart_from_results(prepared: Any) -> None:
    model = ScriptedModel(["ok"])
    asks = {"id": "q", "objective": "ask", "ask": "Which one?"}
    given = drafted("decided", {"given": {"q": "the red one"}})

    await passed(prepared, asks, LIST, step("a", after=["q", "list"]), model=model, events=[given])

    told = document(model)
    assert told["answers"] == {"q": "the red one"} and set(told["results"]) == {"list"}


async def test_a_step_that_goes_on_has_the_first_message_that_it_began_with(prepared: Any) -> None:
    model = ScriptedModel([ASKS, "done"])

    async with at_desk(LoggedTools().tool("look", effect="read")) as desk:
        for day, budget in ((1, Budget(tokens=1_500)), (2, Budget())):
            one = await prepared(desk, LOOKS, model=model, budget=budget)
            one.flow.work.clock = Clock(now=lambda day=day: day * DAY)
            found = (await one.run()).results["a"]
            await desk.ledger.append(desk.lease, [drafted("steered", {"constraints": ["be late"], "added": ["x"]})])
        result, kinds = (found, await desk.kinds())
    assert result.value == "done" and kinds.count("call_started") == 1
    assert len(model.prompts) == 2 and document(model, 0)["date"] == document(model, 1)["date"] == "1970-01-02"
    assert "constraints" not in document(model, 1)


@pytest.mark.parametrize("brief", [{}, {"brief": {"date": "1970-01-02", "turns": 10}}])
async def test_a_step_under_way_of_an_earlier_release_goes_on_with_its_recorded_messages(
    prepared: Any, brief: Any
) -> None:
    model = ScriptedModel(["done"])

    async with at_desk(LoggedTools().tool("look", effect="read")) as desk:
        record = await desk.record()
        human = json.dumps({"goal": record.assignment.started.goal, "objective": "do a"})
        prompt: Any = [{"type": "system", "content": "As of old."}, {"type": "human", "content": human}]
        key = digest([record.id, "executor", "a:1", digest(prompt)])
        began = {"key": key, "role": "executor", "prompt": {"continues": None, "value": prompt}}
        ended = {"key": key, "role": "executor", "model": "scripted", "response": ASKS.model_dump(mode="json")}
        told = {**began, "prompt_digest": digest(prompt), **brief}
        events = [drafted("model_started", told, "a"), drafted("model_finished", ended, "a")]
        await desk.ledger.append(desk.lease, events)
        result = (await (await prepared(desk, LOOKS, model=model)).run()).results["a"]
    assert result.value == "done" and len(model.prompts) == 1
    assert model.prompts[0][0].text == "As of old."


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", "2026-01-31"), ("Asia/Tokyo", "2026-02-01"), ("America/New_York", "2026-01-31")]
)
def test_the_date_is_that_of_the_time_zone(zone: str, day: str) -> None:
    assert Clock(now=lambda: 1_769_900_000.0).date("a", None, zone) == day


@pytest.mark.parametrize("name", ["Mars/Base", "", "../etc/passwd", 7, None])
def test_a_time_zone_has_an_iana_name(name: object) -> None:
    assert not is_time_zone(name) and is_time_zone("Europe/Berlin")
