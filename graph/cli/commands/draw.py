"""`planner-executor draw`: a run's plan as a drawing, or as a file to edit."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.recorded_run import find_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.drawing.mermaid import plan_mermaid
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text

Status = Mapping[str, str]

FORMATS: Mapping[str, Callable[[Plan, Status], str]] = {
    ".svg": plan_svg,
    ".mmd": plan_mermaid,
    ".txt": lambda plan, status: plan_text(plan, status) + "\n",
    ".json": lambda plan, _: visible_json(plan.to_json()) + "\n",
}


@on_screen
def draw(
    screen: Screen,
    run: options.RunName,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            parser=options.path_of,
            metavar="FILE",
            help="File to write: .svg, .mmd, .txt, or .json to edit the plan.",
        ),
    ] = None,
    db: options.Database = options.DATABASE,
) -> None:
    """Draw a run's plan on the screen, or into a file in the format of its extension."""
    drawn = FORMATS.get(output.suffix.lower()) if output is not None else None
    if output is not None and drawn is None:
        raise InputError("--output", f"{output} has an unknown extension; use {', '.join(FORMATS)}")
    found = find_run(db, run)
    if found.plan is None:
        raise InputError("run", f"{found.id} has no plan to draw")
    if output is None or drawn is None:
        screen.show_text(plan_text(found.plan, found.step_status, width=screen.columns))
        return
    with file_faults("--output", output):
        output.write_text(drawn(found.plan, found.step_status), encoding="utf-8")
    screen.say(f"wrote {output}")
