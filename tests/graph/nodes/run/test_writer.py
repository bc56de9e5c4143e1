"""Writing to a run's record: owning it, heeding its inbox, and events that say what the record does not yet say."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from run_in_memory import PLAN, begun, finished, planned, run_in_memory, services

from planner_executor.graph.calls.tool_call import Admitted, CallHeld
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import CapReachedError, LeaseLostError, RunOwnedError, RunPausedError
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.ending import ANSWER_BYTES
from planner_executor.graph.nodes.run.events import revision
from planner_executor.graph.nodes.run.terms import held_to_terms
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.day_limits import DayLimits
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.caps import CapUse, DayCap
from planner_executor.graph.record.ending import Ending
from planner_executor.graph.record.events import CallPreviewed, Configured, PlanRevised
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.testing import LoggedTools, PassingClock, drafted

NOTE = drafted("executing")
PAY = LoggedTools().tool("pay", effect="write", trusted=True, preview=lambda **_: "pays ann")
STEERED = Amendment(add=("be kind",)).to_text()
LARGE = "x" * (ANSWER_BYTES + 1)
UNTRUSTED = TrustLabel("untrusted", ("page",))


async def kinds(run: RunContext) -> list[str]:
    return [event.kind for event in await run.ledger.events(run.key)][1:]


async def under_other_terms(run: RunContext, **settings: Any) -> RunContext:
    """Return the run as a process with other settings reads it."""
    here = replace(run.services, settings=replace(run.services.settings, **settings))
    services, terms = await held_to_terms(here, run.ledger, run.record.assignment)
    return replace(run, services=services, terms_here=terms)


async def test_the_first_events_are_written_as_the_run_is_taken_if_it_is_as_it_was_read() -> None:
    async with run_in_memory() as run:
        writer = RunWriter(run)
        assert (writer.lease, writer.opened) == (None, False)
        async with writer.owned(NOTE):
            assert (writer.opened, run.record.last_kind) == (True, "executing")
        assert writer.lease is None
        (event,) = [event for event in await run.ledger.events(run.key) if event.kind == "executing"]
        assert event.payload["checkpoint"] == "c"


async def test_the_first_events_wait_if_stricter_terms_have_to_be_recorded_before() -> None:
    async with run_in_memory() as run:
        run = await under_other_terms(run, max_replans=1)
        writer = RunWriter(run)
        async with writer.owned(NOTE):
            assert run.record.seq == 2 and run.services.configuration[0] == run.record.assignment.configuration
            assert not writer.opened
            await writer.write(NOTE)
            await writer.write(NOTE)
        assert await kinds(run) == ["configured", "executing", "executing"]


@pytest.mark.parametrize("ended", [False, True])
async def test_stricter_terms_are_recorded_before_what_they_decide_unless_the_run_has_ended(ended: bool) -> None:
    drafts = [drafted("run_ended")] if ended else []

    async with run_in_memory(*drafts) as run:
        run = await under_other_terms(run, max_replans=1)
        await RunWriter(run).write(NOTE)
        assert (await kinds(run))[int(ended) :] == (["executing"] if ended else ["configured", "executing"])


async def test_weaker_terms_are_not_recorded_and_those_on_record_hold() -> None:
    async with run_in_memory() as run:
        run = await under_other_terms(run, max_replans=9, budget=Budget(steps=1))
        await RunWriter(run).write(NOTE)
        await RunWriter(run).write(NOTE)
        assert (await kinds(run), run.services.settings.max_replans, run.record.spending.budget) == (
            ["configured", "executing", "executing"],
            2,
            Budget(steps=1),
        )


async def test_what_was_written_meanwhile_is_read_as_the_run_is_taken() -> None:
    async with run_in_memory() as run:
        async with run.ledger.owned(run.key) as lease:
            await run.ledger.append(lease, [planned()])
        async with RunWriter(run).owned():
            assert run.record.plan_state.revision == 1


async def test_an_owner_heeds_what_was_left_in_the_inbox_before_and_since() -> None:
    async with run_in_memory() as run:
        writer = RunWriter(run)
        await run.ledger.post(run.key, STEERED)
        async with writer.owned(NOTE):
            assert (writer.opened, run.record.assignment.constraints) == (False, ("be kind",))
            await writer.read_messages()
            await run.ledger.post(run.key, Amendment(withdraw=("be kind",)).to_text())
            await writer.read_messages()
            assert run.record.assignment.constraints == ()


@pytest.mark.parametrize(
    ("messages", "pauses", "status"),
    [(["pause"], True, None), (["pause", "cancel"], False, "cancelled"), (["cancel"], False, "cancelled")],
    ids=str,
)
async def test_a_message_pauses_the_run_unless_it_is_cancelled(messages: list[str], pauses: bool, status: Any) -> None:
    async with run_in_memory() as run:
        writer = RunWriter(run)
        async with writer.owned():
            for message in messages:
                await run.ledger.post(run.key, message)
            if pauses:
                with pytest.raises(RunPausedError):
                    await writer.read_messages()
                assert run.record.last_kind == "paused"
            else:
                await writer.read_messages()
            assert (run.record.ended and run.record.ended.status) == status


async def test_a_run_that_has_ended_is_not_paused() -> None:
    async with run_in_memory(drafted("run_ended")) as run:
        async with (writer := RunWriter(run)).owned():
            await run.ledger.post(run.key, "pause")
            await writer.read_messages()
            await writer.read_messages()
        assert await kinds(run) == ["run_ended"]


async def test_events_are_written_with_or_without_owning_the_run_and_the_record_follows() -> None:
    async with run_in_memory() as run:
        writer = RunWriter(run)
        await writer.write(NOTE)
        assert run.record.seq == 2
        async with writer.owned():
            other = RunWriter(replace(run))
            with pytest.raises(RunOwnedError):
                await other.write(NOTE)
            await writer.write(planned())
            await writer.write(NOTE)
        assert (run.record.seq, run.record.plan_state.revision) == (4, 1)


async def test_a_gate_counts_the_time_of_work_from_its_making() -> None:
    async with run_in_memory() as _run:
        now = [100.0]
        run = await begun(replace(services(), clock=lambda: now[0]), budget=Budget(wall_s=60))
        async with (writer := RunWriter(run)).owned():
            gate = writer.gate()
            call = await gate.admit(Step(id="a", objective="o", tool="send"), "send", {}, {})
            assert isinstance(call, Admitted)
            await gate.commit([], [call])
            finished = await gate.perform(call)
            now[0] += 7
            await gate.commit([finished], [])
        assert (await run.ledger.events(run.key))[-1].payload["worked_s"] == 7.0


@pytest.mark.parametrize("approval", ["always", "never"])
async def test_a_gate_asks_about_untrusted_arguments_unless_nobody_is_asked(approval: str) -> None:
    step = Step(id="a", objective="o", tools=("send",))
    async with run_in_memory(approval=approval) as run, (writer := RunWriter(run)).owned():
        with nullcontext() if approval == "never" else pytest.raises(CallHeld):
            assert isinstance(await writer.gate().admit(step, "send", {"to": "x"}, {}, UNTRUSTED), Admitted)


@pytest.mark.parametrize("last", [False, True])
async def test_a_revision_is_recorded_and_the_run_is_kept_unless_it_is_the_last_event(last: bool) -> None:
    async with run_in_memory() as run, (writer := RunWriter(run)).owned():
        plan = Plan.model_validate(PLAN)
        await writer.revise(plan, "planner", "because", **({"last": True} if last else {}))
        assert run.record.plan_state.digest == plan.digest
        assert run.recorded_plan() is plan, "it is not validated again"
        if last:
            with pytest.raises(LeaseLostError):
                await writer.write(NOTE)
        else:
            await writer.write(NOTE)


async def end_with(answer: Any, *drafts: Any) -> Any:
    """Return the recorded answer of a run that ends so, which releases the run."""

    async with run_in_memory(*drafts) as run:
        async with (writer := RunWriter(run)).owned():
            await writer.end(Ending("succeeded", "done", answer), NOTE)
            with pytest.raises(LeaseLostError):
                await writer.write(NOTE)
        assert run.record.ended is not None and (await kinds(run))[-2:] == ["executing", "run_ended"]
        content = run.record.ended.answer
        if content.artifact is not None and "id" in content.artifact:
            assert await run.ledger.artifact(content.artifact["id"]) == f'"{answer}"'
        return content


async def test_a_small_answer_is_recorded_itself_even_if_it_follows_from_a_result() -> None:
    assert (await end_with("done", planned(), finished("a"))).value == "done"
    assert (await end_with("x" * (ANSWER_BYTES - 2))).artifact is None


async def test_a_large_answer_that_follows_from_a_result_is_not_stored_again() -> None:
    kept = finished("a", LARGE)

    assert (await end_with(LARGE, planned(), kept)).artifact["of"] == "results"


@pytest.mark.parametrize(
    "drafts",
    [(planned(), finished("a")), (planned({**PLAN, "answer": "{a_result.gone}"}), finished("a")), ()],
    ids=["another result", "an answer without a value", "no plan"],
)
async def test_a_large_answer_that_follows_from_nothing_is_stored(drafts: Any) -> None:
    assert "id" in (await end_with(LARGE, *drafts)).artifact


async def test_a_cap_across_runs_that_is_reached_pauses_the_run_until_it_allows_more() -> None:
    async with run_in_memory() as run:
        clocked = replace(run, services=replace(run.services, pauses=PassingClock(1_000.0).clock))
        with pytest.raises(RunPausedError) as paused:
            async with RunWriter(clocked).pausing():
                raise CapReachedError("db", "tool_calls", "at most 1 tool call a day", 60.0)
        (event,) = [event for event in await run.ledger.events(run.key) if event.kind == "paused"]
        assert (event.payload["reason"], event.payload["due_at"], paused.value.due_at) == (
            "at most 1 tool call a day, used up",
            1_060.0,
            1_060.0,
        )


@pytest.mark.parametrize("happened", [True, False])
async def test_a_call_that_did_not_happen_gives_back_what_it_took_of_the_day(happened: bool) -> None:
    cap, policy = DayCap("calls.send", 1), Policy(per_day=DayLimits(Budget(calls={"send": 1})))

    async with run_in_memory(planned(), drafted("call_started", {}, "a"), policy=policy) as run:
        async with run.ledger.owned(run.key) as lease:
            await run.ledger.append(lease, [], caps=[CapUse("k", ((cap, 1.0),))])
        settled = [{"key": "k", "happened": happened}]
        await RunWriter(run).write(NOTE, drafted("decided", {"decision": "settle", "settled": settled}))
        async with run.ledger.owned(run.key) as lease:
            with pytest.raises(CapReachedError) if happened else nullcontext():
                await run.ledger.append(lease, [], caps=[CapUse("l", ((cap, 1.0),))])


async def test_terms_on_record_name_the_budget_if_it_is_another_one() -> None:
    async with run_in_memory() as run:
        await RunWriter(await under_other_terms(run, max_replans=1)).write(NOTE)
        (configured,) = [event.data for event in await run.ledger.events(run.key) if event.kind == "configured"]
        assert isinstance(configured, Configured) and configured.budget is None


async def test_terms_that_are_weaker_alone_are_not_recorded() -> None:
    async with run_in_memory() as run:
        await RunWriter(await under_other_terms(run, max_replans=9)).write(NOTE)
        assert await kinds(run) == ["executing"]


@pytest.mark.parametrize(
    ("author", "owned", "policy", "shown"),
    [
        ("planner", True, Policy(), 1),
        ("state", True, Policy(), 0),
        ("planner", False, Policy(), 0),
        ("planner", True, Policy(tools={"pay": ToolRule("allow")}), 0),
    ],
    ids=["for people", "from the state", "without the run", "for nobody"],
)
async def test_a_plan_that_people_are_shown_has_the_previews_of_its_calls(
    author: str, owned: bool, policy: Policy, shown: int
) -> None:
    run = await begun(services(PAY, policy=policy, approval="side_effects"))
    writer = RunWriter(run)
    async with writer.owned() if owned else nullcontext():
        await writer.revise(Plan(steps=(Step(id="a", objective="o", tool="pay"),)), author, "because")
    (revised,) = [event.data for event in await run.ledger.events(run.key) if event.kind == "plan_revised"]

    assert isinstance(revised, PlanRevised) and len(revised.previews) == shown
    await run.ledger.close()  # type: ignore[attr-defined]


class RecordedTools(Toolbox):
    """Tools of a replay, which has previews on record."""

    @property
    def previews_on_record(self) -> tuple[CallPreview, ...]:
        """A preview of before."""
        return (CallPreview("k", "a", "pay", text="paid ann"),)


PROPOSED = Plan(steps=tuple(Step(id=name, objective="o", tool="pay", args={"to": name}) for name in "ab"))


@pytest.mark.parametrize(
    ("toolbox", "policy", "fields", "texts"),
    [
        (Toolbox((PAY,)), Policy(), {"tainted": ("b",)}, ["pays ann", None]),
        (Toolbox((PAY,)), Policy(), {"tainted": ("b",), "by_look": True}, [None, None]),
        (RecordedTools((PAY,)), Policy(tools={"pay": ToolRule("allow")}), {}, ["paid ann"]),
        (RecordedTools((PAY,)), Policy(), {}, ["pays ann", "pays ann"]),
        (Toolbox((PAY,)), Policy(tools={"pay": ToolRule("allow")}), {}, None),
    ],
    ids=["one step is tainted", "all rest on a look", "of a replay", "anew in a replay", "none"],
)
async def test_a_proposal_is_shown_with_previews_of_what_rests_on_trusted_data(
    toolbox: Toolbox, policy: Policy, fields: Any, texts: list[str | None] | None
) -> None:
    run = await begun(replace(services(policy=policy, approval="side_effects"), toolbox=toolbox))
    async with (writer := RunWriter(run)).owned():
        proposed = replace(revision(run, PROPOSED, "person", "because"), **fields)
        await writer.preview_proposal(PROPOSED, proposed)
    found = [event.data for event in await run.ledger.events(run.key) if isinstance(event.data, CallPreviewed)]

    assert [[one.text for one in data.previews] for data in found] == ([texts] if texts is not None else [])
    await run.ledger.close()  # type: ignore[attr-defined]
