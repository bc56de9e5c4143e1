"""What runs cost through the doors that people use: the facades, the command line and the review desk.

Each door does everything that it has once for a small plan and once for a large one. Processor time must not grow
faster than the plan, and no callback may hold an event loop up that others share.
"""

import asyncio
import gc
import json
import sys
import tempfile
import threading
import time
from asyncio import Handle
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import httpx
from typer.testing import CliRunner

from benchmarks.figures import Figure, at_most
from benchmarks.processes import starting
from benchmarks.sizes import Sizes
from planner_executor import Agent, AsyncAgent
from planner_executor.graph.cli import app
from planner_executor.graph.desk.application import desk_application
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.graph.text.review.drawing import fitted
from planner_executor.graph.text.review.frame import to_text

MOST = 6.5
"""Five times the steps may cost so many times as much."""
MOST_HELD_MS = 50
POLICY: Mapping[str, Any] = {"tools": {"read": {"verdict": "review"}}}
PAGES = ("", "/timeline", "/results", "/revisions", "/effects", "/budget", "/audit", "/audit.txt")
Costs = dict[str, "Cost"]


@dataclass
class Cost:
    """What an operation took: processor seconds, and the longest callback on the event loop, in thread milliseconds.

    Collections of garbage are told beside it, all of them in `collected_s` and the longest in `paused_ms`: their number
    and their time depend on all that the process holds (decision 175).
    """

    processor_s: float = 0.0
    held_ms: float = 0.0
    collected_s: float = 0.0
    paused_ms: float = 0.0

    @property
    def with_collections_s(self) -> float:
        """Processor seconds with collections of garbage."""
        return self.processor_s + self.collected_s


@dataclass
class Collections:
    """The collections of garbage while this is a callback of `gc`, in thread seconds; `here` is a thread."""

    here: int
    here_s: float = 0.0
    total_s: float = 0.0
    longest_s: float = 0.0
    _begun_s: float = 0.0

    def __call__(self, phase: str, _: Mapping[str, int]) -> None:
        """Note the start or the end of a collection, which no other thread interrupts."""
        if phase == "start":
            self._begun_s = time.thread_time()
            return
        took_s = time.thread_time() - self._begun_s
        self.total_s += took_s
        self.here_s += took_s if threading.get_ident() == self.here else 0.0
        self.longest_s = max(self.longest_s, took_s)


@contextmanager
def measured(costs: Costs, what: str) -> Iterator[None]:
    """Measure what happens in the block, callbacks of this thread's event loop included."""
    cost, run, here = costs.setdefault(what, Cost()), Handle._run, threading.get_ident()
    collections = Collections(here)

    def timed(handle: Handle) -> None:
        begun_s, before_s = time.thread_time(), collections.here_s
        run(handle)
        if threading.get_ident() == here:  # a long replay has a loop of its own
            took_s = time.thread_time() - begun_s - (collections.here_s - before_s)
            cost.held_ms = max(cost.held_ms, 1e3 * took_s)

    gc.collect()
    gc.callbacks.append(collections)
    Handle._run = timed  # type: ignore[method-assign]
    begun_s = time.process_time()
    try:
        yield
    finally:
        took_s = time.process_time() - begun_s
        Handle._run = run  # type: ignore[method-assign]
        gc.callbacks.remove(collections)
        cost.processor_s += took_s - collections.total_s
        cost.collected_s += collections.total_s
        cost.paused_ms = max(cost.paused_ms, 1e3 * collections.longest_s)


def tools() -> list[Any]:
    """Return a tool that reads, one that lists, and one that fails when it is called first."""
    log = LoggedTools()

    def once(**_: object) -> str:
        if len(log.named("last")) == 1:
            raise ConnectionError("it fails once")
        return "done"

    return [
        log.tool("read", lambda **_: "calm", effect="read", is_async=True),
        log.tool("items", lambda count: list(range(count)), effect="read", is_async=True),
        log.tool("last", once, effect="read", is_async=True),
    ]


def chain(steps: int) -> dict[str, Any]:
    """Return a plan in which each step waits for the one before; the last but one fails once, the last is spare."""
    work = [step(f"s{n}", "read", after=[f"s{n - 1}"] if n else [], n=n) for n in range(steps)]
    return {"steps": [*work, step("last", "last", after=[f"s{steps - 1}"]), step("spare", "read", after=["last"])]}


def each(items: int) -> dict[str, Any]:
    """Return a plan with a step for each of many items."""
    repeated = {**step("each", "read", n="{item_result}"), "for_each": "{items_result}", "max_items": items}
    last = [step("last", "last", after=["each"]), step("spare", "read", after=["last"])]
    return {"steps": [step("items", "items", count=items), repeated, *last]}


SHAPES: Mapping[str, Callable[[int], dict[str, Any]]] = {"chain": chain, "for_each": each}


def _options() -> dict[str, Any]:
    return {"planner": ScriptedModel([]), "tools": tools(), "policy": POLICY, "replan": "never"}


async def by_async_agent(database: str, plan: dict[str, Any]) -> Costs:
    """Do everything through `AsyncAgent`, with the event loop watched."""
    costs: Costs = {}
    told: set[int] = set()

    async def do(what: str, done: Awaitable[Any]) -> Any:
        with measured(costs, what):
            await asyncio.sleep(0)  # it begins in a callback of its own
            found = await done
        await asyncio.sleep(0)
        return found

    async with AsyncAgent.open(database, **_options()) as agent:
        run = await do("start", agent.start("read on", plan=plan, thread="a"))
        await do("show, waiting", agent.show("a"))
        with measured(costs, "review text"):
            assert [
                to_text(fitted(told["description"], run.plan, run.results, 60, 60))
                for told in run.request["action_requests"]
            ]
        await do("skip", agent.skip("a", "spare"))
        await do("ask again", agent.resume("a"))
        run = await do("resume", agent.resume("a", "approve", on_progress=lambda one: told.add(one["sequence"])))
        assert run.status == "failed" and told, run.request
        await do("show", agent.show("a"))
        run = await do("retry", agent.retry("a"))
        if run.status == "waiting":
            run = await do("retry", agent.resume("a", "approve"))
        assert run.status == "succeeded", run.reason
        await do("fork", agent.fork("a", "last", thread="b"))
        await do("audit", agent.audit("a"))
        assert (await do("replay", agent.replay("a"))).is_same
        assert (await do("verify", agent.verify("a"))).is_whole
    return costs


def by_agent(database: str, plan: dict[str, Any]) -> Costs:
    """Do the same through `Agent`, whose event loop is its own."""
    costs: Costs = {}
    with Agent.open(database, **_options()) as agent:
        for what, do in (
            ("start", lambda: agent.start("read on", plan=plan, thread="a")),
            ("show, waiting", lambda: agent.show("a")),
            ("skip", lambda: agent.skip("a", "spare")),
            ("ask again", lambda: agent.resume("a")),
            ("resume", lambda: agent.resume("a", "approve")),
            ("show", lambda: agent.show("a")),
            ("retry", lambda: agent.retry("a")),
            ("fork", lambda: agent.fork("a", "last", thread="b")),
            ("audit", lambda: agent.audit("a")),
            ("replay", lambda: agent.replay("a")),
            ("verify", lambda: agent.verify("a")),
        ):
            with measured(costs, what):
                do()
    return costs


def by_command_line(database: str, plan: dict[str, Any]) -> Costs:
    """Do the same with commands, in this process: what they import is paid for before."""
    costs: Costs = {}
    folder, at, name = Path(database).parent, ["--db", database], ""
    (folder / "plan.json").write_text(json.dumps(plan))
    (folder / "policy.toml").write_text('[tools.read]\nverdict = "review"\n')
    terms = ["--tools", "benchmarks.doors:tools", "--policy", str(folder / "policy.toml"), "--replan", "never"]
    for what, words in (
        ("start", ["run", "read on", "--plan", str(folder / "plan.json"), *terms]),
        ("show, waiting", ["show", "RUN"]),
        ("skip", ["skip", "RUN", "spare"]),
        ("ask again", ["resume", "RUN", *terms]),
        ("resume", ["resume", "RUN", "--approve", *terms]),
        ("show", ["show", "RUN"]),
        ("retry", ["retry", "RUN", *terms]),
        ("fork", ["fork", "RUN", "--from", "last", *terms]),
        ("audit", ["audit", "RUN"]),
        ("replay", ["replay", "RUN"]),
        ("verify", ["verify", "RUN"]),
    ):
        with measured(costs, what):
            done = CliRunner().invoke(app, [*(name if word == "RUN" else word for word in words), *at])
        if what == "start":
            name = json.loads(CliRunner().invoke(app, ["runs", "--json", *at]).stdout)["runs"][0]["id"]
        assert done.exit_code in (0, 1, 3), (what, done.output, done.exception)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return costs


async def by_desk(database: str, plan: dict[str, Any]) -> Costs:
    """Open the pages of the desk: of a run that waits, and of one that has ended."""
    costs: Costs = {}
    async with AsyncAgent.open(database, **_options()) as agent:
        await agent.start("read on", plan=plan, thread="waits")
        await agent.start("read on", plan=plan, thread="ended")
        await agent.resume("ended", "approve")
    desk = desk_application(database)
    transport = httpx.ASGITransport(desk)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        await client.get("/login", params={"token": desk.state.desk.door.links.issue()})
        for path, run in (("/run/review", "waits.1"), *((f"/run{path}", "ended.1") for path in PAGES)):
            with measured(costs, path):
                await asyncio.sleep(0)
                answer = await client.get(path, params={"run": run})
            await asyncio.sleep(0)
            assert answer.status_code == 200, (path, answer.status_code)
    await desk.state.desk.close()
    return costs


async def doors(sizes: Sizes) -> list[Figure]:
    """Measure every door for a small plan and for a large one."""
    few, many = sizes.growth
    figures = await starting(sizes)
    for shape in SHAPES:
        for door in DOORS:
            small, large = [await _through(door, shape, count) for count in (few, many)]
            figures += _grown(f"{shape}, {door}", small, large, sizes)
            if door in WATCHED:
                figures.append(_held(f"{shape}, {door}", large, many))
    return figures


async def _through(door: str, shape: str, count: int) -> Costs:
    """Do everything at a door in a process of its own: a command is the main program."""
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.doors", door, shape, str(count), stdout=PIPE
    )
    told, _ = await done.communicate()
    return {what: Cost(*cost) for what, cost in json.loads(told.splitlines()[-1]).items()}


def _grown(where: str, small: Costs, large: Costs, sizes: Sizes) -> list[Figure]:
    few, many = sizes.growth
    return [
        at_most(
            f"{what}, {where}: {many} over {few}",
            MOST,
            large[what].processor_s / small[what].processor_s,
            beside=f"{small[what].processor_s:.3g} s and {large[what].processor_s:.3g} s, with collections of garbage "
            f"{large[what].with_collections_s / small[what].with_collections_s:.2g} times",
        )
        for what in small
    ]


def _held(where: str, large: Costs, many: int) -> Figure:
    worst = max(large, key=lambda what: large[what].held_ms)
    told = ", ".join(f"{what} {cost.held_ms:.0f}" for what, cost in large.items())
    told += f"; longest collection of garbage {max(cost.paused_ms for cost in large.values()):.0f}"
    return at_most(f"longest callback, {where}: {many}", MOST_HELD_MS, large[worst].held_ms, " ms", beside=told)


DOORS: Mapping[str, Callable[[str, dict[str, Any]], Any]] = {
    "AsyncAgent": by_async_agent,
    "Agent": by_agent,
    "commands": by_command_line,
    "desk": by_desk,
}
WATCHED = ("AsyncAgent", "desk")
"""Doors whose event loop others share."""


def once(door: str, plan: dict[str, Any], database: str | None = None) -> Costs:
    """Do everything at a door once, by default in a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        found = DOORS[door](database or str(Path(folder, "runs.db")), plan)
        return asyncio.run(found) if asyncio.iscoroutine(found) else found


def main(door: str, shape: str, count: str) -> None:
    """Print what a door costs; what is imported and compiled on first use is paid for before."""
    once(door, SHAPES[shape](3))
    gc.freeze()  # a collection in the measured time would also walk over everything imported
    costs = once(door, SHAPES[shape](int(count)))
    print(json.dumps({what: astuple(cost) for what, cost in costs.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
