"""Policy: what is denied whatever anybody says, what is for a person, and what an approval covers."""

from collections.abc import Mapping
from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import Policy, PolicyVerdict, ToolRule
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.record.budget import Budget, Price
from planner_executor.graph.record.trust_label import TrustLabel

TOOLS = {
    "read": ToolSpec("read", "", {}, effect="read"),
    "write": ToolSpec("write", "", {"properties": {"path": {}, "text": {}}}, effect="write", idempotent=True),
    "undeclared": ToolSpec("undeclared", "", {}),
}
MODES = ["always", "side_effects", "never"]
WRITE = TOOLS["write"]


def plan(*tools: str, granted: tuple[str, ...] = ()) -> Plan:
    steps = [Step(id=f"s{place}", objective="o", tool=tool) for place, tool in enumerate(tools)]
    return Plan(steps=(*steps, Step(id="model", objective="o", tools=granted)))


def where(policy: Policy, *steps: Step) -> list[tuple[str | None, str]]:
    return [(issue.step, issue.field) for issue in policy.issues(Plan(steps=steps), TOOLS)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("given", [plan("read"), plan(), plan("read", granted=("read",)), Plan(answer="42")])
def test_a_plan_that_only_reads_needs_a_person_only_where_every_plan_does(given: Plan, mode: ApprovalMode) -> None:
    assert ExecutionTerms(TOOLS, mode).needs_person(given) == (mode == "always")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "given", [plan("write"), plan("read", "undeclared"), plan(granted=("read", "write")), plan(granted=("undeclared",))]
)
def test_one_effect_anywhere_needs_a_person(given: Plan, mode: ApprovalMode) -> None:
    assert ExecutionTerms(TOOLS, mode).needs_person(given) == (mode != "never")


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_to_be_reviewed_needs_a_person_in_every_mode(mode: ApprovalMode) -> None:
    policy = Policy(tools={"read": ToolRule("review")})

    assert policy.needs_person(plan("read"), TOOLS, mode) and policy.needs_person(plan(granted=("read",)), TOOLS, mode)


def test_an_effect_that_is_allowed_needs_nobody_where_side_effects_do() -> None:
    policy = Policy(effects={"write": "allow"})

    assert not policy.needs_person(plan("write"), TOOLS, "side_effects")
    assert policy.needs_person(plan("write", "undeclared"), TOOLS, "side_effects")
    assert policy.needs_person(plan("write"), TOOLS, "always")


@pytest.mark.parametrize(
    ("effects", "rule", "verdict"),
    [
        ({}, None, None),
        ({"write": "review"}, None, "review"),
        ({"write": "deny"}, "allow", "allow"),
        ({"write": "allow"}, "deny", "deny"),
        ({"read": "deny"}, None, None),
    ],
)
def test_what_is_said_of_a_tool_stands_above_what_is_said_of_its_effect(
    effects: Any, rule: PolicyVerdict | None, verdict: PolicyVerdict | None
) -> None:
    policy = Policy(effects=effects, tools={"write": ToolRule(rule)} if rule else {})

    assert policy.verdict(WRITE) == verdict


def test_a_denied_tool_is_a_fault_of_every_plan_that_names_it() -> None:
    policy = Policy(tools={"write": ToolRule("deny")})

    call, grant = Step(id="a", objective="o", tool="write"), Step(id="b", objective="o", tools=("read", "write"))
    assert where(policy, call, grant) == [("a", "tool"), ("b", "tool")]
    assert policy.faults(WRITE, {}) == [("tool", "the policy denies write")]


IN_OUT = Policy(tools={"write": ToolRule(args={"path": Constraint(within=("out",))})})


@pytest.mark.parametrize(
    ("args", "is_fault"),
    [
        ({"path": "out/a"}, False), ({"path": "elsewhere"}, True), ({"path": "out/{{s_result}}"}, False),
        ({"path": "{{s_result}}"}, True), ({"path": "{before_result}"}, False), ({"text": "elsewhere"}, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("does", [{"tool": "write"}, {"tools": ("read", "write")}])
def test_a_literal_out_of_bounds_is_a_fault_of_the_plan_and_a_reference_is_one_of_the_call(
    args: dict[str, Any], is_fault: bool, does: dict[str, Any]
) -> None:
    assert bool(where(IN_OUT, Step(id="a", objective="o", args=args, **does))) is is_fault


def test_a_call_is_held_against_the_bounds_with_its_resolved_values() -> None:
    assert [field for field, _ in IN_OUT.faults(WRITE, {"path": "elsewhere"})] == ["args.path"]
    assert IN_OUT.faults(WRITE, {"path": "out/x"}) == [] and IN_OUT.faults(TOOLS["read"], {"path": "elsewhere"}) == []


def test_untrusted_values_are_let_into_the_arguments_that_say_so() -> None:
    policy = Policy(tools={"write": ToolRule(args={"text": Constraint(untrusted_from=("read",))})})

    assert policy.admits("write", "text", ("read",))
    assert not any(
        policy.admits(*given)
        for given in (("write", "path", ("read",)), ("read", "text", ("read",)), ("write", "text", ("read", "other")))
    )


WHOLE = Policy(
    approval="side_effects",
    effects={"external": "review"},
    tools={
        "write": ToolRule("allow", {"path": Constraint(within=("out",), one_of=("out/a", None))}),
        "read": ToolRule(),
    },
    limits=Budget(tool_calls=0, calls={"write": 3}),
    rates={"write": 0.5},
    prices={"m": Price(1.0, 0.0)},
)


def test_a_policy_is_told_as_data_that_makes_it_again() -> None:
    assert policy_from(WHOLE.to_json()) == WHOLE and policy_from(Policy().to_json()) == Policy()


@pytest.mark.parametrize(
    "other",
    [
        {"approval": "never"}, {"effects": {}}, {"effects": {"external": "deny"}}, {"tools": {}},
        {"tools": {"write": ToolRule("allow")}}, {"limits": Budget(tool_calls=1, calls={"write": 3})}, {"rates": {}},
        {"prices": {"m": Price(1.0, 0.1)}},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_changes_in_a_policy_changes_its_digest(other: dict[str, Any]) -> None:
    fields = {name: getattr(WHOLE, name) for name in ("approval", "effects", "tools", "limits", "rates", "prices")}

    assert Policy(**fields).digest == WHOLE.digest != Policy(**{**fields, **other}).digest


def binding_of(given: Plan, tools: Mapping[str, ToolSpec]) -> str:
    return ExecutionTerms(tools).binding(given)


def changed(name: str, **fields: Any) -> dict[str, ToolSpec]:
    return {**TOOLS, name: ToolSpec(name, "", **{"schema": {}, "effect": "read", **fields})}


def test_the_binding_is_the_same_for_the_same_plan_and_tools() -> None:
    assert binding_of(plan("read"), dict(reversed(TOOLS.items()))) == binding_of(plan("read"), TOOLS)


@pytest.mark.parametrize("given", [plan("read", "read"), plan("write"), plan("read", granted=("read",)), Plan()])
def test_another_plan_has_another_binding(given: Plan) -> None:
    assert binding_of(given, TOOLS) != binding_of(plan("read"), TOOLS)


@pytest.mark.parametrize(
    "fields",
    [
        {"effect": "external"}, {"idempotent": True}, {"schema": {"type": "object"}}, {"trusted": True},
        {"free_args": ("q",)}, {"folder": "/out"}, {"place": "server"}, {"declared": False},
    ],
    ids=str,
)  # fmt: skip
def test_a_tool_that_changes_its_face_changes_the_binding(fields: dict[str, Any]) -> None:
    assert binding_of(plan("read"), changed("read", **fields)) != binding_of(plan("read"), TOOLS)


def test_a_granted_tool_counts_as_well() -> None:
    given = plan(granted=("read",))

    assert binding_of(given, changed("read", effect="write")) != binding_of(given, TOOLS)


def test_a_tool_that_the_plan_does_not_name_does_not_count() -> None:
    assert binding_of(plan("read"), changed("write")) == binding_of(plan("read"), TOOLS)


def test_a_tool_that_has_gone_changes_the_binding() -> None:
    assert binding_of(plan("read"), {}) != binding_of(plan("read"), TOOLS)


def test_what_may_be_spent_is_the_lower_of_budget_and_hard_limits() -> None:
    terms = ExecutionTerms(
        TOOLS, policy=Policy(limits=Budget(tool_calls=5, steps=9)), budget=Budget(tool_calls=9, tokens=100)
    )

    assert terms.bounds == Budget(tool_calls=5, steps=9, tokens=100)


FETCH = ToolSpec(
    "fetch",
    "d",
    {
        "type": "object",
        "properties": {
            "url": {"type": "string", "default": "https://evil.com"},
            "depth": {"type": ["integer", "null"], "default": None},
            "to": {"type": "string"},
            "must": {"type": "string"},
        },
        "required": ["must"],
    },
)


def fetching(**args: Constraint) -> Policy:
    return Policy(tools={"fetch": ToolRule(args=args)})


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (fetching(url=Constraint(domains=("example.com",))), 'its default "https://evil.com" is not at'),
        (fetching(depth=Constraint(maximum=3)), "its default null is not at most 3"),
    ],
)
def test_a_constraint_on_an_argument_that_is_left_out_applies_to_its_default(policy: Policy, words: str) -> None:
    ((_, why),) = policy.faults(FETCH, {"must": "x"})
    plan = Plan(steps=(Step(id="a", objective="o", tool="fetch", args={"must": "x"}),))

    assert words in why
    assert [issue.message for issue in policy.issues(plan, {"fetch": FETCH})] == [why]


def test_a_default_that_is_allowed_and_an_argument_that_may_be_left_out_are_no_faults() -> None:
    fine = fetching(
        url=Constraint(domains=("evil.com",)),
        depth=Constraint(maximum=3, optional=True),
        must=Constraint(one_of=("y",)),
        to=Constraint(within=("out",)),
    )

    assert fine.faults(FETCH, {}) == []
    assert fine.faults(FETCH, {"depth": 4})


def test_what_a_reference_or_a_model_fills_in_later_is_not_left_out() -> None:
    policy = fetching(url=Constraint(domains=("example.com",)))
    named = Step(id="a", objective="o", tool="fetch", args={"must": "x", "url": "{b_result}"}, depends_on=("b",))
    by_model = Step(id="c", objective="o", tools=("fetch",))

    assert policy.issues(Plan(steps=(named, by_model)), {"fetch": FETCH}) == []
    assert policy.faults(FETCH, {"must": "x"})  # which the model is told when it leaves it out


def test_of_a_rule_without_bounds_only_its_verdict_is_told() -> None:
    assert ToolRule("deny").to_json() == {"verdict": "deny"} and ToolRule().to_json() == {}


def test_a_literal_binds_those_tools_of_a_model_step_that_take_it_and_every_tool_of_its_own_step() -> None:
    policy = Policy(tools={"write": ToolRule(args={"to": Constraint(one_of=("ann",))})})
    args = {"to": "bob"}

    assert where(policy, Step(id="a", objective="o", tools=("write",), args=args)) == []
    assert where(policy, Step(id="a", objective="o", tool="write", args=args)) == [("a", "args.to")]


@pytest.mark.parametrize(
    ("tool", "verdict", "is_watched"),
    [
        ("read", None, False), ("read", "review", True), ("read", "allow", False),
        ("write", None, True), ("write", "review", True), ("write", "allow", False),
    ],
)  # fmt: skip
def test_a_person_watches_over_effects_that_are_not_allowed_and_all_that_is_to_be_reviewed(
    tool: str, verdict: PolicyVerdict | None, is_watched: bool
) -> None:
    assert Policy(tools={tool: ToolRule(verdict)}).watches(TOOLS[tool]) is is_watched


UNTRUSTED, TRUSTED = TrustLabel("untrusted", ("read",)), TrustLabel("trusted", ("read",))


def test_a_person_sees_the_untrusted_arguments_of_a_call_with_an_effect() -> None:
    labels = {"path": UNTRUSTED, "text": TRUSTED}

    assert Policy().arguments_to_review(WRITE, labels) == {"path": UNTRUSTED}
    assert Policy().arguments_to_review(TOOLS["read"], labels) == {}


def test_an_argument_that_is_free_or_lets_its_sources_in_is_not_for_a_person() -> None:
    free = ToolSpec("write", "", {}, effect="write", free_args=("text",))
    policy = Policy(tools={"write": ToolRule(args={"path": Constraint(untrusted_from=("read",))})})

    assert Policy().arguments_to_review(free, {"path": UNTRUSTED, "text": UNTRUSTED}) == {"path": UNTRUSTED}
    assert policy.arguments_to_review(WRITE, {"path": UNTRUSTED, "text": UNTRUSTED}) == {"text": UNTRUSTED}


ABOVE_100 = {"amount": Constraint(above=100)}
TO_ANN = {"to": Constraint(one_of=("ann",))}
PAY = ToolSpec("pay", "", {"properties": {"amount": {"default": 500}, "to": {}}}, "external")


@pytest.mark.parametrize(
    ("policy", "args", "why"),
    [
        (Policy(), {"amount": 500}, None),
        (Policy(tools={"pay": ToolRule("ask")}), {}, "the policy asks about every call of pay"),
        (Policy(effects={"external": "ask"}), {}, "the policy asks about every call of pay"),
        (Policy(effects={"external": "ask"}, tools={"pay": ToolRule("review")}), {"amount": 500}, None),
        (
            Policy(tools={"pay": ToolRule(ask_when=ABOVE_100)}),
            {"amount": 101},
            "the policy asks if amount is above 100",
        ),
        (Policy(tools={"pay": ToolRule(ask_when=ABOVE_100)}), {"amount": 100}, None),
        (Policy(tools={"pay": ToolRule(ask_when=ABOVE_100)}), {}, "the policy asks if amount is above 100"),
        (Policy(tools={"mail": ToolRule(ask_when=ABOVE_100)}), {"amount": 101}, None),
        (Policy(ask_when={"external": ABOVE_100}), {"amount": 101}, "the policy asks if amount is above 100"),
        (Policy(ask_when={"write": ABOVE_100}), {"amount": 101}, None),
        (
            Policy(ask_when={"external": ABOVE_100}, tools={"pay": ToolRule(ask_when=TO_ANN)}),
            {"amount": 101, "to": "ann"},
            "the policy asks if to is one of ann",
        ),
        (Policy(ask_when={"external": ABOVE_100}, tools={"pay": ToolRule(ask_when=TO_ANN)}), {"amount": 101}, None),
        (Policy(ask_when={"external": ABOVE_100}, tools={"pay": ToolRule("allow")}), {"amount": 101}, None),
        (
            Policy(ask_when={"external": ABOVE_100}, tools={"pay": ToolRule(args=TO_ANN)}),
            {"amount": 101},
            "the policy asks if amount is above 100",
        ),
    ],
)
def test_a_call_is_asked_about_by_the_verdict_or_by_the_conditions_of_its_tool_or_else_of_its_effect(
    policy: Policy, args: Any, why: str | None
) -> None:
    assert policy.asks(PAY, args) == why


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"effects": {"external": {"verdict": "review", "ask_when": {"amount": {"above": 100}}}, "write": "deny"}},
        {"effects": {"external": {"ask_when": {"amount": {"above": 100}}}}},
        {"limits": {"steps": 3, "per_day": {"tool_calls": 5}}},
        {"limits": {"per_day": {"tool_calls": 5}}},
        {"limits": {"steps": 3}},
        {"standing": {"longest": "1w"}},
        {"new_effects": "deny", "preview_changed": "go"},
    ],
)
def test_a_policy_as_data_is_what_it_was_read_from(raw: dict[str, Any]) -> None:
    assert policy_from(raw).to_json() == raw


MAIL = ToolSpec("mail", "", {"properties": {"to": {}, "cc": {"default": None}}}, effect="external")


def test_a_refusal_of_null_names_the_entry_that_lets_an_argument_be_left_out() -> None:
    policy = Policy(
        tools={"mail": ToolRule(args={"cc": Constraint(one_of=("ann",)), "to": Constraint(one_of=("ann",))})}
    )

    for args in ({"to": "ann", "cc": None}, {"to": "ann"}, {"to": None, "cc": "ann"}):
        ((_, why),) = policy.faults(MAIL, args)
        assert "is not one of ann; `optional = true`" in why
    assert "optional" not in str(policy.faults(MAIL, {"to": "bob", "cc": "bob"}))


def test_null_that_means_left_out_is_allowed_where_the_argument_may_be_left_out() -> None:
    rule = Constraint(one_of=("ann",), optional=True)
    policy = Policy(tools={"mail": ToolRule(args={"cc": rule, "to": rule})})

    assert policy.faults(MAIL, {"to": "ann", "cc": None}) == []
    ((_, why),) = policy.faults(MAIL, {"to": None, "cc": "ann"})  # its schema has no default, so null says something
    assert "optional" not in why
    to_ann = ToolSpec("mail", "", {"properties": {"cc": {"default": "ann"}}})
    assert policy.faults(to_ann, {"cc": None}) != []
    assert policy.faults(MAIL, {"to": "ann", "cc": "bob"})


@pytest.mark.parametrize(
    ("said", "verdict"), [(None, "review"), ("allow", "review"), ("review", "review"), ("ask", "ask"), ("deny", "deny")]
)
def test_a_tool_whose_calls_need_a_reason_is_reviewed_unless_more_is_said_of_it(said: Any, verdict: str) -> None:
    assert Policy(tools={"write": ToolRule(said, reason=True)}).verdict(WRITE) == verdict
    assert Policy(tools={"write": ToolRule(said)}).verdict(WRITE) == said


def test_what_a_policy_forbids_is_an_issue_by_the_policy() -> None:
    (issue,) = Policy(tools={"write": ToolRule("deny")}).issues(plan("write"), TOOLS)

    assert issue.by_policy
