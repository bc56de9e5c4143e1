"""One run, killed at each of its boundaries in turn, and taken up again; `make faults` runs it, the tests sample it.

A boundary lies before and after every write to the ledger, every checkpoint and every tool's effect. They are counted
in an undisturbed run, not chosen. Each killed run is finished by another process, and then judged from outside: by the
tools' own log, the models' own log, and the ledger. Forks from a parent that has imported already.

Usage: boundaries.py FOLDER [--durability sync|async] [--every N] [--from K]
"""

import argparse
import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from graph import build_graph
from graph.checkpoint import strict_serializer
from graph.ledger.sqlite import SqliteLedger
from graph.run.record import read_record
from graph.testing import on_thread, step

ANY = {"type": "object", "properties": {}, "additionalProperties": True}
PLAN = {
    "steps": [
        step("look_1", "look", name="one"),
        step("look_2", "look", name="two"),
        step("big", "large", name="large"),
        step("pay_1", "pay", name="first", after=["look_1"]),
        step("put_1", "put", name="file", after=["look_2"]),
        step("bad", "broken", name="bad", after=["look_1"]),
        step("think", after=["look_2", "put_1"]),
        step("pay_2", "pay", name="second {bad_result}", after=["pay_1", "think", "big"]),
        step("last", "look", name="{pay_2_result}", after=["pay_2"]),
    ],
    "answer": ["{pay_1_result}", "{put_1_result}", "{think_result}", "{last_result}"],
}
REVISION = {"keep": ["pay_2", "last"], "steps": [step("bad", "look", name="instead", after=["look_1"])]}
EXPECTED = ["paid first", "put file", "thought", "saw paid second saw instead"]

Boundary = Callable[[str], None]


class Logs:
    """What happened, told by those who did it: one line per effect, model call and answer of a person."""

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
        role = "replanner" if "failed" in document else "executor" if "objective" in document else "planner"
        self.boundary(f"before model {role}")
        self.logs.note("model", role)
        self.boundary(f"after model {role}")
        words = {"planner": json.dumps(PLAN), "replanner": json.dumps(REVISION), "executor": "thought"}[role]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(words))])


class KilledLedger(SqliteLedger):
    """A ledger with a boundary before and after every transaction."""

    def __init__(self, path: Path, boundary: Boundary) -> None:
        super().__init__(path)
        self._boundary = boundary

    async def _do(self, do: Any, *, full: bool = False) -> Any:
        self._boundary("before ledger")
        result = await super()._do(do, full=full)
        self._boundary("after ledger")
        return result


class KilledSaver(AsyncSqliteSaver):
    """A checkpointer with a boundary before and after everything it writes."""

    boundary: Boundary

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        self.boundary("before checkpoint")
        result = await super().aput(*args, **kwargs)
        self.boundary("after checkpoint")
        return result

    async def aput_writes(self, *args: Any, **kwargs: Any) -> None:
        self.boundary("before writes")
        await super().aput_writes(*args, **kwargs)
        self.boundary("after writes")


def tools(logs: Logs, boundary: Boundary) -> list[BaseTool]:
    """Return tools that note each effect and lie between two boundaries."""

    def made(kind: str, work: Callable[[str], Any], **metadata: Any) -> BaseTool:
        async def run(name: str) -> Any:
            boundary(f"before {kind} {name}")
            logs.note(kind, name)
            boundary(f"after {kind} {name}")
            return work(name)

        return StructuredTool(name=kind, description=kind, args_schema=ANY, coroutine=run, metadata=metadata)

    def fail(name: str) -> None:
        raise ValueError(f"{name} cannot be had")

    return [
        made("look", lambda name: f"saw {name}", effect="read"),
        made("large", lambda _: "x" * 20_000, effect="read"),
        made("pay", lambda name: f"paid {name}"),
        made("put", lambda name: f"put {name}", effect="write", idempotent=True),
        made("broken", fail, effect="read"),
    ]


def answers(request: dict[str, Any], logs: Logs) -> list[dict[str, Any]]:
    """A person who approves every plan, and looks up what happened before settling an effect."""
    return [_answer(action, logs) for action in request["action_requests"]]


def _answer(action: dict[str, Any], logs: Logs) -> dict[str, Any]:
    if action["name"] == "run_plan":
        return {"type": "approve"}
    name = action["args"]["args"]["name"]
    happened = f"pay {name}" in logs.lines()
    args = {"happened": happened, "result": f"paid {name}" if happened else None}
    return {"type": "edit", "edited_action": {"name": action["name"], "args": args}}


async def drive(folder: Path, boundary: Boundary, durability: Any) -> dict[str, Any]:
    """Start the run, or take it up, and answer what is asked until it has ended."""
    logs = Logs(folder)
    async with aiosqlite.connect(folder / "runs.db") as connection:
        saver = KilledSaver(connection, serde=strict_serializer())
        saver.boundary = lambda name: None
        await saver.setup()
        saver.boundary = boundary
        ledger = KilledLedger(folder / "runs.db", boundary)
        model = RoleModel(logs=logs, boundary=boundary)
        graph = build_graph(model, tools=tools(logs, boundary), checkpointer=saver, ledger=ledger)
        config = on_thread("kill")
        begun = (await graph.aget_state(config)).created_at is not None
        state = await graph.ainvoke(None if begun else {"goal": "survive"}, config, durability=durability)
        while "__interrupt__" in state:
            decisions = answers(state["__interrupt__"][0].value, logs)
            state = await graph.ainvoke(Command(resume={"decisions": decisions}), config, durability=durability)
        await ledger.close()
    return dict(state)


def killing(at: int) -> tuple[Boundary, list[str]]:
    """Return a boundary that kills this process when it is passed for the `at`-th time, and the names it has seen."""
    seen: list[str] = []

    def boundary(name: str) -> None:
        seen.append(name)
        if len(seen) == at:
            os.kill(os.getpid(), signal.SIGKILL)

    return boundary, seen


def in_child(work: Callable[[], None]) -> int:
    """Run work in a forked process and return its wait status."""
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    try:
        work()
    except BaseException:  # noqa: BLE001  (a child of a fork must not go on as its parent)
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def undisturbed(folder: Path, durability: str) -> list[str]:
    """Run without a kill and return the names of the boundaries that were passed."""
    folder.mkdir(parents=True)

    def work() -> None:
        boundary, seen = killing(0)
        state = asyncio.run(drive(folder, boundary, durability))
        assert (state["status"], state["answer"]) == ("succeeded", EXPECTED), state
        (folder / "boundaries").write_text("\n".join(seen))

    if in_child(work):
        sys.exit("the undisturbed run failed")
    return (folder / "boundaries").read_text().splitlines()


def killed(folder: Path, at: int, durability: str) -> list[str]:
    """Kill a run at a boundary, take it up in another process, and return what is wrong with the outcome."""
    folder.mkdir(parents=True)
    in_child(lambda: asyncio.run(drive(folder, killing(at)[0], durability)) and None)

    def finish() -> None:
        state = asyncio.run(drive(folder, lambda name: None, durability))
        (folder / "state.json").write_text(json.dumps({key: state[key] for key in ("status", "answer")}))

    if in_child(finish):
        return ["the run could not be taken up"]
    return asyncio.run(judged(folder))


async def judged(folder: Path) -> list[str]:
    """Return what the logs and the ledger say against the promise."""
    state = json.loads((folder / "state.json").read_text())
    noted = Counter(Logs(folder).lines())
    ledger = SqliteLedger(folder / "runs.db")
    runs = await ledger.runs()
    events = await ledger.events(runs[0])
    await ledger.close()
    finished = Counter(event.payload["key"] for event in events if event.kind == "call_finished")
    decided = [event.payload["digest"] for event in events if event.kind == "decided" and not event.payload["settled"]]
    answered = Counter(event.payload["role"] for event in events if event.kind == "model_finished")
    faults = [] if (state["status"], state["answer"]) == ("succeeded", EXPECTED) else [f"ended as {state}"]
    faults += [f"{what} {times} times" for what, times in noted.items() if what.startswith("pay") and times > 1]
    faults += [f"{what} {times} times" for what, times in noted.items() if times > 2]
    faults += [f"call {key[:8]} finished {times} times" for key, times in finished.items() if times > 1]
    faults += [f"decision on {one[:8]} {n} times" for one, n in Counter(decided).items() if n > 1]
    faults += [f"{role} answered {times} times" for role, times in answered.items() if times > 1]
    repeated = sum(times - 1 for times in noted.values())
    faults += [f"{repeated} calls repeated after one kill"] if repeated > 16 else []
    faults += [] if read_record(events).ended else ["the ledger knows of no end"]
    return faults


def main(argv: Sequence[str]) -> int:
    """Kill at every boundary, or every n-th, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--durability", choices=("sync", "async"), default="sync")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=1)
    asked = parser.parse_args(argv)
    names = undisturbed(asked.folder / "undisturbed", asked.durability)
    points = range(asked.first, len(names) + 1, asked.every)
    bad = 0
    for at in points:
        faults = killed(asked.folder / str(at), at, asked.durability)
        bad += bool(faults)
        for fault in faults:
            sys.stdout.write(f"killed at {at} ({names[at - 1]}): {fault}\n")
    sys.stdout.write(f"{asked.durability}: {len(names)} boundaries, {len(points)} kills, {bad} runs at fault\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
