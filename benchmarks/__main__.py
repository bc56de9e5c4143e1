"""Run the benchmarks from the root of the repository: `python -m benchmarks [--quick] [--only NAME]`."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chart import chart_svg
from benchmarks.comparison import SYSTEMS, Compared, compare, judged
from benchmarks.cost_per_step import asking, many, writing, yardsticks
from benchmarks.direct_road import answering
from benchmarks.doors import doors
from benchmarks.figures import Figure
from benchmarks.growth import databases, plans
from benchmarks.many_runs import Looked, many_runs
from benchmarks.page import PAGE, comparison_table, figures_table, measured_by, measured_on, write_between_marks
from benchmarks.playbooks import playbooks
from benchmarks.processes import importing, resuming
from benchmarks.reading import reading
from benchmarks.runs_at_once import RunsAtOnce, runs_at_once
from benchmarks.runs_chart import runs_chart_svg
from benchmarks.scale import scale
from benchmarks.sizes import FULL, QUICK, Sizes
from benchmarks.small_run import small_runs
from benchmarks.steps_on_postgres import steps_on_postgres
from benchmarks.stops import stops
from benchmarks.trial import run
from benchmarks.workloads import chain

CHART = Path("docs/pictures/benchmarks.svg")
RUNS_CHART = Path("docs/pictures/benchmarks-runs.svg")
COMPARISON = "comparison"
MANY_RUNS = "runs"
AT_ONCE = "at_once"
SECTIONS: dict[str, Callable[[Sizes], Awaitable[list[Figure]]]] = {
    "writing": writing,
    "many": many,
    "asking": asking,
    "answering": answering,
    "small": small_runs,
    "playbooks": playbooks,
    "databases": databases,
    "plans": plans,
    "importing": importing,
    "resuming": resuming,
    "doors": doors,
    "scale": scale,
    "reading": reading,
    "postgres": steps_on_postgres,
    "stops": stops,
}
ALONE = frozenset({"scale"})
"""Sections that take a quarter of an hour, and no part of a full run; each has its own part of the page."""


@dataclass(frozen=True)
class Measured:
    """The figures, and what the charts draw."""

    figures: list[Figure]
    compared: list[Compared]
    looked: Looked | None
    at_once: RunsAtOnce | None


async def measure(sizes: Sizes, only: str | None = None) -> Measured:
    """Run everything, or the section of that name."""
    for system in SYSTEMS:  # warm-up: what is imported and compiled on first use is paid for here
        await run(system, chain(3, 0.001))
    figures: list[Figure] = []
    compared: list[Compared] = []
    if only in (None, COMPARISON):
        _tell(COMPARISON)
        compared = await compare(sizes)
        figures += judged(compared, sizes)
    for name, section in SECTIONS.items():
        if name == only or (only is None and name not in ALONE):
            _tell(name)
            figures += await section(sizes)
    looked = None
    if only in (None, MANY_RUNS):
        _tell(MANY_RUNS)
        looked = await many_runs(sizes)
        figures += looked.figures()
    at_once = None
    if only in (None, AT_ONCE):
        _tell(AT_ONCE)
        at_once = await runs_at_once(sizes)
    return Measured(figures, compared, looked, at_once)


def _tell(section: str) -> None:
    print(f"measuring: {section}", file=sys.stderr, flush=True)


def main() -> None:
    """Print the tables; a full run also writes them to the documentation and draws the chart."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure runs beside other systems.")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, decides nothing")
    names = [COMPARISON, *SECTIONS, MANY_RUNS, AT_ONCE]
    parser.add_argument("--only", choices=names, metavar="NAME", help="one section")
    given = parser.parse_args()
    done = asyncio.run(measure(QUICK if given.quick else FULL, given.only))
    basis = f"{measured_on()} {asyncio.run(yardsticks())}"
    tables = [figures_table(done.figures), *([comparison_table(done.compared)] if done.compared else []), basis]
    text = "\n\n".join(tables)
    at_once = _at_once_text(done.at_once)
    print(text, at_once, sep="\n\n")
    if given.quick:
        return
    if given.only in ALONE:
        alone = [figures_table(done.figures), measured_by(f"python -m benchmarks --only {given.only}")]
        write_between_marks(PAGE, "\n\n".join(alone), given.only)
    if given.only is None:
        write_between_marks(PAGE, text)
        CHART.write_text(chart_svg(done.compared))
    if done.looked is not None:
        RUNS_CHART.write_text(runs_chart_svg(done.looked))
    if at_once:
        write_between_marks(PAGE, at_once, AT_ONCE)


def _at_once_text(done: RunsAtOnce | None) -> str:
    """Return what was measured of runs at once, nothing if it was not."""
    if done is None:
        return ""
    return "\n\n".join([figures_table(done.figures), done.table(), measured_by("python -m benchmarks --only at_once")])


if __name__ == "__main__":
    main()
