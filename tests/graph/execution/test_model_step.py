"""A step that a model does: its turns, its calls, and the form that its result has to have."""

import json
from typing import Any

import pytest
from desk import at_desk
from langchain_core.messages import AIMessage

from planner_executor.graph.calls.prompt import prompt_of
from planner_executor.graph.execution.model_step import MAX_TURNS, ModelStep
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.normalization import CANNOT
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.prompts.executor import executor_messages
from planner_executor.graph.record.call import call_key
from planner_executor.graph.record.calls import Opening
from planner_executor.graph.record.events import Brief, Content, Prompt
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

JSON: dict[str, Any] = {**step("a"), "output": "json"}


def calling(tool: str, **args: Any) -> AIMessage:
    """Return the answer of a model that asks for a call."""
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": "1"}])


def unreadable(tool: str) -> AIMessage:
    return AIMessage("", invalid_tool_calls=[{"name": tool, "args": "{", "id": "2", "error": "cut off"}])


async def done(
    prepared: Any, one: dict[str, Any], *answers: Any, tools: Any = (), times: int = 1
) -> tuple[Any, ScriptedModel, list[str]]:
    """Return the result of a step that a model did with these answers, the model, and the kinds of events."""
    model = ScriptedModel(answers)

    async with at_desk(*tools) as desk:
        for _ in range(times):
            passed = await (await prepared(desk, one, model=model)).run()
        return (passed.results["a"], model, await desk.kinds())


def with_tools(*names: str, **more: Any) -> dict[str, Any]:
    return {**step("a"), "tools": list(names), "max_calls": 9, **more}


def told(model: ScriptedModel) -> str:
    """Return the last message that a model was told, without what it says of its limits."""
    return str(model.prompts[-1][-1].text).partition("\n\n(turns left")[0]


async def test_a_models_text_is_the_result(prepared: Any) -> None:
    result, model, kinds = await done(prepared, step("a"), "thought")

    assert (result.value, len(model.prompts)) == ("thought", 1)
    assert kinds == ["model_started", "model_finished", "step_finished"]


async def test_a_models_thoughts_are_no_part_of_its_result(prepared: Any) -> None:
    assert (await done(prepared, step("a"), "<think>hm</think>thought"))[0].value == "thought"


async def test_a_call_is_made_recorded_and_answered_before_the_model_goes_on(prepared: Any) -> None:
    tools = LoggedTools()

    result, model, kinds = await done(
        prepared, with_tools("look"), calling("look", q=1), "found", tools=[tools.tool("look", lambda q: q + 1)]
    )

    assert (result.value, tools.calls, told(model)) == ("found", [("look", {"q": 1})], "2")
    asked = ["model_started", "model_finished"]
    assert kinds == [*asked, "call_started", "call_finished", *asked, "step_finished"]


async def test_a_call_that_fails_or_is_refused_or_cannot_be_read_is_an_answer_to_the_model(prepared: Any) -> None:
    def broken() -> None:
        raise ValueError("broken")

    tools = [LoggedTools().tool("look", broken, effect="read"), LoggedTools().tool("send")]

    assert (
        told((await done(prepared, with_tools("look"), calling("look"), "so", tools=tools))[1]) == "ValueError: broken"
    )
    assert told((await done(prepared, with_tools("look"), calling("send"), "so", tools=tools))[1]).startswith(
        "refused: "
    )
    result, model, _ = await done(prepared, with_tools("look"), unreadable("look"), "so", tools=tools)
    assert told(model).startswith("refused: the arguments are not a JSON object")
    assert result.value == "so"


async def test_a_model_has_ten_turns(prepared: Any) -> None:
    assert MAX_TURNS == 10
    look = LoggedTools().tool("look", effect="read")
    calls = [calling("look", n=n) for n in range(MAX_TURNS)]

    just, _, _ = await done(prepared, with_tools("look"), *calls[1:], "found", tools=[look])
    beyond, model, _ = await done(prepared, with_tools("look", max_calls=99), *calls, "found", tools=[look])

    assert just.value == "found"
    assert (beyond.error, len(model.prompts)) == ("the executor model gave no result within 10 turns", 10)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (ValueError("no quota"), "the executor model scripted failed: ValueError: no quota"),
        (
            AIMessage("No " + "x" * 2_000, response_metadata={"finish_reason": "content_filter"}),
            "the executor model refuses; it said: No " + "x" * 997,
        ),
        (
            AIMessage("So", response_metadata={"finish_reason": "length"}),
            "the executor model was cut off at its token limit; it said: So",
        ),
    ],
    ids=["fails", "refuses", "cut off"],
)
async def test_an_answer_that_no_repetition_would_mend_fails_the_step(prepared: Any, answer: Any, error: str) -> None:
    result, model, _ = await done(prepared, step("a"), answer)

    assert (result.status, result.error, len(model.prompts)) == ("failed", error, 1)


async def test_an_empty_answer_is_asked_for_again(prepared: Any) -> None:
    result, model, _ = await done(prepared, step("a"), " ", "thought")

    assert result.value == "thought"
    assert told(model) == "Your answer is empty. Answer with the result of the step."


async def test_a_model_is_told_which_required_tools_it_has_not_called(prepared: Any) -> None:
    look, send = LoggedTools().tool("look", effect="read"), LoggedTools().tool("send")
    one = with_tools("look", "send", required_tools=["look", "send"])

    result, model, _ = await done(prepared, one, calling("look"), "so", calling("send"), "done", tools=[look, send])

    assert result.value == "done"
    assert str(model.prompts[2][-1].text).startswith(
        "You have not called send, which this step requires.\n\n(turns left"
    )


async def test_a_required_tool_that_a_person_keeps_from_the_model_is_required_no_more(prepared: Any) -> None:
    page = LoggedTools().tool("page", effect="read", trusted=False)
    one = with_tools("page", "send", required_tools=["send"])
    model = ScriptedModel([calling("page"), calling("send", to="x"), "done without"])
    key = call_key("t.1", "a", None, 2, "send", digest({"to": "x"}))
    decided = {"decision": "settle", "digest": None, "binding": None, "rejected": {key: "not to x"}}

    async with at_desk(page, LoggedTools().tool("send", effect="external")) as desk:
        await desk.ledger.append(desk.lease, [drafted("decided", decided)])
        result = (await (await prepared(desk, one, model=model)).run()).results["a"]

    assert result.value == "done without"
    assert told(model) == "refused: a person rejected this call: not to x"


async def test_calls_that_succeed_count_for_the_criteria_of_the_step(prepared: Any) -> None:
    def once(n: int) -> int:
        if n:
            raise ValueError("broken")
        return n

    look = LoggedTools().tool("look", once, effect="read")
    one = {**with_tools("look"), "checks": [{"called": "look"}]}

    async with at_desk(look) as desk:
        model = ScriptedModel([calling("look", n=0), calling("look", n=0), calling("look", n=1), "done"])
        await (await prepared(desk, one, model=model)).run()
        checks: str = (await desk.last()).payload["checks"][0]["seen"]
        assert checks == "2 calls with success"


async def test_an_attempt_after_a_failure_for_good_is_another_conversation(prepared: Any) -> None:
    model = ScriptedModel(["{", "no", "never", "no", "[1]"])

    async with at_desk() as desk:
        await (await prepared(desk, JSON, model=model)).run()
        await desk.revise(1)
        assert (await (await prepared(desk, JSON, model=model)).run()).results["a"].value == [1]


async def test_the_items_of_a_step_have_conversations_of_their_own(prepared: Any) -> None:
    model = ScriptedModel(["one", "two"])
    each = {**step("a"), "for_each": ["x", "x"]}

    async with at_desk() as desk:
        assert (await (await prepared(desk, each, model=model, slots=1)).run()).results["a"].value == ["one", "two"]


async def test_a_step_on_record_is_not_begun_again(prepared: Any) -> None:
    result, model, kinds = await done(prepared, step("a"), "thought", times=2)

    assert (result.value, len(model.prompts), kinds.count("step_finished")) == ("thought", 1, 1)


async def test_a_model_is_named_by_its_step_its_item_and_its_earlier_failures(prepared: Any) -> None:
    async with at_desk() as desk:
        work = (await prepared(desk, step("a"))).flow.work
        one, model = Step.model_validate(step("a")), work.executors[None]
        more: list[dict[str, Any]] = [{}, {"item": 0}, {"anew": 2}, {"item": 1, "anew": 1}]
        loops = [ModelStep(one, {}, work.gate, model, {}, work.label_read(one), **each) for each in more]
        assert [loop._name for loop in loops] == ["a", "a[0]", "a again 2", "a[1] again 1"]


async def test_a_person_is_warned_of_tools_that_declare_nothing(
    prepared: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await done(prepared, with_tools("send"), "so", tools=[LoggedTools().tool("send")])

    assert "send" in caplog.text


async def test_a_pinned_argument_is_as_trusted_as_the_plan_and_others_as_what_the_model_has_read(prepared: Any) -> None:
    """The plan's own values are trusted; what the model fills in after it has read the page is not."""
    page = LoggedTools().tool("page", lambda: "evil", effect="read", trusted=False)
    send = LoggedTools().tool("send", effect="external")

    async with at_desk(page, send) as desk:
        open_args = with_tools("page", "send", args={"to": "x", "text": "{p_result}"})
        model = ScriptedModel([calling("page"), calling("send", to="x", text="evil")])
        await (await prepared(desk, {"id": "p", "objective": "o", "gather": "good"}, open_args, model=model)).run()
        assert list((await desk.last()).payload["labels"]) == ["text"]


@pytest.mark.parametrize(
    ("output", "answer", "value"),
    [
        ("json", "[1]", [1]),
        ("json", '"x"', "x"),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "string"}, "plain", "plain"),
        ({"type": ["string", "null"]}, "plain", "plain"),
        ({"enum": ["yes", "no"]}, "yes", "yes"),
        ({"type": "string", "minLength": 3}, '"quoted"', "quoted"),
        ({"type": "string"}, "12", "12"),
    ],
    ids=repr,
)
async def test_a_result_has_the_form_that_the_plan_asks_for(
    prepared: Any, output: Any, answer: str, value: Any
) -> None:
    result, model, _ = await done(prepared, {**step("a"), "output": output}, answer)

    assert (result.value, len(model.prompts)) == (value, 1)


@pytest.mark.parametrize(
    ("output", "wrong", "why"),
    [
        ("json", "plain", "as JSON only"),
        ({"type": "object"}, "plain", "as JSON only"),
        ({"type": "object"}, "[1]", "does not fit its schema"),
        ({"type": ["object", "null"]}, "[1]", "does not fit its schema"),
        ({"type": "string", "minLength": 3}, "no", "as JSON only"),
        ({"enum": ["yes", "no"]}, "perhaps", "as JSON only"),
        ({"type": "number"}, "plain", "as JSON only"),
        ({"minLength": 1}, "plain", "as JSON only"),
        ({"type": "array", "items": {"type": "integer"}}, '["x"]', "does not fit its schema"),
    ],
    ids=repr,
)
async def test_a_result_in_another_form_is_asked_for_again(prepared: Any, output: Any, wrong: str, why: str) -> None:
    model = ScriptedModel([wrong, "[1]", *["{}"] * 8])

    async with at_desk() as desk:
        (await (await prepared(desk, {**step("a"), "output": output}, model=model)).run()).results["a"]

    assert why in str(model.prompts[1][-1].text)


NUMBER: dict[str, Any] = {
    **step("a"),
    "output": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


async def test_the_same_answer_with_the_same_fault_ends_the_step_which_quotes_it(prepared: Any) -> None:
    result, model, _ = await done(prepared, NUMBER, {"n": "three"}, {"n": "four"}, {"n": "three"})

    assert len(model.prompts) == 3 and "repeats itself" in result.error
    assert "n: 'three' is not of type 'integer'" in result.error


async def test_a_step_without_a_result_in_its_turns_quotes_the_last_fault(prepared: Any) -> None:
    result, _, _ = await done(prepared, NUMBER, *({"n": f"number {n}"} for n in range(MAX_TURNS)))

    assert result.error.startswith(f"the executor model gave no result within {MAX_TURNS} turns; its last answer: ")
    assert "'number 9' is not of type 'integer'" in result.error


async def test_a_result_may_stand_in_the_object_that_servers_want_of_an_answer(prepared: Any) -> None:
    count = {**step("a"), "output": {"type": "integer"}}

    assert (await done(prepared, count, '{"result": 3}'))[0].value == 3
    assert (await done(prepared, {**count, "output": {"required": ["result"]}}, '{"result": 3}'))[0].value == {
        "result": 3
    }
    assert "cannot do it: no numbers" in (await done(prepared, count, '{"cannot": "no numbers"}'))[0].error


@pytest.mark.parametrize(("args", "words"), [({"why": "no key"}, "no key"), ({}, "it does not say why")])
async def test_a_model_with_tools_says_by_a_call_that_it_cannot_and_why(
    prepared: Any, args: dict[str, Any], words: str
) -> None:
    look = LoggedTools().tool("look", effect="read")

    result, _, _ = await done(prepared, with_tools("look"), calling(CANNOT, **args), tools=[look])

    assert result.status == "failed" and words in result.error


async def test_only_words_that_can_be_no_result_and_stand_beside_no_call_say_that_it_cannot(prepared: Any) -> None:
    words, free, look = '{"cannot": "x"}', {**step("a"), "output": {"type": "object"}}, LoggedTools().tool("look")
    beside = calling("look").model_copy(update={"content": words})

    assert (await done(prepared, free, words))[0].value == {"cannot": "x"}
    assert (await done(prepared, free, calling(CANNOT, why="no key")))[0].error.endswith("cannot do it: no key")
    assert (await done(prepared, with_tools("look"), beside, "done", tools=[look]))[0].value == "done"


async def test_a_tool_of_the_step_may_have_the_name_by_which_models_say_that_they_cannot(prepared: Any) -> None:
    tools = LoggedTools()

    result, _, _ = await done(prepared, with_tools(CANNOT), calling(CANNOT, n=1), "done", tools=[tools.tool(CANNOT)])

    assert (result.value, tools.calls) == ("done", [(CANNOT, {"n": 1})])


async def test_a_call_that_a_rule_refused_fails_the_step_unless_a_later_one_makes_up_for_it(prepared: Any) -> None:
    send = LoggedTools().tool("send")
    pinned = with_tools("send", args={"to": "x"})
    other, right = calling("send", to="y"), calling("send", to="x")

    result, _, _ = await done(prepared, pinned, other, "done", tools=[send])
    repeated, _, _ = await done(prepared, {**pinned, "output": "json"}, other, "no", "no", tools=[send])
    made_up, _, _ = await done(prepared, pinned, other, right, "done", tools=[send])

    assert result.error.startswith("its call of send was refused") and made_up.value == "done"
    assert repeated.error.startswith("its call of send was refused")


async def test_a_model_is_told_of_one_call_if_the_plan_says_no_more_and_of_none_without_tools(prepared: Any) -> None:
    look = LoggedTools().tool("look", effect="read")

    _, once, _ = await done(prepared, {**step("a"), "tools": ["look"]}, calling("look"), "done", tools=[look])
    _, alone, _ = await done(prepared, step("a"), " ", "thought")

    assert str(once.prompts[-1][-1].text).endswith("calls left: look 0)")
    assert str(alone.prompts[-1][-1].text).endswith("(turns left, this one included: 9)")


async def test_what_a_model_is_told_at_the_start_is_on_record_with_its_first_turn_alone(prepared: Any) -> None:
    async with at_desk() as desk:
        await (await prepared(desk, step("a"), model=ScriptedModel([" ", "thought"]))).run()
        begun = [event for event in await desk.ledger.events(desk.run) if event.kind == "model_started"]

    assert ["brief" in event.payload for event in begun] == [True, False]


HERE, BEFORE = Brief(date="2026-02-02"), Brief(date="2026-01-01")


@pytest.mark.parametrize(
    ("brief", "changed", "label", "goes_on"),
    [
        (BEFORE, {}, "a:1", True),
        (None, {}, "a:1", True),
        (BEFORE, {"more": 1}, "a:1", True),
        (None, {"objective": "other"}, "a:1", False),
        (None, {}, "a again 1:1", False),
        (BEFORE, {"more": 1}, "a again 1:1", False),
    ],
    ids=["alike", "no brief", "of another release", "of other work", "of another try", "of a try before that"],
)
async def test_a_conversation_on_record_goes_on_if_it_is_of_this_try_at_the_same_work(
    prepared: Any, brief: Brief | None, changed: dict[str, Any], label: str, goes_on: bool
) -> None:
    one = Step.model_validate(step("a"))
    system, human = executor_messages("g", one, {}, {}, brief=brief or HERE)
    document = json.dumps({**json.loads(str(human.content)), **changed})
    said = [system, human.model_copy(update={"content": document})] if changed else [system, human]
    prompt = prompt_of(said)

    async with at_desk() as desk:
        work = (await prepared(desk, step("a"))).flow.work
        key = digest([work.record.id, "executor", label, digest(prompt)])
        opening = Opening(key, brief, Prompt(messages=Content(prompt)))
        loop = ModelStep(one, {}, work.gate, work.executors[None], {}, work.label_read(one), openings=[opening])
        messages = await loop._opened("g", {}, HERE)

    is_recorded = goes_on and (brief is None or bool(changed))
    assert (loop._brief, loop._is_recorded) == (brief if goes_on else HERE, is_recorded)
    assert prompt_of(messages) == (prompt if goes_on else prompt_of(executor_messages("g", one, {}, {}, brief=HERE)))


async def test_a_model_that_asks_for_nothing_readable_fails_for_that(prepared: Any) -> None:
    send = LoggedTools().tool("send")

    result, _, _ = await done(prepared, with_tools("send"), *[unreadable("send")] * MAX_TURNS, tools=[send])

    assert result.error.startswith("its call of send was refused: the arguments are not a JSON object")
