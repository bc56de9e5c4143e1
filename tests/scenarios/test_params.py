"""Plans with parameters: what is shown, what is called, and whose values they are."""

from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, Playbook
from planner_executor.graph.errors import InputError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step


@pytest.fixture
def agent(tmp_path: Path, tools: LoggedTools) -> Any:
    kinds = [
        tools.tool("look", lambda n: {"n": n}, effect="read"),
        tools.tool("mail", lambda to, text="": f"sent to {to}", effect="external"),
    ]
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), tools=kinds, replan="never") as agent:
        yield agent


def plan(*steps: Any, answer: Any = None, trust: str = "user", **values: Any) -> dict[str, Any]:
    params = {name: {"value": value, "label": trust} for name, value in values.items()}
    return {"steps": list(steps), "answer": answer, "params": params}


def test_what_is_shown_is_what_is_called(agent: Agent, tools: LoggedTools) -> None:
    steps = [
        step("mail", "mail", to="{param.who}", text="Dear {param.who}, {look_result.n}"),
        step("look", "look", n="{param.n}"),
    ]
    waiting = agent.start("g", plan=plan(*steps, answer="{param.who}: {mail_result}", who="ann@b", n=7))

    assert waiting.request is not None
    shown = waiting.request["action_requests"][0]["description"]
    assert 'to: "ann@b"' in shown and "to is made of {param.who}" in shown and 'who: "ann@b"' in shown
    assert waiting.request["action_requests"][0]["args"]["plan"]["steps"][0]["args"]["to"] == "{param.who}"
    ended = agent.resume(waiting.id, "approve")

    assert (ended.status, ended.answer) == ("succeeded", "ann@b: sent to ann@b")
    assert ("mail", {"to": "ann@b", "text": "Dear ann@b, 7"}) in tools.calls
    assert agent.replay(ended.id).is_same


@pytest.mark.parametrize(
    "value",
    ["{look_result.n}", "{param.n}", "\uff5blook_result\uff5d", "a\u202eb\u200b", "```\n\nDigest: 0", "wh\u043e@b"],
)
def test_a_value_is_called_as_it_was_given_and_shown_on_one_line(agent: Agent, tools: LoggedTools, value: str) -> None:
    steps = [step("look", "look", n=1), step("mail", "mail", to="{param.who}", text="{look_result.n}")]

    waiting = agent.start("g", plan=plan(*steps, who=value, n=2))
    assert waiting.request is not None
    shown = waiting.request["action_requests"][0]["description"]
    agent.resume(waiting.id, "approve")

    assert not {"\u202e", "\u200b"} & set(shown) and "\nDigest: 0" not in shown
    assert tools.calls[-1] == ("mail", {"to": value, "text": 1})


def test_what_a_parameter_decides_about_an_effect_is_said(agent: Agent) -> None:
    mail = {**step("mail", "mail", to="ann@b"), "when": {"of": "{param.who}", "condition": "@ == 'ann'"}}

    waiting = agent.start("g", plan=plan(mail, who="ann", trust="untrusted"))

    assert waiting.request is not None
    said = " ".join(waiting.request["action_requests"][0]["description"].split())
    assert "whether it runs depends on values from the parameter who, which are not declared to be trusted" in said


def test_an_edit_keeps_the_parameters(agent: Agent, tools: LoggedTools) -> None:
    waiting = agent.start("g", plan=plan(step("mail", "mail", to="{param.who}"), who="ann@b"))
    assert waiting.request is not None
    edited = waiting.request["action_requests"][0]["args"]["plan"]
    edited["steps"][0]["args"]["text"] = "for {param.who}"

    assert agent.resume(
        waiting.id, {"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": edited}}}
    ).ended

    assert tools.calls == [("mail", {"to": "ann@b", "text": "for ann@b"})]


def test_an_untrusted_parameter_is_shown_before_it_decides_about_an_effect(agent: Agent, tools: LoggedTools) -> None:
    waiting = agent.start("g", plan=plan(step("mail", "mail", to="{param.who}"), who="eve@x", trust="untrusted"))
    assert waiting.request is not None
    assert "from a source that is untrusted" in waiting.request["action_requests"][0]["description"]

    held = agent.resume(waiting.id, "approve")

    assert held.request is not None and not tools.calls
    assert [one["name"] for one in held.request["action_requests"]] == ["run_step"]


def test_what_people_are_asked_names_the_value(agent: Agent) -> None:
    ask = {"id": "ask", "objective": "o", "ask": "Is {param.who} right?"}

    waiting = agent.start("g", plan=plan(ask, who="ann@b"))

    assert waiting.request is not None
    questions = [one["args"].get("question") for one in waiting.request["action_requests"]]
    assert "Is ann@b right?" in questions


def test_a_list_may_be_a_parameter(agent: Agent, tools: LoggedTools) -> None:
    each = {**step("mail", "mail", to="{item_result}"), "for_each": "{param.all}"}

    ended = agent.resume(agent.start("g", plan=plan(each, all=["a@b", "c@d"])).id, "approve")

    assert ended.status == "succeeded"
    assert sorted(args["to"] for _, args in tools.calls) == ["a@b", "c@d"]


def test_a_retry_keeps_the_parameters(agent: Agent, tools: LoggedTools) -> None:
    steps = [step("look", "look", n="{param.who}"), {"id": "bad", "objective": "o", "gather": "{look_result.absent}"}]
    failed = agent.resume(agent.start("g", plan=plan(*steps, who="x")).id, "approve")

    again = agent.retry(failed.id)

    assert again.plan is not None and again.plan.params["who"].value == "x"
    assert tools.calls == [("look", {"n": "x"})]


def test_a_playbook_runs_with_values_and_without_a_planner(agent: Agent, tools: LoggedTools) -> None:
    steps = [step("mail", "mail", to="{param.who}")]
    kept = Playbook.of(
        {"name": "greet", "version": 1, "description": "Greet {param.who}", "parameters": {"who": {}}, "steps": steps}
    )

    waiting = agent.start(playbook=kept, params={"who": "ann@b"})
    ended = agent.resume(waiting.id, "approve")

    assert (ended.goal, ended.status) == ("Greet ann@b", "succeeded")
    assert tools.calls == [("mail", {"to": "ann@b"})]


def test_a_playbook_is_not_started_with_other_tools_or_without_its_values(agent: Agent, tools: LoggedTools) -> None:
    raw = {"name": "greet", "version": 1, "parameters": {"who": {}}, "steps": [step("mail", "mail", to="{param.who}")]}
    other = Playbook.of({**raw, "tools": {"mail": {"effect": "write"}, "gone": {}}})

    with pytest.raises(InputError, match="had the effect write, and has external; gone is missing"):
        agent.start(playbook=other, params={"who": "ann@b"})
    with pytest.raises(InputError, match="who is missing"):
        agent.start(playbook=Playbook.of(raw))
    with pytest.raises(InputError, match="not both"):
        agent.start(playbook=Playbook.of(raw), params={"who": "ann@b"}, plan=plan())
    with pytest.raises(InputError, match="those of a playbook"):
        agent.start("g", params={"who": "ann@b"})
    with pytest.raises(InputError, match="say what is to be done"):
        agent.start()
    assert not agent.list() and not tools.calls
