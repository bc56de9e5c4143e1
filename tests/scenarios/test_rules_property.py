"""Whatever is asked, and however it is answered: no payment is made whose rule on people nobody on record met.

The oracle reads the events alone. It knows nothing of the rules that a decision says it met.
"""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor import Agent, Person
from planner_executor.graph.errors import AgentError
from planner_executor.graph.runs import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

ADA, BOB, CY = (Person(f"{name}@x", ["finance"], proof=True) for name in ("ada", "bob", "cy"))
EVE, FAKE = Person("eve@x", ["guest"], proof=True), Person("ada@x", ["finance"])
PEOPLE = [ADA, BOB, CY, EVE, FAKE, None]
FINANCE = {f"server:{person.name}" for person in (ADA, BOB, CY)}


@dataclass(frozen=True)
class Rule:
    """A rule on `pay` as the policy has it, and as the oracle reads it."""

    policy: Mapping[str, Any]
    people: frozenset[str] = frozenset(FINANCE)
    quorum: int = 1
    four_eyes: bool = False

    def is_met(self, voters: Iterable[str], askers: Iterable[str]) -> bool:
        count = {*voters} & self.people - ({*askers} if self.four_eyes else set())
        unknown = self.four_eyes and not all(asker.startswith(("server:", "os:")) for asker in askers)
        return len(count) >= max(self.quorum, 2 if unknown else 1)


RULES = {
    "names": Rule({"names": ["ada@x"]}, frozenset({"server:ada@x"})),
    "roles": Rule({"roles": ["finance"]}),
    "quorum": Rule({"roles": ["finance"], "quorum": 2}, quorum=2),
    "four eyes": Rule({"roles": ["finance"], "four_eyes": True}, four_eyes=True),
}
LOOK, PAY = step("a", "look", at="x"), step("p", "pay", to="ann", amount=9)
PLANS = {
    "harmless": {"steps": [LOOK]},
    "a payment": {"steps": [PAY]},
    "a payment of what was read": {"steps": [LOOK, {**PAY, "args": {"to": "ann", "amount": "{a_result}"}}]},
    "a question": {
        "steps": [
            LOOK,
            {"id": "q", "objective": "o", "ask": "How much?", "depends_on": ["a"]},
            {**PAY, "args": {"to": "ann", "amount": "{q_result}"}},
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


@dataclass
class Oracle:
    """Who asked for payments and who approved them, event by event."""

    rule: Rule
    askers: list[str] = field(default_factory=list)
    givers: dict[str, tuple[set[str], int]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    approval: tuple[set[str], int, list[str]] = (set(), 0, [])
    seen: dict[str, set[str]] = field(default_factory=dict)

    def read(self, events: Iterable[Any]) -> None:
        for event in events:
            self._apply(event.seq, event.kind, event.step, event.payload)

    def _apply(self, seq: int, kind: str, at: str | None, said: Mapping[str, Any]) -> None:
        match kind:
            case "run_started":
                self.askers.append(said["started_by"])
            case "steered":
                self.askers.append(said["approver"])
            case "result_supplied":
                self.givers[f"result {at}"] = ({said["approver"]}, seq)
            case "decided" if said["by"] == "person":
                self._decided(seq, said)
            case "call_started" if said["tool"] == "pay":
                self._paid(said["key"], said.get("replaces") or said["key"])

    def _decided(self, seq: int, said: Mapping[str, Any]) -> None:
        voters = {*said.get("voters", ()), said["approver"]}
        if said["decision"] == "propose":
            self.askers.append(said["approver"])
            return
        if said["decision"] == "approve":
            self.approval = voters, seq, list(self.askers)
        self.seen |= dict.fromkeys(said["steps"], voters)
        values = [*said["given"], *said.get("replaced", ()), *(["limit"] if said["budget"] else [])]
        self.givers |= dict.fromkeys(values, (voters, seq))

    def _paid(self, key: str, name: str) -> None:
        """Check that this payment, or the plan and each value given after it, was approved by those who may."""
        for shown in {key, name} & self.seen.keys():
            assert self.rule.is_met(self.seen[shown], self.askers), "a call was approved by the wrong people"
            return
        voters, since, asked = self.approval
        assert self.rule.is_met(voters, asked), "a plan was approved by the wrong people"
        for value, (givers, seq) in self.givers.items():
            assert seq <= since or self.rule.is_met(givers, asked), f"{value} was given by the wrong people"


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
        return edit(budget={"tool_calls": (args["budget"].get("tool_calls") or 0) + 2})
    if name == "settle_effect":
        return edit(happened=how == "edit", result=40)
    if how == "edit" and name == "run_plan":
        return edit(plan=PLANS["a payment"])
    if how == "edit" and "args" in args and args["tool"] != "gate":
        return edit(args={**args["args"], "to": "eve"})
    return {"type": "approve"}


def moved(agent: Agent, run: Run, by: Person | None, how: str) -> Run:
    """Do one thing to a run; what a person may not do, or cannot, changes nothing."""
    try:
        if how == "supply":
            agent.supply(run.id, "a", 4000, by=by)
            return agent.resume(run.id)
        if how == "steer":
            return agent.steer(run.id, feedback="pay bob", by=by)
        if run.request is None:
            return run
        made = [decision(action, how) for action in run.request["action_requests"]]
        return agent.resume(run.id, {"decisions": made}, by=by)
    except AgentError:
        return agent.show(run.id)


MOVES = ["approve", "approve", "approve", "edit", "words", "supply", "steer"]


@settings(max_examples=30, deadline=None)
@given(
    rule=st.sampled_from(sorted(RULES)),
    plan=st.sampled_from(sorted(PLANS)),
    is_looked_at=st.booleans(),
    calls=st.sampled_from([1, 9]),
    starter=st.sampled_from(PEOPLE),
    moves=st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(MOVES)), min_size=3, max_size=8),
)
def test_no_payment_is_made_whose_rule_was_not_met(
    rule: str, plan: str, is_looked_at: bool, calls: int, starter: Any, moves: list[tuple[Any, str]]
) -> None:
    tools, planned = LoggedTools(), [PLANS["a payment"], PLANS["a question"]] * 6
    own = [tools.tool("pay", effect="external", trusted=True)]
    own.append(tools.tool("look", lambda **_: 40, effect="read", trusted=True))
    policy: dict[str, Any] = {"approvers": {"tools": {"pay": RULES[rule].policy}}}
    policy |= {"tools": {"look": {"verdict": "ask"}}} if is_looked_at else {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Agent.open(
            Path(folder) / "runs.db",
            planner=ScriptedModel(planned),
            tools=own,
            policy=policy,
            budget={"tool_calls": calls},
            identity=lambda by: by if by is not None and by.proof else None,
        ) as agent,
    ):
        run = agent.start("g", plan=PLANS[plan], by=starter)
        for by, how in moves:
            run = moved(agent, run, by, how)
        Oracle(RULES[rule]).read(agent.log(run.id))
