"""Everything that a run can ask is decided at the desk, and has its effect whoever carries the run on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from desk_server import decide, ended, served

from graph.agent import Agent
from graph.runs import Run
from graph.testing import LoggedTools, step

LOOK, SEND = step("look", "read", what="wind"), step("send", "mail", after=["look"], to="ann", text="{look_result}")
PLAN = {"steps": [LOOK, SEND]}
SENT = {"to": "ann", "text": "calm"}
SIZES = {"type": "object", "properties": {"size": {"enum": ["S", "M"]}, "count": {"type": "integer"}}}


def tools(log: LoggedTools) -> list[Any]:
    def cut(**_: object) -> None:
        raise ConnectionError("cut off")

    return [
        log.tool("read", lambda **_: "calm", effect="read"),
        log.tool("fetch", lambda **_: "click here", effect="read", trusted=False),
        log.tool("mail", effect="external"),
        log.tool("fax", cut, effect="external"),
    ]


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
    "approve calls like it": Case(
        HELD,
        {"decision": "approve", "call:send": "standing", "call:send:at_most": "3"},
        mails=[{"to": "ann", "text": "click here"}],
    ),
    "answer a question": Case(
        ASKED,
        {"decision": "approve", "answer:ask:size": '"M"', "answer:ask:count": "2"},
        mails=[{"size": "M", "count": 2}],
    ),
    "pass a gate": Case(GATED, {"decision": "approve"}, mails=[{"to": "ann"}]),
    "refuse a gate": Case(GATED, {"decision": "stop"}, "rejected"),
    "it happened": Case(UNCERTAIN, {"decision": "answer", "happened:0": "true", "result:0": '"sent"'}, faxes=1),
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


@pytest.mark.parametrize("is_here", [True, False], ids=["here", "elsewhere"])
@pytest.mark.parametrize("name", CASES)
def test_a_decision_at_the_desk_has_its_effect(name: str, is_here: bool, tmp_path: Path) -> None:
    case = CASES[name]
    agents = {} if is_here else {"agents": None}
    with served(tmp_path / "runs.db", *case.answers, tools=tools, **agents) as server:
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
