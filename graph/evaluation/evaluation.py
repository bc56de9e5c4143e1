"""An evaluation: each case of a suite, as often as it says, in each arm; bounded, told as it goes, and resumable."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graph.calls.rate_limit import process_rate_limiter
from graph.calls.threads import run_sync
from graph.calls.toolbox import Toolbox
from graph.chat_models.roles import RoleModels
from graph.chat_models.settings import OFFLINE, ModelSettings, folded
from graph.checkpoint import ledger_of
from graph.configuration import check
from graph.context import Services
from graph.errors import SuiteError
from graph.evaluation.outcome import case_faults
from graph.evaluation.picture import picture_svg
from graph.evaluation.results_file import PICTURE, Results, held, read_results
from graph.evaluation.run_trial import Trying
from graph.evaluation.sandbox import Toolset, contents_digest, usable
from graph.evaluation.suite import ARMS, Arm, Suite
from graph.evaluation.trial import Slot, Trial
from graph.plan.canonical import digest
from graph.policy.policy import NO_POLICY, Policy
from graph.record.budget import Budget, Usage, limit_in_words

MOST_VOID = 3
"""After so many trials in a row that do not count, something is wrong that going on would not mend."""

NOT_ALL = "some trials do not count; the same command makes them again"

PACKAGES = ("planner-executor", "langgraph", "langchain", "langchain-core")

Tell = Callable[[Trial, int, int], None]
"""Is told of a trial that was made, its number, and how many there are in all."""


async def evaluate(
    suite: Suite,
    models: RoleModels,
    toolset: Toolset,
    folder: str | Path,
    *,
    policy: Policy = NO_POLICY,
    tell: Tell = lambda *_: None,
) -> Results:
    """Return what was found, also in the file `results.json` and the picture `results.svg`.

    Trials are made one after the other, and arms take turns at going first. Those that the folder has are not made
    again. All arms are tried, but see `arms_for`.

    Args:
        suite: The cases, see `graph.evaluation.suite_file.read_suite`.
        models: The models of the roles; the direct agent has the planner's.
        toolset: Makes the tools over the folders of a trial.
        folder: Where results, records and the trials' files are kept; it is made where it is missing.
        policy: What is denied and allowed, in all arms.
        tell: Is told of each trial.

    Raises:
        ConfigError: Suite, models, tools and policy do not go together, or the folder has results of something else.
        LedgerError: The records cannot be written.
    """
    policy = replace(policy, prices={**policy.prices, **suite.prices})
    trying = Trying(suite, models, toolset, policy, process_rate_limiter(policy.rates), Path(folder))
    evaluation = Evaluation(trying, arms_for(models), await run_sync(lambda: checked_tools(trying)))
    await models.check()
    with held(Path(folder)):
        return await evaluation.run(tell)


def arms_for(models: RoleModels) -> tuple[Arm, ...]:
    """Return the arms that these models can play: the embedded rules plan, and do not call tools as they go."""
    return tuple(arm for arm in ARMS if arm != "direct" or models.planner.name != OFFLINE)


def checked_tools(trying: Trying) -> tuple[str, ...]:
    """Return the tools that the arms may use; find out what cannot work before anything is spent.

    Raises:
        ConfigError: See `evaluate`.
    """
    suite = trying.suite
    if not suite.budget.names and set(trying.models.names) != {OFFLINE}:
        raise SuiteError(suite.name, "nothing bounds what it costs; give it a budget, such as tokens=200000")
    with TemporaryDirectory() as empty:
        documents = suite.documents_of(suite.cases[0]) or Path(empty)
        toolbox = Toolbox(trying.toolset(documents, Path(empty)))
        tools = tuple(usable(toolbox.specs.values(), suite, Path(empty)))
        settings = trying.settings("replanning", toolbox.specs, Path(empty), suite.run_budget.within(suite.budget))
        nowhere = ledger_of(None, None, lambda _: None)
        check(Services(settings, toolbox, trying.models, nowhere, trying.turns))
    for case in suite.cases:
        for fault in case_faults(case, tools):
            raise SuiteError(suite.name, f"case {case.id}: {fault}")
    return tools


@dataclass(frozen=True)
class Evaluation:
    """The trials of one evaluation; `tools` are those that may be used."""

    trying: Trying
    arms: tuple[Arm, ...]
    tools: tuple[str, ...]

    async def run(self, tell: Tell) -> Results:
        """Make the trials that are left, and return the results of all."""
        suite, folder = self.trying.suite, self.trying.folder
        try:
            slots = await run_sync(self.slots)
        except OSError as error:
            raise SuiteError(suite.name, f"a file of its folders cannot be read: {error}") from error
        results = read_results(folder, self.about(), slots)
        left, made = results.left(slots), list[Trial]()
        for number, slot in enumerate(left, len(slots) - len(left) + 1):
            if why_to_stop(suite.budget, results, made):
                break
            made.append(await self.trying.trial(slot, left_of(suite.budget, results.usage)))
            results = results.plus(made[-1])
            await run_sync(partial(results.write, folder))
            tell(made[-1], number, len(slots))
        if results.left(slots):
            results = replace(results, stopped=why_to_stop(suite.budget, results, made) or NOT_ALL)
        await run_sync(partial(_finished, results, folder))
        return results

    def slots(self) -> list[Slot]:
        """Return all trials in the order in which they are made: case by case, another arm first each time."""
        suite = self.trying.suite
        found = []
        for repetition in range(1, suite.repetitions + 1):
            for place, case in enumerate(suite.cases):
                first = (place + repetition) % len(self.arms)
                arms = (*self.arms[first:], *self.arms[:first])
                found += [Slot(case.id, arm, repetition, self._basis(place, arm)) for arm in arms]
        return found

    def about(self) -> dict[str, Any]:
        """Return what the results are of, for whoever wants to repeat them."""
        suite = self.trying.suite
        return {
            "suite": suite.name,
            "cases": [case.id for case in suite.cases],
            "repetitions": suite.repetitions,
            "arms": list(self.arms),
            "approval": suite.approval,
            "tools": list(self.tools),
            "models": self._models(),
            "budget": suite.budget.to_json(),
            "run_budget": suite.run_budget.to_json(),
            "replanning": suite.replanning,
            "versions": {name: version(name) for name in PACKAGES},
        }

    def _basis(self, place: int, arm: Arm) -> str:
        """Return a digest of all that the outcome of a trial rests on, as far as it is known here."""
        suite, case = self.trying.suite, self.trying.suite.cases[place]
        return digest(
            {
                "case": case.model_dump(mode="json"),
                "approval": suite.approval,
                "tools": list(self.tools),
                "policy": self.trying.policy.to_json(),
                "run_budget": suite.run_budget.to_json(),
                "replanning": suite.replanning if arm == "replanning" else None,
                "models": self._models(),
                "documents": contents_digest(suite.documents_of(case)),
                "workspace": contents_digest(suite.workspace_of(case)),
            }
        )

    def _models(self) -> dict[str, Any]:
        """Return how each role's model is asked, without keys."""
        models = self.trying.models
        said = {role: place for role, place in folded(models.layers).items() if isinstance(place, ModelSettings)}
        found: dict[str, Any] = {}
        for role, model in models.by_role.items():
            found[role] = {**(said[role].without_secrets() if role in said else {}), "model": model.name}
        return found


def left_of(budget: Budget, spent: Usage) -> Budget:
    """Return what is left of a whole evaluation's budget.

    >>> left_of(Budget(tokens=100), Usage(tokens=130, model_calls=7)).to_json()
    {'tokens': 0}
    """
    left: dict[str, Any] = {name: max(0, (budget.of(name) or 0) - spent.of(name)) for name in budget.names}
    return Budget(**left)


def why_to_stop(budget: Budget, results: Results, made: Sequence[Trial]) -> str | None:
    """Return why no further trial is made, None where nothing speaks against it; `made` are those of this time."""
    left = left_of(budget, results.usage)
    spent = [name for name in budget.names if not left.of(name)]
    if made and made[-1].void and made[-1].limit:
        spent.append(made[-1].limit)
    if spent:
        words = limit_in_words(spent[0], budget, results.usage)
        return f"the budget is spent: {words}; raise it in the suite and go on with the same command"
    if len(made) >= MOST_VOID and all(trial.void for trial in made[-MOST_VOID:]):
        return f"{MOST_VOID} trials in a row did not count; the last: {made[-1].void}"
    return None


def _finished(results: Results, folder: Path) -> None:
    results.write(folder)
    (folder / PICTURE).write_text(picture_svg(results.about, results.summary), "utf-8")
