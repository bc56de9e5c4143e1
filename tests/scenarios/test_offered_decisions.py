"""Every surface offers the decisions that a request allows, and a refused answer takes none of them away.

Surfaces: the graph (chat and server clients answer its interrupt), Python, the desk's form, and the terminal, at the
prompt and by the commands that it prints. Kinds: all that a review can ask, and a plan that cannot run as it is.
Answers of any sort go to each surface's function alone; a few go through a run.
"""

import asyncio
import html
import io
import json
import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from desk_server import decide, ended, panel_of, query, served, tools_of_every_kind
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.types import Command
from rich.console import Console
from typer import BadParameter

from planner_executor import Agent, AsyncAgent
from planner_executor.graph.cli.decision_options import DecisionOptions
from planner_executor.graph.cli.prompts import Prompter
from planner_executor.graph.cli.request_view import show_decision_commands
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.desk.decisions import response_in
from planner_executor.graph.desk.views.step_form import step_forms
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.review.content import ReviewContent
from planner_executor.graph.review.decision import Decision, InvalidResponse, read_answer
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.response import ReviewResponse, allowed, build_response
from planner_executor.graph.runs.run import Run
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
    return in_commands(asked.now)


def in_commands(run: Any) -> set[str]:
    """Return the decisions for which the terminal prints a command."""
    out = io.StringIO()
    show_decision_commands(screen(out), run, "runs.db")
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


WHOLE = Plan.model_validate(ASKED)
STEP: dict[str, Any] = {"step": "send", "tool": "mail", "args": {"to": "ann"}}
DIGEST = "d" * 64


class Draft:
    """A plan as a person left it in an editor."""

    def is_about(self, run: Any) -> bool:
        return True

    def refused(self, issues: Any) -> None: ...

    def edit(self) -> Any:
        return PLAN

    def changes(self, plan: Any, columns: int) -> str:
        return "changed: send"


@dataclass(frozen=True)
class Asks:
    """An action, and an answer by each surface for each decision that it allows; what is `unclear` decides nothing.

    Surfaces: the graph, Python, the desk's form, the options of the terminal, and its prompt.
    """

    action: ReviewAction
    answers: Mapping[str, tuple[Any, Mapping[str, Any], Mapping[str, str], Mapping[str, Any], str]]
    unclear: Sequence[str] = ("", "ye")

    @property
    def request(self) -> ReviewRequest:
        return ReviewRequest("t.1", 1, DIGEST, "b" * 64, (self.action,), goal="g")


def asks(name: Any, args: dict[str, Any], content: dict[str, Any], answers: Any, **more: Any) -> Asks:
    found = ReviewContent.model_validate({"version": 1, "goal": "g", "actions": [{"name": name, **content}]})
    key = "k" if content.get("kind") == "call" else None
    cannot_run = bool(content.get("cannot_run"))
    action = ReviewAction(name, args, "What is asked.", key, content=found.actions[0], cannot_run=cannot_run)
    return Asks(action, answers, **more)


SAID = "another town"
NO: Any = (
    {"type": "reject", "message": SAID},
    {"feedback": SAID},
    {"decision": "feedback", "message": SAID},
    {"reject": True, "why": SAID},
    SAID,
)
YES: Any = (APPROVE, {"approve": True}, {"decision": "approve"}, {"approve": True}, "y")
EDIT_PLAN: Any = (edit("run_plan", plan=PLAN), {"plan": PLAN},
                  {"decision": "edit", "edit_as": "text", "plan": json.dumps(PLAN)}, {"edit": "plan.json"},
                  "e\ny")  # fmt: skip
OF_PLAN = {"revision": 1, "digest": DIGEST}
ASKED_OF: Mapping[str, Asks] = {
    "run_plan": asks("run_plan", {"plan": ASKED}, OF_PLAN, {"approve": YES, "edit": EDIT_PLAN, "reject": NO}),
    "a plan that cannot run": asks(
        "run_plan", {"plan": FAULTY}, {**OF_PLAN, "cannot_run": True}, {"edit": EDIT_PLAN, "reject": NO},
        unclear=("", "ye", "y"),
    ),
    "call": asks(
        "run_step", STEP, {"kind": "call", "step": "send"},
        {
            "approve": YES,
            "edit": (edit("run_step", args={"to": "bob"}), {"args": {"send": {"to": "bob"}}},
                     {"decision": "approve", "call:send": "edit", "call:send:args": '{"to": "bob"}'},
                     {"args": ['send={"to": "bob"}']}, '{"to": "bob"}'),
            "reject": ({"type": "reject", "message": SAID}, {"rejected": {"send": SAID}},
                       {"decision": "refuse", "message": SAID}, {"reject_call": [f"send={SAID}"]}, SAID),
        },
        unclear=("", "ye", "{to: ann"),
    ),
    "gate": asks(
        "run_step", {**STEP, "tool": "gate"}, {"kind": "gate", "step": "send"}, {"approve": YES, "reject": NO}
    ),
    "question": asks(
        "answer_question", {"step": "ask", "question": "How many?", "answer": None}, {"step": "ask", "answer": SIZES},
        {
            "edit": (edit("answer_question", answer={"count": 3}), {"answers": {"ask": {"count": 3}}},
                     {"decision": "answer", "answer:ask:/count": "3"}, {"answer": ['ask={"count": 3}']},
                     '{"count": 3}'),
            "reject": (*NO[:-1], f":again {SAID}"),
        },
        unclear=("",),
    ),
    "uncertain call": asks(
        "settle_effect", {**STEP, "happened": None, "result": None}, {"step": "send", "failure": "it timed out"},
        {
            "edit": (edit("settle_effect", happened=False), {"happened": (False,)}, {"decision": "not_happened"},
                     {"happened": [False]}, "no"),
            "reject": (REJECT, {"stop": True}, {"decision": "stop"}, {"reject": True}, "stop"),
        },
        unclear=("", "ye", "perhaps", "y"),
    ),
    "budget": asks(
        "raise_budget", {"budget": {"tool_calls": 1}, "spent": {"tool_calls": 1}}, {"limit": "tool_calls"},
        {
            "edit": (edit("raise_budget", budget={"tool_calls": 9}), {"limits": {"tool_calls": 9}},
                     {"decision": "answer", "limit:tool_calls": "9"}, {"raise_": ["tool_calls=9"]}, "tool_calls=9"),
            "reject": NO,
        },
        unclear=("", "ye", "y", "tool_calls=lots"),
    ),
}  # fmt: skip


def run_with(request: ReviewRequest) -> Any:
    """Return what the surfaces read of a run that waits with this request."""
    value = request.to_json()
    return SimpleNamespace(
        id="t.1", request=value, open_request=value, plan=WHOLE, results={}, setup={}, unproven_setup={}
    )


def shown_with(request: ReviewRequest) -> Any:
    return SimpleNamespace(run=run_with(request), record=SimpleNamespace(asking_calls=()), seq=9)


def page_with(request: ReviewRequest, given: Mapping[str, str], wrong: str = "") -> str:
    """Return the desk's page below its head, with what was filled in before."""
    plan = request.actions[0].args.get("plan")
    forms = step_forms(plan["steps"], frozenset(), {}, {}) if plan is not None else []
    return panel_of(shown_with(request), forms, given=given, wrong=wrong, text=given.get("plan", ""))


def typed_to(request: ReviewRequest, lines: str) -> Any:
    """Return the answer that the prompt makes of these lines, None if it is left open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(lines))
        draft: Any = Draft()
        found = Prompter(screen(io.StringIO()), "runs.db", draft).reply(run_with(request))
    return None if found is None else found.decisions


def answered(surface: str, request: ReviewRequest, answer: Any) -> tuple[Decision, ...] | None:
    """Return the decisions that a surface makes of an answer, None if it is refused."""
    value = request.to_json()
    try:
        match surface:
            case "graph":
                made = answer
            case "Python":
                made = build_response(value, ReviewResponse(**answer))
            case "desk":
                made = build_response(value, response_in(shown_with(request), value, answer))
            case "options":
                made = build_response(value, DecisionOptions(**answer).response())
            case _:
                made = typed_to(request, answer)
        return None if made is None else read_answer(made, request)
    except (InvalidResponse, InputError, BadParameter):
        return None


ANSWERED = ("graph", "Python", "desk", "options", "prompt")
TEXTS = st.one_of(
    st.text(max_size=12), st.sampled_from(["", "y", "approve", "true", "{", "{}", "[]", "4", "send", "no"])
)
JSON = st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), TEXTS), lambda one: st.lists(one, max_size=2)
                    | st.dictionaries(TEXTS, one, max_size=2), max_leaves=4)  # fmt: skip
TYPES = st.sampled_from(["approve", "edit", "reject", "explode"])
NAMES = st.sampled_from(["send", "ask", "look"])
OF_STEPS = st.dictionaries(NAMES, TEXTS, max_size=1)
AS_OPTIONS = st.lists(st.builds("{}={}".format, NAMES, TEXTS), max_size=1)
PRESSED = st.sampled_from(
    ["approve", "edit", "feedback", "finish", "answer", "stop", "refuse", "happened", "not_happened", "explode"]
)
BITS = st.lists(st.booleans(), max_size=2)
ANYTHING: Mapping[str, st.SearchStrategy[Any]] = {
    "graph": st.one_of(
        JSON,
        st.fixed_dictionaries(
            {"type": TYPES},
            optional=dict.fromkeys(("message", "edited_action", "comments", "ask_later", "digest", "final"), JSON),
        ),
    ),
    "Python": st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("approve", "stop", "finish"), st.booleans()), "feedback": TEXTS, "happened": BITS,
            **dict.fromkeys(("answers", "rejected"), OF_STEPS), "limits": st.dictionaries(TEXTS, JSON, max_size=1),
            "plan": JSON, "approved": st.lists(NAMES, max_size=1),
        },
    ),
    "desk": st.fixed_dictionaries(
        {"decision": PRESSED},
        optional={
            **dict.fromkeys(("message", "plan", "call:send", "call:send:args", "call:send:why", "happened:0"), TEXTS),
            **dict.fromkeys(("answer:ask:/count", "result:0", "limit:tool_calls", "comment:send"), TEXTS),
            "edit_as": st.just("text"),
        },
    ),
    "options": st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("approve", "reject", "finish"), st.booleans()), "why": TEXTS, "feedback": TEXTS,
            **dict.fromkeys(("answer", "args", "reject_call", "comment", "raise_"), AS_OPTIONS), "happened": BITS,
            "result": st.lists(TEXTS, max_size=1), "approve_call": st.lists(NAMES, max_size=1),
        },
    ),
    "prompt": st.lists(TEXTS.filter(lambda text: not {"\n", "\r"} & {*text}), max_size=3).map("\n".join),
}  # fmt: skip
"""Answers of any sort, as each surface takes them."""


@pytest.fixture
def plan_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("plan_file")
@pytest.mark.parametrize("name", ASKED_OF)
def test_each_decision_that_a_request_allows_can_be_made_on_each_surface_and_no_other_is_offered(name: str) -> None:
    kind, request = ASKED_OF[name], ASKED_OF[name].request
    assert set(kind.answers) == set(kind.action.allowed)
    for decision, answers in kind.answers.items():
        for surface, answer in zip(ANSWERED, answers, strict=True):
            given = {**answer, "edit": Path(answer["edit"])} if surface == "options" and "edit" in answer else answer
            (made,) = answered(surface, request, given) or [None]
            assert made is not None and made.type == decision, (surface, decision)
    for again in (request, request.again("that was no answer", ())):
        run, shown = run_with(again), page_with(again, {})
        assert on_page(shown) == in_commands(run) == set(kind.action.allowed)


@pytest.mark.parametrize("surface", ANSWERED)
@given(data=st.data())
@settings(max_examples=60)
def test_whatever_is_answered_decides_only_what_is_allowed_and_what_is_refused_changes_nothing(
    surface: str, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([*ASKED_OF]))
    kind, answer = ASKED_OF[name], data.draw(ANYTHING[surface])
    made = answered(surface, kind.request, answer)
    if made is not None:
        assert {one.type for one in made} <= set(kind.action.allowed)
        return
    again = kind.request.again("that was no answer", ())
    assert again.subject == kind.request.subject and again.digests == kind.request.digests
    decision, (answers) = data.draw(st.sampled_from([*kind.answers.items()]))
    valid = answers[ANSWERED.index(surface)]
    if surface != "options" or "edit" not in valid:
        (after,) = answered(surface, again, valid) or [None]
        assert after is not None and after.type == decision
    if surface == "desk":
        shown = page_with(kind.request, answer, "that was no answer")
        fields = {field for field, text in answer.items() if f'name="{field}"' in shown and field not in CHOSEN}
        assert [field for field in fields if html.unescape(answer[field]) not in shown] == []


CHOSEN = {"decision", "edit_as", "call:send", "happened:0"}
"""Fields of buttons and lists, which hold no text of one's own."""


@pytest.mark.parametrize("name", ASKED_OF)
def test_a_prompt_asks_again_until_it_is_answered(name: str) -> None:
    kind = ASKED_OF[name]
    for decision, (*_, valid) in kind.answers.items():
        (made,) = read_answer(typed_to(kind.request, "\n".join([*kind.unclear, valid, "", ""])), kind.request)
        assert made.type == decision
    assert typed_to(kind.request, "\n".join(kind.unclear)) is None


@pytest.mark.parametrize(
    ("name", "surface"),
    [
        *((name, "desk") for name in KINDS),
        *zip(KINDS, cycle(["interrupt", "Python"]), strict=False),
    ],
)
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
