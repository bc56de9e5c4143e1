"""Many runs at once: processor time, rate and time of a run, beside a bare LangGraph graph with the same checkpointer.

A run is a chain of five read steps. The bare graph has the same state, model and tools; it asks for a plan and calls
the tools, and checks, records and bounds nothing. Both take turns, in one process and shared among four over one
database. All sizes are measured in each round; a figure is the best of the rounds, which other work on the machine
disturbs least.
"""

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.apart import measured_apart
from benchmarks.crowd import Crowd, Measured, measured
from benchmarks.crowd_systems import SYSTEMS
from benchmarks.figures import Figure, at_most
from benchmarks.postgres_server import no_server, postgres_server
from benchmarks.sizes import Sizes

MOST_GROWTH = 1.3
ROUNDS = 2

Crowds = Mapping[Crowd, Measured]


@dataclass(frozen=True)
class RunsAtOnce:
    """The crowds over each kind of database, and what must be reached."""

    crowds: Mapping[str, Crowds]
    figures: Sequence[Figure]

    def table(self) -> str:
        """Return a row for each size of a crowd."""
        head = "| Database | Processes | Runs at once | Runs a second | p95 of a run, s | Processor time of a run, ms |"
        bare = " Bare graph: runs a second | p95, s | processor time, ms |"
        rows = [
            f"| {kind} | {one.processes} | {one.at_once:,} | {found.cells} | {crowds[_bare(one)].cells} |"
            for kind, crowds in self.crowds.items()
            for one, found in crowds.items()
            if one.system == "ours"
        ]
        return "\n".join([head + bare, f"|---|{'--:|' * 8}", *rows])


def _bare(ours: Crowd) -> Crowd:
    return Crowd("bare", ours.processes, ours.at_once)


async def runs_at_once(sizes: Sizes) -> RunsAtOnce:
    """Measure growing numbers of runs at once, over SQLite and over PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder:
        crowds = {"SQLite": await _over(str(Path(folder) / "runs.db"), sizes)}
    figures = [_growth("SQLite", crowds["SQLite"])]
    if no_server():
        return RunsAtOnce(crowds, [*figures, *no_server()])
    with postgres_server() as address:
        crowds["PostgreSQL"] = await _over(address, sizes)
        figures += [_growth("PostgreSQL", crowds["PostgreSQL"])]
    return RunsAtOnce(crowds, figures)


async def _over(address: str, sizes: Sizes) -> Crowds:
    """Measure all crowds over one database, in several rounds."""
    found: defaultdict[Crowd, list[Measured]] = defaultdict(list)
    together = [Crowd(name, 1, at_once) for at_once in sizes.at_once for name in SYSTEMS]
    apart = [Crowd(one.system, sizes.processes, one.at_once) for one in together if one.at_once >= sizes.processes]
    for number in range(min(ROUNDS, sizes.repeats)):
        for crowd in together:
            found[crowd].append(await measured(address, crowd, sizes, f"{number}-{crowd.system}-{crowd.at_once}"))
            _tell(crowd, found[crowd][-1])
        for crowd in apart:
            found[crowd].append(await asyncio.to_thread(measured_apart, address, crowd, f"{number}-{crowd.at_once}"))
            _tell(crowd, found[crowd][-1])
    return {crowd: _best(each) for crowd, each in found.items()}


def _tell(crowd: Crowd, found: Measured) -> None:
    print(f"measured: {crowd}, {found}", file=sys.stderr, flush=True)


def _best(each: Sequence[Measured]) -> Measured:
    best, *others = each
    for other in others:
        best = best.or_better(other)
    return best


def _growth(kind: str, crowds: Crowds) -> Figure:
    """Return how much more a run takes of the processor among many than alone."""
    ours = {
        crowd.at_once: found.processor_ms for crowd, found in crowds.items() if crowd == Crowd("ours", 1, crowd.at_once)
    }
    alone, most = ours[min(ours)], max(ours)
    name = f"own processor time of a run, {most:,} at once over alone, {kind}"
    return at_most(name, MOST_GROWTH, ours[most] / alone, beside=f"{ours[most]:.3g} ms and {alone:.3g} ms")
