"""Making one trial: a folder of its own, one run in its arm, and the checks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from graph.calls.rate_limit import RateLimiter
from graph.calls.threads import run_sync
from graph.calls.toolbox import Toolbox
from graph.chat_models.roles import RoleModels
from graph.configuration import settings_of
from graph.context import Settings
from graph.evaluation.direct import DirectRun
from graph.evaluation.outcome import constraints_of, outcome
from graph.evaluation.planned_arm import PlannedRun
from graph.evaluation.results_file import RECORDS, TRIALS
from graph.evaluation.sandbox import Sandbox, Toolset, usable
from graph.evaluation.suite import Arm, Suite
from graph.evaluation.trial import Ending, Slot, Trial
from graph.plan.catalog import ToolSpec
from graph.policy.policy import Policy, ToolRule
from graph.record.budget import Budget
from graph.record.values import to_text

ANSWER_CHARACTERS = 2_000
"""How much of an answer the results keep; the records have it whole."""


@dataclass(frozen=True)
class Trying:
    """What all trials of an evaluation share; `folder` is the evaluation's."""

    suite: Suite
    models: RoleModels
    toolset: Toolset
    policy: Policy
    turns: RateLimiter
    folder: Path

    async def trial(self, slot: Slot, left: Budget) -> Trial:
        """Make one trial, with what is left of the whole evaluation's budget.

        Raises:
            ConfigError: Models, tools and policy do not go together.
            LedgerError: The records cannot be written.
        """
        case = next(case for case in self.suite.cases if case.id == slot.case)
        name = f"{slot.case}-{slot.arm}-{slot.repetition}-{token_hex(3)}"
        sandbox = await run_sync(lambda: Sandbox.fresh(self.suite, case, self.folder / TRIALS / name))
        toolbox = Toolbox(self.toolset(sandbox.documents, sandbox.workspace))
        settings = self.settings(slot.arm, toolbox.specs, sandbox.workspace, self.suite.run_budget.within(left))
        ending = await self._ending(name, slot.arm, toolbox, settings, case.goal, constraints_of(case))
        found = await run_sync(lambda: outcome(case, ending.answer, ending.called, sandbox))
        return Trial(
            slot=slot,
            status=ending.status,
            reason=ending.reason,
            answer=_told(ending.answer),
            met=found.met,
            findings=found.findings,
            spent=ending.spent,
            folder=name,
            run=ending.run,
            limit=ending.limit,
            void=self._void(ending, settings.budget),
        )

    def settings(self, arm: Arm, tools: Mapping[str, ToolSpec], workspace: Path, budget: Budget) -> Settings:
        """Return the terms of a run: the same in all arms, but for replanning.

        Raises:
            ConfigError: A setting cannot work, or a tool could reach beyond the workspace.
        """
        allowed = usable(tools.values(), self.suite, workspace)
        denied = {name: ToolRule("deny") for name in tools if name not in allowed}
        policy = replace(self.policy, tools={**self.policy.tools, **denied})
        replanning = {"replan": "never"} if arm != "replanning" else self.suite.replanning
        return settings_of({**replanning, "approval": self.suite.approval, "policy": policy, "budget": budget})

    async def _ending(
        self, name: str, arm: Arm, toolbox: Toolbox, settings: Settings, goal: str, constraints: list[str]
    ) -> Ending:
        if arm == "direct":
            return await DirectRun(name, self.models.planner, toolbox, settings, self.turns).run(goal, constraints)
        records = self.folder / RECORDS
        return await PlannedRun(name, records, self.models, toolbox, settings, self.turns).run(goal, constraints)

    def _void(self, ending: Ending, budget: Budget) -> str | None:
        """Return why a trial says nothing of its arm, None where it does."""
        if ending.outage:
            return f"a model gave no answer: {ending.outage}"
        if ending.limit and budget.of(ending.limit) != self.suite.run_budget.of(ending.limit):
            return f"the budget of the whole evaluation was spent: {ending.limit}"
        return None


def _told(answer: Any) -> str:
    text = answer if isinstance(answer, str) else "" if answer is None else to_text(answer)
    return text if len(text) <= ANSWER_CHARACTERS else f"{text[: ANSWER_CHARACTERS - 1]}…"
