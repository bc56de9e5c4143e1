"""The measurements as Markdown tables, and where they go in the documentation."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.comparison import SYSTEMS, Compared
from benchmarks.figures import Figure

PAGE = Path("docs/benchmarks.md")
MEASURED = "measured"
"""The part that a full run writes."""
PACKAGES = ("langgraph", "langchain", "langchain-core", "langgraph-checkpoint-sqlite", "pydantic")


def figures_table(figures: Sequence[Figure]) -> str:
    """Return the limits and what was measured."""
    rows = [f"| {one.what} | {one.must} | {one.measured} | {'yes' if one.reached else '**no**'} |" for one in figures]
    return "\n".join(["| Figure | Must be | Measured | Reached |", "|---|---|---|---|", *rows])


def comparison_table(compared: Sequence[Compared]) -> str:
    """Return a row for each workload and system."""
    head = [
        "| Workload | System | Time over the shortest possible | Model calls | Prompt characters "
        "| Own time per step, ms | Database, KB |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    return "\n".join([*head, *(row for one in compared for row in _rows(one))])


def _rows(one: Compared) -> list[str]:
    rows: list[str] = []
    for system in SYSTEMS:
        if cost := one.costs.get(system.name):
            told = (
                one.workload.name if not rows else "",
                system.name,
                f"{one.slowness(system):.2f}",
                f"{cost.model_calls:,.0f}",
                f"{cost.prompt_characters:,.0f}",
                f"{one.per_step_ms(system):.2f}",
                f"{cost.database_bytes / 1000:,.0f}",
            )
            rows.append(f"| {' | '.join(told)} |")
    return rows


def measured_on() -> str:
    """Return what absolute times depend on, without naming the machine."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"Milliseconds are those of the machine it was measured on. Python {platform.python_version()}, {packages}."


def measured_by(command: str) -> str:
    """Return the command that measured a part of the page, the day, and the load of the machine, its own included."""
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[1]
    about = f"{cores} cores with a load of {load:.1f} in the last five minutes"
    return f"`{command}`, {datetime.now(UTC).date()}, {about}, Python {platform.python_version()}."


def marks(name: str) -> tuple[str, str]:
    """Return what stands before and after a part of the page that is written by a program."""
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def write_between_marks(page: Path, text: str, name: str = MEASURED) -> None:
    """Replace what stands between the page's marks of that name."""
    begin, end = marks(name)
    before, _, rest = page.read_text().partition(begin)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
