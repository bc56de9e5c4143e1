"""The rules as a graph asks them: the prompts' own messages, the project's own tools."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import ToolException

from planner_executor import default_tools
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.offline import OfflineModel
from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.references import resolve
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.prompts.planner import planner_messages
from planner_executor.graph.prompts.replanner import replanner_messages
from planner_executor.graph.prompts.tool_lines import tools_text
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps
from planner_executor.tools.registry import every_tool

EXAMPLES = Path(__file__).parents[3] / "examples" / "renewable-energy"

Ask = Callable[..., str]
Planned = Callable[..., Plan]


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    return Toolbox(default_tools(EXAMPLES, tmp_path / "workspace"))


@pytest.fixture(scope="session")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, ToolSpec]:
    return Toolbox(every_tool(EXAMPLES, tmp_path_factory.mktemp("workspace"))).specs


@pytest.fixture
def ask(specs: Mapping[str, ToolSpec]) -> Ask:
    """Return what the planner answers."""

    def asked(goal: str, *constraints: str, feedback: tuple[str, ...] = (), without: tuple[str, ...] = ()) -> str:
        offered = [spec for name, spec in specs.items() if name not in without]
        messages = planner_messages(
            Goal(goal, constraints), tools_text(offered), RunState(plan_state=PlanState(feedback=list(feedback))), {}
        )
        return str(OfflineModel().invoke(messages).text)

    return asked


@pytest.fixture
def planned(ask: Ask, specs: Mapping[str, ToolSpec]) -> Planned:
    """Return the planner's plan, which must be valid."""

    def read(*args: Any, **options: Any) -> Plan:
        reading = read_plan(json.loads(ask(*args, **options)), specs)
        assert reading.plan is not None, reading.issues
        return reading.plan

    return read


@pytest.fixture
def replan(specs: Mapping[str, ToolSpec]) -> Ask:
    """Return what the replanner answers."""

    def asked(
        goal: str,
        plan: Plan,
        results: Mapping[str, StepResult],
        *,
        feedback: tuple[str, ...] = (),
        without: tuple[str, ...] = (),
    ) -> str:
        offered = [spec for name, spec in specs.items() if name not in without]
        messages = replanner_messages(
            Goal(goal),
            tools_text(offered),
            plan,
            RunState(plan_state=PlanState(feedback=list(feedback)), steps=Steps(results)),
            "steps failed",
            {},
        )
        return str(OfflineModel().invoke(messages).text)

    return asked


@pytest.fixture
def revised(replan: Ask, specs: Mapping[str, ToolSpec]) -> Planned:
    """Return the plan after the replanner's revision, which must be valid."""

    def read(goal: str, plan: Plan, results: Mapping[str, StepResult], **options: Any) -> Plan:
        succeeded = {step for step, result in results.items() if result.status == "succeeded"}
        reading = read_revision(json.loads(replan(goal, plan, results, **options)), plan, succeeded, specs)
        assert reading.plan is not None, reading.issues
        return reading.plan

    return read


@pytest.fixture
def carry_out(toolbox: Toolbox) -> Callable[..., dict[str, StepResult]]:
    """Run a plan's steps one by one with the real tools, as far as they go."""

    def run(plan: Plan, results: Mapping[str, StepResult] | None = None) -> dict[str, StepResult]:
        done = {step: result for step, result in (results or {}).items() if result.status == "succeeded"}
        waits = waits_for(plan.steps)
        while ready := [s for s in plan.steps if s.id not in done and all(b in done for b in waits[s.id])]:
            step = ready[0]
            values = {name: result.value for name, result in done.items()}
            if any(done[before].status != "succeeded" for before in waits[step.id]):
                done[step.id] = StepResult("blocked")
                continue
            try:
                args: Any = resolve(dict(step.args), values)
                if faults := toolbox.specs[step.tool or ""].argument_faults(args):
                    done[step.id] = StepResult("failed", error=str(faults))
                    continue
                done[step.id] = StepResult("succeeded", toolbox[step.tool or ""].tool.invoke(args))
            except (ToolException, UnresolvedReferenceError) as error:
                done[step.id] = StepResult("failed", error=str(error))
        return done

    return run
