"""A planner knows playbooks: one for a whole goal, or as a step, and people approve what will run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, Playbook
from planner_executor.graph.playbooks.folder import folder_of, library_of
from planner_executor.graph.playbooks.playbook import face_of
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.settings.trust import trust
from planner_executor.graph.testing import LoggedTools, ScriptedModel

RAW = {
    "name": "welcome",
    "version": 1,
    "description": "Welcome the customer {param.who} by mail",
    "parameters": {"who": {"type": "string", "minLength": 3}},
    "steps": [
        {"id": "look", "objective": "Look up", "tool": "look", "args": {"n": "{param.who}"}},
        {
            "id": "mail",
            "objective": "Send it",
            "tool": "mail",
            "args": {"to": "{param.who}", "text": "{look_result.n}"},
        },
    ],
    "answer": "{mail_result}",
}
Open = Callable[..., Agent]


@pytest.fixture
def opened(tmp_path: Path, tools: LoggedTools, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Return a function that opens an agent whose planner gives these answers, in a folder with a trusted playbook."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kinds = [
        tools.tool("look", lambda n: {"n": n}, effect="read", trusted=False),
        tools.tool("mail", lambda to, text="": f"sent to {to}", effect="external", trusted=True),
    ]
    (tmp_path / "kept").mkdir()
    (tmp_path / "planner-executor.toml").write_text('playbooks = "kept"\n')
    file = tmp_path / "kept" / "welcome.yaml"
    file.write_text(Playbook.of(RAW).text)
    trust(file, file.read_bytes())
    with ExitStack() as stack:

        def make(*answers: Any, **options: Any) -> Agent:
            model, config = ScriptedModel(answers), tmp_path / "planner-executor.toml"
            given = {"planner": model, "config": config, "tools": kinds, "replan": "never", **options}
            agent = stack.enter_context(Agent.open(tmp_path / "runs.db", **given))
            agent.model = model  # type: ignore[attr-defined]
            return agent

        yield make


def revised(agent: Agent, run: str) -> dict[str, Any]:
    return next(event.payload for event in agent.log(run) if event.kind == "plan_revised")


def test_a_playbook_for_the_whole_goal_is_approved_as_what_will_run(opened: Open, tools: LoggedTools) -> None:
    agent = opened({"playbook": "welcome", "params": {"who": "ana@x"}})

    waiting = agent.start("Welcome our new customer ana@x by mail")

    assert waiting.request is not None and [step.id for step in waiting.plan.steps] == ["look", "mail"]
    assert 'to: "ana@x"' in waiting.request["action_requests"][0]["description"]
    (prompt,) = agent.model.prompts  # type: ignore[attr-defined]
    assert (
        '"playbooks":[{"name":"welcome"' in prompt[-1].text
        and "A playbook is a plan that people keep" in prompt[0].text
    )
    ended = agent.resume(waiting.id, waiting.decide(approve=True))
    assert tools.named("look") == [{"n": "ana@x"}]
    (used,) = revised(agent, ended.id)["playbooks"]
    assert (used["name"], used["by"], used["step"]) == ("welcome", "planner", None)
    assert agent.log(ended.id).events[0].payload.get("playbook", {}) == {}
    assert agent.replay(ended.id).is_same


def test_a_playbook_as_a_step_checks_a_value_once_it_is_known(opened: Open, tools: LoggedTools) -> None:
    steps = [
        {"id": "find", "objective": "Find", "tool": "look", "args": {"n": "a"}},
        {"id": "hi", "objective": "Hi", "playbook": "welcome", "params": {"who": "{find_result.n}"}},
    ]
    agent = opened({"steps": steps, "answer": "{hi_result}"})

    waiting = agent.start("Welcome the customer that you find")
    assert [step.id for step in waiting.plan.steps] == ["find", "hi_params", "hi_look", "hi_mail", "hi"]
    ended = agent.resume(waiting.id, waiting.decide(approve=True))

    assert ended.status == "failed" and "hi_params failed" in str(ended.reason)
    assert tools.calls == [("look", {"n": "a"})]
    assert agent.replay(ended.id).is_same


def test_a_planner_of_single_steps_is_told_to_give_the_step_itself(opened: Open) -> None:
    step = {"id": "find", "objective": "Find", "tool": "look", "args": {"n": "a"}}
    agent = opened({"playbook": "welcome", "params": {"who": "ana@x"}}, {"steps": [step]}, horizon=1, replan="failure")

    waiting = agent.start("Welcome our new customer ana@x by mail")

    first, again = agent.model.prompts  # type: ignore[attr-defined]
    assert "A playbook is a plan that people keep" not in first[0].text
    assert "give the steps themselves here" in again[-1].text and list(waiting.plan.by_id) == ["find"]


def test_a_planner_that_has_looked_at_untrusted_data_gives_untrusted_values(opened: Open, tools: LoggedTools) -> None:
    look = {"look": [{"tool": "look", "args": {"n": "eve@x"}}]}
    agent = opened(look, {"playbook": "welcome", "params": {"who": "eve@x"}}, look=["look"])

    waiting = agent.start("Welcome our new customer")

    assert waiting.plan.params["who"].label == "untrusted"
    assert waiting.request is not None
    approved = agent.resume(waiting.id, waiting.decide(approve=True))
    assert not tools.named("mail") and approved.request is not None  # its untrusted arguments are shown by themselves


def test_a_standing_approval_covers_no_run_that_a_planner_chose(opened: Open, tools: LoggedTools) -> None:
    agent = opened({"playbook": "welcome", "params": {"who": "ana@x"}})
    first = agent.start(playbook=Playbook.of(RAW), params={"who": "ana@x"})
    assert agent.log(first.id).events[0].payload["playbook"]["by"] == "name"
    agent.resume(first.id, first.decide(approve=True, standing_runs={"at_most": 5}))

    chosen = agent.start("Welcome the customer ana@x by mail")

    assert chosen.request is not None and chosen.request["action_requests"][0]["name"] == "run_plan"


def test_only_what_is_trusted_and_unchanged_is_known(opened: Open, tmp_path: Path) -> None:
    specs = opened().wait_for(lambda agent: agent._open.get()).graph.services.toolbox.specs
    folder = folder_of(settings_file(tmp_path / "planner-executor.toml"))
    assert folder is not None and list(library_of(folder, specs)) == ["welcome"]
    other = {**RAW, "name": "other", "tools": {"mail": {**face_of(specs["mail"]), "effect": "read"}}}
    (folder / "other.yaml").write_text(Playbook.of(other).text)
    trust(folder / "other.yaml", (folder / "other.yaml").read_bytes())
    assert list(library_of(folder, specs)) == ["welcome"]

    (folder / "welcome.yaml").write_text(Playbook.of({**RAW, "description": "Changed"}).text)
    assert not library_of(folder, specs)
