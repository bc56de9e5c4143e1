"""Whatever is asked, and however it is answered: no payment is made whose rule on people nobody on record met."""

import getpass
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from people_oracle import Oracle, Rule, Rules

from planner_executor import AsyncAgent, Person
from planner_executor.graph.desk.decisions import response_in
from planner_executor.graph.desk.records import Records
from planner_executor.graph.errors import AgentError
from planner_executor.graph.record.person import NOBODY, Approver
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.review.response import build_response, call_names
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.stored_responses import store_response
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

OS = f"os:{getpass.getuser()}"


@dataclass(frozen=True)
class Caller:
    """One who acts: in Python as the person, None for the user of the system; at another process as the approver."""

    person: Person | None
    approver: Approver

    @classmethod
    def known(cls, name: str, *roles: str) -> "Caller":
        person = Person(f"{name}@x", roles, proof=True)
        return cls(person, Approver.of(person, "server"))


CLAIMED = Person("ada@x", ["finance", "lead"])
CALLERS = {
    "ada": Caller.known("ada", "finance"),
    "bob": Caller.known("bob", "finance", "lead"),
    "cy": Caller.known("cy", "finance"),
    "eve": Caller.known("eve", "guest"),
    "claimed": Caller(CLAIMED, Approver.of(CLAIMED, "claimed")),
    "os": Caller(None, Approver(OS.removeprefix("os:"), "os")),
    "unverified": Caller(CLAIMED, NOBODY),
}
FINANCE, ADA, LEAD = (
    frozenset(map("server:{}@x".format, names)) for names in (("ada", "bob", "cy"), ("ada",), ("bob",))
)
PLANS_RULES = {
    "none": None,
    "names": Rule({"names": ["ada@x"]}, ADA),
    "this machine": Rule({"names": [OS]}, frozenset({OS})),
    "roles": Rule({"roles": ["finance"]}, FINANCE),
    "quorum": Rule({"roles": ["finance"], "quorum": 2}, FINANCE, quorum=2),
    "four eyes": Rule({"roles": ["finance"], "four_eyes": True}, FINANCE, four_eyes=True),
    "both": Rule({"roles": ["finance"], "four_eyes": True, "quorum": 2}, FINANCE, quorum=2, four_eyes=True),
}
CALLS_RULES = {
    "none": None,
    "a guest": Rule({"roles": ["guest"]}, frozenset({"server:eve@x"})),
    "quorum": Rule({"roles": ["finance"], "quorum": 2}, FINANCE, quorum=2),
    "four eyes": Rule({"names": ["ada@x", "bob@x"], "four_eyes": True}, ADA | LEAD, four_eyes=True),
}
COST_RULES = {"none": None, "lead": Rule({"roles": ["lead"]}, LEAD)}
LOOK, PAY = step("a", "look", at="x"), step("p", "pay", to="ann", amount=9)
AGAIN = step("r", "pay", to="ann", amount=9, after=["p"])
PLANS = {
    "harmless": {"steps": [LOOK]},
    "a payment": {"steps": [PAY]},
    "two payments": {"steps": [PAY, AGAIN]},
    "a payment of what was read": {"steps": [LOOK, {**PAY, "args": {"to": "ann", "amount": "{a_result}"}}]},
    "a question": {
        "steps": [
            LOOK,
            {"id": "q", "objective": "o", "ask": "How much?", "depends_on": ["a"]},
            {**PAY, "args": {"to": "ann", "amount": "{q_result}"}},
            AGAIN,
        ]
    },
    "a gate": {
        "steps": [
            LOOK,
            {"id": "q", "objective": "o", "gate": "Right?", "depends_on": ["a"]},
            {**PAY, "depends_on": ["q"]},
        ]
    },
}
STANDING = {"at_most": 2, "args": {"amount": {"above": 0}}}


def decision(action: Mapping[str, Any], how: str) -> dict[str, Any]:
    """Return an answer to one action; what does not go for it is an approval."""
    name, args = action["name"], action["args"]

    def edit(**changed: Any) -> dict[str, Any]:
        return {"type": "edit", "edited_action": {"name": name, "args": changed}}

    if how in ("words", "stop"):
        return {"type": "reject", "message": "pay bob" if how == "words" else None}
    if name == "answer_question":
        return edit(answer=150)
    if name == "raise_budget":
        return edit(budget={**args["budget"], "tool_calls": (args["budget"].get("tool_calls") or 0) + 2, "cost_usd": 5})
    if name == "settle_effect":
        return edit(happened=how == "edit", result=40)
    if how == "edit" and name == "run_plan":
        return edit(plan=PLANS["a payment"])
    if how == "edit" and "args" in args and args["tool"] != "gate":
        return edit(args={**args["args"], "to": "eve"})
    if how == "later" and name == "run_plan":
        return {"type": "approve", "ask_later": ["p"]}
    return {"type": "approve"} | ({"standing": STANDING} if how == "standing" and args.get("tool") == "pay" else {})


def filled(request: Mapping[str, Any], how: str) -> dict[str, str]:
    """Return the fields of the desk's form that say the same."""
    word = {"words": "feedback", "stop": "stop", "edit": "edit"}.get(how, "approve")
    actions = request["action_requests"]
    fields = {"message": "pay bob", "edit_as": "text", "plan": json.dumps(PLANS["a payment"]), "answer:q:": "150"}
    if word == "edit" and not any(one["name"] == "run_plan" for one in actions):
        word = "approve"
    settled = [one for one in actions if one["name"] == "settle_effect"]
    fields |= {f"happened:{at}": "true" if how == "edit" else "false" for at, _ in enumerate(settled)}
    fields |= {"limit:tool_calls": "20", "limit:cost_usd": "5"}
    for name, action in zip(call_names(actions), actions, strict=True):
        if name is None:
            continue
        args = {**action["args"]["args"], "to": "eve"}
        fields |= {
            f"call:{name}": how if how in ("edit", "standing") else "approve",
            f"call:{name}:args": json.dumps(args),
        }
        fields |= {f"call:{name}:at_most": "2"}
    return {"decision": word, **fields}


async def in_a_form(agent: AsyncAgent, run: Run, by: Caller, how: str) -> Run:
    """Decide as the desk does whose process does not carry the run on: by a form, and a stored response."""
    shown = await Records(agent.runs).show(run.id)
    if shown.run.request is not None:
        response = build_response(
            shown.run.request, response_in(shown, shown.run.request, filled(shown.run.request, how))
        )
        await store_response(agent.runs, RunKey(run.thread, run.n), response, by.approver)
    return await agent.resume(run.id)


async def moved(agent: AsyncAgent, run: Run, by: Caller, how: str, is_form: bool) -> Run:
    """Do one thing to a run; what a person may not do, or cannot, changes nothing."""
    try:
        if how == "supply":
            await agent.supply(run.id, "a", 4000, by=by.person)
            return await agent.resume(run.id)
        if how == "steer":
            return await agent.steer(run.id, feedback="pay bob", by=by.person)
        if is_form or by.approver == NOBODY:
            return await in_a_form(agent, run, by, how)
        if run.request is None:
            return run
        made = [decision(action, how) for action in run.request["action_requests"]]
        return await agent.resume(run.id, {"decisions": made}, by=by.person)
    except AgentError:
        return await agent.show(run.id)


@dataclass(frozen=True)
class Setting:
    """The terms of a run, and what its tools do."""

    rules: Rules
    plan: str
    looked_at: bool
    paid_at_once: bool
    is_untrusted: bool
    is_cut: bool
    calls: int
    cost_usd: float | None

    @property
    def policy(self) -> dict[str, Any]:
        tools = {} if self.paid_at_once else {"pay": {"verdict": "ask"}}
        tools |= {"look": {"verdict": "ask"}} if self.looked_at else {}
        prices = {"scripted": {"input": 0.0, "output": 0.0}}
        return {"approvers": self.rules.policy, "tools": tools, "prices": prices}

    @property
    def budget(self) -> dict[str, Any]:
        return {"tool_calls": self.calls} | ({} if self.cost_usd is None else {"cost_usd": self.cost_usd})

    def tools(self, log: LoggedTools) -> list[Any]:
        def pay(**_: Any) -> int:
            if self.is_cut and len(log.named("pay")) == 1:
                raise ConnectionError("cut off")
            return 1

        look = log.tool("look", lambda **_: 40, effect="read", trusted=not self.is_untrusted)
        return [look, log.tool("pay", pay, effect="external", trusted=True)]


async def oracle_of(setting: Setting, starter: Caller, moves: list[tuple[str, str, bool]], folder: str) -> Oracle:
    """Return what the oracle makes of a run to which this was done."""
    planned = [PLANS["a payment"], PLANS["a question"]] * 6
    async with AsyncAgent.open(
        Path(folder) / "runs.db",
        planner=ScriptedModel(planned),
        tools=setting.tools(LoggedTools()),
        policy=setting.policy,
        budget=setting.budget,
        identity=lambda by: by if by is not None and by.proof else None,
    ) as agent:
        run = await agent.start("g", plan=PLANS[setting.plan], by=starter.person)
        for by, how, is_form in moves:
            run = await moved(agent, run, CALLERS[by], how, is_form)
        oracle = Oracle(setting.rules, setting.cost_usd, are_asked=not setting.paid_at_once)
        oracle.read(await agent.log(run.id))
        return oracle


MOVES = ["approve", "approve", "approve", "later", "edit", "words", "supply", "steer", "standing"]


@settings(max_examples=30, deadline=None)
@given(
    setting=st.builds(
        Setting,
        rules=st.builds(
            Rules,
            *(st.sampled_from(list(rules.values())) for rules in (PLANS_RULES, CALLS_RULES, COST_RULES)),
        ),
        plan=st.sampled_from(sorted(PLANS)),
        looked_at=st.booleans(),
        paid_at_once=st.booleans(),
        is_untrusted=st.booleans(),
        is_cut=st.booleans(),
        calls=st.sampled_from([1, 9]),
        cost_usd=st.sampled_from([None, 1.0]),
    ),
    starter=st.sampled_from(sorted(CALLERS)),
    moves=st.lists(
        st.tuples(st.sampled_from(sorted(CALLERS)), st.sampled_from(MOVES), st.booleans()), min_size=3, max_size=8
    ),
)
async def test_no_payment_is_made_whose_rule_was_not_met(
    setting: Setting, starter: str, moves: list[tuple[str, str, bool]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        await oracle_of(setting, CALLERS[starter], moves, folder)
