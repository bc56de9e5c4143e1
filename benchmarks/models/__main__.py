"""Try a model on the goals of this repository: `python -m benchmarks.models --planner NAME`."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from langchain_core.callbacks import UsageMetadataCallbackHandler, get_usage_metadata_callback

from benchmarks.models.cached import Prompted, read_prompted, write_prompted
from benchmarks.models.goals import read_goals
from benchmarks.models.outcome import judge
from benchmarks.models.page import trial_page
from planner_executor.graph.calls.rate_limit import process_rate_limiter
from planner_executor.graph.cli import options
from planner_executor.graph.cli.commands.eval import toolset_factory
from planner_executor.graph.cli.exit_codes import ENDED_OTHERWISE, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_options import ModelOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.errors import InputError
from planner_executor.graph.evaluation.evaluation import Evaluation, checked_runner
from planner_executor.graph.evaluation.results_file import RECORDS, Results, lock_folder
from planner_executor.graph.evaluation.run_trial import TrialRunner
from planner_executor.graph.evaluation.suite import Suite
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.policy.policy import NO_POLICY
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.runs.runs import open_runs

PAGE, ARM = "page.md", "replanning"

Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder of the page and the records. Default: evaluations/models-NAME."),
]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="GOAL", help="One of the goals; may be repeated.")]
Tokens = Annotated[int | None, typer.Option("--tokens", min=1, help="Budget of the trial. Default: 2,000,000.")]


@on_screen
@with_option_groups
def trial(
    *,
    screen: Screen,
    given: ModelOptions,
    config: options.ConfigFile = None,
    out: Out = None,
    only: Only = None,
    tokens: Tokens = None,
) -> None:
    """Run each goal once with a plan that is revised after a failure, and write a page of what came of it.

    Finished goals are kept: if interrupted, the same command continues.
    """
    setup = Setup.default().changed(models=given.models, config=config)
    suite = chosen(read_goals()[0], only or (), tokens)
    name = re.sub(r"[^\w.-]+", "-", setup.role_models.planner.name)
    folder = out or Path("evaluations") / f"models-{name}"
    results = asyncio.run(tried(suite, setup, folder, screen))
    page = folder / PAGE
    page.write_text(asyncio.run(page_of(results, folder)), "utf-8")
    screen.say(f"page: {page}, records: {folder / RECORDS}")
    if results.stopped:
        screen.complain(results.stopped)
    raise typer.Exit(ENDED_OTHERWISE if results.stopped else 0)


def chosen(suite: Suite, only: Sequence[str], tokens: int | None) -> Suite:
    """Return the suite with these goals alone, all of them if none is named, within a budget.

    Raises:
        InputError: A goal is unknown.
    """
    known = {case.id: case for case in suite.cases}
    if unknown := [name for name in only if name not in known]:
        raise InputError("--only", f"there is no goal {unknown[0]}; the goals: {', '.join(known)}")
    changes = {"cases": tuple(known[name] for name in only) or suite.cases, "arms": {ARM: suite.tried[ARM]}}
    return suite.model_copy(update={**changes, **({"budget": Budget(tokens=tokens)} if tokens else {})})


async def tried(suite: Suite, setup: Setup, folder: Path, screen: Screen) -> Results:
    """Run the goals that are left, and keep what providers say of their caches.

    Raises:
        ConfigError: A model cannot be used, or the folder holds another trial.
        LedgerError: The records cannot be written.
    """
    models = setup.role_models
    without_arms = TrialRunner(suite, {}, toolset_factory(setup, ()), NO_POLICY, process_rate_limiter({}), folder)
    runner, tools = await asyncio.to_thread(checked_runner, without_arms, models)
    evaluation = Evaluation(runner, models, tools)
    await models.check()
    with lock_folder(folder), get_usage_metadata_callback() as counted:
        prompted = read_prompted(folder)

        def on_trial(trial: Trial, number: int, total: int) -> None:
            prompted[trial.folder] = _taken(counted)
            write_prompted(folder, prompted)
            screen.say(f"{number}/{total} {trial.slot.case}: {trial.status}, {trial.spent.tokens:,} tokens")

        return await evaluation.run(on_trial)


def _taken(counted: UsageMetadataCallbackHandler) -> Prompted:
    """Return what was counted since the last trial."""
    prompted = Prompted.of(counted.usage_metadata)
    counted.usage_metadata.clear()
    return prompted


async def page_of(results: Results, folder: Path) -> str:
    """Return the page of a trial; what a goal came to is read from its record."""
    expected = read_goals()[1]
    counted = [trial for trial in results.trials if trial.void is None]
    async with open_runs(folder / RECORDS) as runs:
        outcomes = [judge(each, (await runs.log(str(each.run))).events, expected[each.slot.case]) for each in counted]
    day = str(datetime.now(UTC).date())
    return trial_page(results.about, day, outcomes, read_prompted(folder), len(results.trials) - len(counted))


if __name__ == "__main__":
    typer.run(trial)
