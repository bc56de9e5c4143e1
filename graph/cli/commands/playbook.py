"""`planner-executor playbook`: plans kept as files, with parameters."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_group import CommandGroup
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.epilog import EPILOG
from planner_executor.graph.cli.exit_codes import ENDED_OTHERWISE, exit_code, on_screen
from planner_executor.graph.cli.junit_file import Junit, write_junit
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.playbook_options import File, Values, pair, playbook_given, values_given
from planner_executor.graph.cli.run_driver import start
from planner_executor.graph.cli.run_lookup import with_run, with_runs
from planner_executor.graph.cli.run_options import RunOptions, ToolOptions
from planner_executor.graph.cli.screen import DIGEST_CHARACTERS, Screen
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.playbooks.case import Case, cases_beside
from planner_executor.graph.playbooks.folder import folder_of, found_in
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.playbooks.schedule import SCHEDULES, Schedule
from planner_executor.graph.record.budget import read_budget
from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.record.moment import Moment
from planner_executor.graph.runs.playbooks import playbook_of_run
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.settings.trust import content_trusted, trust
from planner_executor.graph.text.changed_lines import changed_lines
from planner_executor.graph.text.event_text.values import limits_text
from planner_executor.graph.text.plan_yaml import to_yaml
from planner_executor.graph.text.review.values import shown
from planner_executor.graph.words.name_list import counted

if TYPE_CHECKING:
    from planner_executor.graph.evaluation.case_run import CaseResult

Target = Annotated[
    Path | None,
    typer.Option("--out", parser=options.path_of, metavar="FILE", help="The file to write. Default: NAME.yaml."),
]

SKELETON = """\
name: {name}
version: 1  # raise it whenever you change something
description: Report what the notes say about {{param.topic}}
parameters:
  topic: {{type: string, title: The topic, minLength: 2, examples: [wind]}}
steps:
  - id: find
    objective: Find passages about {{param.topic}}
    tool: search_documents
    args: {{query: '{{param.topic}}'}}
answer: '{{find_result.passages}}'
"""


playbook = typer.Typer(
    name="playbook",
    cls=CommandGroup,
    help="Plans that are kept as files, and run again with other values.",
    no_args_is_help=True,
)


@playbook.command("list", epilog=EPILOG)
@on_screen
def list_(screen: Screen, config: options.ConfigFile = None) -> None:
    """List the playbooks in the folder that the settings name, and say which are trusted."""
    folder = folder_of(settings_file(config))
    if folder is None:
        raise InputError("playbooks", 'the settings name no folder of playbooks; write playbooks = "playbooks"')
    found = found_in(folder)
    for one in found:
        if one.playbook is None:
            screen.complain(one.fault)
            continue
        what = f"{one.playbook.name} {one.playbook.version}, digest {one.playbook.digest[:DIGEST_CHARACTERS]}"
        screen.say(f"{what}{'' if one.is_trusted else ', not trusted'}: {one.playbook.description}")
    if not found:
        screen.say(f"no playbooks in {folder}")


@playbook.command(epilog=EPILOG)
@on_screen
def due(screen: Screen, config: options.ConfigFile = None, db: options.Database = options.DATABASE) -> None:
    """Say what the schedules of the settings run, and when next; `work` runs them."""
    schedules = SCHEDULES.value_in(settings_file(config)) or ()
    moments = {one.schedule: one for one in with_runs(db, lambda runs: runs.ledger.timetable.moments())}
    for one in schedules:
        screen.say(f"{one.name}: {one.playbook} at {one.rule!r}, {_next(moments.get(one.name), one)}")
    if not schedules:
        screen.say("the settings have no schedules; write [[schedules]]")


def _next(moment: Moment | None, schedule: Schedule) -> str:
    if moment is None or moment.rule != schedule.rule:
        return "counts from when a worker sees it"
    waits = ", waits for the end of the run before it" if moment.waits else ""
    return f"next {moment_in_words(moment.due_at)}{waits}"


@playbook.command(epilog=EPILOG)
@on_screen
def show(screen: Screen, file: File, as_json: options.AsJson = False, config: options.ConfigFile = None) -> None:
    """Show a playbook: its parameters, its steps and its tools."""
    found = playbook_given(file, config)
    if as_json:
        screen.show_json({**found.to_json(), "digest": found.digest})
        return
    screen.say(f"{found.name} {found.version}, digest {found.digest[:DIGEST_CHARACTERS]}: {found.description}")
    for name, schema in found.parameters.items():
        screen.say(f"- {name}: {schema.get('title') or schema.get('type', 'any value')}{_usual(schema)}")
    if found.limits:
        screen.say(f"at most {limits_text(read_budget(found.limits)[0])} in a run")
    screen.say_each(to_yaml({"steps": list(found.steps), "answer": found.answer}).rstrip().split("\n"))


@playbook.command(
    epilog="Exit codes: 0 it can run; 1 its tools have changed or its plan is refused; 2 it is no playbook."
)
@on_screen
@with_option_groups
def check(
    screen: Screen, file: File, given: ToolOptions, param: Values = None, config: options.ConfigFile = None
) -> None:
    """Check a playbook: its form, its tools against those of now, and its plan with examples or given values."""
    from planner_executor.graph.builder.graph_builder import build_graph

    found = playbook_given(file, config)
    with Setup.default().changed(**given.tool_settings, config=config).opened() as built:
        services = build_graph(**built).services
    specs = services.toolbox.specs
    # Examples make a plan of a playbook without values; without either only its form can be checked.
    values = values_given(found, param or []) or found.example()
    faults = [f"{name} can write to its folder" for name in found.writers(specs)]
    faults += [
        *found.changes(specs),
        *(found.issues(specs, values, services.library) if values is not None else ()),
    ]
    for fault in faults:
        screen.complain(fault)
    if faults:
        raise typer.Exit(ENDED_OTHERWISE)
    unchecked = "" if values is not None else "; its plan is not checked: give examples, or --param NAME=VALUE"
    screen.say(f"{file} is valid, digest {found.digest[:DIGEST_CHARACTERS]}{unchecked}")


@playbook.command(epilog="Exit codes: 0 they are the same; 1 they differ; 2 one is no playbook, or was never trusted.")
@on_screen
def diff(
    screen: Screen,
    file: File,
    other: Annotated[
        Path | None,
        typer.Argument(parser=options.path_of, metavar="[OTHER]", help="The playbook after it, likewise."),
    ] = None,
    config: options.ConfigFile = None,
) -> None:
    """Compare a playbook with another one, or with what it was when it was trusted; comments do not count."""
    now = playbook_given(file if other is None else other, config, trusted=False)
    # With one file the question is what has changed since the user trusted it.
    before = _as_trusted(now) if other is None else playbook_given(file, config, trusted=False)
    screen.say_each(changed_lines(before.text, now.text))
    if before.digest != now.digest:
        raise typer.Exit(ENDED_OTHERWISE)
    screen.say(f"the same, digest {now.digest[:DIGEST_CHARACTERS]}")


@playbook.command(epilog=EPILOG)
@on_screen
def new(
    screen: Screen,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, a word of small letters.")],
    out: Target = None,
) -> None:
    """Write a playbook to begin with, for you to edit."""
    file, content = out or Path(f"{name}.yaml"), SKELETON.format(name=name).encode()
    Playbook.parse(content, name)
    _write(file, content)
    screen.say(f"wrote {file}; edit it, then run `planner-executor playbook check {quote(str(file))}`")


@playbook.command(epilog=EPILOG)
@on_screen
@with_option_groups
def run(
    screen: Screen,
    file: File,
    *,
    param: Values = None,
    given: RunOptions,
    yes: options.Yes = False,
    json: options.Json = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Run a playbook with these values; no planner is asked."""
    found = playbook_given(file, given.config)
    setup = Setup.default().changed(**given.settings)
    with setup.opened() as built:
        asked = {"playbook": found, "params": values_given(found, param or []), "setup": setup.to_json()}
        ended = start(DecisionSource(screen, db, yes=yes, by=given.by), built, asked, json)
    raise typer.Exit(exit_code(ended.status))


@playbook.command(epilog="Exit codes: 0 every case passed; 1 one failed; 2 there is no case, or one cannot be read.")
@on_screen
@with_option_groups
def test(
    screen: Screen,
    file: Annotated[
        Path | None,
        typer.Argument(
            parser=options.path_of,
            metavar="[FILE|NAME]",
            help="The playbook. Default: each one in the settings' folder.",
        ),
    ] = None,
    *,
    given: ToolOptions,
    reads: Annotated[
        bool, typer.Option("--reads", help="Call the tools that only read, and compare the shape of their answers.")
    ] = False,
    junit: Junit = None,
    config: options.ConfigFile = None,
) -> None:
    """Run playbooks against the cases beside them; tools and models answer from the case, and nothing has an effect."""
    cases = [
        (one, name, Case.load(path)) for one in _tested(file, config) for name, path in cases_beside(one.path).items()
    ]
    if not cases:
        raise InputError("playbook", "there are no cases; make one of a run: `planner-executor case add RUN`")
    with Setup.default().changed(**given.tool_settings, config=config).opened() as built:
        results = asyncio.run(_run_cases(cases, built, reads))
    for result in results:
        screen.say(f"{result.playbook} {result.case}: {'failed' if result.faults else 'passed'}")
        for fault in result.faults:
            screen.complain(f"- {fault}")
    failed = sum(bool(result.faults) for result in results)
    screen.say(f"{counted(len(results), 'case')}, {failed} failed")
    if junit is not None:
        # Also of cases that failed, for which the file is read: the exit comes after it.
        write_junit(junit, results)
    if failed:
        raise typer.Exit(ENDED_OTHERWISE)


def _tested(file: Path | None, config: Path | None) -> list[Playbook]:
    """Return the playbook, or each one in the settings' folder, in the version that is run; a test trusts none."""
    if file is not None:
        return [playbook_given(file, config, trusted=False)]
    folder = folder_of(settings_file(config))
    if folder is None:
        raise InputError("playbooks", "name a playbook, or a folder of them in the settings")
    return [one.playbook for one in found_in(folder) if one.playbook is not None]


async def _run_cases(
    cases: Sequence[tuple[Playbook, str, Case]], built: Mapping[str, Any], reads: bool
) -> "list[CaseResult]":
    from planner_executor.graph.builder.graph_builder import build_graph
    from planner_executor.graph.evaluation.case_run import run_case

    toolbox = build_graph(**built).services.toolbox
    return [await run_case(one, name, case, toolbox, reads=reads) for one, name, case in cases]


@playbook.command(epilog=EPILOG)
@on_screen
def save(
    screen: Screen,
    run: options.RunName,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="Its name, a word of small letters.")],
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="NAME=PLACE",
            help="Make the value in this place a parameter, such as customer=step_1.args.query; may be repeated.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="PLACE", help="Leave a parameter's value in this place; may be repeated."),
    ] = None,
    out: Target = None,
    version: Annotated[int, typer.Option("--version", min=1, help="Its version.")] = 1,
    db: options.Database = options.DATABASE,
) -> None:
    """Keep the plan of a run that was approved last as a playbook, with parameters in place of values."""
    file, places = out or Path(f"{name}.yaml"), [pair(one, "NAME=PLACE") for one in param or []]
    head = {"name": name, "version": version}
    made = with_run(db, run, lambda runs: playbook_of_run(runs, run, head, places, keep or []))
    content = to_yaml(made.to_json()).encode()
    _write(file, content)
    trust(file, content)
    screen.say(f"wrote {file}, digest {made.digest[:DIGEST_CHARACTERS]}")


def _write(file: Path, content: bytes) -> None:
    with file_faults("--out", file, "name another file"), file.open("xb") as target:
        target.write(content)


def _as_trusted(found: Playbook) -> Playbook:
    before = content_trusted(Path(found.path))
    if before is None:
        raise InputError("playbook", f"{found.path} was never trusted; name another file to compare it with")
    return Playbook.parse(before, found.path)


def _usual(schema: Mapping[str, Any]) -> str:
    return f", {shown(schema['default'])} unless given" if "default" in schema else ""
