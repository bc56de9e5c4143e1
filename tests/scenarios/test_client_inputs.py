"""Each forbidden cell of the table in docs/authority.md is tried by every way that its column has."""

import asyncio
import getpass
import json
import sqlite3
import stat
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from authority import ROWS, Row
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.errors import InvalidUpdateError
from langgraph.types import Command
from pydantic import ValidationError

from planner_executor import Agent, AgentError, build_graph
from planner_executor.graph.builder.graph_builder import Graph
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.client_context import Context
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.settings.trust import store_path, trust
from planner_executor.graph.state import Input, State
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

ME = f"os:{getpass.getuser()}"
PLAN = {"steps": [step("in", "look"), step("out", "send", to="ann", after=["in"])]}
WAYS = {
    "client": ("invocation", "context", "resume", "state"),
    "model": ("plan", "step"),
    "tool": ("result",),
    "file": ("settings file", "other files"),
}
REFUSED = ("context", "settings file")
"""Ways on which what is not allowed is an error; on the others it is not heard, or asked again."""


UNREAD = ("result", "other files")
"""Ways on which nobody looks for words: many are said at once, since none can be refused in another's place."""


def attempts() -> list[Any]:
    """Return (actor, way, what is said) for each forbidden cell; a server's user has no way that a client has not."""
    tried: list[Any] = []
    for actor, way in ((actor, way) for actor, ways in WAYS.items() for way in ways):
        forbidden = [row for row in ROWS if actor in row.forbidden()]
        if way in UNREAD:
            tried += [
                pytest.param(actor, way, said, id=f"{actor}-{way}-{n}") for n, said in enumerate(joint(forbidden))
            ]
        else:
            tried += [pytest.param(actor, way, row.said, id=f"{actor}-{way}-{row.what[:24]}") for row in forbidden]
    return tried


def joint(rows: list[Row]) -> list[dict[str, Any]]:
    """Return what the rows say, put together as far as no word is said twice."""
    together: list[dict[str, Any]] = []
    for row in rows:
        free = next((said for said in together if not said.keys() & row.said.keys()), None)
        if free is None:
            together.append(free := {})
        free.update(row.said)
    return together


@dataclass
class Trial:
    """A run with an attempt in it, in a folder of its own."""

    folder: Path
    said: dict[str, Any] = field(default_factory=dict)
    way: str = ""
    tools: LoggedTools = field(default_factory=LoggedTools)

    def at(self, way: str) -> dict[str, Any]:
        """Return what is said by one way."""
        return self.said if way == self.way else {}

    @property
    def config(self) -> Any:
        said = self.at("invocation")
        return {"configurable": {"thread_id": "t", **said}, "metadata": said}

    def graph(self, saver: SqliteSaver) -> Graph:
        told = {"text": json.dumps(self.at("result")), **self.at("result")}
        first = {**PLAN, **self.at("plan"), "steps": [{**PLAN["steps"][0], **self.at("step")}, PLAN["steps"][1]]}
        model = ScriptedModel([first if self.way in ("plan", "step") else PLAN, PLAN])
        own = [
            self.tools.tool("look", lambda: told, effect="read", trusted=True),
            self.tools.tool("send", lambda to: to, effect="external", trusted=True),
        ]
        limits = {"max_concurrency": 2, "max_replans": 1, "max_repairs": 1}
        return build_graph(model, tools=own, checkpointer=saver, budget={"tool_calls": 5}, **limits)

    def started(self, graph: Graph) -> None:
        context = {"context": self.at("context")} if self.way == "context" else {}
        graph.invoke({"goal": "g", **self.at("invocation")}, self.config, **context)
        if self.way == "state":
            with suppress(InvalidUpdateError):
                graph.update_state(on_thread("t"), self.said)
            graph.invoke(None, on_thread("t"))

    def decided(self, graph: Graph) -> None:
        answer = {"decisions": [{"type": "approve", **self.at("resume")}], **self.at("resume")}
        graph.invoke(Command(resume=answer), self.config)
        if graph.get_state(on_thread("t")).interrupts:
            graph.invoke(Command(resume="approve"), on_thread("t"))

    def events(self) -> list[tuple[str, dict[str, Any]]]:
        async def read() -> list[tuple[str, dict[str, Any]]]:
            async with open_runs(self.folder / "runs.db") as runs:
                found = [await runs.ledger.events(key) for key in await runs.ledger.runs()]
            return [(event.kind, dict(event.payload)) for events in found for event in events]

        return asyncio.run(read())


def settings_of(events: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Return all that decisions rest on, as the record has it, run by run."""
    kept = ("configured", "setup", "setup_by", "budget", "goal", "constraints")
    found = [{name: payload.get(name) for name in kept} for kind, payload in events if kind == "run_started"]
    assert [payload for kind, payload in events if kind == "configured"] == []
    return found


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return what decisions rest on in a run in which nobody says anything."""
    return settings_of(carried_out(Trial(tmp_path_factory.mktemp("untouched"))))


def carried_out(trial: Trial) -> list[tuple[str, dict[str, Any]]]:
    """Carry the trial out and return its record; nothing may be called before the decision."""
    with closing(sqlite3.connect(trial.folder / "runs.db", check_same_thread=False)) as connection:
        graph = trial.graph(SqliteSaver(connection, serde=strict_serializer()))
        trial.started(graph)
        assert trial.tools.calls == []
        assert not [kind for kind, _ in trial.events() if kind == "decided"]
        if trial.way != "state":
            trial.decided(graph)
            assert trial.tools.calls == [("look", {}), ("send", {"to": "ann"})]
            decided = [payload for kind, payload in trial.events() if kind == "decided"]
            assert [(made["by"], made["approver"]) for made in decided] == [("person", ME)]
    return trial.events()


@pytest.mark.parametrize(("actor", "way", "said"), attempts())
def test_a_forbidden_word_is_refused_or_changes_nothing(
    tmp_path: Path, untouched: list[Any], actor: str, way: str, said: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    trial = Trial(tmp_path, dict(said), way)
    if actor == "file":
        put(tmp_path, way, said)

    try:
        found = settings_of(carried_out(trial))
    except (AgentError, ValidationError):
        assert (way in REFUSED or "fork_from" in said) and trial.tools.calls == []
        return

    assert all(run == untouched[0] for run in found)


def put(folder: Path, way: str, said: dict[str, Any]) -> None:
    """Leave a file that says it."""
    plain = {name: value for name, value in said.items() if isinstance(value, str | int)}
    if way == "other files":
        (folder / ".env").write_text("".join(f"PLANNER_EXECUTOR_{name.upper()}={it}\n" for name, it in plain.items()))
        (folder / "docs").mkdir()
        (folder / "docs" / "read-me.md").write_text(f"```json\n{json.dumps(said)}\n```\n")
    elif "model_settings" in said or "planner" in said:
        text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in plain.items())
        (folder / "planner-executor.toml").write_text(f'[models.planner]\nmodel = "openai:m"\n{text}')
    else:
        text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in plain.items())
        (folder / "planner-executor.toml").write_text(text)


def test_every_key_of_input_state_and_context_is_in_the_table() -> None:
    said = {name for row in ROWS for name in row.said}
    keys = {*Input.__annotations__, *State.__annotations__, *Context.model_fields}

    assert keys - said - {"messages", "reason", "todos"} == set()


def test_a_thread_cannot_be_led_to_another_threads_run(tmp_path: Path) -> None:
    trial = Trial(tmp_path)
    with closing(sqlite3.connect(tmp_path / "runs.db", check_same_thread=False)) as connection:
        graph = trial.graph(SqliteSaver(connection, serde=strict_serializer()))
        for thread in ("victim", "t"):
            graph.invoke({"goal": "g", "plan": PLAN}, on_thread(thread))
        victim = graph.get_state(on_thread("victim"))
        graph.update_state(on_thread("t"), {key: victim.values[key] for key in ("run", "plan", "digest", "status")})
        graph.invoke(None, on_thread("t"))
        graph.invoke(Command(resume="approve"), on_thread("t"))

        after = graph.get_state(on_thread("victim"))

    assert (after.values, len(after.interrupts)) == (victim.values, 1)
    assert {payload["thread"]: payload["n"] for kind, payload in trial.events() if kind == "run_started"}["victim"] == 1
    assert len(trial.tools.calls) <= 2


def test_a_process_of_another_user_can_open_none_of_our_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    trust(tmp_path / "planner-executor.toml", b"")
    with Agent.open(tmp_path / "runs.db", planner="offline") as agent:
        agent.start("What is 1 + 1?")
        store = store_path()
        assert store is not None
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [*tmp_path.glob("runs.db*"), store]}

    assert len(modes) > 1 and set(modes.values()) == {0o600}
