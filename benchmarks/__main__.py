"""Run the benchmarks from the root of the repository: `python -m benchmarks [--quick] [--only NAME]`."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.chart import chart_svg
from benchmarks.comparison import SYSTEMS, Compared, compare, judged
from benchmarks.cost_per_step import asking, many, writing, yardsticks
from benchmarks.direct_road import answering
from benchmarks.figures import Figure
from benchmarks.growth import databases, plans
from benchmarks.page import comparison_table, figures_table, measured_on, write_between_marks
from benchmarks.processes import importing, resuming
from benchmarks.sizes import FULL, QUICK, Sizes
from benchmarks.small_run import small_runs
from benchmarks.trial import run
from benchmarks.workloads import chain

PAGE = Path("docs/benchmarks.md")
CHART = Path("docs/pictures/benchmarks.svg")
COMPARISON = "comparison"
SECTIONS: dict[str, Callable[[Sizes], Awaitable[list[Figure]]]] = {
    "writing": writing,
    "many": many,
    "asking": asking,
    "answering": answering,
    "small": small_runs,
    "databases": databases,
    "plans": plans,
    "importing": importing,
    "resuming": resuming,
}


async def measure(sizes: Sizes, only: str | None = None) -> tuple[list[Figure], list[Compared]]:
    """Run everything, or the section of that name, and return the figures and the comparison."""
    for system in SYSTEMS:  # warm-up: what is imported and compiled on first use is paid for here
        await run(system, chain(3, 0.001))
    figures: list[Figure] = []
    compared: list[Compared] = []
    if only in (None, COMPARISON):
        _tell(COMPARISON)
        compared = await compare(sizes)
        figures += judged(compared, sizes)
    for name, section in SECTIONS.items():
        if only in (None, name):
            _tell(name)
            figures += await section(sizes)
    return figures, compared


def _tell(section: str) -> None:
    print(f"measuring: {section}", file=sys.stderr, flush=True)


def main() -> None:
    """Print the tables; a full run also writes them to the documentation and draws the chart."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure runs beside other systems.")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, decides nothing")
    parser.add_argument("--only", choices=[COMPARISON, *SECTIONS], metavar="NAME", help="one section")
    given = parser.parse_args()
    figures, compared = asyncio.run(measure(QUICK if given.quick else FULL, given.only))
    basis = f"{measured_on()} {asyncio.run(yardsticks())}"
    tables = [figures_table(figures), *([comparison_table(compared)] if compared else []), basis]
    text = "\n\n".join(tables)
    print(text)
    if not given.quick and given.only is None:
        write_between_marks(PAGE, text)
        CHART.write_text(chart_svg(compared))


if __name__ == "__main__":
    main()
