"""`planner-executor case`: cases of playbooks, made of runs."""

from pathlib import Path
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_group import CommandGroup
from planner_executor.graph.cli.epilog import EPILOG
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.playbook_options import Values, playbook_given, values_given
from planner_executor.graph.cli.prompts import is_confirmed
from planner_executor.graph.cli.run_lookup import with_run
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.playbooks.case import Case, folder_of_cases
from planner_executor.graph.record.call import place_of
from planner_executor.graph.runs.case_of_run import case_of_run, playbook_named_by
from planner_executor.graph.text.review.values import shown

case = typer.Typer(name="case", cls=CommandGroup, help="Cases of playbooks.", no_args_is_help=True)


@case.command(epilog=EPILOG)
@on_screen
def add(
    screen: Screen,
    run: options.RunName,
    playbook: Annotated[
        Path | None,
        typer.Option(
            "--playbook",
            parser=options.path_of,
            metavar="FILE|NAME",
            help="The playbook that it is a case of. Default: the one that the run was started by.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Its name. Default: the run's.")] = None,
    param: Values = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    config: options.ConfigFile = None,
    db: options.Database = options.DATABASE,
) -> None:
    """Make a run a case of its playbook: what it was given, what its calls answered, what it did and how it ended."""
    named = playbook or with_run(db, run, lambda runs: playbook_named_by(runs, run))
    if named is None:
        raise InputError("--playbook", f"{run} was not started by a playbook; name the one that it is a case of")
    found = playbook_given(Path(named), config, trusted=False)
    values = values_given(found, param or [])
    made = with_run(db, run, lambda runs: case_of_run(runs, run, found, values))
    file = folder_of_cases(found.path) / f"{name or run.replace('/', '_')}.yaml"
    screen.say_each(_values_of(made))
    # Values of a run may be secret, and a file is often shared: they are shown before it is written.
    if not yes and not is_confirmed(screen, f"Write these values to {file}?"):
        raise InputError("--yes", "nothing was written, because nothing was confirmed; answer y, or give --yes")
    with file_faults("--as", file, "give another name"):
        file.parent.mkdir(exist_ok=True)
        # Never over another case: an expectation would be lost without a word.
        with file.open("x", encoding="utf-8") as target:
            target.write(made.to_text())
    screen.say(f"wrote {file}; it expects the run to end {made.ends}")


def _values_of(made: Case) -> list[str]:
    """Return every value that the file will hold, a line for each."""
    lines = [f"{name}: {shown(value)}" for name, value in made.params.items()]
    for one in made.answers:
        who = one.tool or (f"the {one.role}" if one.role else "a person")
        said = f"failed: {shown(one.error)}" if one.error is not None else shown(one.answer)
        lines.append(f"{place_of(one.step, one.item)}, {who}: {said}")
    return [*lines, *(f"expected call: {one}" for one in made.calls)]
