"""`planner-executor eval`: whether plans pay for a suite of goals."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.cli import options
from graph.cli.eval_table import difference_table, summary_table, told_trial
from graph.cli.exit_codes import ENDED_OTHERWISE, reported
from graph.cli.option_groups import with_option_groups
from graph.cli.run_options import ModelOptions
from graph.cli.screen import Screen
from graph.cli.setup import Setup

if TYPE_CHECKING:
    from graph.evaluation.results_file import Results
    from graph.evaluation.sandbox import Toolset
    from graph.evaluation.suite import Suite
    from graph.evaluation.trial import Trial
    from graph.own_tools import Tool

OFFLINE = (
    "planning with the embedded rules (offline), which cannot play the direct agent: that arm is left out; "
    "name a model with --planner openai:gpt-5-mini"
)

SuiteFile = Annotated[Path, typer.Argument(metavar="SUITE", help="A TOML file with goals and what is to come of them.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where results go; evaluations/NAME of the suite by default."),
]


@with_option_groups
def evaluate(
    suite: SuiteFile,
    *,
    out: Out = None,
    given: ModelOptions,
    config: options.ConfigFile = None,
    own_tools: options.OwnTools = None,
) -> None:
    """Try each goal of a suite in three arms, and say what plans gain and cost there.

    The arms are an agent that calls tools as it goes, a plan that stays as it is, and a plan that is revised when a
    step fails; tools, models, policy and budget are the same. Each trial works on a fresh copy of its workspace.
    Trials that are finished are kept: the same command goes on where it was stopped.
    """
    screen = Screen.here()
    with reported(screen):
        from graph.evaluation.suite_file import read_suite

        read = read_suite(suite)
        folder = out or Path("evaluations") / read.name
        setup = Setup.default().changed(models=given.models, config=config, own_tools=own_tools)
        if setup.role_models.planner.name == "offline":
            screen.say(OFFLINE)
        results = evaluated(screen, read, setup, folder)
        show(screen, results, folder)
        raise typer.Exit(ENDED_OTHERWISE if results.stopped else 0)


def evaluated(screen: Screen, suite: "Suite", setup: Setup, folder: Path) -> "Results":
    """Run the evaluation, and tell of each trial as it ends."""
    from graph.configuration import policy_named, policy_of
    from graph.evaluation.evaluating import evaluate as begin
    from graph.tool_servers import with_servers

    def tell(trial: "Trial", number: int, total: int) -> None:
        screen.show_text(told_trial(trial, number, total), "" if trial.met else "yellow")

    policy = policy_of(policy_named(suite.path(suite.policy), setup.config))
    own = setup.tools()
    with with_servers(suite.path(suite.mcp), own) as everything:
        toolset = toolset_with(setup, everything[len(own) :])
        return asyncio.run(begin(suite, setup.role_models, toolset, folder, policy=policy, tell=tell))


def toolset_with(setup: Setup, others: Sequence[Any]) -> "Toolset":
    """Return what makes the project's own tools over a trial's folders, with others beside them."""

    def toolset(documents: Path, workspace: Path) -> "list[Tool]":
        made = replace(setup, documents=str(documents), workspace=str(workspace)).tools()
        return [*made, *others]

    return toolset


def show(screen: Screen, results: "Results", folder: Path) -> None:
    """Print what was found, and where it is kept."""
    from graph.evaluation.results_file import PICTURE, RECORDS, RESULTS

    screen.say()
    screen.show(summary_table(results.summary))
    if results.summary.differences:
        screen.say()
        screen.show(difference_table(results.summary))
    screen.say()
    screen.say(
        "In brackets the bounds of 95 % confidence; cases count once each. unsure: nothing tells it from chance."
    )
    if void := sum(trial.void is not None for trial in results.trials):
        screen.say(
            f"{void} trials do not count: a model gave no answer, or the budget was spent in the middle of them."
        )
    screen.say(f"results: {folder / RESULTS}, picture: {folder / PICTURE}, records: {folder / RECORDS}")
    if results.stopped:
        screen.complain(results.stopped)
