"""`planner-executor eval`: compare plans with a direct agent on a suite of goals."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.eval_table import difference_table, summary_table, trial_line
from planner_executor.graph.cli.exit_codes import ENDED_OTHERWISE, on_screen
from planner_executor.graph.cli.junit_file import Junit, write_junit
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_options import ModelOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setup import Setup

if TYPE_CHECKING:
    from planner_executor.graph.builder.user_tools import Tool
    from planner_executor.graph.evaluation.results_file import Results
    from planner_executor.graph.evaluation.sandbox import Toolset
    from planner_executor.graph.evaluation.suite import Suite
    from planner_executor.graph.evaluation.trial import Trial

OFFLINE = (
    "planner: the embedded rules (offline), which cannot act as the direct agent; that arm is skipped. "
    "To use a model: --planner openai:gpt-5-mini"
)


@on_screen
@with_option_groups
def evaluate(
    screen: Screen,
    suite: Annotated[
        Path,
        typer.Argument(
            parser=options.path_of, metavar="SUITE", help="A TOML file with goals and the checks of their outcomes."
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=options.path_of,
            metavar="DIR",
            help="Folder for the results. Default: evaluations/NAME of the suite.",
        ),
    ] = None,
    given: ModelOptions,
    config: options.ConfigFile = None,
    own_tools: options.OwnTools = None,
    packs: options.Packs = None,
    junit: Junit = None,
    json: options.AsJson = False,
) -> None:
    """Run each goal of a suite in several arms and compare success and cost.

    The arms, unless the suite names others: an agent that calls tools without a plan, a static plan, a plan that is
    revised when a step fails, and the plan of the playbook whose cases they are. Tools, policy and budget are the same.
    Each trial works on a fresh copy of its workspace. Finished trials are stored: if interrupted, the same command
    continues.
    """
    from planner_executor.graph.evaluation.suite_file import read_suite

    read = read_suite(suite)
    folder = out or Path("evaluations") / read.name
    setup = Setup.default().changed(models=given.models, config=config, own_tools=own_tools, packs=packs)
    if setup.role_models.planner.name == "offline":
        screen.say(OFFLINE)
    results = run_suite(screen, read, setup, folder)
    if junit is not None:
        from planner_executor.graph.evaluation.junit import trial_results

        write_junit(junit, trial_results(results.trials))
    show(screen, results, folder)
    if json:
        Screen.here().show_json(results.to_json())
    raise typer.Exit(ENDED_OTHERWISE if results.stopped else 0)


def run_suite(screen: Screen, suite: "Suite", setup: Setup, folder: Path) -> "Results":
    """Run the evaluation and print a line per trial."""
    from planner_executor.graph.builder.configuration import policy_named, policy_of
    from planner_executor.graph.builder.tool_servers import with_servers
    from planner_executor.graph.evaluation.evaluation import evaluate

    def on_trial(trial: "Trial", number: int, total: int) -> None:
        screen.show_text(trial_line(trial, number, total), "" if trial.met else "yellow")

    policy = policy_of(policy_named(suite.path(suite.policy), setup.config))
    own = setup.tools()
    with with_servers(suite.path(suite.mcp), own) as everything:
        toolset = toolset_factory(setup, everything[len(own) :])
        return asyncio.run(evaluate(suite, setup.role_models, toolset, folder, policy=policy, on_trial=on_trial))


def toolset_factory(setup: Setup, others: Sequence[Any]) -> "Toolset":
    """Return a factory of the built-in tools over a trial's folders, plus other tools."""

    def toolset(documents: Path, workspace: Path) -> "list[Tool]":
        # The built-in tools reach folders, so that each trial has its own; those of servers are shared.
        made = replace(setup, documents=str(documents), workspace=str(workspace)).tools()
        return [*made, *others]

    return toolset


def show(screen: Screen, results: "Results", folder: Path) -> None:
    """Print the summary and the paths of the results."""
    from planner_executor.graph.evaluation.results_file import CHART, RECORDS, RESULTS

    screen.say()
    screen.show(summary_table(results.summary))
    if results.summary.differences:
        screen.say()
        screen.show(difference_table(results.summary))
    screen.say()
    screen.say(
        "In brackets: 95 % confidence interval; each case counts once. unsure: the difference may be chance. "
        "too few cases: fewer than 6 for success, or than 2 for the rest."
    )
    if void := sum(trial.void is not None for trial in results.trials):
        screen.say(
            f"{void} void trials are not counted: a model was unavailable, or the budget ran out during the trial."
        )
    screen.say(f"results: {folder / RESULTS}, picture: {folder / CHART}, records: {folder / RECORDS}")
    if results.stopped:
        screen.complain(results.stopped)
