"""A policy is tried on what a run did: the same plans and calls, under other rules."""

from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.policy_trial import PolicyTrial, Tried
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.testing import drafted

ANY = {"type": "object", "properties": {"to": {}, "eur": {}}}
TOOLS = {
    "find": ToolSpec("find", "finds", ANY, effect="read", trusted=False),
    "pay": ToolSpec("pay", "pays", ANY, effect="external", trusted=True),
}
PLAN = {
    "steps": [
        {"id": "f", "objective": "o", "tool": "find", "args": {"to": "x"}},
        {"id": "p", "objective": "o", "tool": "pay", "args": {"to": "ana", "eur": 400}},
        {"id": "q", "objective": "o", "tool": "pay", "args": {"to": "{f_result}"}},
        {"id": "m", "objective": "o", "tools": ["pay"]},
    ]
}


def call(step: str, **args: Any) -> Draft:
    tool = "find" if step == "f" else "pay"
    return drafted("call_started", {"key": f"k{step}", "tool": tool, "args": args}, step)


def events(*drafts: Draft) -> Any:
    label = {"trust": "untrusted", "sources": ["find"]}
    done = drafted("step_finished", {"result": {}, "status": "succeeded", "label": label}, "f")
    begun = [drafted("run_started"), drafted("plan_revised", {"plan": PLAN}), drafted("decided")]
    return [Event(place, one.kind, one.step, 0.0, one.payload) for place, one in enumerate([*begun, done, *drafts], 1)]


def tried(policy: dict[str, Any], *drafts: Draft, was: Any = None, args: Any = None) -> list[Tried]:
    happened = events(*drafts)
    whole = {event.seq: event.payload.get("args") for event in happened}
    before, after = (
        ExecutionTerms(TOOLS, raw.get("approval", "always"), policy_from(raw, "p")) for raw in (was or {}, policy)
    )
    return list(PolicyTrial(project(happened), before, after, whole if args is None else args).of(happened))


def test_the_same_policy_changes_nothing() -> None:
    found = tried({}, call("f", to="x"), call("p", to="ana", eur=400))

    assert [(one.what, one.was, one.would) for one in found] == [
        ("the plan", "asked", "asked"),
        ("find", "let through", "let through"),
        ("pay", "let through", "let through"),
    ]


@pytest.mark.parametrize(
    ("policy", "would", "why"),
    [
        ({"tools": {"pay": {"verdict": "deny"}}}, "denied", "the policy denies pay"),
        ({"tools": {"pay": {"args": {"eur": {"maximum": 100}}}}}, "denied", "the policy forbids"),
        ({"tools": {"pay": {"verdict": "ask"}}}, "asked", "asks about every call"),
        ({"tools": {"pay": {"ask_when": {"eur": {"above": 100}}}}}, "asked", "the policy asks if"),
    ],
)
def test_a_call_would_be_asked_about_or_denied(policy: dict[str, Any], would: str, why: str) -> None:
    found = tried(policy, call("p", to="ana", eur=400))[-1]

    assert (found.was, found.would, found.step) == ("let through", would, "p") and why in found.why


def test_a_plan_that_was_shown_would_pass_or_be_denied() -> None:
    assert tried({"approval": "never"})[0].would == "let through"
    assert tried({"tools": {"pay": {"verdict": "deny"}}})[0].would == "denied"


def test_a_held_call_would_be_let_through_by_a_policy_that_takes_its_source() -> None:
    label = {"to": {"trust": "untrusted", "sources": ["find"]}}
    held = drafted("step_held", {"key": "kq", "tool": "pay", "args": {"to": "eve"}, "labels": label}, "q")
    takes = {"tools": {"pay": {"args": {"to": {"untrusted_from": ["find"]}}}}}

    assert [one.would for one in tried({}, held, call("q", to="eve"))[1:]] == ["asked"]
    assert [one.would for one in tried({}, call("q", to="eve"))[1:]] == ["asked"]
    assert [one.would for one in tried(takes, held, call("q", to="eve"))[1:]] == ["let through"]
    assert [one.was for one in tried(takes, held)[1:]] == ["asked"]


def test_what_is_not_on_record_is_unknown() -> None:
    def why(*drafts: Draft, **more: Any) -> str:
        found = tried({}, *drafts, **more)[-1]
        assert found.would == "unknown"
        return found.why

    assert "kept no more" in why(call("p", to="ana"), args={})
    assert "redacted" in why(call("p", to="[redacted]"))
    assert "what gone was" in why(drafted("call_started", {"key": "k", "tool": "gone"}, "p"))
    takes = {"tools": {"pay": {"args": {"to": {"untrusted_from": ["find"]}}}}}
    assert "whether to came from untrusted data" in why(call("m", to="ana"), was=takes)
    assert tried({}, call("m", to="ana"))[-1].would == "let through"


@pytest.mark.parametrize(("maximum", "was"), [(100, ["denied"]), (900, [])])
def test_what_a_refusal_says_does_not_make_it_one_by_the_policy(maximum: int, was: list[str]) -> None:
    words = "args.to: 'the policy denies pay' is no account"
    refused = drafted("call_refused", {"tool": "pay", "args": {"to": "eve", "eur": 400}, "why": words}, "m")
    bounds = {"tools": {"pay": {"args": {"eur": {"maximum": maximum}}}}}

    assert [one.was for one in tried({}, refused, was=bounds)[1:]] == was


@pytest.mark.parametrize(("denied", "was"), [(True, ["denied"]), (None, ["unknown"]), (False, [])])
def test_a_refused_plan_was_denied_if_its_event_says_so_whatever_its_words(denied: bool | None, was: list[str]) -> None:
    issue = {"step": "p", "field": "tool", "message": "the policy denies pay"}
    refused = drafted("plan_refused", {"author": "planner", "issues": [issue], "denied": denied})

    assert [(one.was, one.would) for one in tried({}, refused)[1:]] == [(each, "unknown") for each in was]


@pytest.mark.parametrize(
    ("policy", "what", "would", "why"),
    [
        ({"limits": {"tool_calls": 1}}, "the run", "denied", "beyond 1 tool call in a run"),
        ({"limits": {"tool_calls": 2}}, "pay", "let through", ""),
        ({"limits": {"per_day": {"calls": {"pay": 5}}}}, "the run", "unknown", "at most 5 calls of pay a day"),
        ({"limits": {"per_day": {"calls": {"mail": 5}}}}, "pay", "let through", ""),
        ({"rates": {"pay": "5/second"}}, "the run", "unknown", "calls of pay a second"),
        ({"approvers": {"roles": ["staff"]}}, "who decides about the plan", "unknown", "staff"),
    ],
)
def test_limits_are_tried_on_a_run_and_what_its_record_cannot_tell_is_unknown(
    policy: dict[str, Any], what: str, would: str, why: str
) -> None:
    found = tried(policy, call("f", to="x"), call("p", to="ana"))

    assert (what, would) in [(one.what, one.would) for one in found if why in one.why]
    assert sum(one.differs for one in found) == (would != "let through")
    assert not any(one.differs for one in tried(policy, call("f", to="x"), call("p", to="ana"), was=policy)) or (
        would == "denied"
    )


EARLIER = {"key": "c", "run": "t.1", "step": "p", "seq": 7}
GIVEN = {"what": "answer", "by": ["os:somebody"], "step": "f", "value": "150"}
REDACTED = drafted("plan_revised", {"plan": {**PLAN, "answer": "[redacted]"}})
STARTED, REVISED, APPROVED = drafted("run_started"), drafted("plan_revised", {"plan": PLAN}), drafted("decided")
BY_RULE = drafted("decided", {"by": "policy"})
SHOWN: dict[str, Any] = {"approval": "always"}
FREE: dict[str, Any] = {"approval": "never"}


def whole(policy: dict[str, Any], *drafts: Draft, was: Any = None) -> list[tuple[str, str, str]]:
    """What is found of a run of these events alone: of what, what was and what would be."""
    happened = [Event(place, one.kind, one.step, 0.0, one.payload) for place, one in enumerate(drafts, 1)]
    before, after = (
        ExecutionTerms(TOOLS, raw.get("approval", "always"), policy_from(raw, "p")) for raw in (was or {}, policy)
    )
    args = {event.seq: event.payload.get("args") for event in happened}
    return [(one.what, one.was, one.would) for one in PolicyTrial(project(happened), before, after, args).of(happened)]


@pytest.mark.parametrize(
    ("policy", "drafts", "found"),
    [
        (SHOWN, (APPROVED,), []),
        (SHOWN, (REVISED, drafted("decided", {"decision": "feedback"}), APPROVED, APPROVED), [("asked", "asked")]),
        (SHOWN, (REVISED, BY_RULE), [("let through", "asked")]),
        (SHOWN, (REVISED, drafted("decided", {"decision": "feedback"}), BY_RULE), [("let through", "asked")]),
        (SHOWN, (REVISED, APPROVED, REVISED, BY_RULE), [("asked", "asked"), ("let through", "let through")]),
        (FREE, (REVISED, APPROVED, REVISED, APPROVED), [("asked", "let through"), ("asked", "asked")]),
        (FREE, (REVISED, BY_RULE, REVISED, BY_RULE), [("let through", "let through")] * 2),
        (SHOWN, (drafted("plan_revised", {"plan": {"steps": [{"id": "1"}]}}), APPROVED), [("asked", "unknown")]),
        (SHOWN, (REDACTED, APPROVED), [("asked", "unknown")]),
    ],
)  # fmt: skip
def test_a_plan_is_tried_once_it_comes_into_force(policy: Any, drafts: Any, found: list[tuple[str, str]]) -> None:
    assert whole(policy, STARTED, *drafts) == [("the plan", *each) for each in found]


@pytest.mark.parametrize(
    ("approval", "whys"),
    [("always", ["it is shown before it runs"] * 2), ("never", ["", "it widened what was approved"])],
)
def test_why_a_revision_would_be_shown_is_told(approval: str, whys: list[str]) -> None:
    found = tried({"approval": approval}, REVISED, APPROVED)

    assert [one.why for one in found if one.what == "the plan"] == whys


def test_others_would_decide_only_about_a_plan_that_would_be_shown() -> None:
    staff = {"approvers": {"roles": ["staff"]}}

    assert len(whole({**staff, **SHOWN}, STARTED, REVISED, APPROVED)) == 2
    assert len(whole({**staff, **FREE}, STARTED, REVISED, APPROVED)) == 1
    assert len(whole({**staff, **SHOWN}, STARTED, REVISED, BY_RULE)) == 1
    assert tried({}, was=staff)[1].why == "by other rules, anybody has to approve"


def test_a_call_was_asked_about_if_it_was_held_or_settled_with_the_plan_and_is_tried_once() -> None:
    settled = drafted("decided", {"with_plan": [{"key": "kp", "place": "p", "tool": "pay"}]})
    held = drafted("step_held", {"key": "kp", "tool": "pay", "args": {}, "labels": {}}, "p")
    once = call("p", to="ana")

    assert whole({}, STARTED, REVISED, settled, once)[1:] == [("pay", "asked", "let through")]
    assert whole({}, STARTED, REVISED, APPROVED, held, once, once)[1:] == [("pay", "asked", "let through")]
    assert whole({}, STARTED, REVISED, APPROVED, once, once)[1:] == [("pay", "let through", "let through")]
    stepless = drafted("call_started", {"key": "k", "tool": "pay", "args": {}})
    assert whole({}, STARTED, REVISED, APPROVED, stepless)[1:] == []


@pytest.mark.parametrize("why", [{"before": [EARLIER]}, {"values": [GIVEN]}])
def test_a_call_that_rests_on_what_happened_or_was_given_would_be_asked_about(why: dict[str, Any]) -> None:
    held = drafted("step_held", {"key": "kp", "tool": "pay", "args": {}, "labels": {}, **why}, "p")

    assert whole(FREE, STARTED, REVISED, APPROVED, held, call("p", to="ana"))[1:] == [("pay", "asked", "asked")]


def test_the_labels_of_a_held_call_are_those_that_it_was_held_with() -> None:
    held = drafted("step_held", {"key": "kq", "tool": "pay", "args": {}, "labels": {}}, "q")

    assert tried({}, held, call("q", to="eve"))[-1].would == "let through"


@pytest.mark.parametrize(("tool", "args"), [("pay", None), ("gone", {"to": "ana"}), ("pay", {"to": "[redacted]"})])
def test_a_refusal_of_which_too_little_is_known_is_unknown(tool: str, args: Any) -> None:
    refused = drafted("call_refused", {"tool": tool, "why": "no", "args": args or {}}, "m")

    assert [one.was for one in tried({}, refused, args={} if args is None else None)[1:]] == ["unknown"]


def test_caps_on_what_is_no_tool_count_in_any_case_and_those_on_tools_if_they_were_called() -> None:
    def caps(policy: dict[str, Any]) -> list[str]:
        return [one.why for one in tried(policy, call("f", to="x")) if one.what == "the run"]

    assert caps({"rates": {"model": "5/second"}}) != [] and caps({"rates": {"pay": "5/second"}}) == []
    assert caps({"limits": {"per_day": {"tool_calls": 5}}}) != []


def test_a_call_of_a_model_is_unknown_unless_one_of_the_policies_tells() -> None:
    takes = {"tools": {"pay": {"args": {"to": {"untrusted_from": ["find"]}}}}}

    assert tried(takes, call("m", to="ana"), was=takes)[-1].would == "let through"
    assert tried({}, call("m", to="ana"), was=FREE)[-1].would == "unknown"
    assert tried({}, call("zzz", to="ana"))[-1].would == "let through"


def test_calls_of_a_plan_that_is_not_known_are_tried_by_their_arguments() -> None:
    lost = drafted("plan_revised", {"plan": {"steps": [{"id": "1"}]}})
    gone = {"steps": [*PLAN["steps"], {"id": "g", "objective": "o", "tools": ["gone"]}]}

    assert whole({}, STARTED, lost, APPROVED, call("p", to="ana"))[1:] == [("pay", "let through", "let through")]
    other = drafted("plan_revised", {"plan": gone})
    assert whole({}, STARTED, other, APPROVED, call("m", to="ana"))[1:] == [("pay", "let through", "let through")]
