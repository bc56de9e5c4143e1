"""A run is played again from its record alone: nothing is done, and every decision comes out the same."""

import asyncio
import json
import random
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool
from langgraph.types import Command

from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.chat_models.roles import role_model
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.errors import ExportError, InputError, LedgerCorruptError, UnknownRunError
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.replay.report import Replay
from planner_executor.graph.runs.record_service import transcript_in
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step
from planner_executor.tools.registry import every_tool

EXAMPLE = Path(__file__).parents[2] / "examples" / "incident"
GOAL = "Audit why the checkout service is failing and draft a fix"
RUN = RunKey("thread", 1)
PLAN = {"steps": [step("a", "search", query="wind"), step("b", "write", text="{a_result.items[0]}")]}


def transcript_of(saver: Any, run: RunKey = RUN) -> Transcript:
    async def read() -> Transcript:
        return await (await ledger_of(None, saver, lambda _: None)()).transcript(run)

    return asyncio.run(read())


def play(transcript: Transcript, planner: Any = None) -> Replay:
    return asyncio.run(replayed(transcript, role_model(planner) if planner is not None else None))


def changed(transcript: Transcript, seq: int, change: Callable[[dict[str, Any]], Any], **columns: Any) -> Transcript:
    """Return a record in which one event says something else; its chain is not computed anew."""
    rows = [*transcript.rows]
    payload = json.loads(rows[seq - 1].payload)
    change(payload)
    rows[seq - 1] = rows[seq - 1]._replace(payload=json.dumps(payload), **columns)
    return replace(transcript, rows=rows)


def seq_of(transcript: Transcript, kind: str, place: int = 0) -> int:
    return [event.seq for event in transcript.events() if event.kind == kind][place]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("incident")


@pytest.fixture(scope="module")
def incident(folder: Path) -> Transcript:
    """The record of the example with a failure, a revision and a gated effect; all that it read and wrote is gone."""
    shutil.copytree(EXAMPLE, folder / "service")
    with Agent.open(folder / "runs.db", tools=every_tool(folder / "service", folder / "workspace")) as agent:
        run = agent.start(GOAL)
        while run.status == "waiting":
            run = agent.resume(run.id, "approve")
        assert run.status == "succeeded" and run.revision == 2
        agent.export(run.id, folder / "run.jsonl")
    shutil.rmtree(folder / "service")
    shutil.rmtree(folder / "workspace")
    return transcript_in(folder / "run.jsonl")


class BusyThreads(ThreadPoolExecutor):
    """Threads that a busy machine never lets run."""

    def submit(self, *_work: Any, **_how: Any) -> Future[Any]:
        """Take the work, and no more."""
        return Future()


class LateLoop(asyncio.SelectorEventLoop):
    """An event loop on a machine so busy that an hour has passed whenever it looks at the clock."""

    def time(self) -> float:
        """Return the time, an hour later each time."""
        self.late_s = getattr(self, "late_s", 0.0) + 3600
        return super().time() + self.late_s


def test_a_busy_machine_does_not_make_a_replay_differ(incident: Transcript) -> None:
    with asyncio.Runner(loop_factory=LateLoop) as runner:
        runner.get_loop().set_default_executor(BusyThreads())
        assert runner.run(replayed(incident)).is_same


def test_the_incident_comes_out_the_same_without_what_it_read_and_wrote(incident: Transcript, folder: Path) -> None:
    played = play(incident)

    assert played.is_same and played.played == played.events == len(incident.rows)
    assert str(played).endswith("every decision came out the same")
    assert {path.name for path in folder.iterdir()} == {"runs.db", "run.jsonl"}


def test_a_run_that_broke_off_anywhere_comes_out_the_same_up_to_there(incident: Transcript) -> None:
    """Every fourth place of the run, others in each run of the tests."""
    for left in range(random.SystemRandom().randint(1, 4), len(incident.rows), 4):
        cut = replace(incident, rows=incident.rows[:left], written=left)
        played = play(cut)
        assert played.is_same and played.played == left, f"cut after {left}: {played}"


@pytest.mark.parametrize(
    ("kind", "place", "change", "field"),
    [
        ("plan_revised", 0, lambda p: p.update(digest="0" * 64), "digest"),
        ("plan_revised", 1, lambda p: p["plan"]["steps"][0]["args"].update(path="/"), "plan.steps[0].args.path"),
        ("review_requested", 1, lambda p: p.update(digest="0" * 64), "digest"),
        ("decided", 0, lambda p: p.update(binding="0" * 64), "binding"),
        ("call_started", 0, lambda p: p["args"].update(path="/etc/passwd"), "args.path"),
        ("call_started", -1, lambda p: p.update(effect="read"), "effect"),
        ("model_started", 0, lambda p: p.update(prompt_digest="0" * 64), "prompt_digest"),
        ("run_ended", 0, lambda p: p.update(status="partial"), "status"),
    ],
)  # fmt: skip
def test_a_decision_that_would_come_out_otherwise_is_named(
    incident: Transcript, kind: str, place: int, change: Any, field: str
) -> None:
    seq = seq_of(incident, kind, place)

    played = play(changed(incident, seq, change))

    assert played.difference is not None and (played.difference.seq, played.difference.field) == (seq, field)
    assert f"event {seq} differs in {field}" in str(played) and not played.is_same
    assert json.loads(json.dumps(played.to_json()))["difference"]["seq"] == seq


def test_a_decision_that_nobody_would_be_asked_for_is_named(incident: Transcript) -> None:
    seq = seq_of(incident, "decided")

    played = play(changed(incident, seq, lambda payload: payload.update(by="policy")))

    assert played.difference is not None and played.difference.seq == seq
    assert played.difference.recorded is not None and played.difference.recorded.kind == "decided"


def test_a_kind_of_event_that_is_not_known_is_where_the_replay_ends(incident: Transcript) -> None:
    seq = seq_of(incident, "executing")

    played = play(changed(incident, seq, lambda _: None, kind="dreamt"))

    assert played.difference is not None and played.difference.seq == seq
    assert "a kind of event that this version does not know" in str(played)


def test_what_another_version_recorded_is_refused(incident: Transcript) -> None:
    with pytest.raises(InputError, match="another version"):
        play(changed(incident, 1, lambda payload: payload["configured"]["settings"].update(no_such_setting=1)))
    with pytest.raises(InputError, match="not recorded by a graph"):
        play(changed(incident, 1, lambda payload: payload.pop("configured")))


def test_no_tool_and_no_model_is_asked(saver: Any, build: Callable[..., Any], tools: LoggedTools) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())
    made = list(tools.calls)

    assert play(transcript_of(saver)).is_same
    assert tools.calls == made and len(graph.model.prompts) == 1


def test_what_ended_first_ends_first_again(saver: Any, tools: LoggedTools) -> None:
    arrived: dict[str, asyncio.Event] = {}

    async def wait(name: str, after: str = "") -> str:
        if after:
            await asyncio.wait_for(arrived.setdefault(after, asyncio.Event()).wait(), 10)
        arrived.setdefault(name, asyncio.Event()).set()
        return name

    tool = StructuredTool.from_function(
        coroutine=wait, name="wait", description="wait for another", metadata={"effect": "read"}
    )
    plan = {
        "steps": [
            {"id": "a", "objective": "o", "tool": "wait", "args": {"name": "a", "after": "c"}},
            {"id": "b", "objective": "o", "tool": "wait", "args": {"name": "b", "after": "d"}},
            {"id": "c", "objective": "o", "tool": "wait", "args": {"name": "c"}},
            {"id": "d", "objective": "o", "tool": "wait", "args": {"name": "d"}, "depends_on": ["c"]},
            {"id": "e", "objective": "o", "tool": "wait", "args": {"name": "{a_result}{b_result}"}},
        ]
    }
    graph = build_graph(ScriptedModel([plan]), tools=[tool], checkpointer=saver, approval="never")
    graph.invoke({"goal": "g"}, on_thread())

    ended = [event.step for event in transcript_of(saver).events() if event.kind == "call_finished"]
    assert ended[0] == "c" and ended[-1] == "e"
    assert play(transcript_of(saver)).is_same


def test_a_thousand_steps_side_by_side_are_played_in_seconds(saver: Any, tools: LoggedTools) -> None:
    plan = {"steps": [step(f"s{number}", "look", n=number) for number in range(300)]}
    graph = build_graph(
        ScriptedModel([plan]), tools=[tools.tool("look", effect="read")], checkpointer=saver, approval="never"
    )
    graph.invoke({"goal": "g"}, on_thread())

    played = play(transcript_of(saver))

    assert played.is_same and played.events > 600


def test_turns_tools_errors_and_refusals_of_a_model_step_come_out_the_same(saver: Any, tools: LoggedTools) -> None:
    def call(tool: str, number: int, **args: Any) -> dict[str, Any]:
        return {"name": tool, "args": args, "id": str(number), "type": "tool_call"}

    turns = [
        AIMessage("", tool_calls=[call("look", 1, name="x"), call("burn", 2, name="y")]),
        AIMessage("", tool_calls=[call("broken", 3, name="z")]),
        "done",
    ]
    think = {"id": "think", "objective": "o", "tools": ["look", "broken"], "max_calls": 3}
    own = [
        tools.tool("look", lambda name: {"text": name * 5_000}, effect="read", trusted=True),
        tools.tool("broken", lambda name: [][0], effect="read", trusted=True),
    ]
    graph = build_graph(
        ScriptedModel([{"steps": [think]}]), ScriptedModel(turns), tools=own, checkpointer=saver, approval="never"
    )
    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"

    kinds = [event.kind for event in transcript_of(saver).events()]
    assert kinds.count("model_finished") == 4 and kinds.count("call_finished") == 2 and "call_refused" in kinds
    assert play(transcript_of(saver)).is_same


def test_a_process_that_died_between_an_answer_and_the_end_of_its_step_is_taken_up_again(
    saver: Any, tools: LoggedTools
) -> None:
    plan = {"steps": [{"id": "think", "objective": "o"}, step("a", "look", n=1)], "answer": ["{think_result}"]}
    own = [tools.tool("look", effect="read")]
    build_graph(ScriptedModel([plan]), ScriptedModel(["done"]), tools=own, checkpointer=saver, approval="never").invoke(
        {"goal": "g"}, on_thread()
    )
    whole = transcript_of(saver)
    row = {(row.kind, row.step): row for row in whole.rows}
    begun, thought = row["executing", None], row["step_finished", "think"]
    order = [
        *(row for row in whole.rows[: begun.seq]),
        row["model_started", "think"],
        row["call_started", "a"],
        row["model_finished", "think"],
        row["call_finished", "a"],
        begun,  # another process takes the run up
        thought,
        *(row for row in whole.rows[begun.seq :] if row.step is None),
    ]
    died = replace(whole, rows=[row._replace(seq=seq) for seq, row in enumerate(order, 1)], written=len(order))

    played = play(died)

    assert played.is_same and played.played == len(order), played


@pytest.mark.parametrize("answer", [RuntimeError("rate limit"), AIMessage("", tool_calls=[
    {"name": "look", "args": {"n": float("nan")}, "id": "1", "type": "tool_call"}])])  # fmt: skip
def test_a_model_that_fails_fails_again(saver: Any, tools: LoggedTools, answer: Any) -> None:
    own = [tools.tool("look", effect="read")]
    plan = {"steps": [{"id": "a", "objective": "o", "tools": ["look"]}]}
    graph = build_graph(
        ScriptedModel([plan]),
        ScriptedModel([answer] * 9),
        tools=own,
        checkpointer=saver,
        approval="never",
        replan="never",
    )
    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "failed"

    assert play(transcript_of(saver)).is_same


def test_a_chat_that_led_to_the_goal_is_told_again(saver: Any, build: Callable[..., Any]) -> None:
    chat = [HumanMessage("Who wrote it?"), AIMessage("<data>Ada</data>"), HumanMessage("And when?")]
    build({"steps": [], "answer": "1843"}).invoke({"messages": chat}, on_thread())

    assert play(transcript_of(saver)).is_same


def test_settings_that_changed_on_the_way_change_again(saver: Any, build: Callable[..., Any]) -> None:
    build(PLAN, max_concurrency=3).invoke({"goal": "g"}, on_thread())
    build(max_concurrency=2).invoke(Command(resume={"type": "perhaps"}), on_thread())
    build(max_concurrency=1).invoke(Command(resume="approve"), on_thread())

    played = play(transcript_of(saver))

    assert played.is_same and [event.kind for event in transcript_of(saver).events()].count("configured") == 2


def test_budgets_are_reached_and_raised_again(saver: Any, build: Callable[..., Any]) -> None:
    graph = build(PLAN, budget={"tool_calls": 1})
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())
    raised = {"name": "raise_budget", "args": {"budget": {"tool_calls": 5}}}
    graph.invoke(Command(resume={"decisions": [{"type": "edit", "edited_action": raised}]}), on_thread())

    kinds = [event.kind for event in transcript_of(saver).events()]
    assert "budget_reached" in kinds and kinds[-1] == "run_ended"
    assert play(transcript_of(saver)).is_same


def test_a_limit_of_time_is_reached_again_without_time_passing(saver: Any, build: Callable[..., Any]) -> None:
    graph = build(PLAN, budget={"wall_s": 0}, approval="never")
    graph.invoke({"goal": "g", "plan": PLAN}, on_thread())

    assert "budget_reached" in [event.kind for event in transcript_of(saver).events()]
    assert play(transcript_of(saver)).is_same


def test_calls_that_had_to_wait_for_their_turn_are_not_waited_for(saver: Any, build: Callable[..., Any]) -> None:
    plan = {"steps": [step("a", "search", query="1"), step("b", "search", query="2"), step("c", "write", text="3")]}
    graph = build(plan, policy={"rates": {"search": 600}}, approval="never")
    graph.invoke({"goal": "g"}, on_thread())

    assert play(transcript_of(saver)).is_same


def paused_and_resumed(folder: Path, tools: LoggedTools, act: Callable[[AsyncAgent], Awaitable[Any]]) -> Transcript:
    """Return the record of a run that is disturbed from within its first call, and then resumed until it ends."""

    async def work() -> Transcript:
        async with AsyncAgent.open(folder / "runs.db", planner=ScriptedModel([]), tools=own, approval="never") as agent:
            acting.append(agent)
            with_plan = {"plan": {"steps": [step("a", "look", n=1), step("b", "look", n="{a_result.n}")]}}
            await agent.start("g", thread="t", **with_plan)
            for _ in range(3):
                if not (await agent.show("t")).ended:
                    await agent.resume("t")
            return await agent.runs.ledger.transcript(RunKey("t", 1))

    acting: list[AsyncAgent] = []

    async def look(n: int) -> dict[str, int]:
        """Look."""
        if acting:
            await act(acting.pop())
        return {"n": n}

    own = [StructuredTool.from_function(coroutine=look, metadata={"effect": "read"})]
    return asyncio.run(work())


@pytest.mark.parametrize("ask", ["pause", "cancel"])
def test_a_message_that_was_left_for_the_run_is_heeded_again(tmp_path: Path, tools: LoggedTools, ask: str) -> None:
    transcript = paused_and_resumed(tmp_path, tools, lambda agent: getattr(agent, ask)("t"))

    kinds = [event.kind for event in transcript.events()]
    assert kinds[-1] == "run_ended" and ("paused" in kinds) == (ask == "pause")
    assert play(transcript).is_same


def test_a_run_that_was_interrupted_is_interrupted_again(tmp_path: Path, tools: LoggedTools) -> None:
    async def start(folder: Path) -> Transcript:
        own = LoggedTools().tool("look", lambda n: {"n": n}, effect="read")
        hanging: asyncio.Event = asyncio.Event()

        async def hang(n: int) -> None:
            """Hang."""
            hanging.set()
            await asyncio.Event().wait()

        slow = StructuredTool.from_function(coroutine=hang, metadata={"effect": "read"})
        plan = {"steps": [step("a", "look", n=1), step("b", "hang", n=2)]}
        settings: dict[str, Any] = {"planner": ScriptedModel([]), "approval": "never"}
        async with AsyncAgent.open(folder / "runs.db", tools=[own, slow], **settings) as agent:
            run = asyncio.create_task(agent.start("g", plan=plan, thread="t"))
            await hanging.wait()
            run.cancel()
            await asyncio.wait([run])
        quick = LoggedTools().tool("hang", lambda n: n, effect="read")
        async with AsyncAgent.open(folder / "runs.db", tools=[own, _like(quick, slow)], **settings) as agent:
            assert (await agent.resume("t")).ended
            return await agent.runs.ledger.transcript(RunKey("t", 1))

    transcript = asyncio.run(start(tmp_path))

    assert "paused" in [event.kind for event in transcript.events()]
    assert play(transcript).is_same


def _like(quick: Any, slow: Any) -> Any:
    return slow.model_copy(update={"coroutine": quick.coroutine, "func": quick.func})


def test_a_run_that_was_cancelled_while_it_waited_is_cancelled_again(tmp_path: Path, tools: LoggedTools) -> None:
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([PLAN]), tools=[
        tools.tool("search", effect="read"), tools.tool("write", effect="write")]) as agent:  # fmt: skip
        run = agent.start("g")
        agent.cancel(run.id)

        assert agent.replay(run.id).is_same


def test_a_redacted_run_is_played_with_the_marks_in_it(tmp_path: Path, tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "look", name="the secret word"), step("b", "look", name="{a_result}!")]}
    own = [tools.tool("look", lambda name: name, effect="read", trusted=True)]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan]), tools=own) as agent:
        run = agent.resume(agent.start("Look for the secret word").id, "approve")
        agent.redact(run.id, "secret", reason="r")

        played = agent.replay(run.id)

    assert played.is_same and played.redacted and "values were taken out of the record" in str(played)


# another planner


def test_a_planner_that_plans_the_same_changes_nothing(saver: Any, build: Callable[..., Any]) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())

    other = ScriptedModel(["Let me think: " + json.dumps(PLAN)])

    assert play(transcript_of(saver), other).is_same and len(other.prompts) == 1


def test_another_plan_is_where_it_first_differs_and_what_it_would_come_to_is_told(
    saver: Any, build: Callable[..., Any], tools: LoggedTools
) -> None:
    graph = build(PLAN)
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())
    made = list(tools.calls)
    other = {"steps": [step("x", "search", query="wind")], "answer": "{x_result}"}

    played = play(transcript_of(saver), ScriptedModel([other]))

    assert played.difference is not None and played.difference.recorded is not None
    assert (played.difference.recorded.kind, played.played) == ("plan_revised", 1)
    assert "added: x; removed: a, b" in str(played)
    assert played.after == "with every plan approved it ends as succeeded: 1 of 1 steps succeeded"
    assert tools.calls == made


@pytest.mark.parametrize(
    ("other", "after"),
    [
        ({"steps": [step("x", "send", to="mallory")]}, "x would call send with arguments that are not on record"),
        ({"steps": [step("x")]}, "the executor would be asked what is not on record"),
        ({"steps": [], "answer": "at once"}, "with every plan approved it ends as succeeded: answered without a plan"),
        ("no plan", "with every plan approved it ends as failed: the planner gave no plan: "),
    ],
)
def test_a_call_that_is_not_on_record_is_never_made(
    saver: Any, build: Callable[..., Any], tools: LoggedTools, other: Any, after: str
) -> None:
    build(PLAN).invoke({"goal": "g"}, on_thread())

    played = play(transcript_of(saver), ScriptedModel([other] * 3))

    assert str(played.after).startswith(after) and not played.is_same and tools.calls == []


# from outside


def test_the_facade_replays_runs_and_files(tmp_path: Path, tools: LoggedTools) -> None:
    own = {"planner": ScriptedModel([PLAN]), "tools": [tools.tool("search", effect="read"), tools.tool("write")]}
    with Agent.open(tmp_path / "runs.db", **own) as agent:
        run = agent.start("g")
        agent.export(run.id, tmp_path / "run.jsonl")

        assert agent.replay(run.id).is_same and agent.replay(tmp_path / "run.jsonl").is_same
        assert not agent.replay(run.id, planner=ScriptedModel([{"steps": [], "answer": 1}])).is_same
        with pytest.raises(UnknownRunError):
            agent.replay("nobody")


def test_a_record_that_was_changed_is_not_played(tmp_path: Path, folder: Path, incident: Transcript) -> None:
    shutil.copy(folder / "runs.db", tmp_path)
    content = (folder / "run.jsonl").read_text()
    (tmp_path / "changed.jsonl").write_text(content.replace("StatisticsError", "Statisticserror"))
    (tmp_path / "cut.jsonl").write_text(content[:-50])
    with closing(sqlite3.connect(tmp_path / "runs.db")) as db, db:
        db.execute("UPDATE ledger_events SET step = 'x' WHERE seq = 12")
    with Agent.open(tmp_path / "runs.db") as agent:
        for changed, error in (
            (incident.run, LedgerCorruptError),
            (tmp_path / "changed.jsonl", LedgerCorruptError),
            (tmp_path / "cut.jsonl", ExportError),
        ):
            with pytest.raises(error):
                agent.replay(changed)
