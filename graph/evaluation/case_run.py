"""One run of a playbook against a case: in memory, without a model, and without an effect."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner_executor.graph.agent import AsyncAgent
from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.builder.graph_builder import compiled
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.checkpoints.checkpoint import ledger_of, open_checkpointer
from planner_executor.graph.context import Services
from planner_executor.graph.errors import InputError
from planner_executor.graph.evaluation.case_answers import Answers, CaseTool, models_of
from planner_executor.graph.evaluation.planned_arm import decided
from planner_executor.graph.ledger.database_name import IN_MEMORY
from planner_executor.graph.playbooks import Playbook
from planner_executor.graph.playbooks.case import Case
from planner_executor.graph.runs.runs import open_runs


@dataclass(frozen=True)
class CaseResult:
    """What came of a case; it passed if there are no faults."""

    playbook: str
    case: str
    faults: Sequence[str]
    seconds: float


async def run_case(playbook: Playbook, name: str, case: Case, toolbox: Toolbox, *, reads: bool = False) -> CaseResult:
    """Run a playbook against a case.

    Its tools answer from the case, its plan is approved, and its questions are answered by the case. No policy applies.

    Args:
        playbook: The playbook.
        name: The name of the case.
        case: The case.
        toolbox: The tools as they are now.
        reads: Whether tools that only read are called too, to compare the shape of their answers.
    """
    started_s, answers = time.perf_counter(), Answers(case)
    tools = Toolbox(
        CaseTool.over(bound.spec, answers, bound if reads and bound.spec.effect == "read" else None)
        for bound in toolbox.values()
    )
    settings = settings_of({"replan": "never", "approval": "always"})
    async with open_runs(IN_MEMORY) as runs, open_checkpointer(IN_MEMORY) as checkpointer:
        ledger = ledger_of(runs.ledger, checkpointer, lambda _: None)
        services = Services(settings, tools, models_of(answers), ledger, RateLimiter({}, time.monotonic))
        agent = AsyncAgent.over(compiled(services, checkpointer), runs)
        try:
            # Where its file lies says nothing about tools that do nothing.
            run = await agent.start(playbook=replace(playbook, path=""), params=case.params)
        except InputError as refused:
            return CaseResult(playbook.name, name, [str(refused)], time.perf_counter() - started_s)
        run, _ = await decided(agent, run, answers.decide)
        answer = await agent.value(run.id) if run.answer is not None else None
    faults = [*answers.faults, *case.faults(run.status, run.reason, answer, answers.made)]
    return CaseResult(playbook.name, name, faults, time.perf_counter() - started_s)
