"""Runs at once over several processes, which share one database and begin together."""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import ExitStack
from statistics import quantiles
from typing import IO

from benchmarks.crowd import Crowd, Measured, execute
from benchmarks.crowd_systems import SYSTEMS
from benchmarks.database import open_database


def measured_apart(address: str, crowd: Crowd, names: str) -> Measured:
    """Execute a crowd, shared among its processes; the rate is that of all, the processor's time is left out."""
    shares = [
        crowd.at_once // crowd.processes + (number < crowd.at_once % crowd.processes)
        for number in range(crowd.processes)
    ]
    command = [sys.executable, "-m", "benchmarks.apart", address, crowd.system]
    with ExitStack() as stack:
        children = [
            stack.enter_context(
                subprocess.Popen([*command, str(share), f"apart-{crowd.system}-{names}-{number}"], **_PIPES)
            )
            for number, share in enumerate(shares)
        ]
        for child in children:
            stack.callback(child.kill)
        for child in children:
            assert _pipe(child.stdout).readline().strip() == "ready"
        begun_at = time.time()
        for child in children:
            _pipe(child.stdin).write("go\n")
            _pipe(child.stdin).flush()
        done = [json.loads(child.communicate()[0]) for child in children]
    times_s = [time_s for one in done for time_s in one["times_s"]]
    wall_s = max(one["ended_at"] for one in done) - begun_at
    return Measured(len(times_s) / wall_s, quantiles([*times_s, *times_s], n=20)[-1])


_PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


async def _share(address: str, system: str, count: int, names: str) -> None:
    """Execute a share of the runs once a line is read, and print the seconds of each and when all had ended."""
    async with open_database(address) as database:
        app = SYSTEMS[system](database)
        await execute(app, f"{names}-before", 1, 1)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        times_s = await execute(app, names, count, count)
        sys.stdout.write(json.dumps({"times_s": times_s, "ended_at": time.time()}))


if __name__ == "__main__":
    asyncio.run(_share(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
