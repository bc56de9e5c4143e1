"""Runs one trial: a fresh sandbox, one run in its arm, and the checks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.evaluation.arms import ArmSetup, case_toolbox, for_any_plan
from planner_executor.graph.evaluation.assessment import CaseAssessment, assess, constraints_of
from planner_executor.graph.evaluation.case_answers import Answers
from planner_executor.graph.evaluation.direct import DirectRun
from planner_executor.graph.evaluation.planned_arm import PlannedRun
from planner_executor.graph.evaluation.results_file import RECORDS, TRIALS
from planner_executor.graph.evaluation.sandbox import Sandbox, Toolset, allowed_tools
from planner_executor.graph.evaluation.suite import ArmKind, Case, PlaybookCase, Suite
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
    arms: Mapping[str, ArmSetup]
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
        arm = self.arms[slot.arm]
        # A random end, as a trial that was broken off may have left its folder.
        name = f"{slot.case}-{slot.arm}-{slot.repetition}-{token_hex(3)}"
        sandbox = await run_sync(lambda: Sandbox.fresh(self.suite, case, self.folder / TRIALS / name))
        toolbox = Toolbox(self.toolset(sandbox.documents, sandbox.workspace))
        # A trial never takes more than is left of the whole evaluation.
        budget, answers = self.suite.run_budget.within(remaining), None
        if isinstance(case, PlaybookCase):
            answers = Answers(case.recorded if arm.kind == "playbook" else for_any_plan(case.recorded))
            toolbox = case_toolbox(toolbox, case, answers)
            settings = self._settings(arm.kind, self.policy, budget)
        else:
            settings = self.settings(arm.kind, toolbox.specs, sandbox.workspace, budget)
        ending = await self._ending(name, arm, toolbox, settings, case, answers)
        if isinstance(case, PlaybookCase) and answers is not None:
            found = _of_playbook(case, ending, answers)
        else:
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

    def settings(self, kind: ArmKind, tools: Mapping[str, ToolSpec], workspace: Path, budget: Budget) -> Settings:
        """Return the settings of a run: the same in all arms, except for replanning.

        Raises:
            ConfigError: A setting is invalid, or a tool could reach beyond the workspace.
        """
        allowed = allowed_tools(tools.values(), self.suite, workspace)
        denied = {name: ToolRule("deny") for name in tools if name not in allowed}
        policy = replace(self.policy, tools={**self.policy.tools, **denied})
        return self._settings(kind, policy, budget)

    def _settings(self, kind: ArmKind, policy: Policy, budget: Budget) -> Settings:
        replanning = {"replan": "never"} if kind != "replanning" else self.suite.replanning
        return settings_of({**replanning, "approval": self.suite.approval, "policy": policy, "budget": budget})

    async def _ending(
        self, name: str, arm: ArmSetup, toolbox: Toolbox, settings: Settings, case: Case, answers: Answers | None
    ) -> TrialEnding:
        if arm.kind == "direct":
            return await DirectRun(name, arm.models.planner, toolbox, settings, self.rate_limiter).run(
                case.goal, constraints_of(case)
            )
        run = PlannedRun(
            name, self.folder / RECORDS, arm.models, toolbox, settings, self.rate_limiter, library=arm.library
        )
        if isinstance(case, PlaybookCase) and answers is not None and arm.kind == "playbook":
            # Where its file lies says nothing about tools that do nothing.
            playbook = replace(case.playbook, path="")
            run = replace(run, decide=answers.decide)
            return await run.run({"playbook": playbook, "params": case.recorded.params})
        return await run.run({"goal": case.goal, "constraints": constraints_of(case)})

    def _void(self, ending: TrialEnding, budget: Budget) -> str | None:
        """Return why a trial is not evidence about its arm, or None if it is."""
        if ending.outage:
            return f"a model was unavailable: {ending.outage}"
        # A limit lower than that of every run is what the evaluation had left, and not the arm's fault.
        if ending.limit and budget.of(ending.limit) != self.suite.run_budget.of(ending.limit):
            return f"the evaluation's budget ran out: {ending.limit}"
        return None


def _of_playbook(case: PlaybookCase, ending: TrialEnding, answers: Answers) -> CaseAssessment:
    """Return what the case of a playbook says of a run, which is judged as `playbook test` judges it."""
    faults = [*answers.faults, *case.recorded.faults(ending.status, ending.reason, ending.answer, answers.made)]
    findings = [{"check": {"case": case.id}, "met": False, "seen": fault} for fault in faults]
    return CaseAssessment(not faults, tuple(findings))


def _answer_text(answer: Any) -> str:
    text = answer if isinstance(answer, str) else "" if answer is None else to_text(answer)
    return text if len(text) <= ANSWER_CHARACTERS else f"{text[: ANSWER_CHARACTERS - 1]}…"
