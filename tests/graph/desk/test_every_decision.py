"""Everything that a run can ask is decided at the desk, and has its effect whoever carries the run on."""

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from desk_server import decide, ended, query, served, tools_of_every_kind

from planner_executor import Person
from planner_executor.graph.agent import Agent
from planner_executor.graph.desk.drives import agents_with
from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import ON_SERVER
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, step

LOOK, SEND = step("look", "read", what="wind"), step("send", "mail", after=["look"], to="ann", text="{look_result}")
PLAN = {"steps": [LOOK, SEND]}
SENT = {"to": "ann", "text": "calm"}
SIZES = {"type": "object", "properties": {"size": {"enum": ["S", "M"]}, "count": {"type": "integer"}}}


def planned(*steps: Mapping[str, Any], approved: int = 0, **options: Any) -> Callable[[Agent], Run]:
    """A run of these steps that was approved so often before it waits."""

    def begun(agent: Agent) -> Run:
        run = agent.start("g", plan={"steps": list(steps)}, thread="t", **options)
        for _ in range(approved):
            run = agent.resume("t", "approve")
        return run

    return begun


PLANNED = planned(LOOK, SEND)
HELD = planned(step("page", "fetch"), step("send", "mail", to="ann", text="{page_result}"), approved=1)
UNCERTAIN = planned(step("send", "fax", to="ann"), approved=2)
GATED = planned(
    LOOK,
    {"id": "gate", "objective": "consent", "gate": "Send it?", "depends_on": ["look"]},
    step("send", "mail", after=["gate"], to="ann"),
    approved=1,
)
ASKED = planned(
    {"id": "ask", "objective": "which?", "ask": "Which size?", "output": SIZES},
    step("send", "mail", size="{ask_result.size}", count="{ask_result.count}"),
)
TEXT = "steps:\n  - id: only\n    objective: send\n    tool: mail\n    args: {to: cy}\n"
AGAIN = ({"steps": [step("look", "read", what="sun")]},)
REPEATED = ({"steps": [step("send", "fax", to="ann")]},) * 3


@dataclass(frozen=True)
class Case:
    """A request, the fields of the form that decide it, and what follows: the run's status and the mails."""

    waits: Callable[[Agent], Run]
    fields: Mapping[str, str]
    status: str = "succeeded"
    mails: Sequence[Any] = ()
    answers: tuple[Any, ...] = ()
    budget: Mapping[str, Any] = field(default_factory=dict)
    faxes: int = 0


CASES = {
    "approve": Case(PLANNED, {"decision": "approve"}, mails=[SENT]),
    "reject": Case(PLANNED, {"decision": "stop"}, "rejected"),
    "reject with a reason": Case(PLANNED, {"decision": "feedback", "message": "do not send"}, "waiting", answers=AGAIN),
    "edit in the form": Case(
        PLANNED,
        {"decision": "edit", "edit_as": "form", "step:send:args": "to: bob\ntext: '{look_result}'"},
        mails=[{"to": "bob", "text": "calm"}],
    ),
    "edit as text": Case(PLANNED, {"decision": "edit", "edit_as": "text", "plan": TEXT}, mails=[{"to": "cy"}]),
    "edit with a new step": Case(
        PLANNED,
        {
            "decision": "edit",
            "edit_as": "form",
            "step:look:remove": "1",
            "step:send:remove": "1",
            "new:1:id": "only",
            "new:1:objective": "send",
            "new:1:does": "mail",
            "new:1:args": "to: dee",
        },
        mails=[{"to": "dee"}],
    ),
    "approve a held call": Case(
        HELD, {"decision": "approve", "call:send": "approve"}, mails=[{"to": "ann", "text": "click here"}]
    ),
    "edit a held call": Case(
        HELD,
        {"decision": "approve", "call:send": "edit", "call:send:args": '{"to": "ann", "text": "harmless"}'},
        mails=[{"to": "ann", "text": "harmless"}],
    ),
    "reject a held call": Case(
        HELD, {"decision": "approve", "call:send": "reject", "call:send:why": "a trick"}, "waiting", answers=AGAIN
    ),
    "refuse a held call by its button": Case(
        HELD, {"decision": "refuse", "message": "a trick"}, "waiting", answers=AGAIN
    ),
    "approve calls like it": Case(
        HELD,
        {"decision": "approve", "call:send": "standing", "call:send:at_most": "3"},
        mails=[{"to": "ann", "text": "click here"}],
    ),
    "answer a question": Case(
        ASKED,
        {"decision": "approve", "answer:ask:/size": '"M"', "answer:ask:/count": "2"},
        mails=[{"size": "M", "count": 2}],
    ),
    "pass a gate": Case(GATED, {"decision": "approve"}, mails=[{"to": "ann"}]),
    "refuse a gate": Case(GATED, {"decision": "stop"}, "rejected"),
    "it happened": Case(UNCERTAIN, {"decision": "answer", "happened:0": "true", "result:0": '"sent"'}, faxes=1),
    "it happened, by its button": Case(UNCERTAIN, {"decision": "happened", "result:0": '"sent"'}, faxes=1),
    "it did not happen, by its button": Case(
        UNCERTAIN, {"decision": "not_happened"}, "waiting", answers=REPEATED, faxes=2
    ),
    "it did not happen": Case(
        UNCERTAIN, {"decision": "answer", "happened:0": "false"}, "waiting", answers=REPEATED, faxes=2
    ),
    "raise the budget": Case(
        planned(LOOK, SEND, approved=1),
        {"decision": "answer", "limit:tool_calls": "5"},
        mails=[SENT],
        budget={"tool_calls": 1},
    ),
    "finish with what there is": Case(
        planned(LOOK, SEND, approved=1), {"decision": "finish"}, "budget_exhausted", budget={"tool_calls": 1}
    ),
}


ALSO_ELSEWHERE = (
    "approve", "reject with a reason", "edit in the form", "approve a held call", "reject a held call",
    "answer a question", "refuse a gate", "it happened", "it did not happen", "raise the budget",
    "finish with what there is",
)  # fmt: skip
"""Each kind of decision that others carry out; however a form says it, the same is on record."""


@pytest.mark.parametrize(
    ("name", "is_here"), [*((name, True) for name in CASES), *((name, False) for name in ALSO_ELSEWHERE)]
)
def test_a_decision_at_the_desk_has_its_effect(name: str, is_here: bool, tmp_path: Path) -> None:
    case = CASES[name]
    agents = {} if is_here else {"agents": None}
    with served(tmp_path / "runs.db", *case.answers, tools=tools_of_every_kind, **agents) as server:
        options: dict[str, Any] = {"budget": case.budget} if case.budget else {}
        with server.agent(*REPEATED, **options) as agent:
            run = case.waits(agent)
            assert run.status == "waiting"
        with server.visit() as visit:
            answer = decide(visit, run.id, **case.fields)
            assert answer.status_code == 303, answer.text
        if not is_here:
            assert server.tools.named("mail") == [] and len(server.tools.named("fax")) <= 1
            with server.agent(*case.answers, **options) as owner:
                assert owner.resume(run.id).status == case.status
        assert ended(server, run.id) == case.status

    assert server.tools.named("mail") == list(case.mails)
    assert len(server.tools.named("fax")) == case.faxes


LACKING = [
    (PLANNED, {"decision": "feedback", "message": " "}, "say what to change"),
    (PLANNED, {"decision": "explode"}, "choose what to decide"),
    (PLANNED, {"decision": "edit", "edit_as": "text", "plan": "steps: ["}, "line 1"),
    (PLANNED, {"decision": "edit", "edit_as": "form", "new:1:objective": "send"}, "give it an id"),
    (ASKED, {"decision": "approve"}, "undecided"),
    (HELD, {"decision": "approve", "call:send": "reject"}, "say why"),
    (HELD, {"decision": "refuse"}, "say why"),
    (HELD, {"decision": "happened"}, "not about one call alone"),
    (PLANNED, {"decision": "refuse", "message": "no"}, "not about one call alone"),
    (GATED, {"decision": "refuse", "message": "no"}, "not about one call alone"),
    (ASKED, {"decision": "not_happened"}, "not about one call alone"),
    (HELD, {"decision": "approve", "call:send": "edit", "call:send:args": "4"}, "JSON object"),
    (UNCERTAIN, {"decision": "answer"}, "say whether send's call of fax happened"),
]


@pytest.mark.parametrize(("waits", "fields", "words"), LACKING)
def test_a_form_that_lacks_something_is_told_and_decides_nothing(
    waits: Callable[[Agent], Run], fields: dict[str, str], words: str, tmp_path: Path
) -> None:
    with served(tmp_path / "runs.db", tools=tools_of_every_kind) as server, server.visit() as visit:
        with server.agent(*REPEATED) as agent:
            run = waits(agent).id
        calls = list(server.tools.calls)
        answer = decide(visit, run, **fields)
        assert ended(server, run) == "waiting" and server.tools.calls == calls

    assert answer.status_code == 422 and words in html.unescape(answer.text)


PROXIES = trusted_proxies(["127.0.0.1"], "--proxy")
PEOPLE = {"settings": DeskSettings(identity=proxy_identity("X-User", PROXIES, "--proxy"), links=False, proxies=PROXIES)}


def by(person: str) -> dict[str, str]:
    return {"X-User": person}


VOTED = "You have approved this"


@pytest.mark.parametrize("is_here", [True, False], ids=["here", "elsewhere"])
def test_two_of_a_quorum_decide_one_after_the_other(is_here: bool, tmp_path: Path) -> None:
    options = {"policy": {"approvers": {"tools": {"mail": {"quorum": 2}}}}, "identity": verified}
    agents = {} if is_here else {"agents": None}
    with served(tmp_path / "runs.db", tools=tools_of_every_kind, options=options, **PEOPLE, **agents) as server:
        with server.agent() as agent:
            run = PLANNED(agent).id
        for person in ("ann", "bob"):
            with server.visit(**by(person)) as visit:
                assert decide(visit, run, decision="approve").status_code == 303
                seen = visit.get(query("/audit", run)).text
            if is_here:
                assert ended(server, run) in ("waiting", "succeeded")
            else:
                with server.agent() as owner:
                    owner.resume(run)
            if person == "ann":
                with server.visit(**by("ann")) as first, server.visit(**by("bob")) as other:
                    told = [VOTED in one.get(query("/review", run)).text for one in (first, other)]
        assert ended(server, run) == "succeeded" and told == [True, False]

    assert "server:ann" in seen and server.tools.named("mail") == [SENT]


@pytest.mark.parametrize("is_here", [True, False], ids=["here", "elsewhere"])
def test_who_asked_is_refused_under_four_eyes_and_learns_why(is_here: bool, tmp_path: Path) -> None:
    options = {"policy": {"approvers": {"tools": {"mail": {"four_eyes": True}}}}, "identity": verified}
    agents = {} if is_here else {"agents": None}
    with served(tmp_path / "runs.db", tools=tools_of_every_kind, options=options, **PEOPLE, **agents) as server:
        with server.agent() as agent:
            run = agent.start("g", plan=PLAN, thread="t", by=Person("ann")).id
        with server.visit(**by("ann")) as visit:
            answer = decide(visit, run, decision="approve")
            page = visit.get(query("/review", run)).text
        with server.agent() as owner:
            assert owner.show(run).status == "waiting"

    assert answer.status_code == 422 and ("Asked again" in page) == is_here
    assert "asked for this, and may not decide it too" in (page if is_here else answer.text)
    assert server.tools.calls == []


@pytest.mark.parametrize("is_here", [True, False], ids=["here", "elsewhere"])
def test_a_harmless_plan_that_one_edits_into_a_mail_is_put_to_those_who_decide_about_mails(
    is_here: bool, tmp_path: Path
) -> None:
    options = {"policy": {"approvers": {"tools": {"mail": {"names": ["bob"]}}}}, "identity": verified}
    agents = {} if is_here else {"agents": None}
    with served(tmp_path / "runs.db", tools=tools_of_every_kind, options=options, **PEOPLE, **agents) as server:
        with server.agent() as agent:
            run = planned(LOOK)(agent).id
        for person, said in (
            ("ann", {"decision": "edit", "edit_as": "text", "plan": TEXT}),
            ("ann", {"decision": "approve"}),
            ("bob", {"decision": "approve"}),
        ):
            assert server.tools.named("mail") == []
            with server.visit(**by(person)) as visit:
                decide(visit, run, **said)
            with server.agent() as owner:
                if not is_here and owner.show(run).status == "paused":
                    owner.resume(run)
        assert ended(server, run) == "succeeded"

    assert len(server.tools.named("mail")) == 1


def test_of_two_who_respond_to_a_run_that_others_carry_on_the_second_learns_who_was_first(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", tools=tools_of_every_kind, agents=None, **PEOPLE) as server:
        with server.agent() as agent:
            run = PLANNED(agent).id
        with server.visit(**by("ann")) as ann, server.visit(**by("bob")) as bob:
            seen = bob.hidden(query("/review", run))
            decide(ann, run, decision="approve")
            late = bob.post(query("/decide", run), {**seen, "decision": "stop"})
            page = bob.get(query("", run)).text

    assert late.status_code == 409 and "server:ann responded" in late.text
    assert "server:ann" in page and "has decided" in page and 'name="act" value="continue"' not in page


def test_a_decision_is_kept_if_a_tool_of_the_run_is_not_here_and_the_page_says_which(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    lacking = agents_with(database, planner=ScriptedModel(()), tools=[LoggedTools().tool("read", effect="read")])
    with served(database, tools=tools_of_every_kind, agents=lacking) as server, server.visit() as visit:
        with server.agent() as agent:
            run = PLANNED(agent).id
        decide(visit, run, decision="approve")
        page = visit.get(query("", run)).text
        with server.agent() as owner:
            assert owner.resume(run).status == "succeeded"

    assert "needs mail" in page and "has decided" in page and server.tools.named("mail") == [SENT]


async def test_a_run_of_a_server_is_left_to_it_though_its_tools_are_here(tmp_path: Path) -> None:
    plan = Plan.model_validate(PLAN)
    shown = {"digest": plan.digest, "asked": ["run_plan"], "revision": 1, "shown": {"value": ["the plan"]}}
    events = [
        drafted("run_started", {"goal": "g", "origin": ON_SERVER}),
        drafted("plan_revised", {"plan": plan.to_json(), "digest": plan.digest}),
        drafted("review_requested", shown),
    ]

    async with open_runs(tmp_path / "runs.db") as runs:
        await runs.ledger.open_run("t", events)
    with served(tmp_path / "runs.db", tools=tools_of_every_kind) as server, server.visit() as visit:
        inbox = visit.get("/").text
        decide(visit, "t.1", decision="approve")
        page = visit.get(query("", "t.1")).text

    assert "t.1" in inbox and "work --server" in page and server.tools.calls == []
