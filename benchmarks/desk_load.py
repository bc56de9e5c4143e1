"""How fast the review desk's pages are under load: `python -m benchmarks.desk_load [--runs 100000]`.

One process serves a database of many runs, another executes fifty of them, and this one holds the streams and asks for
pages, one after the other.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx

from benchmarks.many_runs import write_runs
from benchmarks.page import PAGE, measured_by, write_between_marks
from planner_executor import AsyncAgent
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

RUNS, STREAMS, AT_ONCE, STEPS, ASKED = 100_000, 200, 50, 60, 40
LIMIT_MS = 200
BEGUN_S = 120.0
"""Within so long the runs have begun, or nothing executes them."""
CALL_S = 1.0
EXECUTE = "import asyncio, sys; from benchmarks.desk_load import execute; asyncio.run(execute(sys.argv[1]))"


async def execute(database: str) -> None:
    """Execute the runs: chains of steps that take a second each."""

    async def slow(**_: object) -> str:
        await asyncio.sleep(CALL_S)
        return "x" * 200

    tool = LoggedTools().tool("read", effect="read")
    tool.coroutine = slow  # type: ignore[attr-defined]
    plan = {"steps": [step(f"s{n}", "read", after=[f"s{n - 1}"] if n else []) for n in range(STEPS)]}
    async with AsyncAgent.open(database, planner=ScriptedModel([]), tools=[tool], approval="never") as agent:
        await asyncio.gather(*(agent.start("load", plan=plan, thread=f"load-{n}") for n in range(AT_ONCE)))


async def streamed(client: httpx.AsyncClient, run: str, counted: list[int]) -> None:
    """Hold one stream and count its messages."""
    async with client.stream("GET", "/run/live", params={"run": run}, timeout=None) as stream:
        async for line in stream.aiter_lines():
            counted[0] += line.startswith("data:")


async def page_ms(client: httpx.AsyncClient, path: str) -> list[float]:
    """Return how long a page took, each time."""
    taken = []
    for _ in range(ASKED):
        begun = time.perf_counter()
        answer = await client.get(path)
        answer.raise_for_status()
        taken.append((time.perf_counter() - begun) * 1e3)
    return taken


async def measured(link: str) -> tuple[Mapping[str, list[float]], int]:
    """Hold the streams, and return the times of each page and the number of messages meanwhile."""
    origin = re.match(r"http://[^/]+", link)[0]  # type: ignore[index]
    limits = httpx.Limits(max_connections=STREAMS + 10)
    counted = [0]
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=origin, timeout=60, limits=limits))
        await client.get(link.removeprefix(origin))
        async with asyncio.timeout(BEGUN_S):
            while (await client.get("/run", params={"run": f"load-{AT_ONCE - 1}.1"})).status_code != 200:
                await asyncio.sleep(0.5)
        runs = [f"load-{n}.1" for n in range(AT_ONCE)]
        streams = [asyncio.create_task(streamed(client, runs[n % AT_ONCE], counted)) for n in range(STREAMS)]
        await asyncio.sleep(15)  # the streams have opened
        pages = {"inbox": "/", "runs": "/runs", "runs, a text": "/runs?text=number+77", "policy": "/policy"}
        pages["runs, in the middle"] = "/runs?before=run-50000.1"
        pages |= {"runs, the costliest": "/runs?order=cost", "runs, the longest": "/runs?order=duration"}
        pages |= {"inbox, searched": "/?find=number+77", "inbox, by deadline": "/?order=deadline&group=what"}
        pages |= {"inbox, by amount": "/?order=amount", "inbox, of a visitor": "/?for=me"}
        of_a_run = ("", "/step", "/timeline", "/results", "/revisions", "/effects", "/budget", "/audit")
        pages |= {f"run{page}": f"/run{page}?run=load-1.1&step=s1" for page in of_a_run}
        taken = {name: await page_ms(client, path) for name, path in pages.items()}
        for stream in streams:
            stream.cancel()
    return taken, counted[0]


def processor_s(process: int) -> float:
    """Return how many seconds of the processor a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def begun(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a command beside what is done within, and end it after that, also if that fails."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


def table(taken: Mapping[str, list[float]]) -> str:
    """Return a row for each page."""
    head = "| Page | Median, ms | 95 of 100 within, ms | Reached |\n|---|--:|--:|---|"
    p95s = {name: quantiles(times, n=20)[-1] for name, times in taken.items()}
    return "\n".join(
        [
            head,
            *(
                f"| {name} | {median(taken[name]):.0f} | {p95:.0f} | {'yes' if p95 <= LIMIT_MS else '**no**'} |"
                for name, p95 in p95s.items()
            ),
        ]
    )


def under_load(database: Path) -> str:
    """Serve a database, execute runs in it, and return what was measured."""
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    serve = [str(Path(sys.executable).parent / "planner-executor"), "serve", "--port", "0", "--db", str(database)]
    with begun(serve, stdout=subprocess.PIPE, text=True, cwd=database.parent) as desk:
        assert desk.stdout is not None
        link = next(found[0] for line in desk.stdout if (found := re.search(r"http://127\.0\.0\.1\S+", line)))
        with begun([sys.executable, "-c", EXECUTE, str(database)], env=environment):
            begun_s, before_s = time.perf_counter(), processor_s(desk.pid)
            taken, messages = asyncio.run(measured(link))
            share = (processor_s(desk.pid) - before_s) / (time.perf_counter() - begun_s)
    words = f"The streams had {messages:,} messages meanwhile; the desk took {share:.0%} of one core."
    return f"{table(taken)}\n\n{words} {measured_by('python -m benchmarks.desk_load')}"


def main() -> None:
    """Print the median and the 95th percentile of each page; over the full number of runs also into the page."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--runs", type=int, default=RUNS)
    count = given.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "runs.db"
        write_runs(database, count)
        text = under_load(database)
    print(text)
    if count == RUNS:
        write_between_marks(PAGE, text, "desk")


if __name__ == "__main__":
    main()
