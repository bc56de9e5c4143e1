"""Runs at once over several processes, which share one database and begin together."""

import asyncio
import json
import subprocess
import sys
import time
from statistics import quantiles

from benchmarks.runs_at_once import Measured, execute, opened, ours


def measured_apart(address: str, at_once: int, processes: int) -> Measured:
    """Execute as many runs, shared among the processes; the rate is that of all, the processor's time is left out."""
    share = max(1, at_once // processes)
    command = [sys.executable, "-m", "benchmarks.apart", address, str(share)]
    children = [
        subprocess.Popen([*command, f"apart-{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for n in range(processes)
    ]
    for child in children:
        assert child.stdout is not None and child.stdout.readline().strip() == "ready"
    begun_s = time.perf_counter()
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    times_s = [time_s for child in children for time_s in json.loads(child.communicate()[0])]
    wall_s = time.perf_counter() - begun_s
    return Measured(len(times_s), 0.0, len(times_s) / wall_s, quantiles([*times_s, *times_s], n=20)[-1])


async def _share(address: str, count: int, names: str) -> None:
    """Execute a share of the runs once a line is read, and print the seconds of each."""
    async with opened(address) as database:
        app = ours(database)
        await execute(app, f"{names}-before", 1, 1)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        sys.stdout.write(json.dumps(await execute(app, names, count, count)))


if __name__ == "__main__":
    asyncio.run(_share(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
