"""What a fork takes over: results that do not depend on what is done anew, and calls that may have had an effect."""

from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.inheritance import inherited, steps_anew
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.calls import Calls
from planner_executor.graph.record.events import Arguments, CallInherited, Content, Inherited, RunForked, RunStarted
from planner_executor.graph.record.given_value import GivenValue
from planner_executor.graph.record.plan_state import PlanState
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps
from planner_executor.graph.record.trust_label import PLAN, USER, TrustLabel, joined

DONE, SKIPPED, DOWN = StepResult("succeeded", 1), StepResult("skipped"), StepResult("failed", error="down")
TOOLS = {
    "mail": ToolSpec("mail", "", {}, "external", trusted=True),
    "web": ToolSpec("web", "", {}, "read", trusted=False),
}
WEB, MAIL = TrustLabel("untrusted", ("web",)), TrustLabel("trusted", ("mail",))
STARTED = RunStarted(thread="t", n=2, goal="")


def step(name: str, *after: str, **fields: Any) -> Step:
    return Step(id=name, objective="o", depends_on=after, **fields)


GATED = Plan(steps=(step("a", tool="web"), step("gate", "a", gate="Go on?"), step("b", "gate", tool="mail"), step("c")))


def record(plan: Plan = GATED, **results: StepResult) -> RunState:
    return RunState(Assignment(STARTED), PlanState(plan=plan.to_json()), steps=Steps(results=results), seq=40)


def kept(drafts: Any) -> list[str]:
    return [draft.step for draft in drafts if isinstance(draft.data, Inherited)]


def test_what_depends_on_a_step_that_is_done_anew_is_done_anew() -> None:
    assert steps_anew(GATED, ["a"]) == ["a", "gate", "b"]
    assert steps_anew(GATED, ["c", "b"]) == ["b", "c"]


@pytest.mark.parametrize(
    ("anew", "names"),
    [(["b"], ["a", "c"]), (["gate", "b"], ["a", "c"]), (["c"], ["a", "gate", "b"]), (["a", "gate", "b"], ["c"])],
)
def test_a_gate_is_passed_again_if_what_waits_for_it_is_done_anew(anew: list[str], names: list[str]) -> None:
    done = record(a=DONE, gate=DONE, b=DONE, c=DONE)

    assert kept(inherited(done, GATED, anew, TOOLS)) == names


def test_only_settled_results_are_taken_over_with_their_source() -> None:
    drafts = inherited(record(a=DONE, c=SKIPPED, gate=DOWN), GATED, ["b"], TOOLS)

    assert kept(drafts) == ["a", "c"]
    assert drafts[1].data == Inherited(source="t.2", seq=40, result=DONE, label=WEB)


def test_a_fork_names_its_source_and_keeps_taint_and_attachments() -> None:
    run = record()
    run.plan_state.tainted = {"c", "b"}
    run.assignment = Assignment(STARTED, attached=Content("picture"))

    assert inherited(run, GATED, ["b"], TOOLS)[0].data == RunForked(
        source="t.2", again=("b",), tainted=("b", "c"), attached=Content("picture")
    )


def call(key: str, **fields: Any) -> Call:
    return Call(
        **{"key": key, "step": "b", "tool": "mail", "args": {"to": key}, "args_digest": "d", "repeatable": False,
           "within": Pass(1), "number": 0, "begun_seq": 7, "begun_at": 9.0, **fields}
    )  # fmt: skip


def calls_of(*calls: Call, elsewhere: Any = (), copied: Any = ()) -> list[CallInherited]:
    run = record()
    run.calls = Calls({one.key: one for one in calls}, elsewhere={one.key: one for one in elsewhere})
    run.calls.inherited = set(copied)
    drafts = inherited(run, GATED, [], TOOLS)
    assert {draft.step for draft in drafts[1:]} <= {"b"}
    return [draft.data for draft in drafts if isinstance(draft.data, CallInherited)]


def test_calls_that_may_have_had_an_effect_are_taken_over() -> None:
    found = calls_of(
        call("sent", result=DONE),
        call("cut"),
        call("raised", result=DOWN),
        call("unmet", result=DONE, unmet="too short"),
        call("read", repeatable=True),
        call("nothing", nothing_happened=True, result=DOWN),
    )

    assert [(one.key, one.happened, one.error, one.unmet) for one in found] == [
        ("sent", True, None, None),
        ("cut", False, None, None),
        ("raised", False, "down", None),
        ("unmet", False, None, "too short"),
    ]
    first = found[0]
    assert (first.source, first.seq, first.at, first.tool, first.args.shown) == ("t.2", 7, 9.0, "mail", {"to": "sent"})


def test_a_fork_of_a_fork_takes_over_what_the_first_one_did_and_no_other_calls_of_other_runs() -> None:
    ours, theirs = call("ours", run="s.1", result=DONE, settled=True), call("theirs", run="t.1")

    found = calls_of(elsewhere=[ours, theirs], copied=["ours"])

    assert [(one.key, one.source, one.happened) for one in found] == [("ours", "s.1", True)]


def test_large_arguments_keep_their_artifact() -> None:
    small, large = calls_of(call("small"), call("large", args={"artifact": {"id": "x"}}, args_artifact="x"))

    assert small.args == Arguments({"to": "small"})
    assert (small.args.artifact_id, large.args.artifact_id, large.args.digest) == (None, "x", "d")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("mails", MAIL),
        ("page", WEB),
        ("about", WEB),
        ("beside", MAIL),
        ("gone", TrustLabel("untrusted", ("lost",))),
        ("thought", TrustLabel("untrusted", ("model",))),
        ("told", USER),
        ("listed", MAIL),
    ],
)
def test_each_result_has_the_label_that_it_had(name: str, label: TrustLabel) -> None:
    plan = Plan(
        steps=(
            step("mails", tool="mail"),
            step("page", tool="web"),
            step("about", tool="mail", args={"text": "{page_result}"}),
            step("beside", "page", tool="mail"),
            step("gone", tool="lost"),
            step("thought"),
            step("told", ask="Which?"),
            step("listed", tool="web"),
        )
    )
    run = record(plan, **{one.id: DONE for one in plan.steps})
    run.steps.labels = {"thought": TrustLabel("untrusted", ("model",)), "listed": MAIL}

    found = {d.step: d.data.label for d in inherited(run, plan, [], TOOLS) if isinstance(d.data, Inherited)}

    assert found[name] == label


def test_a_step_that_a_model_wrote_after_reading_untrusted_content_passes_that_on() -> None:
    plan = Plan(steps=(step("a", tool="mail", args={"text": "hi"}), step("b", tool="mail", args={"text": "hi"})))
    run = record(plan, a=DONE, b=DONE)
    run.plan_state.tainted = {"a"}

    found = [d.data.label for d in inherited(run, plan, [], TOOLS) if isinstance(d.data, Inherited)]

    assert found == [joined([MAIL, PLAN]), MAIL]


def test_a_fork_takes_over_no_result_of_a_step_whose_way_was_not_taken() -> None:
    run = record(a=DONE, c=SKIPPED)
    run.steps.conditions = {"c": False}

    assert kept(inherited(run, GATED, ["b"], TOOLS)) == ["a"]


def test_a_fork_keeps_new_effects_that_rest_on_tainted_steps_alone() -> None:
    run = record()
    run.plan_state.tainted = {"a"}
    run.plan_state.new_effects = {"a": ("web",), "c": ("mail",)}

    forked = inherited(run, GATED, ["b"], TOOLS)[0].data

    assert isinstance(forked, RunForked) and forked.new_effects == {"a": ("web",)}


def test_a_fork_keeps_what_people_gave_but_for_gates_and_limits_and_without_steps_that_it_does_anew() -> None:
    run = record(a=DONE, b=DONE)
    for name, kind in (("a", "result"), ("b", "edit"), ("gate", "gate"), ("limit", "limit")):
        run.people.gave(name, GivenValue(kind, ("server:ada",), name if kind != "limit" else None))

    forked = inherited(run, GATED, ["b"], TOOLS)[0].data

    assert isinstance(forked, RunForked)
    assert {name: value.get("step") for name, value in forked.values.items()} == {"a": "a", "b": None}
