"""Several items of a list in one request of a model."""

import json
from typing import Any

import pytest
from desk import at_desk

from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import ScriptedModel, step

NUMBER = {"type": "integer"}
EACH = {**step("each", text="{item_result.text}", unit="kg"), "output": NUMBER, "batch": 2}
ITEMS = [{"text": f"{n} kg"} for n in range(5)]
CANNOT = '{"cannot": "the second has no number"}'


async def each(model: ScriptedModel, prepared: Any, *passes: Any, **more: Any) -> Any:
    """Return the result of the last pass over the step, and its event of the end."""

    async with at_desk() as desk:
        for budget in passes or (Budget(),):
            one = await prepared(desk, {**EACH, "for_each": ITEMS, **more}, model=model, slots=1, budget=budget)
            found = (await one.run()).results["each"]
        return (found, await one.free_slots())


def told(model: ScriptedModel) -> list[Any]:
    """Return the document of each request."""
    return [json.loads(str(prompt[1].text).partition("\n\n(turns left")[0]) for prompt in model.prompts]


async def test_a_request_holds_as_many_items_as_the_batch_says(prepared: Any) -> None:
    model = ScriptedModel(["[0, 1]", "[2, 3]", "[4]"])

    result, free = await each(model, prepared, args={"given": "{item_result}", "unit": "kg"})

    assert (result.status, result.value, free) == ("succeeded", [0, 1, 2, 3, 4], 1)
    shown = [{"given": item} for item in ITEMS]
    assert [one["items"] for one in told(model)] == [shown[:2], shown[2:4], shown[4:]]
    assert {one["args"]["unit"] for one in told(model)} == {"kg"} and "list of 2 values" in told(model)[0]["batch"]


async def test_what_each_item_needs_is_shown_once_for_all_of_them(prepared: Any) -> None:
    model = ScriptedModel(["[0, 1]"])
    prices = {"id": "prices", "objective": "o", "gather": {"kg": 3}}

    async with at_desk() as desk:
        one = {**EACH, "for_each": ITEMS[:2], "args": {"given": "{item_result}"}, "depends_on": ["prices"]}
        await (await prepared(desk, prices, one, model=model)).run()

    assert told(model)[0]["items"] == [{"given": item} for item in ITEMS[:2]]
    assert told(model)[0]["results"] == {"prices": {"kg": 3}}


@pytest.mark.parametrize("answer", ["[0]", "[0, 1, 2]", "0 and 1", CANNOT])
async def test_after_an_answer_that_is_no_list_of_that_length_the_items_go_alone(prepared: Any, answer: str) -> None:
    model = ScriptedModel([answer, "[2, 3]", "[4]", "0", "1"])

    result, free = await each(model, prepared)

    assert (result.value, free) == ([0, 1, 2, 3, 4], 1)
    assert [one["args"]["text"] for one in told(model)[3:]] == ["0 kg", "1 kg"]


async def test_a_value_of_another_form_is_done_again_alone_and_corrected(prepared: Any) -> None:
    model = ScriptedModel(['[0, "one"]', "[2, 3]", "[4]", '"one"', "1"])

    result, _ = await each(model, prepared)

    assert result.value == [0, 1, 2, 3, 4]
    assert [one["args"]["text"] for one in told(model)[3:]] == ["1 kg", "1 kg"]
    assert "'one' is not of type 'integer'" in str(model.prompts[-1][-1].text)


async def test_items_of_a_batch_that_waits_for_a_person_do_not_go_alone(prepared: Any) -> None:
    model, long = ScriptedModel(["0", "1"]), [{"text": "x" * 10_000}] * 2

    result, _ = await each(model, prepared, Budget(tokens=9_000), for_each=long)

    assert (result.status, len(model.prompts)) == ("pending", 0), "one of them alone would be within the budget"


class Bound(ScriptedModel):
    """Notes the schemas that it is bound to."""

    def with_structured_output(self, schema: Any, **_: Any) -> Any:
        BOUND.append(schema)
        raise NotImplementedError


BOUND: list[Any] = []


async def test_the_form_of_results_is_sent_as_the_schema_of_the_answer(prepared: Any) -> None:
    BOUND.clear()

    await each(Bound(["[0, 1]", '[2, "x"]', "[4]", "3"]), prepared)

    forms = [schema["properties"]["result"] for schema in BOUND]
    two, one = ({"type": "array", "items": NUMBER, "minItems": count, "maxItems": count} for count in (2, 1))
    assert forms == [two, one, NUMBER]


async def test_any_json_is_a_value_if_the_output_is_json(prepared: Any) -> None:
    model = ScriptedModel(['[0, "one"]', "[[2], null]", "[4]"])

    result, _ = await each(model, prepared, output="json")

    assert result.value == [0, "one", [2], None, 4] and len(model.prompts) == 3


async def test_of_a_batch_without_arguments_the_items_are_shown(prepared: Any) -> None:
    model = ScriptedModel(["[0, 1]", "[2, 3]", "[4]"])

    await each(model, prepared, args={})

    assert told(model)[0]["items"] == [{"item": one} for one in ITEMS[:2]] and "results" not in told(model)[0]


async def test_items_without_the_field_that_the_arguments_name_fail_alone(prepared: Any) -> None:
    model = ScriptedModel(["[0, 4]"])

    result, _ = await each(model, prepared, for_each=[ITEMS[0], {"no": 1}, ITEMS[4]], batch=3, max_failures=1)

    assert result.value[0::2] == [0, 4] and "text" in result.value[1]["error"]


async def test_requests_that_were_answered_are_not_made_again_when_a_step_goes_on(prepared: Any) -> None:
    model = ScriptedModel(["[0, 1]", "[2, 3]", "[4]"])

    result, _ = await each(model, prepared, Budget(model_calls=1), Budget(model_calls=2), Budget())

    assert result.value == [0, 1, 2, 3, 4] and len(model.prompts) == 3
