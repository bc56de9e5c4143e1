"""An evaluation: the trials of a suite in all arms, bounded by a budget and resumable (decision 0020)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.builder.configuration import check
from planner_executor.graph.calls.equipment import Equipment
from planner_executor.graph.calls.rate_limit import process_rate_limiter
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.chat_models.settings import OFFLINE, ModelSettings, merged_layers
from planner_executor.graph.errors import SuiteError
from planner_executor.graph.evaluation.arms import arm_setups, for_any_plan
from planner_executor.graph.evaluation.assessment import case_faults
from planner_executor.graph.evaluation.chart import chart_svg
from planner_executor.graph.evaluation.results_file import CHART, Results, lock_folder, read_results
from planner_executor.graph.evaluation.run_trial import TrialRunner
from planner_executor.graph.evaluation.sandbox import Toolset, allowed_tools, contents_digest
from planner_executor.graph.evaluation.suite import PlaybookCase, Suite
from planner_executor.graph.evaluation.trial import PlannedTrial, Trial
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.budget import Budget, Usage, limit_in_words

MAX_CONSECUTIVE_VOID = 3
"""After this many void trials in a row the evaluation stops: the cause is likely to persist."""

INCOMPLETE = "some trials are void; the same command repeats them"

PACKAGES = ("planner-executor", "langgraph", "langchain", "langchain-core")

OnTrial = Callable[[Trial, int, int], None]
"""Called with a finished trial, its number, and the total number of trials."""


async def evaluate(
    suite: Suite,
    models: RoleModels,
    toolset: Toolset,
    folder: str | Path,
    *,
    policy: Policy = NO_POLICY,
    on_trial: OnTrial = lambda *_: None,
) -> Results:
    """Run the trials of a suite and return the results, also written to `results.json` and `results.svg`.

    Trials run one at a time, and arms take turns at going first. Trials already in the folder are not repeated.
    `arm_setups` selects the arms.

    Args:
        suite: The cases, see `graph.evaluation.suite_file.read_suite`.
        models: The models of the roles; the direct agent uses the planner's, and an arm may name another planner.
        toolset: Creates the tools over the folders of a trial.
        folder: Folder for results, records and the trials' files; created if missing.
        policy: The policy of all arms.
        on_trial: Called after each trial.

    Raises:
        ConfigError: Suite, models, tools and policy do not fit together, or the folder holds other results.
        LedgerError: The records cannot be written.
    """
    policy = replace(policy, prices={**policy.prices, **suite.prices})
    runner, tools = await run_sync(
        lambda: checked_runner(
            TrialRunner(suite, {}, toolset, policy, process_rate_limiter(policy.rates), Path(folder)), models
        )
    )
    evaluation = Evaluation(runner, models, tools)
    for own in (models, *(arm.models for arm in runner.arms.values() if arm.models is not models)):
        await own.check()
    with lock_folder(Path(folder)):
        return await evaluation.run(on_trial)


def checked_runner(runner: TrialRunner, models: RoleModels) -> tuple[TrialRunner, tuple[str, ...]]:
    """Return the runner with its arms, and the tools that they may use; check all of it before anything is spent.

    Raises:
        ConfigError: See `evaluate`.
    """
    suite = runner.suite
    with TemporaryDirectory() as empty:
        documents = suite.documents_of(suite.cases[0]) or Path(empty)
        toolbox = Toolbox(runner.toolset(documents, Path(empty)))
        tools = tuple(allowed_tools(toolbox.specs.values(), suite, Path(empty)))
        runner = replace(runner, arms=arm_setups(suite, models, toolbox.specs))
        # The embedded rules cost nothing; any other model may, trial after trial.
        if not suite.budget.names and {name for arm in runner.arms.values() for name in arm.models.names} != {OFFLINE}:
            raise SuiteError(suite.name, "it has no budget; add one, such as tokens=200000")
        settings = runner.settings("replanning", toolbox.specs, Path(empty), suite.run_budget.within(suite.budget))
        for arm in runner.arms.values():
            check(Equipment(settings, toolbox, arm.models))
    for case in suite.cases:
        if isinstance(case, PlaybookCase) and any(arm.kind != "playbook" for arm in runner.arms.values()):
            try:
                for_any_plan(case.recorded)
            except ValueError as error:
                raise SuiteError(suite.name, f"case {case.id}: {error}") from error
        for fault in case_faults(case, tools):
            raise SuiteError(suite.name, f"case {case.id}: {fault}")
    return runner, tools


@dataclass(frozen=True)
class Evaluation:
    """The trials of one evaluation; `tools` are the names of the allowed tools."""

    runner: TrialRunner
    models: RoleModels
    tools: tuple[str, ...]

    async def run(self, on_trial: OnTrial) -> Results:
        """Run the remaining trials and return the results of all trials."""
        suite, folder = self.runner.suite, self.runner.folder
        try:
            # Off the loop, since files of the suite are read.
            slots = await run_sync(self.slots)
        except OSError as error:
            raise SuiteError(suite.name, f"a file in its folders cannot be read: {error}") from error
        results = read_results(folder, self.description(), slots)
        remaining, made = results.remaining(slots), list[Trial]()
        for number, slot in enumerate(remaining, len(slots) - len(remaining) + 1):
            # Before each trial: a budget bounds what is begun.
            if stop_reason(suite.budget, results, made):
                break
            made.append(await self.runner.trial(slot, remaining_budget(suite.budget, results.usage)))
            results = results.plus(made[-1])
            # After each trial, so that a long evaluation that is killed goes on where it was.
            await run_sync(partial(results.write, folder))
            on_trial(made[-1], number, len(slots))
        if results.remaining(slots):
            results = replace(results, stopped=stop_reason(suite.budget, results, made) or INCOMPLETE)
        await run_sync(partial(_write_results, results, folder))
        return results

    def slots(self) -> list[PlannedTrial]:
        """Return all trials in order: case by case, with another arm first each time."""
        suite, names = self.runner.suite, tuple(self.runner.arms)
        slots = []
        for repetition in range(1, suite.repetitions + 1):
            for place, case in enumerate(suite.cases):
                # Rotate the arms, so that a server that slows down affects all of them alike.
                first = (place + repetition) % len(names)
                arms = (*names[first:], *names[:first])
                slots += [PlannedTrial(case.id, arm, repetition, self._basis_digest(place, arm)) for arm in arms]
        return slots

    def description(self) -> dict[str, Any]:
        """Return everything needed to reproduce the evaluation."""
        suite = self.runner.suite
        return {
            "suite": suite.name,
            "cases": [case.id for case in suite.cases],
            "repetitions": suite.repetitions,
            "arms": list(self.runner.arms),
            "arm_setups": {name: suite.tried[name].model_dump(exclude_none=True) for name in self.runner.arms},
            "approval": suite.approval,
            "tools": list(self.tools),
            "models": described_models(self.models),
            "budget": suite.budget.to_json(),
            "run_budget": suite.run_budget.to_json(),
            "replanning": suite.replanning,
            "versions": {name: version(name) for name in PACKAGES},
        }

    def _basis_digest(self, place: int, name: str) -> str:
        """Return a digest of all known inputs of a trial; results are reused only if it is unchanged."""
        suite, case, arm = self.runner.suite, self.runner.suite.cases[place], self.runner.arms[name]
        known: JsonValue = {one.name: one.digest for one in arm.library.values()}
        return digest(
            {
                "case": case.model_dump(mode="json"),
                "approval": suite.approval,
                "tools": list(self.tools),
                "policy": self.runner.policy.to_json(),
                "run_budget": suite.run_budget.to_json(),
                "replanning": suite.replanning if arm.kind == "replanning" else None,
                "models": described_models(arm.models),
                "documents": contents_digest(suite.documents_of(case)),
                "workspace": contents_digest(suite.workspace_of(case)),
                # Left out if it says nothing new, so that results of earlier releases keep their digests.
                **({"kind": arm.kind} if name != arm.kind else {}),
                **({"playbooks": known} if known else {}),
            }
        )


def described_models(models: RoleModels) -> dict[str, Any]:
    """Return the settings of each role's model, without keys."""
    settings = {role: place for role, place in merged_layers(models.layers).items() if isinstance(place, ModelSettings)}
    described: dict[str, Any] = {}
    for role, model in models.by_role.items():
        own = settings[role].without_secrets() if role in settings else {}
        described[role] = {**own, "model": model.name}
    return described


def remaining_budget(budget: Budget, spent: Usage) -> Budget:
    """Return the remaining budget of the whole evaluation.

    >>> remaining_budget(Budget(tokens=100), Usage(tokens=130, model_calls=7)).to_json()
    {'tokens': 0}
    """
    left: dict[str, Any] = {name: max(0, (budget.of(name) or 0) - spent.of(name)) for name in budget.names}
    return Budget(**left)


def stop_reason(budget: Budget, results: Results, made: Sequence[Trial]) -> str | None:
    """Return why the evaluation must stop, or None; `made` are the trials of this invocation."""
    left = remaining_budget(budget, results.usage)
    spent = [name for name in budget.names if not left.of(name)]
    if made and made[-1].void and made[-1].limit:
        spent.append(made[-1].limit)
    if spent:
        limit = limit_in_words(spent[0], budget, results.usage)
        return f"the budget is spent: {limit}; raise it in the suite and repeat the command to continue"
    if len(made) >= MAX_CONSECUTIVE_VOID and all(trial.void for trial in made[-MAX_CONSECUTIVE_VOID:]):
        return f"{MAX_CONSECUTIVE_VOID} trials in a row are void; the last: {made[-1].void}"
    return None


def _write_results(results: Results, folder: Path) -> None:
    results.write(folder)
    (folder / CHART).write_text(chart_svg(results.about, results.summary), "utf-8")
