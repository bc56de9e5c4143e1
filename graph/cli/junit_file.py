"""The option `--junit` of commands that try cases, and the file that it names."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.errors.file_faults import file_faults

if TYPE_CHECKING:
    from planner_executor.graph.evaluation.case_run import CaseResult

Junit = Annotated[
    Path | None,
    typer.Option("--junit", parser=options.path_of, metavar="FILE", help="Write the results as JUnit XML too."),
]


def write_junit(file: Path, results: "Sequence[CaseResult]") -> None:
    """Write the results to a file.

    Raises:
        InputError: It cannot be written.
    """
    from planner_executor.graph.evaluation.junit import junit_xml

    with file_faults("--junit", file, "name another file"):
        file.write_text(junit_xml(results), "utf-8")
