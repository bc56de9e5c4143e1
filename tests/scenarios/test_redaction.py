"""A value is taken out of a run that held it everywhere: nowhere in the file, and the chain still holds."""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.errors import InputError, LedgerUnavailableError, RunOwnedError
from planner_executor.graph.ledger.seal import VARIABLE
from planner_executor.graph.ledger.sqlite import vacuum
from planner_executor.graph.ledger.sqlite.packed_payload import payload_text
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

SECRET = 'tango "7 quebec"\nfünf'
IN_JSON = [json.dumps(SECRET)[1:-1], json.dumps(SECRET, ensure_ascii=False)[1:-1]]
PLAN = {
    "steps": [
        step("a", "look", name=f"say {SECRET} twice"),
        step("big", "large", name=SECRET),
        step("think", after=["a"]),
        {"id": "use", "objective": f"use {SECRET}", "tools": ["look"], "depends_on": ["think", "big"]},
        step("bad", "broken", name=SECRET),
    ],
    "answer": "{use_result}",
}
REVISED = {"keep": ["a", "big", "think", "use"], "steps": [], "answer": {"it": "{use_result}"}}
CALL = {"name": "look", "args": {"name": f"{SECRET}!"}, "id": "1", "type": "tool_call"}


def fail(name: str) -> None:
    raise ValueError(f"no {name}")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def options_with(tools: LoggedTools) -> dict[str, Any]:
    asked = AIMessage("", tool_calls=[CALL])
    scripts = [PLAN, REVISED, f"thought of {SECRET}", asked, f"done with {SECRET}"]
    order = {"planner": [PLAN], "replanner": [REVISED], "executor": scripts[2:]}
    return {
        "planner": ScriptedModel(order["planner"]),
        "replanner": ScriptedModel(order["replanner"] * 2),
        "executor": ScriptedModel(order["executor"]),
        "max_concurrency": 1,
        "tools": [
            tools.tool("look", lambda name: f"saw {name}", effect="read", trusted=True),
            tools.tool("large", lambda name: {"text": name * 1_000}, effect="read", trusted=True),
            tools.tool("broken", fail, effect="read", trusted=True),
        ],
    }


@pytest.fixture
def options(tools: LoggedTools) -> dict[str, Any]:
    return options_with(tools)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file with a run that held the value in goal, plan, arguments, results, prompts, errors, reviews, decisions."""
    file = tmp_path_factory.mktemp("recorded") / "runs.db"
    with Agent.open(file, **options_with(LoggedTools())) as agent:
        started = agent.start(f"What is {SECRET}?", constraints=[f"keep {SECRET}"])
        agent.resume(started.id, {"type": "perhaps", "why": SECRET})
        ended = agent.resume(started.id, "approve")
        while ended.status == "waiting":
            ended = agent.resume(started.id, "approve")
        assert ended.status in ("partial", "succeeded") and ended.answer == {"it": f"done with {SECRET}"}
    return file, started.id


@pytest.fixture
def run(database: Path, options: dict[str, Any], recorded: tuple[Path, str]) -> Iterator[tuple[Agent, str]]:
    """That run in a file of one's own."""
    file, name = recorded
    shutil.copy(file, database)
    with Agent.open(database, **options) as agent:
        yield agent, name


def content(database: Path) -> bytes:
    return b"".join(file.read_bytes() for file in database.parent.glob(f"{database.name}*"))


def holds(database: Path, text: str) -> bool:
    """Whether the text is in the file, in one piece or in any cell of any table, unpacked."""
    found = content(database)
    with closing(sqlite3.connect(database)) as db:
        db.text_factory = bytes
        tables = [name.decode() for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        cells = [cell for table in tables for row in db.execute(f"SELECT * FROM {table}") for cell in row]
        events = db.execute("SELECT CAST(payload AS BLOB) FROM ledger_events WHERE typeof(payload) = 'blob'")
        cells += [payload_text("call_finished", payload).encode() for (payload,) in events]
    return any(text.encode() in part for part in (found, *(cell for cell in cells if isinstance(cell, bytes))))


def test_the_bytes_are_nowhere_in_the_file_and_the_chain_holds(database: Path, run: tuple[Agent, str]) -> None:
    agent, name = run
    assert any(holds(database, form) for form in IN_JSON) and holds(database, "quebec")
    before = agent.verify(name)

    done = agent.redact(name, SECRET, reason="it was a secret", by="os:ann")  # a name, whatever it looks like

    assert not any(holds(database, form) for form in (SECRET, "quebec", "tango", *IN_JSON))
    assert done.remaining == () and done.artifacts > 0 and done.checkpoints > 0
    found = agent.verify(name, head=before.head)
    assert found.is_whole and found.noted_seq == before.events and found.events == before.events + 1
    (redaction,) = found.redactions
    assert (redaction.by, redaction.reason, redaction.seq) == ("claimed:os:ann", "it was a secret", found.events)
    assert list(redaction.events) == [seq for events in done.events.values() for seq in events]


def test_the_run_is_shown_and_told_as_before_with_a_mark_in_the_place_of_the_value(run: tuple[Agent, str]) -> None:
    agent, name = run
    before = agent.show(name)
    agent.redact(name, SECRET, reason="r")

    after = agent.show(name)

    assert after.goal == "What is [redacted]?" and after.answer == {"it": "done with [redacted]"}
    assert (after.status, after.step_status) == (before.status, before.step_status)
    assert after.results["a"].value == "saw say [redacted] twice"
    told = str(agent.audit(name))
    assert "a value was removed from events 1, 2, 3" in told and "no [redacted]" in told
    assert len(agent.log(name)) == len(agent.audit(name).events)


def test_an_exported_run_is_verified_with_its_redactions(run: tuple[Agent, str], tmp_path: Path) -> None:
    agent, name = run
    agent.redact(name, SECRET, reason="r")
    agent.export(name, tmp_path / "run.jsonl")

    found = agent.verify(tmp_path / "run.jsonl")

    assert found.is_whole and len(found.redactions) == 1
    assert "quebec" not in (tmp_path / "run.jsonl").read_text()


@pytest.mark.parametrize(
    "secret", ["tango [7](quebec) <b>mike</b>", "*tango* `mike`\n- quebec [x]", "ta\u200dngo_quebec["]
)
def test_a_value_that_a_chat_shows_in_other_markdown_is_taken_out_too(
    database: Path, tools: LoggedTools, secret: str
) -> None:
    plan = {"steps": [], "answer": f"It is {secret}, and [more](http://e.org)"}
    with Agent.open(database, planner=ScriptedModel([plan]), tools=[]) as agent:
        run = agent.start("What is it?")
        assert holds(database, "quebec")

        agent.redact(run.id, secret, reason="r")

        assert not holds(database, "quebec") and agent.verify(run.id).is_whole


def change(database: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(database)) as db, db:
        assert db.execute(statement, values).rowcount == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ledger_events SET payload = replace(payload, '[redacted]', '[redacted!') WHERE seq = 1",
        "UPDATE ledger_events SET salt = x'00' WHERE seq = 1",
        "UPDATE ledger_events SET digest = x'00' WHERE seq = 1",
        "UPDATE ledger_events SET salt = x'' WHERE kind = 'executing' AND seq = (SELECT min(seq) FROM ledger_events "
        "WHERE kind = 'executing')",
    ],
)
def test_a_redacted_event_that_is_changed_is_found(database: Path, run: tuple[Agent, str], statement: str) -> None:
    agent, name = run
    agent.redact(name, SECRET, reason="r")

    change(database, statement)

    assert not agent.verify(name).is_whole


def test_digests_that_could_be_used_to_guess_the_value_are_gone(
    database: Path, tools: LoggedTools, tmp_path: Path
) -> None:
    plan = {"steps": [step("a", "look", pin=4711), step("b", "look", pin=5000), step("c", "look", n="{a_result}")]}
    own = [tools.tool("look", lambda **args: args, effect="read")]
    with Agent.open(database, planner=ScriptedModel([]), tools=own) as agent:
        ended = agent.resume(agent.start("look", plan=plan, thread="t").id, "approve")
        events = list(agent.log(ended.id))
        agent.redact(ended.id, "4711", reason="r")
        (kept,) = [found for found in agent.log(ended.id) if found.step == "b" and found.kind == "call_started"]

    fields = ("digest", "binding", "subject")
    guessable = {found.payload[name] for found in events for name in fields if found.payload.get(name)}
    keys = {found.step: found.payload["key"] for found in events if found.kind == "call_started"}
    assert not any(holds(database, hexadecimal) for hexadecimal in guessable)
    assert not holds(database, keys["a"]) and not holds(database, keys["c"])
    assert kept.payload["key"] == keys["b"] and holds(database, keys["b"])
    assert not re.search(rb"-asks-[0-9a-f]{16}", content(database))
    assert not re.search(rb"brought\xd9@[0-9a-f]{64}", content(database))


def test_a_run_that_waits_is_asked_again_and_goes_on_without_the_value(database: Path, tools: LoggedTools) -> None:
    plan = {"steps": [step("a", "look", name=SECRET)]}
    own = [tools.tool("look", lambda name: name, effect="read")]
    with Agent.open(database, planner=ScriptedModel([]), tools=own) as agent:
        started = agent.start("look", plan=plan)
        agent.redact(started.id, SECRET, reason="r")

    with Agent.open(database, planner=ScriptedModel([]), tools=own) as agent:
        assert agent.show(started.id).status == "waiting"
        stands = agent.resume(started.id, "approve")
        while stands.status == "waiting":
            stands = agent.resume(started.id, "approve")

    assert (stands.status, stands.answer) == ("succeeded", "[redacted]") and tools.named("look") == [
        {"name": "[redacted]"}
    ]


def test_what_other_threads_hold_stays_and_is_named(database: Path, run: tuple[Agent, str], options: Any) -> None:
    agent, name = run
    with Agent.open(database, **{**options, "planner": ScriptedModel([{"steps": [], "answer": SECRET}])}) as other:
        kept = other.start("again", thread="other")

    done = agent.redact(name, SECRET, reason="r")

    assert "run other.1" in done.remaining and all("other" in place for place in done.remaining)
    assert agent.show(kept.id).answer == SECRET
    assert agent.redact(kept.id, SECRET, reason="r").remaining == ()
    assert not holds(database, "quebec")


def test_a_value_is_taken_out_of_packed_events_and_those_of_other_threads_are_named(
    database: Path, tools: LoggedTools
) -> None:
    own = [tools.tool("look", lambda name: f"{name} and more words of a long result " * 50, effect="read")]
    plan = {"steps": [step("a", "look", name="x")], "answer": "done"}
    with Agent.open(database, planner=ScriptedModel([]), tools=own, approval="never") as agent:
        for thread in ("one", "other"):
            agent.start("look", plan=plan, thread=thread)
        assert holds(database, "x and more words") and b"x and more words" not in packed_events(database)

        done = agent.redact("one", "long result", reason="r")

        assert "run other.1" in done.remaining and not any("one" in place for place in done.remaining)
        assert "[redacted]" in agent.value("one", "a") and agent.verify("one").is_whole
        agent.redact("other", "long result", reason="r")
    assert packed_events(database) and not holds(database, "long result")


def packed_events(database: Path) -> bytes:
    with closing(sqlite3.connect(database)) as db:
        query = "SELECT payload FROM ledger_events WHERE typeof(payload) = 'blob'"
        return b"".join(payload for (payload,) in db.execute(query))


def test_a_value_that_is_in_no_record_leaves_all_as_it_was(run: tuple[Agent, str]) -> None:
    agent, name = run
    before = agent.verify(name)

    done = agent.redact(name, "never said", reason="r")

    assert (done.events, done.artifacts, done.remaining) == ({}, 0, ()) and agent.verify(name) == before


def test_a_second_value_is_taken_out_of_what_a_first_has_left(run: tuple[Agent, str]) -> None:
    agent, name = run
    agent.redact(name, "quebec", reason="first")
    agent.redact(name, "tango", reason="second, for tango")

    found = agent.verify(name)

    assert found.is_whole and [redaction.reason for redaction in found.redactions] == [
        "first",
        "second, for [redacted]",
    ]
    assert agent.show(name).goal == 'What is [redacted] "7 [redacted]"\nfünf?'


@pytest.mark.parametrize("value", ["abc", "step", "look", "succeeded", "person", "thread", "planner"])
def test_a_word_that_the_record_needs_is_refused_and_nothing_changes(run: tuple[Agent, str], value: str) -> None:
    agent, name = run
    before = agent.verify(name)

    with pytest.raises(InputError):
        agent.redact(name, value, reason="r")

    assert agent.verify(name) == before


def test_a_run_that_is_worked_on_is_not_redacted(database: Path, tools: LoggedTools) -> None:
    caught: list[BaseException] = []

    def work(name: str) -> str:
        try:
            agent.redact("t.1", SECRET, reason="r")
        except RunOwnedError as error:
            caught.append(error)
        return name

    own = [tools.tool("look", work, effect="read")]
    with Agent.open(database, planner=ScriptedModel([]), tools=own) as agent:
        agent.start(f"look for {SECRET}", plan={"steps": [step("a", "look", name="x")]}, thread="t")
        agent.resume("t", "approve")

    assert len(caught) == 1 and holds(database, "quebec")


def test_a_reader_that_keeps_old_pages_is_told_of(
    database: Path, run: tuple[Agent, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vacuum, "BUSY_S", 0.1)
    agent, name = run
    with closing(sqlite3.connect(database)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM ledger_events").fetchone()
        with pytest.raises(LedgerUnavailableError, match="redact again"):
            agent.redact(name, SECRET, reason="r")

    assert "[redacted]" in agent.show(name).goal
    assert agent.redact(name, SECRET, reason="r").remaining == () and not holds(database, "quebec")


def test_a_sealed_run_stays_sealed(database: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "a key of many letters")
    with Agent.open(database, **options) as agent:
        run = agent.start(f"What is {SECRET}?")
        agent.redact(run.id, SECRET, reason="r")

        assert agent.verify(run.id).seal == "whole" and agent.verify(run.id).is_whole
