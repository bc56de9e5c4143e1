"""The measurements as Markdown tables, and where they go in the documentation."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.comparison import SYSTEMS, Compared
from benchmarks.figures import Figure

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
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


def write_between_marks(page: Path, text: str) -> None:
    """Replace what stands between the page's marks."""
    before, _, rest = page.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
