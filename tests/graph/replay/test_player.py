"""Records of runs whose process died, or was interrupted, between two events that a whole run writes close together.

Each record is that of a run that came to its end, with some events left out, repeated or moved.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.checkpoints.checkpoint import ledger_of
from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.amendment import Amendment
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.replay.player import replayed
from planner_executor.graph.replay.report import Replay
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step


def transcript_of(saver: InMemorySaver) -> Transcript:
    async def read() -> Transcript:
        return await (await ledger_of(None, saver, lambda _: None)()).transcript(RunKey("thread", 1))

    return asyncio.run(read())


def rearranged(transcript: Transcript, rows: Iterable[Row]) -> Transcript:
    numbered = [row._replace(seq=seq) for seq, row in enumerate(rows, 1)]
    return replace(transcript, rows=numbered, written=len(numbered))


def play(transcript: Transcript) -> Replay:
    return asyncio.run(replayed(transcript))


def at(rows: Iterable[Row], kind: str, step: str | None = None, nth: int = 0) -> Row:
    return [row for row in rows if (row.kind, row.step) == (kind, step)][nth]


def said(like: Row, kind: str, **payload: Any) -> Row:
    return like._replace(kind=kind, step=None, payload=json.dumps(payload))


INTERRUPTED = {"reason": "interrupted"}


@pytest.fixture
def record(saver: InMemorySaver, tools: LoggedTools) -> Callable[..., Transcript]:
    """Carry a plan out, each role with its answers, and return the record."""

    def made(*steps: dict[str, Any], planner: Any = (), executor: Any = (), replanner: Any = (), **how: Any) -> Any:
        own = [tools.tool("look", lambda **args: args, effect="read", trusted=True), tools.tool("broken", _fail)]
        own[1].metadata = {"effect": "read"}
        graph = build_graph(
            ScriptedModel(planner),
            ScriptedModel(executor),
            replanner=ScriptedModel(replanner),
            tools=own,
            checkpointer=saver,
            approval="never",
            **how,
        )
        graph.invoke({"goal": "g", "plan": {"steps": list(steps)}}, on_thread())
        return transcript_of(saver)

    return made


def _fail(**_: Any) -> None:
    raise ValueError("the service is down")


def test_a_replanner_that_died_before_its_checkpoint_is_taken_up_where_it_began(record: Callable[..., Any]) -> None:
    refine = {"id": "r", "objective": "o", "refine": True, "tools": ["look"]}
    whole = record(refine, planner=["no plan"] * 2, replanner=[{"steps": [step("r", "look", n=1)]}])
    rows = whole.rows
    failed, asked = at(rows, "step_finished", "r"), at(rows, "model_started", nth=2)
    node = json.loads(failed.payload)["checkpoint"]
    revised = at(rows, "plan_revised", nth=1)
    moved = revised._replace(payload=json.dumps({**json.loads(revised.payload), "checkpoint": node}))
    after = [moved if row == revised else row for row in rows[asked.seq - 1 :]]

    died = [*rows[: failed.seq], *after]

    assert at(rows, "executing", nth=1).seq in range(failed.seq, asked.seq)
    for length in (len(died), failed.seq + 1):
        assert (played := play(rearranged(whole, died[:length]))).is_same, played


def test_an_executor_that_died_before_its_checkpoint_is_taken_up_under_other_settings(
    saver: InMemorySaver, build: Callable[..., Any]
) -> None:
    plan = {"steps": [step("a", "search", query="wind")]}
    build(plan).invoke({"goal": "g"}, on_thread())
    build(max_concurrency=1).invoke(Command(resume="approve"), on_thread())
    whole = transcript_of(saver)
    configured, executing, end = (at(whole.rows, kind) for kind in ("configured", "executing", "run_ended"))
    rows = [row for row in whole.rows if row != configured]

    died = [*rows[:-1], configured, executing, end]

    for length in (len(died), len(died) - 1, len(died) - 2):
        assert (played := play(rearranged(whole, died[:length]))).is_same, played


def test_an_outcome_that_came_with_another_one_is_written_before_what_that_makes_ready(
    record: Callable[..., Any],
) -> None:
    none = {**step("none", "look", n="{item_result}", after=["a"]), "for_each": []}
    whole = record(step("a", "look", n=1), step("b", "look", n=2), none)
    rows = whole.rows
    begun, last = at(rows, "executing"), at(rows, "step_finished", "none")

    died = rearranged(
        whole,
        [
            *rows[: begun.seq],
            *(at(rows, "call_started", name) for name in "ab"),
            *(at(rows, "call_finished", name) for name in "ab"),
            begun,  # another process takes the run up
            last,
            at(rows, "run_ended"),
        ],
    )

    assert (played := play(died)).is_same, played


@pytest.mark.parametrize("is_steered", [False, True])
def test_work_that_was_interrupted_gets_no_further_than_on_record(record: Callable[..., Any], is_steered: bool) -> None:
    turns = [AIMessage("", tool_calls=[{"name": "look", "args": {"n": 1}, "id": "1"}]), "done"]
    whole = record({"id": "a", "objective": "o", "tools": ["look"]}, executor=turns)
    rows = whole.rows
    begun, answer = at(rows, "executing"), at(rows, "model_finished", "a")
    read = said(begun, "steered", **Amendment(("short",), (), None, "os:ada").draft(()).payload)

    interrupted = [*rows[: answer.seq], *([read] if is_steered else []), said(begun, "paused", **INTERRUPTED)]
    if not is_steered:
        interrupted += [begun, *rows[answer.seq :]]

    assert (played := play(rearranged(whole, interrupted))).is_same, played


def test_work_that_was_interrupted_before_its_end_is_not_ended(record: Callable[..., Any]) -> None:
    whole = record(step("a", "look", n=1))
    begun, end = at(whole.rows, "executing"), whole.rows[-1]

    interrupted = [*whole.rows[:-1], said(begun, "paused", **INTERRUPTED), begun, end]

    assert (played := play(rearranged(whole, interrupted))).is_same, played


def test_items_come_no_further_than_on_record_though_others_do(record: Callable[..., Any]) -> None:
    each = {"id": "a", "objective": "o", "tools": ["look"], "for_each": ["x", "y"]}
    calls = [AIMessage("", tool_calls=[{"name": "look", "args": {"n": n}, "id": "1"}]) for n in "xy"]
    whole = record(each, executor=[*calls, "x", "y"])
    rows = whole.rows
    begun, first = at(rows, "executing"), [at(rows, "model_started", "a", n) for n in (0, 1)]
    answers = {json.loads(row.payload)["key"]: row for row in rows if row.kind == "model_finished"}
    ends = [answers[json.loads(row.payload)["key"]] for row in first]
    called = {json.loads(row.payload)["item"]: row for row in rows if row.kind == "call_started"}
    rest = [row for row in rows[begun.seq :] if row not in [*first, *ends]]

    died = rearranged(whole, [*rows[: begun.seq], *first, *ends, called[1], begun, *rest])

    assert (played := play(died)).is_same, played


def test_a_prompt_lists_failures_in_the_order_of_the_record(record: Callable[..., Any]) -> None:
    again = {"steps": [step(name, "look", n=1) for name in "ab"]}
    whole = record(
        {"id": "a", "objective": "o", "output": {"type": "integer"}},
        step("b", "broken"),
        executor=["none"],
        replanner=[again],
    )
    failed, answer = at(whole.rows, "call_finished", "b"), at(whole.rows, "model_finished", "a", -1)
    rows = [row for row in whole.rows if row != failed]
    rows.insert(rows.index(answer) + 1, failed)

    assert failed.seq < answer.seq < at(whole.rows, "step_finished", "a").seq
    assert (played := play(rearranged(whole, rows))).is_same, played
