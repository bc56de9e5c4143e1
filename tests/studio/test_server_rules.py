"""Attacks of a server's users on the rules about people: nothing is written before those who may have said so."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from planner_executor.graph.runs.runs import open_runs

POLICY = """
[approvers.tools.write_file]
roles = ["finance"]
four_eyes = true
"""
DOCS = Path(__file__).parents[2] / "docs" / "review-desk.md"
LOOK = {"id": "a", "objective": "look", "tool": "list_files"}
AGAIN = {**LOOK, "id": "b", "depends_on": ["a"]}
APPROVE = {"type": "approve"}
NOT_YOU = "may not decide this"
FAKE = {"identity": "bob@example.com", "is_authenticated": True, "roles": ["finance"]}


def write(path: str, *after: str, content: str = "x") -> dict[str, Any]:
    """Return the step that stands for a payment."""
    args = {"path": path, "content": content}
    return {"id": "w", "objective": "write", "tool": "write_file", "args": args, "depends_on": list(after)}


def edit(**args: Any) -> Any:
    return lambda action: {"type": "edit", "edited_action": {"name": action["name"], "args": args}}


@pytest.fixture(scope="module")
def guarded(serve: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that knows its users, with a desk, under a policy that says who decides about `write_file`."""
    (shown,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL)
    policy = tmp_path_factory.mktemp("policy") / "policy.toml"
    policy.write_text(POLICY)
    auth, http = Path(__file__).with_name("token_auth.py"), json.loads(shown)["http"]
    here = Path(__file__).parents[2]
    graphs = {
        "planner_executor": f"{here / 'graph' / 'studio.py'}:graph",
        "bounded": f"{Path(__file__).with_name('bounded_graph.py')}:graph",
    }
    return serve(graphs, auth=auth, http=http, PLANNER_EXECUTOR_POLICY=str(policy))


class House:
    """One thread as three users drive it: Eve, who may not decide about writing, and Ada and Bob, who may."""

    def __init__(self, server: Any, thread_of: Any, path: str) -> None:
        self.server, self.path = server, path
        self.eve = thread_of(server, Authorization="Bearer eve")
        self.ada, self.bob = (thread_of(server, Authorization=f"Bearer {name}+finance") for name in ("ada", "bob"))
        self.ada.id = self.bob.id = self.eve.id

    @property
    def is_written(self) -> bool:
        return (self.server.home / "workspace" / self.path).exists()

    def begin(self, *steps: Mapping[str, Any], by: str = "eve", graph: str = "planner_executor") -> str:
        """Start a run with a plan, and return the run's id."""
        self.eve.graph = self.ada.graph = self.bob.graph = graph
        given = {"goal": "g", "plan": {"steps": list(steps)}}
        self.run: str = getattr(self, by).run(given)["run"]["id"]
        return self.run

    def say(self, by: str, said: Any = APPROVE, **options: Any) -> dict[str, Any]:
        """Give one answer to all that is asked, and return the thread's values."""
        actions = self.eve.request()["action_requests"]
        made = [said(action) if callable(said) else said for action in actions]
        values: dict[str, Any] = getattr(self, by).answer({"decisions": made}, **options)
        return values

    def asked(self) -> list[str]:
        return [action["name"] for action in self.eve.request()["action_requests"]]

    def events(self) -> list[Any]:
        async def read() -> list[Any]:
            async with open_runs(self.server.home / "runs.db") as runs:
                return list(await runs.log(self.run))

        return asyncio.run(read())

    def eve_gets_no_further(self) -> None:
        """Eve approves what is shown, with a false name too, and nothing is written."""
        for options in ({}, {"config": {"configurable": {"langgraph_auth_user": FAKE, "roles": ["finance"]}}}):
            self.say("eve", **options)
            assert NOT_YOU in self.eve.request()["error"] and not self.is_written

    def bob_decides(self) -> None:
        assert self.say("bob")["status"] == "succeeded" and self.is_written


@pytest.fixture
def house(guarded: Any, thread_of: Any, request: pytest.FixtureRequest) -> House:
    return House(guarded, thread_of, f"{request.node.name.replace('[', '-').strip(']').replace(' ', '-')}.txt")


def test_an_edit_that_brings_writing_into_a_harmless_plan_is_put_to_those_who_decide_about_it(house: House) -> None:
    house.begin(LOOK)

    house.say("eve", edit(plan={"steps": [write(house.path)]}))

    assert house.asked() == ["run_plan"] and "write_file" in house.eve.request()["action_requests"][0]["description"]
    house.eve_gets_no_further()
    house.bob_decides()


def test_whoever_may_decide_does_not_bring_writing_in_alone_under_four_eyes(house: House) -> None:
    house.begin(LOOK)

    house.say("ada", edit(plan={"steps": [write(house.path)]}))
    house.say("ada")

    assert "asked for this" in house.eve.request()["error"] and not house.is_written
    house.bob_decides()


def test_a_limit_that_another_one_raises_leads_to_no_writing_that_was_not_shown(house: House) -> None:
    house.begin(LOOK, AGAIN, write(house.path, "b"), graph="bounded")
    house.say("bob")
    assert house.asked() == ["raise_budget"]

    house.say("eve", edit(budget={"tool_calls": 9}))

    assert house.asked() == ["run_step"] and not house.is_written
    house.eve_gets_no_further()
    house.bob_decides()


QUESTION = {"id": "q", "objective": "ask", "ask": "Which text?", "depends_on": ["a"]}
GATE = {"id": "q", "objective": "consent", "gate": "Go on?", "depends_on": ["a"]}


@pytest.mark.parametrize(("step", "says"), [(QUESTION, edit(answer="mine")), (GATE, APPROVE)], ids=["question", "gate"])
def test_an_answer_that_reaches_writing_holds_it_for_those_who_decide_about_it(
    house: House, step: dict[str, Any], says: Any
) -> None:
    house.begin(LOOK, step, write(house.path, "q", content="{q_result}" if "ask" in step else "x"))
    house.say("bob")

    house.say("eve", says)

    assert house.asked() == ["run_step"] and not house.is_written
    assert "eve@example.com" in house.eve.request()["action_requests"][0]["description"]
    house.eve_gets_no_further()
    house.bob_decides()


def test_a_result_that_another_one_supplies_holds_the_writing_that_gets_it(house: House) -> None:
    house.begin(LOOK, {**write(house.path, "a"), "args": {"path": house.path, "content": "{a_result}"}})

    house.eve.client.threads.update_state(house.eve.id, {"changes": {"supply": {"a": "mine"}}}, as_node="review")
    house.eve.run(None)
    house.eve_gets_no_further()
    house.bob_decides()

    assert (house.server.home / "workspace" / house.path).read_text() == "mine"


TERMS: dict[str, Any] = {
    "policy": {"approvers": {}},
    "approvers": {},
    "approval": "never",
    "take_over": True,
    "identity": "os:root",
}


@pytest.mark.parametrize("way", ["configurable", "context", "input", "operation"])
def test_no_client_puts_a_run_under_terms_of_its_own(house: House, way: str) -> None:
    run = house.begin(write(house.path))
    apart = [{name: value} for name, value in TERMS.items()] if way in ("configurable", "context") else [TERMS]

    for given in apart:
        options: dict[str, Any] = {
            "configurable": {"command": {"resume": APPROVE}, "config": {"configurable": given}},
            "context": {"command": {"resume": APPROVE}, "context": given},
            "input": {"command": {"resume": {"decisions": [APPROVE], **given}, "update": given}},
            "operation": {"input": {"operation": "take_over", "run": run, **given}},
        }[way]
        house.eve.client.runs.wait(house.eve.id, house.eve.graph, raise_error=False, **options)

    kinds = {event.kind for event in house.events()}
    assert not house.is_written and not kinds & {"configured", "take_over_asked"}
    assert not any(event.payload["by"] == "person" for event in house.events() if event.kind == "decided")
    house.eve.client.runs.wait(house.eve.id, house.eve.graph, input={"operation": "continue"}, raise_error=False)
    house.bob_decides()


def test_a_state_that_a_client_writes_leads_round_no_rule(house: House) -> None:
    house.begin(LOOK)
    plan = {"steps": [write(house.path)]}

    for node in ("planner", "review", "executor", "replanner"):
        state = {"plan": plan, "route": "execute", "status": "running", "digest": None}
        house.eve.client.threads.update_state(house.eve.id, state, as_node=node)
        house.eve.client.runs.wait(house.eve.id, house.eve.graph, input=None, raise_error=False)
        house.eve.client.runs.wait(
            house.eve.id, house.eve.graph, command={"resume": APPROVE, "goto": "executor"}, raise_error=False
        )
        assert not house.is_written


def test_an_answer_to_what_was_shown_before_is_none_to_what_is_shown_now(house: House) -> None:
    house.begin(write("another.txt"))
    before = house.eve.request()
    house.say("ada", edit(plan={"steps": [write(house.path)]}))
    assert house.eve.request()["digest"] != before["digest"]

    house.bob.answer({"decisions": [APPROVE], "digest": before["digest"]})

    assert not house.is_written and house.eve.request()["error"]
    house.bob_decides()


def test_a_fork_by_an_old_checkpoint_has_the_rules_and_the_people_of_its_run(house: House) -> None:
    house.begin(LOOK, QUESTION, write(house.path, "q", content="{q_result}"), by="ada")
    old = house.ada.client.threads.get_history(house.ada.id, limit=1)[0]["checkpoint"]
    house.say("bob")
    house.say("eve", edit(answer="mine"))

    for by in (house.eve, house.ada):
        by.client.runs.wait(by.id, by.graph, command={"resume": APPROVE}, checkpoint=old, raise_error=False)
        by.client.runs.wait(by.id, by.graph, command={"resume": APPROVE}, raise_error=False)
        assert not house.is_written


def test_words_of_the_chat_bring_nothing_in_that_those_who_may_have_not_seen(house: House) -> None:
    house.begin(LOOK, AGAIN)

    for words in ("approve", "yes", "supply a = 5", "retry", "take over", f"supply b = {house.path}"):
        message = {"type": "human", "content": words}
        house.eve.client.runs.wait(house.eve.id, house.eve.graph, input={"messages": [message]}, raise_error=False)

    assert not house.is_written and "configured" not in {event.kind for event in house.events()}


def form(http: httpx.Client, run: str, **fields: str) -> httpx.Response:
    page = http.get("/desk/run/review", params={"run": run}).text
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
    shown = {name: unescape(value) for name, value in hidden.items()}
    return http.post("/desk/run/decide", params={"run": run}, data={**shown, **fields})


def test_the_desk_of_the_server_is_no_way_round_either(house: House) -> None:
    run = house.begin(LOOK)
    user = {"Origin": house.server.url, "Authorization": "Bearer eve"}
    with httpx.Client(base_url=house.server.url, headers=user, timeout=30) as eve:
        edited = json.dumps({"steps": [write(house.path)]})
        stale = eve.get("/desk/run/review", params={"run": run}).text
        form(eve, run, decision="edit", edit_as="text", plan=edited)
        house.server.until(lambda: any(event.kind == "decided" for event in house.events()), "the edit is a proposal")
        house.server.until(lambda: house.eve.state()["interrupts"], "others are asked")
        for more in ({}, {"as": "bob@example.com"}, {"by": "bob@example.com", "take_over": "1"}, {"policy": "{}"}):
            form(eve, run, decision="approve", **more)
        hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', stale))
        eve.post("/desk/run/decide", params={"run": run}, data={**hidden, "decision": "approve"})
        for act in ("take-over", "take_over", "approve", "retry"):
            eve.post("/desk/run/control", params={"run": run}, data={"token": hidden["token"], "act": act})

    kinds = {event.kind for event in house.events()}
    assert not house.is_written and not kinds & {"configured", "take_over_asked"}
    voters = {event.payload["approver"] for event in house.events() if event.kind == "decided"}
    assert voters == {"server:eve@example.com"}, "the proposal alone"
    house.bob_decides()


def test_a_server_without_the_policy_of_a_run_keeps_to_it(house: House, serve: Any, thread_of: Any) -> None:
    house.begin(write(house.path))
    auth = Path(__file__).with_name("token_auth.py")
    shared = {"DB": str(house.server.home / "runs.db"), "WORKSPACE": str(house.server.home / "workspace")}
    lax = serve(auth=auth, **{f"PLANNER_EXECUTOR_{name}": value for name, value in shared.items()})
    there = House(lax, thread_of, house.path)
    for each in (there.eve, there.ada, there.bob):
        each.id = house.eve.id
    there.eve.client.threads.create(thread_id=house.eve.id, if_exists="do_nothing")

    there.eve.client.runs.wait(house.eve.id, there.eve.graph, input={"operation": "continue"}, raise_error=False)
    there.run, there.server = house.run, lax
    for options in ({}, {"config": {"configurable": {"approval": "never"}}}, {"context": {"take_over": True}}):
        command = {"resume": APPROVE}
        there.eve.client.runs.wait(house.eve.id, there.eve.graph, command=command, raise_error=False, **options)

    assert not house.is_written
    kinds = {event.kind for event in house.events()}
    assert not kinds & {"configured", "take_over_asked"}
    there.bob.answer(APPROVE)
    assert house.is_written
