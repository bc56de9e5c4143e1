"""The scope gate: what an approval covers of another plan, and when a person is asked again."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.params import Param
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.policy.scope import (
    in_force,
    needs_person,
    rebind,
    repeats,
    uncovered_steps,
    within_approved,
)
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.calls import Calls
from planner_executor.graph.record.events import PlanRevised
from planner_executor.graph.record.plan_state import NewEffect, PlanState
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.review_state import Approval, ReviewState
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps

TOOLS = {
    "look": ToolSpec("look", "", {}, effect="read"),
    "read": ToolSpec("read", "", {}, effect="read"),
    "get": ToolSpec("get", "", {}, effect="external", idempotent=True),
    "save": ToolSpec("save", "", {}, effect="write", idempotent=True),
}


def step(name: str, tool: str | None = "look", /, after: Sequence[str] = (), **fields: Any) -> Step:
    return Step(id=name, objective=fields.pop("objective", "o"), tool=tool, depends_on=tuple(after), **fields)


def calls(name: str, tool: str, after: Sequence[str] = (), **args: Any) -> Step:
    return step(name, tool, after=after, args=args)


A, B = calls("a", "look", q="x"), calls("b", "look", q="y")
CHECK = calls("check", "read", path="p")
SAVE = calls("save", "save", after=["check"], text="{a_result}", path="out")
THINK = step("think", None, after=["a"], tools=("look",), args={"q": "x"})
PLAN = Plan(steps=(A, B, CHECK, SAVE, THINK))


def but(*changed: Step, without: Sequence[str] = (), plan: Plan = PLAN) -> Plan:
    """Return the plan with some steps replaced or added, and some dropped."""
    replaced = {one.id: one for one in changed}
    left = [replaced.pop(one.id, one) for one in plan.steps if one.id not in without]
    return Plan(steps=(*left, *replaced.values()))


def of(name: str, **fields: Any) -> Step:
    return PLAN.by_id[name].model_copy(update=fields)


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        Plan(steps=tuple(reversed(PLAN.steps))),
        but(without=["b"]),
        but(without=["save", "check"]),
        but(of("a", objective="in other words")),
        but(of("save", objective="in other words")),
        but(A.model_copy(update={"id": "again"}), without=["a", "save", "think"]),
        but(CHECK.model_copy(update={"id": "other"}), of("save", depends_on=("other",)), without=["check"]),
        Plan(steps=PLAN.steps, answer="something else"),
    ],
    ids=[
        "the same", "in another order", "without a read", "without an effect", "a read in other words",
        "an effect in other words", "a read under another name", "a check under another name", "another answer",
    ],
)  # fmt: skip
def test_what_drops_reorders_or_renames_reads_is_within(plan: Plan) -> None:
    assert uncovered_steps(PLAN, plan, TOOLS) == []


@pytest.mark.parametrize(
    ("plan", "ids"),
    [
        (but(calls("c", "look", q="z")), ["c"]),
        (but(calls("c", "save", path="out", text="t")), ["c"]),
        (but(A.model_copy(update={"id": "twice"})), ["twice"]),
        (but(SAVE.model_copy(update={"id": "twice"})), ["twice"]),
        (but(SAVE.model_copy(update={"id": "twice"}), without=["save"]), ["twice"]),
        (but(of("a", args={"q": "other"})), ["a", "save", "think"]),
        (but(of("a", args={"q": ["x"]})), ["a", "save", "think"]),
        (but(of("save", args={"text": "{a_result}", "path": "elsewhere"})), ["save"]),
        (but(of("save", args={"text": "{b_result}", "path": "out"})), ["save"]),
        (but(of("save", args={"text": "{a_result.x}", "path": "out"})), ["save"]),
        (but(of("save", args={"text": "literal", "path": "out"})), ["save"]),
        (but(of("save", args={"text": "{{a_result}}", "path": "out"})), ["save"]),
        (but(of("save", depends_on=())), ["save"]),
        (but(of("save", depends_on=(), args={**SAVE.args, "why": "{check_result}"})), ["save"]),
        (but(of("save", depends_on=("b",)), without=["check"]), ["save"]),
        (but(of("check", args={"path": "another"})), ["check", "save"]),
        (but(of("check", tool="look")), ["check", "save"]),
        (but(of("save", tool="get")), ["save"]),
        (but(of("think", objective="something else")), ["think"]),
        (but(of("think", tools=("look", "save"))), ["think"]),
        (but(of("think", max_calls=2)), ["think"]),
        (but(of("think", args={})), ["think"]),
        (but(of("think", args={"q": "{a_result}"})), ["think"]),
        (but(of("think", output="json")), ["think"]),
        (but(THINK.model_copy(update={"id": "thought"}), without=["think"]), ["thought"]),
    ],
)
def test_whatever_else_a_revision_brings_is_beyond(plan: Plan, ids: list[str]) -> None:
    assert uncovered_steps(PLAN, plan, TOOLS) == ids


def test_names_that_are_swapped_bring_another_result_under_an_approved_name() -> None:
    swapped = but(of("a", args=B.args), of("b", args=A.args))

    assert {"a", "b", "save", "think"} <= set(uncovered_steps(PLAN, swapped, TOOLS))


def test_a_read_under_another_name_cannot_stand_beside_the_one_that_was_approved() -> None:
    twice = Plan(steps=(A, A.model_copy(update={"id": "two"})))

    assert uncovered_steps(twice, Plan(steps=(A, A.model_copy(update={"id": "three"}))), TOOLS) == []
    assert uncovered_steps(twice, Plan(steps=(*twice.steps, A.model_copy(update={"id": "three"}))), TOOLS) == ["three"]


def test_values_that_python_takes_for_equal_are_other_values() -> None:
    plan = Plan(steps=(calls("a", "save", n=1, flag=True),))

    for args in ({"n": True, "flag": True}, {"n": 1, "flag": 1}, {"n": "1", "flag": True}):
        assert uncovered_steps(plan, Plan(steps=(calls("a", "save", **args),)), TOOLS) == ["a"]
    assert uncovered_steps(plan, Plan(steps=(calls("a", "save", n=1.0, flag=True),)), TOOLS) == []


VAGUE = step("work", None, after=["a"], refine=True, tools=("look", "save"))
REFINABLE = Plan(steps=(A, VAGUE, calls("end", "save", text="{work_result}", path="out")))


def refined(*children: Step) -> Plan:
    made = [child.model_copy(update={"parent": child.parent or "work"}) for child in children]
    whole = step("work", None, after=["a", *(child.id for child in made)], gather=[f"{{{c.id}_result}}" for c in made])
    return Plan(steps=(A, *made, whole, REFINABLE.by_id["end"]))


def test_what_an_approved_step_is_refined_to_is_covered_as_far_as_it_reads_with_its_tools() -> None:
    inner = step("work_2", None, refine=True, tools=("look",))

    assert uncovered_steps(REFINABLE, refined(calls("work_1", "look", q="{a_result}"), inner), TOOLS) == []
    assert uncovered_steps(REFINABLE, refined(calls("work_1", "save", text="t")), TOOLS) == ["work_1", "work", "end"]
    assert uncovered_steps(REFINABLE, refined(calls("work_1", "read", path="p")), TOOLS) == ["work_1", "work", "end"]
    assert (
        uncovered_steps(REFINABLE, refined(calls("w", "look", q="x").model_copy(update={"parent": "a"})), TOOLS)[0]
        == "w"
    )


def test_steps_that_are_made_of_each_other_are_made_of_nothing_that_was_approved() -> None:
    circle = [
        calls("x", "look").model_copy(update={"parent": "y"}),
        calls("y", "look").model_copy(update={"parent": "x"}),
    ]

    assert uncovered_steps(REFINABLE, Plan(steps=(*REFINABLE.steps, *circle)), TOOLS) == ["x", "y"]


EACH = step("all", "look", for_each="{a_result}", args={"q": "{item_result}"})
GATHER = step("sum", None, gather={"one": "{a_result}", "two": "{b_result}"})
LISTED = Plan(steps=(A, B, EACH, GATHER))


@pytest.mark.parametrize(
    ("plan", "ids"),
    [
        (LISTED, []),
        (but(EACH.model_copy(update={"id": "every"}), without=["all"], plan=LISTED), []),
        (but(EACH.model_copy(update={"for_each": "{b_result}"}), plan=LISTED), ["all"]),
        (but(EACH.model_copy(update={"max_items": 50}), plan=LISTED), ["all"]),
        (but(EACH.model_copy(update={"tool": "save"}), plan=LISTED), ["all"]),
        (but(GATHER.model_copy(update={"gather": "{b_result}"}), plan=LISTED), ["sum"]),
        (but(step("sum", None, gate="Well?"), plan=LISTED), ["sum"]),
        (but(step("ask", None, ask="Which?"), plan=LISTED), ["ask"]),
        (but(of("a", args=B.args), of("b", args=A.args), plan=LISTED), ["a", "b", "all", "sum"]),
        (but(calls("b", "look", q="x"), without=["a", "all", "sum"], plan=LISTED), []),
        (Plan(steps=(calls("b", "look", q="x"), EACH.model_copy(update={"for_each": "{b_result}"}))), []),
        (Plan(steps=(calls("b", "look", q="x"), GATHER.model_copy(update={"gather": "{b_result}"}))), ["sum"]),
    ],
)
def test_lists_and_what_is_put_together_are_covered_with_the_results_they_are_made_of(
    plan: Plan, ids: list[str]
) -> None:
    assert uncovered_steps(LISTED, plan, TOOLS) == ids


NAMES = ["a", "b", "c", "d"]
STEPS = st.builds(
    lambda name, tool, q, before: Step(
        id=name, objective="o", tool=tool, args={"q": q.replace("B", before)}, depends_on=(before,) if before else ()
    ),
    st.sampled_from(NAMES),
    st.sampled_from(sorted(TOOLS)),
    st.sampled_from(["x", "y", "{B_result}"]),
    st.sampled_from(["", *NAMES]),
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Plans whose steps wait only for steps before them."""
    found: dict[str, Step] = {}
    for one in draw(st.lists(STEPS, max_size=4)):
        text = str(one.args) + str(one.depends_on)
        if one.id not in found and "{_result}" not in text and all(f"{n}" in found for n in one.depends_on):
            found[one.id] = one
    return Plan(steps=tuple(found.values()))


def history_of(plan: Plan, name: str) -> Any:
    """Return all that a step does, with all that it rests on, without the names of steps."""
    one = plan.by_id[name]
    rests = history_of(plan, one.depends_on[0]) if one.depends_on else None
    given = "the result" if "_result}" in str(one.args["q"]) else one.args["q"]
    return (one.tool, given, rests)


@given(plans(), plans())
def test_whatever_is_covered_does_what_was_approved_and_rests_on_what_was_approved(approved: Plan, plan: Plan) -> None:
    covered = {one.id for one in plan.steps} - set(uncovered_steps(approved, plan, TOOLS))

    histories = [history_of(approved, one.id) for one in approved.steps]
    for name in covered:
        assert history_of(plan, name) in histories
        histories.remove(history_of(plan, name))
        if TOOLS[str(plan.by_id[name].tool)].acts:
            assert history_of(approved, name) == history_of(plan, name)


@given(plans(), st.data())
def test_an_effect_that_is_added_or_changed_is_always_beyond(approved: Plan, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(["get", "save"]))
    name = data.draw(st.sampled_from(NAMES))
    plan = but(calls(name, tool, q="something new"), plan=approved)

    assert name in uncovered_steps(approved, plan, TOOLS)


@given(plans(), st.data())
def test_dropping_and_reordering_is_always_within(approved: Plan, data: st.DataObject) -> None:
    kept: list[Step] = []
    for one in approved.steps:  # a plan never keeps a step without those that it waits for
        if data.draw(st.booleans()) and all(before in {k.id for k in kept} for before in one.depends_on):
            kept.append(one)

    assert uncovered_steps(approved, Plan(steps=tuple(data.draw(st.permutations(kept)))), TOOLS) == []


def record_of(plan: Plan | None, terms: ExecutionTerms, by: str = "person", **state: Any) -> RunState:
    if plan is None:
        return RunState()
    approval = Approval(5, plan.digest, terms.binding(plan), by)
    plan_state = PlanState(approved_plan=plan.to_json(), **state)
    return RunState(plan_state=plan_state, review_state=ReviewState(approval))


MODES: list[ApprovalMode] = ["always", "side_effects", "never"]
READS = Plan(steps=(A, B))


@pytest.mark.parametrize("mode", MODES)
def test_a_plan_that_is_approved_under_these_terms_needs_nobody(mode: ApprovalMode) -> None:
    terms = ExecutionTerms(TOOLS, mode)
    record = record_of(PLAN, terms)

    assert in_force(record, PLAN, terms) and within_approved(record, PLAN, terms)
    assert not needs_person(record, PLAN, terms)


EVERY_TOOL = but(calls("c", "get", q="x"))
OTHER_TERMS = {
    "mode": ExecutionTerms(TOOLS, "side_effects"),
    "policy": ExecutionTerms(TOOLS, policy=Policy(rates={"get": 5})),
    "budget": ExecutionTerms(TOOLS, budget=Budget(tool_calls=5)),
    "tool": ExecutionTerms({**TOOLS, "save": ToolSpec("save", "", {}, effect="external", idempotent=True)}),
    "schema": ExecutionTerms(
        {**TOOLS, "save": ToolSpec("save", "", {"type": "object"}, effect="write", idempotent=True)}
    ),
    "trust": ExecutionTerms({**TOOLS, "look": ToolSpec("look", "", {}, effect="read", trusted=True)}),
    "free": ExecutionTerms({**TOOLS, "save": ToolSpec("save", "", {}, "write", idempotent=True, free_args=("path",))}),
    "folder": ExecutionTerms(
        {**TOOLS, "save": ToolSpec("save", "", {}, "write", idempotent=True, folder="/elsewhere")}
    ),
    "declared": ExecutionTerms({**TOOLS, "get": ToolSpec("get", "", {}, "external", idempotent=True, declared=False)}),
    "gone": ExecutionTerms({name: tool for name, tool in TOOLS.items() if name != "read"}),
}


@pytest.mark.parametrize("changed", OTHER_TERMS)
def test_an_approval_under_other_terms_is_none(changed: str) -> None:
    record, terms = record_of(EVERY_TOOL, ExecutionTerms(TOOLS)), OTHER_TERMS[changed]

    assert not in_force(record, EVERY_TOOL, terms) and not within_approved(record, EVERY_TOOL, terms)


def test_what_a_run_was_let_do_without_a_person_is_asked_where_the_mode_is_stricter_now() -> None:
    record = record_of(PLAN, ExecutionTerms(TOOLS, "never"), by="policy")

    assert needs_person(record, PLAN, ExecutionTerms(TOOLS, "always"))
    assert needs_person(record, PLAN, ExecutionTerms(TOOLS, "side_effects"))


@pytest.mark.parametrize(
    ("mode", "plan", "is_asked"),
    [
        ("always", PLAN, True), ("always", READS, True),
        ("side_effects", PLAN, True), ("side_effects", READS, False),
        ("never", PLAN, False), ("never", READS, False),
    ],
)  # fmt: skip
def test_a_first_plan_is_asked_about_as_the_mode_says(mode: ApprovalMode, plan: Plan, is_asked: bool) -> None:
    terms = ExecutionTerms(TOOLS, mode)

    assert needs_person(record_of(None, terms), plan, terms) is is_asked


CHANGED_READ = but(of("b", args={"q": "other"}))
CHANGED_CHECK = but(of("check", args={"path": "other"}))
CHANGED_EFFECT = but(of("save", args={**SAVE.args, "path": "other"}))
MORE_READS = but(calls("c", "look", q="z"))


@pytest.mark.parametrize(
    ("mode", "plan", "is_asked"),
    [
        ("always", but(without=["b"]), False), ("always", CHANGED_READ, True), ("always", CHANGED_EFFECT, True),
        ("side_effects", CHANGED_READ, False), ("side_effects", MORE_READS, False),
        ("side_effects", CHANGED_CHECK, True), ("side_effects", CHANGED_EFFECT, True),
        ("side_effects", but(calls("c", "get", q="z")), True),
        ("side_effects", but(of("b", args={"q": "other"}), without=["save"]), False),
        ("never", CHANGED_EFFECT, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("by", ["person", "policy"])
def test_a_revision_is_asked_about_where_it_widens_what_the_mode_has_shown(
    mode: ApprovalMode, plan: Plan, is_asked: bool, by: str
) -> None:
    terms = ExecutionTerms(TOOLS, mode)

    assert needs_person(record_of(PLAN, terms, by), plan, terms) is is_asked


def test_a_revision_that_adds_a_tool_to_a_plan_with_effects_is_asked_about_even_if_it_only_reads() -> None:
    terms, plan = ExecutionTerms(TOOLS, "side_effects"), Plan(steps=(A, SAVE.model_copy(update={"depends_on": ()})))

    assert needs_person(record_of(plan, terms), but(CHECK, plan=plan), terms)


CRITERIA: dict[str, Any] = {"checks": ({"matches": "ok"}, {"range": [0, 1], "of": "n"}), "success_criteria": "it is ok"}
CRITICAL = but(of("check", **CRITERIA))


@pytest.mark.parametrize(
    "weaker",
    [
        {"checks": ()},
        {"checks": CRITERIA["checks"][:1]},
        {"checks": ({"matches": "."}, CRITERIA["checks"][1])},
        {"checks": (CRITERIA["checks"][0], {"range": [0, True], "of": "n"})},
        {"success_criteria": None},
        {"success_criteria": "it is there"},
    ],
    ids=str,
)
def test_a_criterion_that_goes_or_gives_way_before_a_write_is_for_a_person(weaker: dict[str, Any]) -> None:
    plan, terms = but(of("check", **{**CRITERIA, **weaker})), ExecutionTerms(TOOLS, "side_effects")

    assert uncovered_steps(CRITICAL, plan, TOOLS) == ["check", "save"]
    assert needs_person(record_of(CRITICAL, terms), plan, terms)
    assert not needs_person(record_of(CRITICAL, terms), CRITICAL, terms)


def test_what_a_step_was_refined_to_has_to_meet_the_criteria_of_the_step() -> None:
    approved = but(VAGUE.model_copy(update=CRITERIA), plan=REFINABLE)
    part = refined(calls("work_1", "look", q="x"))
    same = but(part.by_id["work"].model_copy(update=CRITERIA), plan=part)

    assert uncovered_steps(approved, same, TOOLS) == []
    assert uncovered_steps(approved, part, TOOLS) == ["work", "end"]


REVIEWED = Policy(tools={"look": ToolRule("review")})
ALLOWED = Policy(effects={"write": "allow"})


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_is_to_be_reviewed_is_asked_about_in_every_mode_and_so_is_each_change_of_its_calls(
    mode: ApprovalMode,
) -> None:
    terms = ExecutionTerms(TOOLS, mode, REVIEWED)

    assert needs_person(record_of(None, terms), READS, terms)
    assert needs_person(record_of(PLAN, terms), CHANGED_READ, terms)
    assert not needs_person(record_of(PLAN, terms), PLAN, terms)


def test_an_effect_that_is_allowed_needs_nobody_where_side_effects_do_first_or_changed() -> None:
    terms = ExecutionTerms(TOOLS, "side_effects", ALLOWED)

    assert not needs_person(record_of(None, terms), PLAN, terms)
    assert not needs_person(record_of(PLAN, terms), CHANGED_EFFECT, terms)
    assert needs_person(record_of(PLAN, terms), but(calls("c", "get", q="z")), terms)


@pytest.mark.parametrize("mode", ["always", "side_effects"])
@pytest.mark.parametrize("why", [{"stalled": "No progress"}, {"unchanged": "It stays"}, {"is_proposed": True}], ids=str)
def test_a_plan_without_progress_or_the_change_asked_for_or_only_proposed_is_for_a_person_though_it_is_approved(
    mode: ApprovalMode, why: Any
) -> None:
    terms = ExecutionTerms(TOOLS, mode)

    assert needs_person(record_of(PLAN, terms, **why), PLAN, terms)


@pytest.mark.parametrize(
    ("is_wished", "rule", "is_asked"),
    [
        (True, ApproverRule(four_eyes=True), True),
        (True, ApproverRule(roles=("finance",)), False),
        (False, ApproverRule(four_eyes=True), False),
    ],
    ids=["words of one person where it takes two", "words where it takes one", "nobody's words"],
)
def test_what_follows_from_the_words_of_one_person_is_asked_where_it_takes_others_though_it_only_drops_steps(
    is_wished: bool, rule: ApproverRule, is_asked: bool
) -> None:
    terms = ExecutionTerms(TOOLS, "always", Policy(approvers=Approvers(rule)))

    assert needs_person(record_of(PLAN, terms, is_wished=is_wished), READS, terms) == is_asked


def test_an_approved_read_that_is_gone_vouches_for_one_read_and_no_more() -> None:
    again, more = (A.model_copy(update={"id": name}) for name in ("again", "more"))

    assert uncovered_steps(Plan(steps=(A,)), Plan(steps=(again, more)), TOOLS) == ["more"]


def test_an_approval_of_another_digest_is_not_in_force_whatever_it_binds_to() -> None:
    terms = ExecutionTerms(TOOLS)

    assert not in_force(
        RunState(review_state=ReviewState(Approval(5, "another", terms.binding(PLAN), "person"))), PLAN, terms
    )


def test_without_an_approval_or_its_plan_nothing_is_within_it() -> None:
    terms = ExecutionTerms(TOOLS)
    approved = record_of(PLAN, terms)

    assert not within_approved(RunState(review_state=ReviewState(approved.review_state.approval)), PLAN, terms)
    assert not within_approved(
        RunState(plan_state=PlanState(approved_plan=approved.plan_state.approved_plan)), PLAN, terms
    )


def test_an_approval_in_force_needs_no_copy_of_its_plan() -> None:
    terms = ExecutionTerms(TOOLS)

    assert not needs_person(RunState(review_state=record_of(PLAN, terms).review_state), PLAN, terms)


def test_a_revision_that_only_reads_needs_nobody_under_other_terms_either() -> None:
    record = record_of(PLAN, ExecutionTerms(TOOLS, "side_effects", budget=Budget(tool_calls=5)))

    assert not needs_person(record, READS, ExecutionTerms(TOOLS, "side_effects"))


def test_an_approval_binds_to_the_terms_that_a_person_changes_if_it_held_under_those_before() -> None:
    before, after = ExecutionTerms(TOOLS), ExecutionTerms(TOOLS, budget=Budget(tool_calls=5))
    held = record_of(PLAN, before)

    assert rebind(held, before, after) == after.binding(PLAN) != before.binding(PLAN)
    assert rebind(held, after, before) == before.binding(PLAN)
    assert rebind(held, ExecutionTerms(TOOLS, "never"), after) == before.binding(PLAN)
    assert rebind(RunState(review_state=ReviewState(held.review_state.approval)), before, after) is None
    assert rebind(RunState(plan_state=PlanState(approved_plan=held.plan_state.approved_plan)), before, after) is None


@pytest.mark.parametrize("fields", [{"tool": "save"}, {"tools": ("look",)}, {}], ids=["a call", "a model", "a thought"])
def test_in_place_of_an_approved_step_that_was_to_be_refined_nothing_stands_but_what_is_put_together(
    fields: dict[str, Any],
) -> None:
    other = VAGUE.model_copy(update={"refine": False, "tools": (), **fields})

    assert uncovered_steps(REFINABLE, but(other, plan=REFINABLE), TOOLS) == ["work", "end"]


def test_a_part_that_may_call_one_tool_with_an_effect_beside_a_read_is_beyond() -> None:
    assert uncovered_steps(REFINABLE, refined(step("part", None, tools=("look", "save"))), TOOLS) == [
        "part",
        "work",
        "end",
    ]


def test_the_item_of_a_list_is_no_step_of_that_name() -> None:
    read, item = calls("read", "look", q="x"), calls("item", "look", q="x")

    assert uncovered_steps(Plan(steps=(read, A, EACH)), Plan(steps=(item, A, EACH)), TOOLS) == []


def test_a_step_named_like_the_item_of_a_list_is_a_step_to_those_that_are_done_once() -> None:
    read, item = calls("read", "look", q="y"), calls("item", "look", q="y")
    saves, saves_item = (calls("s", "save", text=f"{{{name}_result}}") for name in ("read", "item"))

    assert uncovered_steps(Plan(steps=(read, saves)), Plan(steps=(item, saves_item)), TOOLS) == []


def test_what_is_done_for_each_of_a_list_may_take_other_results_under_other_names() -> None:
    each, other = (EACH.model_copy(update={"args": {"q": f"{{item_result}} {{{name}_result}}"}}) for name in "bc")

    assert (
        uncovered_steps(Plan(steps=(A, B, each)), Plan(steps=(A, B.model_copy(update={"id": "c"}), other)), TOOLS) == []
    )


def call(tool: str = "save", *, result: StepResult | None = None, **fields: Any) -> Call:
    return Call("k", "save", tool, {}, "d", repeatable=False, within=Pass(1), number=0, result=result, **fields)


DOWN, DONE = StepResult("failed", error="down"), StepResult("succeeded", 1)


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (call(result=DOWN), "which may have taken effect although it failed (down)"),
        (call(), f"which may have taken effect although it failed ({call().failure})"),
        (call(result=DONE, unmet="too short"), "which took effect although the step failed (too short)"),
    ],
    ids=["failed", "cut off", "did not do"],
)
def test_a_plan_that_may_make_an_uncertain_call_again_says_so(made: Call, what: str) -> None:
    (sentence,) = repeats(RunState(calls=Calls({"k": made})), PLAN)

    assert sentence == (
        f"save called save, {what}; save may call it again, with "
        "the same arguments only after you have said whether it happened."
    )


@pytest.mark.parametrize(
    "record",
    [
        RunState(calls=Calls({"k": call(result=DONE)})),
        RunState(calls=Calls({"k": call("get", result=DOWN)})),
        RunState(calls=Calls({"k": call(result=DOWN, nothing_happened=True)})),
        RunState(calls=Calls({"k": call(result=DOWN)}), steps=Steps({"save": DONE})),
    ],
    ids=["it did", "another tool", "nothing happened", "its step has succeeded since"],
)
def test_a_plan_that_makes_no_uncertain_call_again_says_nothing_of_it(record: RunState) -> None:
    assert repeats(record, PLAN) == []


def test_a_condition_means_the_same_under_other_names_of_what_it_reads() -> None:
    def when(name: str) -> dict[str, Any]:
        return {"of": f"{{{name}_result}}", "condition": "@ > `1`"}

    approved = Plan(steps=(A, step("c", "look", after=["a"], when=when("a"))))
    again = A.model_copy(update={"id": "again"})

    assert (
        uncovered_steps(approved, Plan(steps=(again, step("c", "look", after=["again"], when=when("again")))), TOOLS)
        == []
    )
    other = Plan(steps=(A, B, step("c", "look", after=["a"], when=when("b"))))
    assert uncovered_steps(approved, other, TOOLS) != []


def test_a_plan_that_somebody_put_into_the_state_is_asked_about_if_rules_say_who_decides() -> None:
    edited = {
        "revised": PlanRevised(revision=2, plan=READS.to_json(), digest=READS.digest, author="state"),
        "revision": 2,
    }
    ruled = ExecutionTerms(TOOLS, "never", Policy(approvers=Approvers(ApproverRule(roles=("lead",)))))

    for terms, is_asked in ((ruled, True), (ExecutionTerms(TOOLS, "never"), False)):
        assert needs_person(record_of(PLAN, terms, by="policy", **edited), READS, terms) is is_asked


def test_a_step_of_a_playbook_is_the_same_work_with_equal_values_whoever_gave_them() -> None:
    def looks(value: Any, label: Any) -> Plan:
        return Plan(steps=(calls("a", "look", q="{param.city}"),), params={"city": Param(value=value, label=label)})

    assert uncovered_steps(looks("Oslo", "user"), looks("Oslo", "untrusted"), TOOLS) == []
    assert uncovered_steps(looks("Oslo", "user"), looks("Bergen", "user"), TOOLS) == ["a"]


def test_a_revision_with_a_call_that_a_person_refused_before_is_asked_about_though_nothing_else_would_be() -> None:
    new = NewEffect(A, "look", "k", "d")

    for refused, is_asked in (({"d"}, True), ({"other"}, False)):
        record = record_of(PLAN, ExecutionTerms(TOOLS, "never"), effects=(new,), refused_effects=refused)
        assert needs_person(record, READS, ExecutionTerms(TOOLS, "never")) is is_asked
