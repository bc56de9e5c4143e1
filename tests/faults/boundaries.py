"""One run, disturbed at each of its boundaries in turn, and taken up again; `make faults` runs it, the tests sample it.

The boundaries are counted in an undisturbed run, not chosen. At each of them the process is killed; another process
takes the run up and, with `--then`, is killed at boundaries of its own, counted likewise. With `--lock` the database is
locked instead, with `--cancel` the task that drives the run is cancelled. With `--freeze` the process is stopped, a
second takes the run over and finishes it, and the first goes on; stops within a tool before its effect are left out.
Each run is finished at last and judged from outside: by the tools' log, the models' log, and the ledger. To disturb
nothing is a failure. All processes are forks of one that has imported already.

With `--postgres` each run has a database of its own on a PostgreSQL server, and is killed or frozen once.

Usage: boundaries.py FOLDER [--run whole|reopened|mailed|forked|approved] [--durability sync|async] [--every N]
       [--from K] [--then M | --lock | --cancel | --freeze] [--postgres]
"""

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import approved_run
import forked_run
import mailed_run
import reopened_run
import whole_run
from counted_waits import CountedWaits
from disturbances import Cancelled, Frozen, Killed, Locked, Passed, is_within
from postgres_server import new_schema
from whole_run import Logs, database_of

from planner_executor.graph.errors import (
    InputError,
    LeaseLostError,
    LedgerUnavailableError,
    RunOwnedError,
    StaleRunError,
)
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.lease import PACE
from planner_executor.graph.ledger.sqlite import busy_timeout
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.replay.player import replayed

BUSY_S = 0.2
"""How long the database is waited for where it is locked."""

NEVER_S = 86_400.0
QUICK = {"lease_s": 1.0, "beat_s": 0.2, "look_s": 0.1}
"""The pace of runs that are frozen: who takes one over waits for the lease."""
RUNS = {
    "whole": whole_run,
    "reopened": reopened_run,
    "mailed": mailed_run,
    "forked": forked_run,
    "approved": approved_run,
}
RUNS_IF_FROZEN = {reopened_run: 3}
"""A process that goes on with the wish for a fork has one of its own."""
DISTURBED = whole_run
"""The run that is disturbed, chosen by `--run`."""


def begun(work: Callable[[], object]) -> int:
    """Run work in a forked process and return its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    except BaseException:  # noqa: BLE001  (a child of a fork must not go on as its parent)
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def in_child(work: Callable[[], object]) -> int:
    """Run work in a forked process and return its wait status."""
    return os.waitpid(begun(work), 0)[1]


def finished(folder: Path, durability: str) -> list[str]:
    """Take a run up, or begin it, bring it to its end in a process of its own, and return the boundaries it passed."""

    def work() -> None:
        passed = Passed()
        state = asyncio.run(DISTURBED.drive(folder, passed, durability))
        (folder / "state.json").write_text(json.dumps([state["status"], state["answer"]]))
        (folder / "boundaries").write_text("\n".join(passed.names))

    return [] if in_child(work) else (folder / "boundaries").read_text().splitlines()


def made(folder: Path, postgres: bool) -> Path:
    """Make a run's folder; on a server, name a database of its own in it."""
    folder.mkdir(parents=True, exist_ok=True)
    if postgres:
        (folder / "address").write_text(new_schema())
    return folder


def killed(folder: Path, at: int, durability: str) -> None:
    """Begin a run, or take it up, in a process that is killed at a boundary."""
    in_child(lambda: asyncio.run(DISTURBED.drive(folder, Killed(at), durability)))


def killed_once_or_twice(
    folder: Path, at: int, durability: str, then: int, postgres: bool
) -> Iterator[tuple[str, list[str]]]:
    """Kill a run at a boundary, and its resumption at every `then`-th of its own (0: at none); yield what is wrong."""
    cut, whole = made(folder / "cut", postgres), folder / "0"
    killed(cut, at, durability)
    shutil.copytree(cut, whole)
    names = finished(whole, durability)
    yield f"killed at {at}", judged(whole, 1)
    for second in range(1 + at % then, len(names) + 1, then) if then else ():
        again = folder / str(second)
        shutil.copytree(cut, again)
        killed(again, second, durability)
        finished(again, durability)
        yield f"killed at {at} and at {second} ({names[second - 1]}) of what came after", judged(again, 2)
        shutil.rmtree(again)


def locked(folder: Path, at: int, durability: str) -> list[str]:
    """Lock the database at a boundary until the run has said so, and return what is wrong."""

    async def interrupted() -> None:
        lock, waits = Locked(at, folder / "runs.db"), CountedWaits.of(folder / "runs.db")
        try:
            await DISTURBED.drive(folder, lock, durability)
        except LedgerUnavailableError as error:
            assert str(folder / "runs.db") in str(error) and "locked" in str(error), f"the run said {error}"
        finally:
            lock.release()
        # Checkpointer and ledger have a connection each, which may wait for the lock side by side.
        assert len(waits.in_vain_s) <= 2, f"the run waited for the lock {len(waits.in_vain_s)} times"
        waits.recover()

    return broken_off(folder, interrupted, durability)


def cancelled(folder: Path, at: int, durability: str) -> list[str]:
    """Cancel the task that drives a run at a boundary, and return what is wrong."""

    async def interrupted() -> None:
        with suppress(asyncio.CancelledError):
            await DISTURBED.drive(folder, Cancelled(at), durability)

    return broken_off(folder, interrupted, durability)


def frozen(folder: Path, at: int, durability: str) -> list[str] | None:
    """Stop a process at a boundary, let another finish its run, let the first go on, and return what is wrong.

    None if it came to its end without a stop: what it passes after a boundary is not the same in every run.
    """
    awake = folder / "awake"

    def work() -> None:
        with suppress(LeaseLostError, RunOwnedError, StaleRunError, InputError):
            asyncio.run(DISTURBED.drive(folder, Frozen(at, awake, DISTURBED.ONCE), durability))

    vars(PACE).update(QUICK)
    pid = begun(work)
    if not os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]):
        return None
    finished(folder, durability)
    awake.touch()
    os.kill(pid, signal.SIGCONT)
    os.waitpid(pid, 0)
    if not (folder / "state.json").exists():  # it was stopped while it held the database's lock
        finished(folder, durability)
    return judged(folder, 1, RUNS_IF_FROZEN.get(DISTURBED, 0))


def broken_off(folder: Path, interrupted: Callable[[], Coroutine[Any, Any, None]], durability: str) -> list[str]:
    """Break a run off, let the same process finish it, another one look again, and return what is wrong."""
    folder.mkdir(parents=True)

    def work() -> None:
        asyncio.run(interrupted())
        vars(PACE)["lease_s"] = NEVER_S  # who had to wait for the old lease would hang
        asyncio.run(DISTURBED.drive(folder, Passed(), durability))

    busy_timeout.BUSY_S = BUSY_S
    failed = in_child(work)
    finished(folder, durability)
    return [*(["see above"] if failed else []), *judged(folder, 1)]


def judged(folder: Path, times: int, runs: int = 0) -> list[str]:
    """Return what speaks against the promise in a run that was disturbed so many times; at most `runs` came of it."""
    if not (folder / "state.json").exists():
        return ["the run could not be taken up"]
    state = json.loads((folder / "state.json").read_text())
    noted = Counter(Logs(folder).lines())
    faults = [] if state == ["succeeded", DISTURBED.EXPECTED] else [f"ended as {state}"]
    faults += [f"{what} {n} times" for what, n in noted.items() if n > _most(what, times)]
    return faults + asyncio.run(_judged_by_the_ledger(database_of(folder), max(runs, DISTURBED.RUNS)))


def _most(what: str, times: int) -> int:
    """Return how often something may happen in a run that was disturbed so many times."""
    return 1 if what.startswith(DISTURBED.ONCE) and what not in DISTURBED.MOST else DISTURBED.MOST.get(what, 1) + times


async def _judged_by_the_ledger(database: str, most: int) -> list[str]:
    ledger = open_ledger(database)
    faults = list((await ledger.health()).damage)
    runs = await ledger.runs()
    faults += [] if DISTURBED.RUNS <= len(runs) <= most else [f"there are {len(runs)} runs"]
    for run in runs:
        events = await ledger.events(run)
        faults += _repeated(events)
        if not any(event.kind == "paused" for event in events):  # see docs/records.md on replays of paused runs
            played = await replayed(await ledger.transcript(run))
            faults += [] if played.is_same else [str(played)]
        faults += [] if project(events).ended else [f"the ledger knows of no end of {run}"]
    await ledger.close()
    return faults


def _repeated(events: Sequence[Event]) -> Iterator[str]:
    """Yield what was begun, asked or decided although it had come to its end before."""
    done: set[str] = set()
    begun: dict[tuple[str | None, int | None, int], str] = {}
    for event in events:
        told = event.payload
        if event.kind == "step_checked" and told.get("again"):
            done.discard(begun.get((event.step, None, 0), ""))
        if event.kind == "call_started":
            begun[event.step, told.get("item"), told["call"]] = told["key"]
        if event.kind == "review_requested" and "run_plan" in told["asked"]:
            named = told["digest"]
        elif event.kind == "decided":
            named = told["digest"] if told["decision"] == "approve" and not told.get("settled") else None
        else:
            named = (
                begun[event.step, told.get("item"), told["call"]] if event.kind == "call_finished" else told.get("key")
            )
        if named in done:
            yield f"{event.kind} {event.step or ''} {named[:8]} once more, at {event.seq}"
        answered = event.kind == "call_finished" and (told["status"] == "succeeded" or told["call"])
        if named and (answered or event.kind == "decided" or "response" in told):
            done.add(named)


def say(line: str) -> None:
    """Print a line at once: a forked process ends without emptying its buffers."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def found(folder: Path, at: int, asked: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Yield each disturbance of a boundary, in words, and what was wrong after it."""
    if asked.lock:
        yield f"locked at {at}", locked(folder, at, asked.durability)
    elif asked.freeze:
        if (faults := frozen(made(folder, asked.postgres), at, asked.durability)) is not None:
            yield f"frozen at {at}", faults
    elif asked.cancel:
        yield f"cancelled at {at}", cancelled(folder, at, asked.durability)
    else:
        yield from killed_once_or_twice(folder, at, asked.durability, asked.then, asked.postgres)
    shutil.rmtree(folder)


def freezable(names: Sequence[str]) -> Iterator[int]:
    """Yield the boundaries where a stop changes nothing: once there is a run to take over, and not within an effect."""
    begun = next(at for at, name in enumerate(names, start=1) if is_within(name, ("model", "look", *DISTURBED.ONCE)))
    for at, name in enumerate(names, start=1):
        if at >= begun and not is_within(name, DISTURBED.ONCE):
            yield at


def shared_out(points: Sequence[int], asked: argparse.Namespace, names: Sequence[str]) -> tuple[int, int]:
    """Disturb the run at these boundaries, on all processors; print what is wrong; return how many, how many wrong."""
    jobs = os.cpu_count() or 1

    def work(job: int) -> None:
        runs = wrong = 0
        for at in points[job::jobs]:
            for where, faults in found(asked.folder / str(at), at, asked):
                runs, wrong = runs + 1, wrong + bool(faults)
                for fault in faults:
                    say(f"{where} ({names[at - 1]}): {fault}")
        (asked.folder / f"job-{job}").write_text(f"{runs} {wrong}")

    pids = []
    for job in range(jobs):
        if not (pid := os.fork()):
            work(job)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        if os.waitpid(pid, 0)[1]:
            sys.exit("a job broke off")
    counts = [(asked.folder / f"job-{job}").read_text().split() for job in range(jobs)]
    return sum(int(runs) for runs, _ in counts), sum(int(wrong) for _, wrong in counts)


def main(argv: Sequence[str]) -> int:
    """Disturb a run at every boundary, or every n-th, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--durability", choices=("sync", "async"), default="sync")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--then", type=int, default=0)
    parser.add_argument("--run", choices=tuple(RUNS), default="whole")
    parser.add_argument("--lock", action="store_true")
    parser.add_argument("--cancel", action="store_true")
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args(argv)
    globals()["DISTURBED"] = RUNS[asked.run]
    whole = made(asked.folder / "undisturbed", asked.postgres)
    names = finished(whole, asked.durability)
    if judged(whole, 0) or not names:
        sys.exit(f"the undisturbed run failed: {judged(whole, 0)}")
    (asked.folder / "boundaries").write_text("\n".join(names))
    points = range(asked.first, len(names) + 1, asked.every)
    if asked.freeze:
        points = sorted(set(points) & set(freezable(names)))
    runs, wrong = shared_out(points, asked, names)
    say(f"{asked.durability}: {len(names)} boundaries, {runs} runs disturbed, {wrong} runs at fault")
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
