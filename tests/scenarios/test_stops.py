"""How often ordinary work stops for a person: each stop is answered with one word, and none has become two."""

import getpass
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, default_tools
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

EXAMPLE = Path(__file__).parents[2] / "examples" / "incident"
GOAL = "Audit why the checkout service is failing and draft a fix"


ME: dict[str, Any] = {"approvers": {"names": [f"os:{getpass.getuser()}"]}}
RULES = pytest.mark.parametrize("policy", [{}, ME], ids=["no rules on people", "rules that the person meets"])
"""Rules on people say who decides, so that who may decide is asked no second time."""


def stops(agent: Agent, goal: str, answer: str = "approve", **begun: Any) -> tuple[str, list[list[str]]]:
    """Return how a run ends that gets the same word as its answer at each stop, and what it asked for each time."""
    run, asked = agent.start(goal, **begun), []
    while run.request is not None and len(asked) < 9:
        asked.append([action["name"] for action in run.request["action_requests"]])
        run = agent.resume(run.id, answer if asked[-1] == ["run_plan"] else run.decide(approve=True))
    return run.status, asked


@RULES
def test_the_audit_of_an_incident_stops_for_its_plan_and_its_revision(tmp_path: Path, policy: Any) -> None:
    tools = default_tools(EXAMPLE, tmp_path / "out")
    with Agent.open(tmp_path / "runs.db", tools=tools, policy=policy) as agent:
        assert stops(agent, GOAL) == ("succeeded", [["run_plan"], ["run_plan"]])


@RULES
def test_a_mail_merge_stops_for_its_plan_and_once_for_the_mails_to_strangers(tmp_path: Path, policy: Any) -> None:
    tools = LoggedTools()
    people = [{"to": f"p{number}@example.org"} for number in range(3)]
    own = [
        tools.tool("read_csv", lambda **_: people, effect="read", trusted=False),
        tools.tool("mail", effect="external"),
    ]
    each = {**step("send", "mail", to="{item_result.to}", text="hello"), "for_each": "{read_result}"}
    plan = {"steps": [step("read", "read_csv", path="people.csv"), each]}

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan]), tools=own, policy=policy) as agent:
        assert stops(agent, "write to all") == ("succeeded", [["run_plan"], ["run_step"] * 3])

    assert len(tools.named("mail")) == 3


@RULES
@pytest.mark.parametrize("trusted", [True, None], ids=["trusted", "undeclared"])
def test_a_refund_whose_order_was_misspelt_stops_for_its_plan_and_its_revision(
    tmp_path: Path, trusted: bool | None, policy: Any
) -> None:
    tools = LoggedTools()

    def look_up(number: str) -> dict[str, Any]:
        if number != "A-7":
            raise LookupError(f"no order {number!r}; there is 'A-7'")
        return {"order": number, "amount": 40}

    own = [
        tools.tool("look_up_order", look_up, effect="read", trusted=trusted),
        tools.tool("refund", effect="external"),
    ]
    pay = step("pay", "refund", order="{look_result.order}", amount="{look_result.amount}")
    plans = [{"steps": [step("look", "look_up_order", number=number), pay]} for number in ("7", "A-7")]

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel(plans), tools=own, policy=policy) as agent:
        assert stops(agent, "refund order 7") == ("succeeded", [["run_plan"], ["run_plan"]])

    assert tools.named("refund") == [{"order": "A-7", "amount": 40}]


@RULES
def test_a_revision_after_a_page_that_keeps_the_approved_effect_stops_once(tmp_path: Path, policy: Any) -> None:
    """Bob's: a page was read, another one could not be, and what follows is what he approved."""
    tools = LoggedTools()

    def fetch(url: str) -> str:
        if url == "b":
            raise OSError("not found; it has moved to c")
        return "text"

    own = [
        tools.tool("fetch", fetch, effect="read", trusted=False),
        tools.tool("keep", effect="write", free_args=["text"]),
    ]
    keep = step("keep", "keep", path="notes.md", text="{one_result} {two_result}")
    plans = [{"steps": [step("one", "fetch", url="a"), step("two", "fetch", url=url), keep]} for url in ("b", "c")]

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel(plans), tools=own, policy=policy) as agent:
        assert stops(agent, "keep both pages") == ("succeeded", [["run_plan"], ["run_plan"]])


@RULES
@pytest.mark.parametrize("amount", [900, "{look_result}"], ids=["that the plan shows", "of a result"])
def test_a_payment_that_the_policy_asks_about_stops_by_itself_only_if_its_plan_did_not_show_it(
    tmp_path: Path, policy: Any, amount: Any
) -> None:
    tools = LoggedTools()
    own = [
        tools.tool("look_up", lambda **_: 900, effect="read", trusted=True),
        tools.tool("pay", effect="external", trusted=True),
    ]
    plan = {"steps": [step("look", "look_up"), step("pay", "pay", to="ann", amount=amount)]}
    asks = {**policy, "tools": {"pay": {"ask_when": {"amount": {"above": 100}}}}}

    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan]), tools=own, policy=asks) as agent:
        due = [] if amount == 900 else [["run_step"]]
        assert stops(agent, "pay ann") == ("succeeded", [["run_plan"], *due])
