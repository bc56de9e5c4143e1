"""Every surface offers the decisions that a request allows, and a refused answer takes none of them away.

Surfaces: the graph (chat and server clients answer its interrupt), Python, the desk's form, and the terminal, at the
prompt and by the commands that it prints. Kinds: all that a review can ask, and a plan that cannot run as it is.
"""

import asyncio
import html
import io
import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from desk_server import decide, ended, query, served, tools_of_every_kind
from langgraph.types import Command
from rich.console import Console

from planner_executor import Agent, AsyncAgent
from planner_executor.graph.cli.prompts import Prompter
from planner_executor.graph.cli.request_view import show_decision_commands
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.review.response import allowed
from planner_executor.graph.runs import Run
from planner_executor.graph.testing import ScriptedModel, on_thread, step

ALL, NO_EDIT, NO_APPROVE = frozenset({"approve", "edit", "reject"}), {"approve", "reject"}, {"edit", "reject"}
SIZES = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
FAULTY = {"steps": [step("send", "telegram", to="ann")]}
PLAN = {"steps": [step("look", "read", what="wind"), step("send", "mail", after=["look"], to="ann")]}
HELD = {"steps": [step("page", "fetch"), step("send", "mail", to="{page_result}")]}
GATED = {
    "steps": [
        step("look", "read", what="wind"),
        {"id": "gate", "objective": "consent", "gate": "Send it?", "depends_on": ["look"]},
        step("send", "mail", after=["gate"], to="ann"),
    ]
}
ASKED = {
    "steps": [
        step("look", "read", what="wind"),
        {"id": "ask", "objective": "how many", "ask": "How many?", "output": SIZES, "depends_on": ["look"]},
        step("send", "mail", to="{ask_result.count}"),
    ]
}
LOST = {"steps": [step("send", "fax", to="ann")]}
APPROVE, REJECT = {"type": "approve"}, {"type": "reject", "final": True}


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


@dataclass(frozen=True)
class Kind:
    """What is asked: how the run begins, the decisions allowed, and answers as each surface takes them.

    `wrong` are the answers as data, `form` those of the desk and `typed` those of the terminal that are refused; `kept`
    is what the desk shows again of each.
    """

    plan: Mapping[str, Any]
    allowed: frozenset[str] | set[str]
    approvals: int = 0
    budget: Mapping[str, Any] = field(default_factory=dict)
    wrong: Sequence[Any] = ()
    form: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    typed: str = ""


KINDS = {
    "run_plan": Kind(
        PLAN,
        ALL,
        wrong=[edit("run_plan", plan=FAULTY), edit("run_plan", plan="steps: ["), {"type": "explode"}],
        form={
            'value="telegram"': {"decision": "edit", "edit_as": "form", "step:send:does": "telegram"},
            "tool: telegram": {"decision": "edit", "edit_as": "text", "plan": "steps:\n- {id: a, tool: telegram}"},
            "steps: [": {"decision": "edit", "edit_as": "text", "plan": "steps: ["},
        },
        typed="x\n",
    ),
    "call": Kind(
        HELD,
        ALL,
        approvals=1,
        wrong=[edit("run_step", args=4), {"type": "edit"}],
        form={
            "{to: ann": {"decision": "approve", "call:send": "edit", "call:send:args": "{to: ann"},
            ">4<": {"decision": "approve", "call:send": "edit", "call:send:args": "4"},
        },
        typed="{to: ann\n",
    ),
    "gate": Kind(
        GATED,
        NO_EDIT,
        approvals=1,
        wrong=[edit("run_step", step="gate"), {"type": "explode"}],
        form={"half a reason": {"decision": "explode", "message": "half a reason"}},
        typed="?\n",
    ),
    "question": Kind(
        ASKED,
        NO_APPROVE,
        approvals=1,
        wrong=[APPROVE, edit("answer_question", step="ask", answer={"count": "many"})],
        form={'value="many"': {"decision": "answer", "answer:ask:/count": "many"}},
        typed="\n",
    ),
    "uncertain call": Kind(
        LOST,
        NO_APPROVE,
        approvals=2,
        wrong=[APPROVE, edit("settle_effect", happened="perhaps")],
        form={
            "the receipt": {"decision": "answer", "happened:0": "false", "result:0": "the receipt"},
        },
        typed="perhaps\n",
    ),
    "budget": Kind(
        PLAN,
        NO_APPROVE,
        approvals=1,
        budget={"tool_calls": 1},
        wrong=[APPROVE, edit("raise_budget", budget={"tool_calls": "lots"})],
        form={'value="lots"': {"decision": "answer", "limit:tool_calls": "lots"}},
        typed="tool_calls=lots\n",
    ),
}


@dataclass
class Asked:
    """A run that waits, and everything that a surface needs."""

    agent: Agent
    run: str
    server: Any
    monkeypatch: pytest.MonkeyPatch

    @property
    def now(self) -> Run:
        return self.agent.show(self.run)

    def in_graph(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return what is done with the compiled graph, as a server or a chat client uses it."""

        async def done() -> Any:
            options = {**self.server.options, "planner": ScriptedModel([LOST] * 4)}
            async with AsyncAgent.open(self.server.database, **options) as agent:
                return await work(agent.graph)

        return asyncio.run(done())

    def answer_in_graph(self, decision: Any) -> None:
        answer: Command[Any] = Command(resume={"decisions": [decision]})
        self.in_graph(lambda graph: graph.ainvoke(answer, on_thread("t")))


@contextmanager
def waiting(kind: Kind, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    options: dict[str, Any] = {"budget": kind.budget} if kind.budget else {}
    with served(folder / "runs.db", tools=tools_of_every_kind) as server, server.agent(*[LOST] * 4, **options) as agent:
        run = agent.start("g", plan=kind.plan, thread="t")
        for _ in range(kind.approvals):
            run = agent.resume("t", "approve")
        assert run.status == "waiting"
        yield Asked(agent, run.id, server, monkeypatch)


def by_interrupt(asked: Asked) -> set[str]:
    (open_now,) = asked.in_graph(lambda graph: graph.aget_state(on_thread("t"))).interrupts
    return {one for action in open_now.value["review"]["actions"] for one in action["decisions"]}


def by_python(asked: Asked) -> set[str]:
    request = asked.now.request
    assert request is not None
    configs = {one for config in request["review_configs"] for one in config["allowed_decisions"]}
    assert configs >= allowed(request), "those of a plan are always the three, for clients that know the name alone"
    return {*allowed(request)}


def by_desk(asked: Asked) -> set[str]:
    with asked.server.visit() as visit:
        return on_page(visit.get(query("/review", asked.run)).text)


def on_page(page: str) -> set[str]:
    """Return the decisions for which a page has a button or a field."""
    ways = {
        "approve": r'name="decision" value="approve"',
        "edit": r'value="edit"|value="happened"|name="answer:|name="limit:',
        "reject": r'name="decision" value="stop"',
    }
    return {decision for decision, way in ways.items() if re.search(way, page)}


def by_commands(asked: Asked) -> set[str]:
    out = io.StringIO()
    show_decision_commands(screen(out), asked.now, "runs.db")
    printed = [set(shlex.split(line)) for line in out.getvalue().splitlines() if " resume " in line]
    edits = {"--edit", "--args", "--answer", "--happened", "--raise"}
    ways = {
        "approve": any("--approve" in words and "--digest" in words for words in printed),
        "edit": any(words & edits for words in printed),
        "reject": any("--reject" in words for words in printed),
    }
    return {decision for decision, is_there in ways.items() if is_there}


def by_prompt(asked: Asked) -> set[str]:
    return in_question(prompted(asked, ""))


def in_question(said: str) -> set[str]:
    """Return the decisions that a question of the terminal names."""
    ways = {
        "approve": r"\by: (run|call|continue)\b",
        "edit": r"\be: edit\b|call with these arguments|Your answer to|: yes, no, later|raise to",
        "reject": r"\bn: end the run|:end: end the run|stop to end the run",
    }
    return {decision for decision, way in ways.items() if re.search(way, said)}


def screen(out: io.StringIO) -> Screen:
    console = Console(file=out, width=1000)
    return Screen(console, console, interactive=True)


def prompted(asked: Asked, typed: str) -> str:
    """Return what the terminal says while this is typed, and then nothing more."""
    out = io.StringIO()
    asked.monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert Prompter(screen(out), "runs.db").reply(asked.now) is None
    return out.getvalue().partition("waits for your decision")[0]


OFFERS: Mapping[str, Callable[[Asked], set[str]]] = {
    "interrupt": by_interrupt,
    "Python": by_python,
    "desk": by_desk,
    "commands": by_commands,
    "prompt": by_prompt,
}


def offered(asked: Asked) -> dict[str, set[str]]:
    return {surface: offers(asked) for surface, offers in OFFERS.items()}


@pytest.mark.parametrize("name", KINDS)
def test_every_surface_offers_what_is_allowed_also_after_an_answer_that_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    everywhere = dict.fromkeys(OFFERS, kind.allowed)
    with waiting(kind, tmp_path, monkeypatch) as asked:
        calls = list(asked.server.tools.calls)
        assert offered(asked) == everywhere
        for wrong in kind.wrong:
            asked.agent.resume(asked.run, {"decisions": [wrong]})
            assert offered(asked) == everywhere, wrong
            asked.answer_in_graph(wrong)
            assert offered(asked) == everywhere, wrong
        for kept, fields in kind.form.items():
            with asked.server.visit() as visit:
                answer = decide(visit, asked.run, **fields)
            assert answer.status_code == 422 and kept in html.unescape(answer.text), fields
            assert on_page(answer.text) == kind.allowed and offered(asked) == everywhere, fields
        assert in_question(prompted(asked, kind.typed)) == kind.allowed
        assert asked.now.status == "waiting" and asked.server.tools.calls == calls


def test_no_surface_offers_to_approve_a_plan_that_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def put(graph: Any) -> None:
        await graph.aupdate_state(on_thread("t"), {"plan": FAULTY}, as_node="planner")
        await graph.ainvoke(None, on_thread("t"))

    with waiting(KINDS["run_plan"], tmp_path, monkeypatch) as asked:
        asked.in_graph(put)
        assert offered(asked) == dict.fromkeys(OFFERS, NO_APPROVE)
        for yes in (APPROVE, edit("run_plan", plan=FAULTY)):
            asked.agent.resume(asked.run, {"decisions": [yes]})
            assert offered(asked) == dict.fromkeys(OFFERS, NO_APPROVE), yes
        assert in_question(prompted(asked, "y\n")) == NO_APPROVE
        assert asked.now.status == "waiting" and asked.server.tools.calls == []


@pytest.mark.parametrize("surface", ["interrupt", "Python", "desk"])
@pytest.mark.parametrize("name", KINDS)
def test_a_run_ends_by_a_rejection_from_each_surface_after_a_refused_answer(
    name: str, surface: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS[name]
    with waiting(kind, tmp_path, monkeypatch) as asked:
        calls = list(asked.server.tools.calls)
        asked.agent.resume(asked.run, {"decisions": [kind.wrong[0]]})
        if surface == "desk":
            with asked.server.visit() as visit:
                assert decide(visit, asked.run, decision="stop").status_code == 303
        elif surface == "Python":
            assert asked.agent.resume(asked.run, {"decisions": [REJECT]}).ended
        else:
            asked.answer_in_graph(REJECT)

        assert ended(asked.server, asked.run) in ("rejected", "budget_exhausted")
        assert asked.server.tools.calls == calls


@pytest.mark.parametrize("name", KINDS)
def test_after_a_cancel_every_surface_tells_one_status(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting(KINDS[name], tmp_path, monkeypatch) as asked:
        calls = list(asked.server.tools.calls)
        assert asked.agent.cancel(asked.run).status == "cancelled"
        state = asked.in_graph(lambda graph: graph.aget_state(on_thread("t")))
        with asked.server.visit() as visit:
            page, inbox = visit.get(query("", asked.run)).text, visit.get("/").text
            late = visit.get(query("/review", asked.run))

        assert (state.values["status"], state.interrupts, state.next) == ("cancelled", (), ())
        assert "cancelled" in state.values["messages"][-1].text
        assert not any(message.tool_calls for message in state.values["messages"] if message.type == "ai")
        assert [run.status for run in asked.agent.list()] == ["cancelled"] and asked.now.request is None
        assert "cancelled" in page and asked.run not in inbox and late.status_code == 303
        assert asked.server.tools.calls == calls
