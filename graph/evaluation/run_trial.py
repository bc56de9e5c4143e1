"""Runs one trial: a fresh sandbox, one run in its arm, and the checks."""

from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.data_class import dataclass, replace
from planner_executor.graph.evaluation.assessment import assess, constraints_of
from planner_executor.graph.evaluation.direct import DirectRun
from planner_executor.graph.evaluation.planned_arm import PlannedRun
from planner_executor.graph.evaluation.results_file import RECORDS, TRIALS
from planner_executor.graph.evaluation.sandbox import Sandbox, Toolset, allowed_tools
from planner_executor.graph.evaluation.suite import Arm, Suite
from planner_executor.graph.evaluation.trial import PlannedTrial, Trial, TrialEnding
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.values import to_text
from planner_executor.graph.settings.settings import Settings

ANSWER_CHARACTERS = 2_000
"""Length of the answers in the results; the records hold them in full."""


@dataclass(frozen=True)
class TrialRunner:
    """Runs the trials of one evaluation; `folder` is the evaluation's."""

    suite: Suite
    models: RoleModels
    toolset: Toolset
    policy: Policy
    rate_limiter: RateLimiter
    folder: Path

    async def trial(self, slot: PlannedTrial, remaining: Budget) -> Trial:
        """Run one trial within the remaining budget of the whole evaluation.

        Raises:
            ConfigError: Models, tools and policy do not fit together.
            LedgerError: The records cannot be written.
        """
        case = next(case for case in self.suite.cases if case.id == slot.case)
        name = f"{slot.case}-{slot.arm}-{slot.repetition}-{token_hex(3)}"
        sandbox = await run_sync(lambda: Sandbox.fresh(self.suite, case, self.folder / TRIALS / name))
        toolbox = Toolbox(self.toolset(sandbox.documents, sandbox.workspace))
        settings = self.settings(slot.arm, toolbox.specs, sandbox.workspace, self.suite.run_budget.within(remaining))
        ending = await self._ending(name, slot.arm, toolbox, settings, case.goal, constraints_of(case))
        found = await run_sync(lambda: assess(case, ending.answer, ending.called, sandbox))
        return Trial(
            slot=slot,
            status=ending.status,
            reason=ending.reason,
            answer=_answer_text(ending.answer),
            met=found.met,
            findings=found.findings,
            spent=ending.spent,
            folder=name,
            run=ending.run,
            limit=ending.limit,
            void=self._void(ending, settings.budget),
        )

    def settings(self, arm: Arm, tools: Mapping[str, ToolSpec], workspace: Path, budget: Budget) -> Settings:
        """Return the settings of a run: the same in all arms, except for replanning.

        Raises:
            ConfigError: A setting is invalid, or a tool could reach beyond the workspace.
        """
        allowed = allowed_tools(tools.values(), self.suite, workspace)
        denied = {name: ToolRule("deny") for name in tools if name not in allowed}
        policy = replace(self.policy, tools={**self.policy.tools, **denied})
        replanning = {"replan": "never"} if arm != "replanning" else self.suite.replanning
        return settings_of({**replanning, "approval": self.suite.approval, "policy": policy, "budget": budget})

    async def _ending(
        self, name: str, arm: Arm, toolbox: Toolbox, settings: Settings, goal: str, constraints: list[str]
    ) -> TrialEnding:
        if arm == "direct":
            return await DirectRun(name, self.models.planner, toolbox, settings, self.rate_limiter).run(
                goal, constraints
            )
        records = self.folder / RECORDS
        return await PlannedRun(name, records, self.models, toolbox, settings, self.rate_limiter).run(goal, constraints)

    def _void(self, ending: TrialEnding, budget: Budget) -> str | None:
        """Return why a trial is not evidence about its arm, or None if it is."""
        if ending.outage:
            return f"a model was unavailable: {ending.outage}"
        if ending.limit and budget.of(ending.limit) != self.suite.run_budget.of(ending.limit):
            return f"the evaluation's budget ran out: {ending.limit}"
        return None


def _answer_text(answer: Any) -> str:
    text = answer if isinstance(answer, str) else "" if answer is None else to_text(answer)
    return text if len(text) <= ANSWER_CHARACTERS else f"{text[: ANSWER_CHARACTERS - 1]}…"
