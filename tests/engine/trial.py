"""Many runs on two servers, one of which is killed in the middle: `python tests/engine/trial.py --runs 1000`.

Every run has five steps, and a tenth of them an effect that may not be repeated. Such a run is approved by two requests
at once, one to each server. At the end each run has ended, if need be after a person settled a call whose process died.
The ledger and the file that the tools write decide what happened, not the servers.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

REPOSITORY = Path(__file__).parents[2]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests" / "processes"), str(Path(__file__).parent)]

from aegra import TOKEN, Engine, Server, engine, missing  # noqa: E402

from planner_executor.graph.record.run_filter import RunFilter  # noqa: E402
from planner_executor.graph.record.summary import RunSummary  # noqa: E402
from planner_executor.graph.runs.runs import open_runs  # noqa: E402

STEPS = 5
LIMIT_S = 3_600.0
PAID = 10
"""One of this many runs pays."""
SENDERS = 8
APPROVE = {"decisions": [{"type": "approve"}]}
SETTLED_S = 3.0
ABANDONED_S = 60.0
"""A run without an owner and without a new event for that long is continued by hand: no server works on it."""


def label(n: int) -> str:
    return f"run-{n}"


def pays(n: int) -> bool:
    return n % PAID == PAID - 1


def plan(n: int) -> dict[str, Any]:
    """Return a chain of five steps; the third pays in a tenth of the runs."""
    steps: list[dict[str, Any]] = []
    for place in range(STEPS):
        tool = "pay" if place == 2 and pays(n) else "look"
        one = {"id": f"s{place}", "objective": tool, "tool": tool, "args": {"label": label(n), "step": f"s{place}"}}
        steps.append({**one, "depends_on": [f"s{place - 1}"] if place else []})
    return {"steps": steps}


@dataclass
class Findings:
    """What the trial counted; `faults` are broken promises."""

    runs: int
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    settled: int = 0
    continued: int = 0
    repeated: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.runs} runs in {self.seconds:.0f} s ({self.runs / self.seconds:.1f} a second): "
            f"{dict(self.statuses)}; {self.settled} calls settled by a person, {self.continued} runs continued by "
            f"request, {self.repeated} reads repeated after the kill; {len(self.faults)} faults"
        )


@dataclass
class Client:
    """A client of both servers; a server that is down is left out."""

    servers: Sequence[Server]
    http: httpx.AsyncClient

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to any of the servers, until one answers; it may be sent twice."""
        while True:
            with suppress(httpx.TransportError):
                answer = await self.http.request(method, f"{random.choice(self.servers).url}{path}", json=body)
                if answer.is_success:
                    return answer.json()
            await asyncio.sleep(0.2)

    async def invoke(self, thread: str, server: Server | None = None, **body: Any) -> bool:
        """Ask a server for an invocation once; return whether it has accepted it."""
        url = f"{(server or random.choice(self.servers)).url}/threads/{thread}/runs"
        try:
            return (await self.http.post(url, json={"assistant_id": "planner_executor", **body})).is_success
        except httpx.TransportError:
            return False

    async def begin(self, n: int) -> None:
        """Begin a run; what a server that died may have accepted is not sent a second time."""
        thread = (await self.ask("POST", "/threads", {}))["thread_id"]
        while not await self.invoke(thread, input={"goal": label(n), "plan": plan(n)}):
            await asyncio.sleep(SETTLED_S)  # a commit of the server that died may still be under way
            if await self.ask("GET", f"/threads/{thread}/runs"):
                return


async def tried(
    at: Engine, numbers: range, end: Callable[[Server], None] | None = Server.kill, limit_s: float = LIMIT_S
) -> Findings:
    """Have the servers execute the runs of these numbers within `limit_s` seconds, and return what came of it.

    A third of the way, `end` ends the first server, which is started again a little later.
    """
    began, found, runs = time.monotonic(), Findings(len(numbers)), len(numbers)
    async with connected(at) as client, open_runs(at.ledger) as ledger:
        todo = iter(numbers)
        senders = [asyncio.create_task(_begin_all(client, todo)) for _ in range(SENDERS)]
        trial = Trial(at, client, ledger, numbers, found, began + limit_s)
        if end is not None:
            await trial.until_ended(runs // 3)
            await trial.until_paying(at.servers[0])
            await asyncio.to_thread(end, at.servers[0])
            await trial.until_ended(runs // 3 + runs // 20)
            await asyncio.to_thread(at.servers[0].start)
        await trial.until_ended(runs)
        await asyncio.gather(*senders)
        found.seconds = time.monotonic() - began
        known = await trial.known()
    found.statuses = Counter(run.status for run in known)
    calls = [call for call in at.calls if call[0] in trial.labels]
    found.repeated = sum(times - 1 for times in Counter((called, step) for called, step, _ in calls).values())
    found.faults += faults_in(calls, set(map(str, at.servers[0].pids[:-1])), known, numbers)
    return found


@asynccontextmanager
async def connected(at: Engine) -> AsyncIterator[Client]:
    async with httpx.AsyncClient(headers={"x-api-key": TOKEN}, timeout=None) as http:
        yield Client(at.servers, http)


async def _begin_all(client: Client, todo: Iterable[int]) -> None:
    for n in todo:
        await client.begin(n)


@dataclass
class Trial:
    """The people of the trial: they approve, settle calls by what happened, and continue what lies still."""

    at: Engine
    client: Client
    ledger: Any
    numbers: range
    found: Findings
    until: float
    answered: set[tuple[str, str, float]] = field(default_factory=set)

    @property
    def labels(self) -> frozenset[str]:
        return frozenset(map(label, self.numbers))

    async def known(self) -> list[RunSummary]:
        """Return the runs on record."""
        return [run for run in await self.ledger.page(RunFilter(limit=1_000_000)) if run.goal in self.labels]

    async def until_ended(self, ended: int) -> None:
        """Look after the runs until so many of them have ended, or there is no time left."""
        while time.monotonic() < self.until:
            known = await self.known()
            open_ones = [run for run in known if run.ended_at is None]
            if len({run.goal for run in known if run.ended_at is not None}) >= ended:
                return
            await asyncio.gather(*(self._look_after(run) for run in open_ones))
            await asyncio.sleep(0.5)

    async def until_paying(self, server: Server) -> None:
        """Look after the runs until a server has begun another payment."""
        before = after = self._payments(server)
        while after == before and time.monotonic() < self.until and after < sum(map(pays, self.numbers)):
            runs = [run for run in await self.known() if run.ended_at is None]
            if not runs:
                return
            await asyncio.gather(*map(self._look_after, runs))
            deadline = time.monotonic() + 1
            while after == before and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
                after = self._payments(server)

    def _payments(self, server: Server) -> int:
        paid = {label(n) for n in self.numbers if pays(n)}
        return sum(name in paid and step == "s2" and pid == str(server.pids[-1]) for name, step, pid in self.at.calls)

    async def _look_after(self, run: RunSummary) -> None:
        key = (run.thread, ",".join(run.asks), run.waiting_since or 0.0)
        if run.waits_for is None or key in self.answered:
            await self._continue_if_abandoned(run)
        elif "settle_effect" in run.asks:
            await self._settle(run, key)
        else:
            await self._approve_twice(run, key)

    async def _approve_twice(self, run: RunSummary, key: tuple[str, str, float]) -> None:
        """Send the same approval to both servers; Aegra refuses it while the thread's last invocation still ends."""
        sent = (self.client.invoke(run.thread, server, command={"resume": APPROVE}) for server in self.client.servers)
        if any(await asyncio.gather(*sent)):
            self.answered.add(key)

    async def _settle(self, run: RunSummary, key: tuple[str, str, float]) -> None:
        """Say what happened, as the file has it."""
        happened = any(called == run.goal and step == "s2" for called, step, _ in self.at.calls)
        args = {"step": "s2", "tool": "pay", "args": {"label": run.goal, "step": "s2"}}
        filled = {**args, "happened": happened, "result": "paid" if happened else None}
        decision = {"type": "edit", "edited_action": {"name": "settle_effect", "args": filled}}
        if await self.client.invoke(run.thread, command={"resume": {"decisions": [decision]}}):
            self.answered.add(key)
            self.found.settled += 1

    async def _continue_if_abandoned(self, run: RunSummary) -> None:
        if time.time() - run.updated_at < ABANDONED_S:
            return
        key = (run.thread, "continue", run.updated_at)
        if key not in self.answered and await self.client.invoke(run.thread, input={"operation": "continue"}):
            self.answered.add(key)
            self.found.continued += 1


def faults_in(
    calls: Sequence[Sequence[str]], dead: Collection[str], known: Sequence[RunSummary], numbers: range
) -> list[str]:
    """Return the promises that the runs broke; `dead` are the processes that were ended in the middle."""
    done = Counter((called, step) for called, step, _ in calls)
    alive = Counter((called, step) for called, step, pid in calls if pid not in dead)
    begun, paid = Counter(run.goal for run in known), {label(n): done[label(n), "s2"] for n in numbers if pays(n)}
    faults = [f"{run.goal} is {run.status}: {run.reason}" for run in known if run.status != "succeeded"]
    faults += [f"{label(n)} has {begun[label(n)]} runs" for n in numbers if begun[label(n)] != 1]
    faults += [f"{name} paid {times} times" for name, times in paid.items() if times != 1]
    faults += [f"{name} {step} was executed {n} times by live servers" for (name, step), n in alive.items() if n > 1]
    steps = [(label(n), f"s{place}") for n in numbers for place in range(STEPS)]
    return faults + [f"{name} lacks {step}" for name, step in steps if not done[name, step]]


def main() -> int:
    """Run the trial and print what it found."""
    parser = argparse.ArgumentParser(description="Runs on two Aegra servers, one of which is killed.")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--keep", type=Path, help="a folder for logs, which is kept")
    given = parser.parse_args()
    if (why := missing()) is not None:
        sys.stdout.write(f"skipped: {why}\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        home = given.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        with engine(home) as at:
            found = asyncio.run(tried(at, range(given.runs)))
    sys.stdout.write("".join(f"{line}\n" for line in [str(found), *(f"  fault: {one}" for one in found.faults[:20])]))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
