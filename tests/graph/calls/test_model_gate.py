"""The choke point of model calls: in the ledger before and after, and never asked again for what is on record."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from desk import Desk, at_desk
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planner_executor.graph.calls.caps import Caps
from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.chat_models.retry import ONCE, Clock
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.errors import CapReachedError, MessageWaitingError, ModelCallError, StaleRunError
from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.policy.day_limits import DayLimits
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.prompts.pictures import without_bytes
from planner_executor.graph.record.budget import Budget, Price
from planner_executor.graph.record.calls import Opening
from planner_executor.graph.record.events import Content, Event, ModelStarted
from planner_executor.graph.testing import LoggedTools, PassingClock, ScriptedModel, drafted


async def ask(model: ScriptedModel, times: int = 1, record_prompts: bool = True) -> tuple[list[Any], list[Event]]:
    async with at_desk(LoggedTools().tool("send")) as desk:
        call = ModelCall("planner", "plan:1", [HumanMessage("Plan it")])
        answers = []
        for _ in range(times):
            gate = await desk.gate(record_prompts=record_prompts)
            answers.append(await gate.models.ask(role_model(model), call))
        return (answers, (await desk.ledger.events(desk.run))[1:])


async def test_a_model_call_is_in_the_ledger_before_and_after() -> None:
    (answer,), events = await ask(ScriptedModel(["a plan"]))

    assert isinstance(answer, AIMessage)
    assert answer.text == "a plan"
    assert [event.kind for event in events] == ["model_started", "model_finished"]
    assert events[0].payload["model"] == "scripted"
    assert events[0].payload["key"] == events[1].payload["key"]


async def test_what_a_model_was_asked_is_on_record_unless_it_is_to_be_left_out() -> None:
    prompt = [{"type": "human", "content": "Plan it"}]

    _, told = await ask(ScriptedModel(["a plan"]))
    _, untold = await ask(ScriptedModel(["a plan"]), record_prompts=False)

    assert told[0].payload["prompt"] == {"value": prompt}
    assert "prompt" not in untold[0].payload
    assert [event[0].payload["prompt_digest"] for event in (told, untold)] == [digest(prompt)] * 2
    assert untold[1].payload["response"]["content"] == "a plan"


async def test_a_long_prompt_is_an_artifact_in_the_ledger() -> None:
    async with at_desk() as desk:
        gate, model = await desk.gate(), ScriptedModel(["short"])
        await gate.models.ask(role_model(model), ModelCall("planner", "", [HumanMessage("x" * 10_000)]))
        started = (await desk.ledger.events(desk.run))[1]
        assert json.loads(await desk.ledger.artifact(started.payload["prompt"]["artifact"]["id"])) == [
            {"type": "human", "content": "x" * 10_000}
        ]


async def test_the_answer_given_is_the_answer_on_record() -> None:
    first = AIMessage("so", additional_kwargs={"thought": "t"}, response_metadata={"took_s": 1}, id="1")

    (answer, again), _ = await ask(ScriptedModel([first]), times=2)

    assert answer == again
    assert (answer.text, answer.additional_kwargs, answer.id) == ("so", {"thought": "t"}, "1")


async def test_an_answer_on_record_is_not_asked_for_again() -> None:
    model = ScriptedModel(["a plan"])

    answers, events = await ask(model, times=2)

    assert [answer.text for answer in answers] == ["a plan", "a plan"]
    assert len(model.prompts) == 1
    assert len(events) == 2


async def test_a_model_that_fails_is_words_and_asked_again_next_time() -> None:
    answers, events = await ask(ScriptedModel([ValueError("no quota \ud800"), "a plan"]), times=2)

    assert answers[0] == "the planner model scripted failed: ValueError: no quota ?"
    assert answers[1].text == "a plan"
    assert json.dumps(events[1].payload)


async def test_the_same_words_for_another_purpose_are_another_call() -> None:
    model = ScriptedModel(["one", "two", "three"])

    async with at_desk() as desk:
        gate = await desk.gate()
        found = []
        for role, label in (("planner", "plan:1"), ("planner", "plan:2"), ("replanner", "plan:1")):
            answer = await gate.models.ask(role_model(model), ModelCall(role, label, [HumanMessage("x")]))
            found.append(str(answer.text) if isinstance(answer, AIMessage) else answer)
        assert found == ["one", "two", "three"]


async def test_an_answer_that_no_record_can_hold_is_a_failure_of_the_model() -> None:
    odd = AIMessage("", tool_calls=[{"name": "send", "args": {"n": float("nan")}, "id": "1"}])

    (answer,), events = await ask(ScriptedModel([odd]))

    assert isinstance(answer, str)
    assert "error" in events[-1].payload


@pytest.mark.parametrize(
    ("role", "step", "name", "tags"),
    [
        ("planner", None, "planner", ["nostream", "role:planner"]),
        ("executor", "a", "executor a", ["role:executor"]),
        ("judge", "a", "judge a", ["nostream", "role:judge"]),
    ],
)
def test_a_request_is_named_for_tracers_and_only_what_an_executor_says_is_streamed(
    role: str, step: str | None, name: str, tags: list[str]
) -> None:
    call = ModelCall(role, f"{role}:x:1", [HumanMessage("x")], step)
    config = call.request({"run": "t.1"}).config

    assert call.conversation == f"{role}:x"
    assert (config["run_name"], config["tags"]) == (name, tags)
    assert config["metadata"] == {"run": "t.1", "role": role, **({"step": step} if step else {})}


async def test_prompts_are_recorded_unless_it_is_said_otherwise() -> None:
    async with at_desk() as desk, desk.next_run() as later:
        gate = await later.models()
        await gate.ask(role_model(ScriptedModel(["so"])), ModelCall("planner", "", [HumanMessage("x")]))
        assert "prompt" in (await later.ledger.events(later.run))[1].payload


async def asks(desk: Desk, label: str, step: str | None, **options: Any) -> None:
    gate = await desk.gate(**options)
    await gate.models.ask(role_model(ScriptedModel(["so"])), ModelCall("executor", label, [HumanMessage("x")], step))


async def test_a_step_begins_with_its_first_question_and_a_planners_question_begins_none() -> None:
    async with at_desk() as desk:
        await asks(desk, "plan:1", None, budget=Budget(steps=0))
        with pytest.raises(LimitReached):
            await asks(desk, "a:1", "a", budget=Budget(steps=0))
        await asks(desk, "a:1", "a", budget=Budget(steps=1))
        await asks(desk, "a:2", "a", budget=Budget(steps=1))
        with pytest.raises(LimitReached):
            await asks(desk, "b:1", "b", budget=Budget(steps=1))


async def test_a_model_is_not_asked_before_its_rate_allows_it() -> None:
    async with at_desk() as desk:
        gate, model = await desk.gate(rates={"scripted": 0.01}), role_model(ScriptedModel(["one", "two"]))
        await gate.models.ask(model, ModelCall("planner", "plan:1", [HumanMessage("x")]))
        waiting = asyncio.create_task(gate.models.ask(model, ModelCall("planner", "plan:2", [HumanMessage("x")])))
        for _ in range(50):
            await asyncio.sleep(0)
        waiting.cancel()
        assert await desk.kinds() == ["model_started", "model_finished"]


async def test_an_answer_costs_what_the_model_that_gave_it_costs() -> None:
    dear, cheap = ScriptedModel([ValueError("down")] * 9), ScriptedModel([])
    cheap.model_name = "cheap"
    cheap._answers = [AIMessage("so", usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2})]
    models = RoleModel((*role_model(dear).chats, *role_model(cheap).chats))

    async with at_desk() as desk:
        prices = {"scripted": Price(9.0, 9.0), "cheap": Price(1.0, 2.0)}
        gate = await desk.models(prices=prices)
        await gate.ask(models, ModelCall("planner", "", [HumanMessage("x")]))
        assert (await desk.last()).payload["cost_usd"] == pytest.approx(3e-6)


async def test_a_process_that_died_between_two_attempts_is_followed_by_those_that_are_left() -> None:
    async with at_desk() as desk:
        died, model = asyncio.CancelledError(), ScriptedModel([ConnectionError("1"), ConnectionError("2"), "late"])
        refused = RoleModel((replace(role_model(model).chats[0], retry_policy=ONCE),))
        limits = AttemptLimits(attempts=2, backoff_s=0)
        call = ModelCall("executor", "a:1", [HumanMessage("Do it")], "a", limits=limits)

        async def die(_: float) -> None:
            raise died

        with suppress(asyncio.CancelledError):
            await (await desk.models(clock=Clock(sleep=die))).ask(refused, call)
        answer = await (await desk.models()).ask(refused, call)
        events = [event.payload for event in await desk.ledger.events(desk.run) if event.kind == "model_finished"]
        assert isinstance(answer, str) and len({told["key"] for told in events}) == 2
        assert (len(model.prompts), [told.get("again", False) for told in events]) == (2, [True, False])


def once(*answers: Any) -> RoleModel:
    """Return a model that is asked once for each attempt."""
    return RoleModel((replace(role_model(ScriptedModel(answers)).chats[0], retry_policy=ONCE),))


class Silent(RoleModel):
    """A model without a chat model, as a replay may have it."""

    async def ask(self, request: Any) -> Any:
        """Fail without an attempt."""
        raise ModelCallError(self.name, ())


DOWN, NO_QUOTA = ConnectionError("down"), ValueError("no quota")


@pytest.mark.parametrize(
    ("model", "limits", "again", "waits"),
    [
        (once(DOWN, DOWN, "late"), AttemptLimits(attempts=3, backoff_s=2), [True, True, False], [2.0, 4.0]),
        (once(DOWN, DOWN, DOWN), AttemptLimits(attempts=3, backoff_s=2), [True, True, False], [2.0, 4.0]),
        (once(DOWN, "late"), AttemptLimits(backoff_s=2), [False], []),
        (once(NO_QUOTA, "late"), AttemptLimits(attempts=3), [False], []),
        (RoleModel((*once(DOWN).chats, *once("so").chats)), AttemptLimits(attempts=3), [False], []),
        (Silent(once("so").chats), AttemptLimits(attempts=3), [False], []),
    ],
    ids=["it passed", "no attempt is left", "one attempt", "it does not pass", "a fallback answered", "no request"],
)
async def test_a_failure_that_may_pass_is_followed_by_as_many_attempts_as_the_step_allows(
    model: RoleModel, limits: AttemptLimits, again: list[bool], waits: list[float]
) -> None:
    clock = PassingClock()
    async with at_desk() as desk:
        await (await desk.models(clock=clock.clock)).ask(
            model, ModelCall("executor", "a:1", [HumanMessage("x")], "a", limits=limits)
        )
        ended = [event.payload for event in await desk.ledger.events(desk.run) if event.kind == "model_finished"]
        assert (len({told["key"] for told in ended}), [told.get("again", False) for told in ended]) == (
            len(again),
            again,
        )
    assert clock.waits == waits


async def test_the_next_process_goes_on_with_the_attempt_after_the_last_on_record() -> None:
    async with at_desk() as desk:
        call = ModelCall("executor", "a:1", [HumanMessage("x")], "a", limits=AttemptLimits(attempts=3, backoff_s=1))

        async def die(_: float) -> None:
            raise asyncio.CancelledError

        model = once(DOWN, DOWN, DOWN)
        with suppress(asyncio.CancelledError):
            await (await desk.models(clock=Clock(sleep=die))).ask(model, call)
        await (await desk.models(clock=PassingClock().clock)).ask(model, call)
        events = await desk.ledger.events(desk.run)
        assert [event.payload.get("again", False) for event in events if event.kind == "model_finished"] == [
            True,
            True,
            False,
        ]


async def test_a_cap_across_runs_holds_a_call_before_its_model_is_asked_and_says_until_when() -> None:
    model, clock = ScriptedModel(["so", "never"]), PassingClock(1_000.0)
    caps = Caps(Policy(per_day=DayLimits(Budget(model_calls=1))), "unverified")

    async with at_desk() as desk:
        gate = await desk.models(caps=caps, clock=clock.clock)
        await gate.ask(role_model(model), ModelCall("planner", "plan:1", [HumanMessage("x")]))
        with pytest.raises(CapReachedError):
            await gate.ask(role_model(model), ModelCall("planner", "plan:2", [HumanMessage("x")]))
        kinds, due_at = (await desk.kinds(), (await desk.last()).payload["due_at"])
    assert kinds == ["model_started", "model_finished", "cap_reached"] and len(model.prompts) == 1
    assert 1_000.0 < due_at <= 1_000.0 + 86_400.0


@pytest.mark.parametrize("pictures", [0, 1, 2])
async def test_a_picture_counts_six_thousand_characters_and_none_of_its_bytes(pictures: int) -> None:
    block = {"type": "image", "mime_type": "image/png", "base64": "AAAA" * 5_000}

    async with at_desk() as desk:
        gate = await desk.models()
        for pad in range(4):  # four characters are a token
            content: list[Any] = [{"type": "text", "text": "x" * pad}, *[block] * pictures]
            await gate.ask(once("so"), ModelCall("planner", f"plan:{pad}", [HumanMessage(content)]))
            reserved = [event for event in await desk.ledger.events(desk.run) if event.kind == "model_started"][-1]
            characters = len(str(without_bytes(content))) + 6_000 * pictures
            assert reserved.payload["reserved"]["tokens"] == characters // 4 + 1_000


async def test_a_model_is_not_asked_while_a_message_waits() -> None:
    model = ScriptedModel(["a plan"])

    async with at_desk() as desk:
        await desk.ledger.post(desk.run, "pause")
        with pytest.raises(MessageWaitingError):
            await (await desk.models()).ask(role_model(model), ModelCall("planner", "plan:1", [HumanMessage("x")]))
        assert not await desk.kinds() and not model.prompts


@pytest.mark.parametrize("kind", ["step_skipped", "steered"])
async def test_a_model_is_not_asked_once_what_is_allowed_has_changed(kind: str) -> None:
    model = ScriptedModel(["a plan"])

    async with at_desk(LoggedTools().tool("send")) as desk:
        gate = await desk.gate()
        await desk.ledger.append(desk.lease, [drafted(kind, step="a" if kind == "step_skipped" else None)])
        with pytest.raises(StaleRunError):
            await gate.models.ask(role_model(model), ModelCall("planner", "plan:1", [HumanMessage("Plan it")]))
        assert (await desk.kinds())[-1] == kind and not model.prompts


async def test_a_request_on_record_is_found_again_and_its_first_two_messages_are_read() -> None:
    told: list[BaseMessage] = [SystemMessage("s"), HumanMessage("h"), HumanMessage("later")]
    call, model = ModelCall("executor", "a:1", told, note="last turn"), role_model(ScriptedModel(["so"] * 2))

    async with at_desk() as desk:
        gate = await desk.models()
        await gate.ask(model, call)
        started = (await desk.ledger.events(desk.run))[1].data
        assert isinstance(started, ModelStarted) and started.prompt is not None and started.prompt.note == "last turn"
        assert gate.is_of(model, call, started.key) and not gate.is_of(model, replace(call, label="b:1"), started.key)
        assert await gate.messages_of(Opening(started.key, None, started.prompt)) == told[:2]
        assert await gate.messages_of(Opening(started.key, None, None)) == []
        gone = replace(started.prompt, messages=Content("[redacted]"))
        assert await gate.messages_of(Opening(started.key, None, gone)) == []
        said = replace(started.prompt, messages=Content([{"type": "ai", "content": "hi"}]))
        assert await gate.messages_of(Opening(started.key, None, said)) == []
        assert gate.tally.sequence == (await desk.last()).seq


async def test_the_instructions_of_a_role_end_its_first_message_unless_the_prompt_on_record_has_them() -> None:
    model = ScriptedModel(["one", "two"])

    async with at_desk() as desk:
        gate = await desk.models(instructions={"planner": "Be brief"})
        for label, recorded in (("plan:1", False), ("plan:2", True)):
            call = ModelCall("planner", label, [HumanMessage("Plan it")], recorded=recorded)
            await gate.ask(role_model(model), call)
    assert [prompt[0].content for prompt in model.prompts] == ["Plan it\nBe brief", "Plan it"]
