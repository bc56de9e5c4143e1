"""Tests of your own tools and policy, without a model, a key or an effect.

`pytest_plugins = ["planner_executor.testing"]` at the top of a test file switches the fixture `new_agent` on.
PYTEST_DONT_REWRITE: the assertions here say what they found in words of their own.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, Unpack

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool

from planner_executor.graph.agent import Agent
from planner_executor.graph.builder.opening import AgentOptions
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.evaluation.case_run import run_case
from planner_executor.graph.playbooks import Playbook
from planner_executor.graph.playbooks.case import Case, cases_beside, folder_of_cases
from planner_executor.graph.record.events import CallStarted
from planner_executor.graph.runs.lists import Log
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import ScriptedAnswer, ScriptedModel, step

__all__ = [
    "NewAgent",
    "RecordingTools",
    "ScriptedModel",
    "assert_asked",
    "assert_called",
    "assert_cases_pass",
    "assert_not_called",
    "new_agent",
    "plan",
    "step",
]
Tool = BaseTool | Callable[..., Any]


class RecordingTools(list[BaseTool]):
    """Tools without an effect: each that acts writes its call down in `calls`, and returns what the test says.

    Tools that only read do their work, unless the test names a result for them too.
    """

    def __init__(self, tools: Sequence[Tool], **results: Any) -> None:
        """Replace tools by ones of the same name, arguments and metadata.

        Args:
            tools: Your own.
            results: Tool -> what it returns; an exception is raised, a function is called with the arguments. One that
                acts and is not named returns None.

        Raises:
            ValueError: A result is for no tool.
        """
        self.calls: list[tuple[str, dict[str, Any]]] = []
        specs = Toolbox(tools).specs
        if unknown := sorted(set(results) - set(specs)):
            raise ValueError(f"{unknown[0]} is none of the tools {', '.join(specs)}")
        for spec, given in zip(specs.values(), tools, strict=True):
            real = given if isinstance(given, BaseTool) else tool(given)
            is_replaced = spec.acts or spec.name in results
            self.append(self._recording(real, results.get(spec.name)) if is_replaced else real)

    def _recording(self, real: BaseTool, result: Any) -> BaseTool:
        def work(**args: Any) -> Any:
            self.calls.append((real.name, args))
            if isinstance(result, Exception):
                raise result
            return result(**args) if callable(result) else result

        return StructuredTool(
            name=real.name,
            description=real.description,
            args_schema=real.args_schema or real.get_input_schema(),
            func=work,
            metadata=real.metadata,
        )


def plan(*steps: dict[str, Any], answer: Any = None) -> dict[str, Any]:
    """Return a plan of these steps, as a planner's model writes it."""
    return {"steps": list(steps)} | ({"answer": answer} if answer is not None else {})


class NewAgent(Protocol):
    """What the fixture `new_agent` gives."""

    def __call__(self, tools: Sequence[Tool], /, *answers: ScriptedAnswer, **options: Unpack[AgentOptions]) -> Agent:
        """Return an agent whose database is in memory, and whose models answer in this order."""


@pytest.fixture
def new_agent() -> Iterator[NewAgent]:
    """Make agents over tools and the answers of a model; they are closed when the test ends."""
    with ExitStack() as stack:

        def make(tools: Sequence[Tool], /, *answers: ScriptedAnswer, **options: Unpack[AgentOptions]) -> Agent:
            chosen: AgentOptions = {"planner": ScriptedModel(answers), **options, "tools": tools}
            return stack.enter_context(Agent.open(":memory:", **chosen))

        yield make


def assert_asked(run: Run, *names: str) -> None:
    """Assert what a run asks people for at this moment, such as `run_plan` or `run_step`; nothing without names."""
    asked = [action["name"] for action in run.request["action_requests"]] if run.request else []
    assert asked == list(names), f"{run.id} is {run.status} and asks for {asked or 'nothing'}"


def assert_called(log: Log, tool: str, **args: Any) -> None:
    """Assert that a run called a tool, as its record has it, with these arguments among others."""
    calls = _calls(log)
    found = [made for name, made in calls if name == tool and args.items() <= made.items()]
    assert found, f"no call of {tool} with {args}; there are {calls}"


def assert_not_called(log: Log, tool: str) -> None:
    """Assert that a run called a tool not once."""
    calls = [args for name, args in _calls(log) if name == tool]
    assert not calls, f"{tool} was called with {calls}"


def assert_cases_pass(playbook: str | Path, tools: Sequence[Tool]) -> None:
    """Assert that a playbook passes each case beside its file, of which there has to be one; no tool is called."""
    found, cases = Playbook.load(playbook), cases_beside(str(playbook))
    assert cases, f"there are no cases in {folder_of_cases(str(playbook))}"
    for name, file in cases.items():
        result = asyncio.run(run_case(found, name, Case.load(file), Toolbox(tools)))
        assert not result.faults, f"case {name}: {'; '.join(result.faults)}"


def _calls(log: Log) -> list[tuple[str, dict[str, Any]]]:
    started = (event.data_if_known for event in log)
    return [(one.tool, one.args.shown) for one in started if isinstance(one, CallStarted)]
