"""What is told of a plan beforehand is what comes of it."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.types import Command

from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.policy_preview import preview_policy
from planner_executor.graph.testing import LoggedTools, on_thread, step

Build = Callable[..., Any]
SEND = step("send", "mail", to="{r_result}", text="{r_result}")
PLANS = {
    "untrusted": [step("r", "web"), SEND],
    "trusted": [step("r", "crm"), SEND],
    "says nothing": [step("r", "quiet"), SEND],
    "through a trusted tool": [step("w", "web"), step("r", "crm", about="{w_result}"), SEND],
    "put together": [step("w", "web"), {"id": "r", "objective": "o", "gather": ["{w_result}"]}, SEND],
    "for each": [step("w", "web"), {**step("r", "crm", about="{item_result}"), "for_each": ["{w_result}"]}, SEND],
    "a literal": [step("r", "web"), step("send", "mail", to="ann", text="{r_result}")],
    "two": [step("r", "web"), SEND, step("again", "mail", to="{r_result}", text="x")],
    "let in": [step("r", "contacts"), SEND],
    "let in, but not alone": [step("c", "contacts"), step("r", "web", about="{c_result}"), SEND],
}
POLICY = {"tools": {"mail": {"args": {"to": {"untrusted_from": ["contacts"]}}}}}


@pytest.mark.parametrize("steps", PLANS.values(), ids=PLANS)
def test_the_calls_that_are_shown_are_those_that_were_forecast(
    build: Build, tools: LoggedTools, steps: list[dict[str, Any]]
) -> None:
    own = [
        tools.tool("web", lambda **_: "eve", effect="read", trusted=False),
        tools.tool("contacts", lambda **_: "bob", effect="read", trusted=False),
        tools.tool("crm", lambda **_: "ann", effect="read", trusted=True),
        tools.tool("quiet", lambda **_: "ann", effect="read"),
        tools.tool("mail", effect="external", free_args=["text"]),
    ]
    specs = Toolbox(own).specs
    plan = read_plan({"steps": steps}, specs).plan
    assert plan is not None
    told = preview_policy(plan, ExecutionTerms(specs, "side_effects", policy_from(POLICY)))
    expected = {finding.step for finding in told if "its call of" in finding.why}

    graph = build({"steps": steps}, tools=own, approval="side_effects", policy=POLICY)
    graph.invoke({"goal": "g"}, on_thread())
    state = graph.invoke(Command(resume=True), on_thread())

    asked = [one for request in state.get("__interrupt__", ()) for one in request.value["action_requests"]]
    assert {action["args"]["step"] for action in asked} == expected
    assert len(tools.named("mail")) == len([one for one in steps if one.get("tool") == "mail"]) - len(expected)
