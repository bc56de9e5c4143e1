"""A run that has everything in it: steps side by side, one that fails, one that refuses, a revision, and side effects.

Some results have to meet criteria: a read that is tried again, a thought that is mended, and a payment whose result
will not do before the plan asks less of it, and a judge agrees.

Side effects are made by steps of their own and by a model within a step. What happened is told by those who did it, in
a log that outlives every process. Whoever drives the run passes boundaries: before and after each transaction of the
ledger, each write of the checkpointer, each effect and each model call.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command

from planner_executor import build_graph
from planner_executor.graph.checkpoints.postgres_saver import PostgresSaver, open_postgres_saver
from planner_executor.graph.checkpoints.saver import SharingSaver
from planner_executor.graph.ledger.address import is_address
from planner_executor.graph.ledger.lease import PACE
from planner_executor.graph.ledger.ownership import Held
from planner_executor.graph.ledger.postgres.database import Database as PostgresDatabase
from planner_executor.graph.ledger.postgres.held_leases import HeldLeases
from planner_executor.graph.ledger.postgres.ledger import PostgresLedger
from planner_executor.graph.ledger.sqlite.database import Database
from planner_executor.graph.ledger.sqlite.ledger import SqliteLedger
from planner_executor.graph.ledger.sqlite.pulse import beats_of
from planner_executor.graph.ledger.tables.known_leases import KnownLeases
from planner_executor.graph.ledger.tables.ledger import SqlLedger
from planner_executor.graph.testing import on_thread, step
from planner_executor.tools.errors import NothingHappened

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PLAN = {
    "steps": [
        step("look_1", "look", name="one"),
        step("look_2", "look", name="two"),
        step("big", "large", name="large"),
        step("pay_1", "pay", name="first", after=["look_1"]),
        step("put_1", "put", name="file", after=["look_2"]),
        step("bad", "broken", name="bad", after=["look_1"]),
        step("shy", "ask", name="shop", after=["look_1"]),
        {**step("fee", "pay", name="fee", after=["look_1"]), "checks": [{"matches": "never said"}]},
        {**step("news", "fresh", name="news", after=["look_2"]), "checks": [{"non_empty": True}]},
        {**step("think", after=["look_2", "put_1"]), "checks": [{"matches": "again"}]},
        {**step("buy", after=["look_1"]), "tools": ["pay", "broken", "look"]},
        {**step("each", after=["look_2"]), "tools": ["look"], "for_each": ["x", "y", "z"]},
        {**step("work", after=["look_1"]), "refine": True, "tools": ["look"]},
        step("pay_2", "pay", name="second {bad_result}", after=["pay_1", "think", "big"]),
        step("last", "look", name="{pay_2_result}", after=["pay_2", "buy", "shy"]),
    ],
    "answer": [
        f"{{{name}_result}}"
        for name in ("pay_1", "put_1", "think", "buy", "shy", "fee", "news", "last", "each", "work")
    ],
}
INSTEAD = {
    "bad": step("bad", "look", name="instead", after=["look_1"]),
    "shy": step("shy", "ask", name="shop", after=["look_1"]),
    "fee": {
        **step("fee", "pay", name="fee", after=["look_1"]),
        "checks": [{"matches": "paid"}],
        "success_criteria": "It is paid.",
    },
}
EXPECTED = [
    "paid first",
    "put file",
    "thought again",
    'bought: "saw inner"',
    "asked shop",
    "paid fee",
    "newer",
    "saw paid second saw instead",
    ["each x", "each y", "each z"],
    ["saw near", "saw deep"],
]
REFINED = {
    "do work": {
        "steps": [
            step("top", "look", name="near"),
            {**step("dig", after=["top"]), "refine": True, "tools": ["look"]},
        ],
        "answer": ["{top_result}", "{dig_result}"],
    },
    "do dig": {"steps": [step("deep", "look", name="deep")]},
}
"""What a planner makes of the steps that are refined, by their objectives."""
ROLES = {"failed": "replanner", "criterion": "judge"}
"""What only these roles are told."""
UNSURE = "do each y"
"""Who is cut off the first time it is asked, so that an item fails and is done again."""
ONCE = ("pay", "ask")
"""Tools whose effects may not happen twice."""
RUNS = 1
"""How many runs there are in the end."""
MOST: Mapping[str, int] = {}
"""Effects that may happen more than once all the same."""

Boundary = Callable[[str], None]


class Logs:
    """One line per effect, model call and answer of a person."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "effects.log"

    def note(self, *words: str) -> None:
        """Append a line, at once on disk as far as the other processes are concerned."""
        with self._file.open("a") as file:
            file.write(" ".join(words) + "\n")

    def lines(self) -> list[str]:
        """Return what was noted."""
        return self._file.read_text().splitlines() if self._file.exists() else []


class RoleModel(BaseChatModel):
    """Answers by what it is asked for, so that it can be asked in any process."""

    logs: Any
    boundary: Any
    model_name: str = "roles"

    @property
    def _llm_type(self) -> str:
        return "roles"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        document = json.loads(messages[1].content)
        role = next((role for key, role in ROLES.items() if key in document), document.get("objective", "planner"))
        if item := document.get("results", {}).get("item"):
            role += f" {item}"
        turn = sum(isinstance(message, AIMessage) for message in messages)
        self.boundary(f"before model {role} {turn}")
        role += " again" if f"model {role} 0" in self.logs.lines() and role == UNSURE else ""
        self.logs.note("model", role, str(turn))
        self.boundary(f"after model {role} {turn}")
        return ChatResult(generations=[ChatGeneration(message=_answer(role, turn, document, messages))])


def _answer(role: str, turn: int, document: Any, messages: Any) -> AIMessage:
    if role == "planner":
        return AIMessage(json.dumps(PLAN))
    if role == "replanner":
        left = [step for step in ("pay_2", "last") if document["results"][step]["status"] == "blocked"]
        again = [step for step in document["failed"] if step not in INSTEAD]
        changed = [INSTEAD[step] for step in document["failed"] if step in INSTEAD]
        return AIMessage(json.dumps({"keep": left + again, "steps": changed}))
    if role in REFINED:
        return AIMessage(json.dumps(REFINED[role]))
    if role == "do buy" and turn < 3:
        call = {"name": ("pay", "broken", "look")[turn], "args": {"name": "inner"}, "id": str(turn)}
        return AIMessage("", tool_calls=[call])
    if role == UNSURE:
        return AIMessage("each", response_metadata={"finish_reason": "length"})
    if role.startswith("do each"):
        item = document["results"]["item"]
        call = {"name": "look", "args": {"name": item}, "id": "1"}
        return AIMessage(f"each {item}") if turn else AIMessage("", tool_calls=[call])
    if role == "judge":
        return AIMessage(json.dumps({"met": "paid" in document["result"], "why": "it says so"}))
    if role == "do think":
        return AIMessage("thought again" if turn else "thought")
    return AIMessage(f"bought: {messages[-1].content.partition(chr(10))[0]}")  # the turns left stand below


class WatchedDatabase(Database):
    """The ledger's database with a boundary before and after every transaction."""

    boundary: Boundary

    async def do(self, do: Any, thread: str | None = None, **how: Any) -> Any:
        self.boundary("before ledger")
        result = await super().do(do, thread, **how)
        self.boundary("after ledger")
        return result


class WatchedLedger(SqliteLedger):
    """A ledger in such a database."""

    def __init__(self, path: Path, boundary: Boundary) -> None:
        held: Held = {}
        database = WatchedDatabase(str(path), beats_of(held), PACE.beat_s)
        database.boundary = boundary
        SqlLedger.__init__(self, database, None, PACE, held, KnownLeases())


class WatchedPostgres(PostgresDatabase):
    """The ledger's database on a server, with a boundary before and after every transaction."""

    boundary: Boundary

    async def _do(self, *how: Any) -> Any:
        self.boundary("before ledger")
        result = await super()._do(*how)
        self.boundary("after ledger")
        return result


class WatchedPostgresLedger(PostgresLedger):
    """A ledger in such a database."""

    def __init__(self, address: str, boundary: Boundary) -> None:
        held: Held = {}
        database = WatchedPostgres(address, lambda: tuple(held), PACE.beat_s)
        database.boundary = boundary
        SqlLedger.__init__(self, database, None, PACE, held, HeldLeases())


class Watched(BaseCheckpointSaver[Any]):
    """A checkpointer with a boundary before and after everything it writes."""

    boundary: Boundary

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        self.boundary("before checkpoint")
        result = await super().aput(*args, **kwargs)
        self.boundary("after checkpoint")
        return result

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.boundary("before writes")
        await super().aput_writes(config, writes, task_id, task_path)
        self.boundary("after writes")


class WatchedSaver(Watched, SharingSaver):
    """Such a checkpointer in a file."""


class WatchedPostgresSaver(Watched, PostgresSaver):
    """Such a checkpointer on a server."""


def database_of(folder: Path) -> str:
    """Return the database of a run: the address that its folder names, or a file in it."""
    named = folder / "address"
    return named.read_text() if named.exists() else str(folder / "runs.db")


@asynccontextmanager
async def watched(database: str, boundary: Boundary) -> AsyncIterator[tuple[Any, Any]]:
    """Open a checkpointer and a ledger with boundaries around all that they write."""
    async with AsyncExitStack() as stack:
        ledger: Any
        if is_address(database):
            plain = await stack.enter_async_context(open_postgres_saver(database))
            saver: Any = WatchedPostgresSaver(plain._pool, database, database)
            ledger = WatchedPostgresLedger(database, boundary)
        else:
            connection = await stack.enter_async_context(aiosqlite.connect(database))
            saver, ledger = WatchedSaver(connection, database), WatchedLedger(Path(database), boundary)
            await saver.setup()
        saver.boundary = boundary
        try:
            yield saver, ledger
        finally:
            await ledger.close()


def tools(logs: Logs, boundary: Boundary) -> list[BaseTool]:
    """Return tools that note each effect and lie between two boundaries."""

    def made(kind: str, work: Callable[[str], Any], **metadata: Any) -> BaseTool:
        async def run(name: str) -> Any:
            boundary(f"before {kind} {name}")
            old = kind == "fresh" and f"stale {name}" not in logs.lines()
            if kind == "ask" and f"refused {name}" not in logs.lines():
                logs.note("refused", name)
                raise NothingHappened(f"{name} is closed")
            logs.note("stale" if old else kind, name)
            boundary(f"after {kind} {name}")
            return [] if old else work(name)

        return StructuredTool(name=kind, description=kind, args_schema=ANY, coroutine=run, metadata=metadata)

    def fail(name: str) -> None:
        raise ValueError(f"{name} cannot be had")

    return [
        made("look", lambda name: f"saw {name}", effect="read"),
        made("fresh", lambda _: "newer", effect="read"),
        made("large", lambda _: "x" * 20_000, effect="read"),
        made("pay", lambda name: f"paid {name}"),
        made("ask", lambda name: f"asked {name}"),
        made("put", lambda name: f"put {name}", effect="write", idempotent=True),
        made("broken", fail, effect="read"),
    ]


def decisions(request: dict[str, Any], logs: Logs) -> list[dict[str, Any]]:
    """A person who approves every plan, and looks up what happened before settling an effect."""
    return [_decision(action, request, logs) for action in request["action_requests"]]


def _decision(action: dict[str, Any], request: dict[str, Any], logs: Logs) -> dict[str, Any]:
    if action["name"] == "run_plan":
        logs.note("person approves", request["digest"])
        return {"type": "approve"}
    tool, name = action["args"]["tool"], action["args"]["args"]["name"]
    logs.note("person settles", tool, name)
    happened = f"{tool} {name}" in logs.lines()
    result = {"pay": f"paid {name}", "ask": f"asked {name}"}[tool]
    args = {"happened": happened, "result": result if happened else None}
    return {"type": "edit", "edited_action": {"name": action["name"], "args": args}}


async def drive(folder: Path, boundary: Boundary, durability: Any) -> dict[str, Any]:
    """Start the run, or take it up, and answer what is asked until it has ended."""
    logs = Logs(folder)
    async with watched(database_of(folder), boundary) as (saver, ledger):
        model = RoleModel(logs=logs, boundary=boundary)
        graph = build_graph(model, judge=model, tools=tools(logs, boundary), checkpointer=saver, ledger=ledger)
        return await _driven(graph, logs, durability)


async def _driven(graph: Any, logs: Logs, durability: Any) -> dict[str, Any]:
    config = on_thread("whole")
    begun = (await graph.aget_state(config)).created_at is not None
    state = await graph.ainvoke(None if begun else {"goal": "survive"}, config, durability=durability)
    while "__interrupt__" in state:
        answer = {"decisions": decisions(state["__interrupt__"][0].value, logs)}
        state = await graph.ainvoke(Command(resume=answer), config, durability=durability)
    return dict(state)
