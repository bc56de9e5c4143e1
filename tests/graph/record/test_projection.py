"""The story of a run as its events tell it: what is approved, what is asked, what may have happened."""

from collections import Counter
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from full_payloads import FULL, PREVIEW

from planner_executor.graph.errors import UnknownEventError
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.scope import in_force, repeats, within_approved
from planner_executor.graph.record.events import CONTROL, Event
from planner_executor.graph.record.projection import apply_events, known, project
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_key import run_name
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.testing import whole_payload

TOOLS = {"send": ToolSpec("send", "", {}), "read": ToolSpec("read", "", {}, effect="read")}
PLAN = Plan(steps=(Step(id="a", objective="o", tool="send", args={"to": "x", "n": 1}), Step(id="b", objective="o")))


class Told:
    """Events of a run, one after the other."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.add("run_started", thread="t", n=2, goal="g", constraints=["c"], setup={"approval": "always"})

    def add(self, kind: str, step: str | None = None, **payload: Any) -> "Told":
        seq = len(self.events) + 1
        self.events.append(
            Event(seq, kind, step, 1000.0 + seq, whole_payload(kind, {"checkpoint": f"c{seq}", **payload}))
        )
        return self

    def planned(self, plan: Plan = PLAN, revision: int = 1, author: str = "planner", **more: Any) -> "Told":
        return self.add(
            "plan_revised", revision=revision, plan=plan.to_json(), digest=plan.digest, author=author, **more
        )

    def asked(self, number: int = 1, **more: Any) -> "Told":
        shown = {"request": number, "subject": "s", "digest": "d", "error": None, "issues": [], "skip": 0}
        return self.add("review_requested", **{**shown, **more})

    def decided(self, decision: str = "approve", plan: Plan = PLAN, by: str = "person", **more: Any) -> "Told":
        binding = ExecutionTerms(TOOLS).binding(plan)
        return self.add("decided", decision=decision, by=by, digest=plan.digest, binding=binding, message=None, **more)

    def started(self, step: str = "a", key: str = "k1", revision: int = 1, number: int = 0, **more: Any) -> "Told":
        call = {"key": key, "call": number, "tool": "send", "args": {"to": "x"}, "args_digest": "x"}
        return self.add("call_started", step, **{**call, "repeatable": False, "revision": revision, **more})

    def finished(
        self, status: str = "succeeded", value: Any = "sent", step: str = "a", call: int = 0, **more: Any
    ) -> "Told":
        error = None if status == "succeeded" else "refused"
        return self.add("call_finished", step, call=call, status=status, value=value, error=error, **more)

    @property
    def record(self) -> RunState:
        return project(self.events)


def approved() -> Told:
    return Told().planned().asked().decided()


def uncertain(record: RunState) -> list[str]:
    return [call.key for call in record.calls.by_key.values() if call.is_uncertain]


def reused(record: RunState, key: str = "k1") -> Any:
    call = record.calls.finished(key)
    return call.result.value if call and call.result else None


def test_no_events_are_a_run_of_nobody() -> None:
    assert project([]) == RunState()


def test_a_run_knows_who_it_is_and_what_it_is_for() -> None:
    record = Told().record

    assert (record.id, record.assignment.started.goal, record.assignment.constraints, record.assignment.setup) == (
        "t.2",
        "g",
        ("c",),
        {"approval": "always"},
    )
    assert (record.started_at, record.updated_at, record.seq) == (1001.0, 1001.0, 1)


def test_a_thread_with_dots_and_a_number_make_one_name_each() -> None:
    assert run_name("a.1", 2) != run_name("a", 12)
    assert run_name("a.1", 2) == "a.1.2"


def test_the_last_event_that_changes_what_is_allowed_is_known() -> None:
    told = approved()
    after = told.started().finished().record

    assert set(CONTROL) == {
        "plan_revised",
        "decided",
        "steered",
        "run_ended",
        "run_reopened",
        "step_skipped",
        "result_supplied",
        "response_given",
        "review_expired",
    }
    assert (after.control_seq, after.seq) == (4, 6)


def test_an_approval_is_of_the_plan_that_was_shown() -> None:
    record = approved().record

    assert record.review_state.approval is not None
    assert (record.review_state.approval.digest, record.review_state.approval.by, record.review_state.approval.seq) == (
        PLAN.digest,
        "person",
        4,
    )
    assert record.plan_state.approved_plan == PLAN.to_json()
    assert in_force(record, PLAN, ExecutionTerms(TOOLS))


@pytest.mark.parametrize("decision", ["reject", "feedback", "settle"])
def test_other_decisions_approve_nothing(decision: str) -> None:
    assert Told().planned().asked().decided(decision).record.review_state.approval is None


def test_a_new_revision_is_not_approved_by_the_approval_of_the_old_one() -> None:
    after = Plan(steps=PLAN.steps[:1])

    record = approved().planned(after, revision=2, author="replanner").record

    assert record.plan_state.digest == after.digest
    assert not in_force(record, after, ExecutionTerms(TOOLS))
    assert in_force(record, PLAN, ExecutionTerms(TOOLS))


def test_a_tool_that_changes_its_face_takes_the_approval_out_of_force() -> None:
    changed = {**TOOLS, "send": ToolSpec("send", "", {"type": "object"})}

    assert not in_force(approved().record, PLAN, ExecutionTerms(changed))
    assert not within_approved(approved().record, PLAN, ExecutionTerms(changed))


def test_nothing_is_in_force_without_an_approval() -> None:
    assert not in_force(Told().planned().record, PLAN, ExecutionTerms(TOOLS))
    assert not within_approved(Told().planned().record, PLAN, ExecutionTerms(TOOLS))


def test_a_request_is_open_until_it_is_decided() -> None:
    told = Told().planned().asked(number=3, error="again", issues=[{"step": None}], skip=2)

    request = told.record.review_state.request
    assert request is not None
    request = request.shown
    assert (request.request, request.error, request.skip, request.checkpoint) == (3, "again", 2, "c3")
    assert (told.record.review_state.requests, told.record.status) == (3, "waiting")
    assert told.decided().record.review_state.request is None


def test_the_end_closes_a_request() -> None:
    record = Told().planned().asked().add("run_ended", status="cancelled", reason="cancelled").record

    assert record.review_state.request is None
    assert record.status == "cancelled"


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (Told(), "planning"),
        (Told().planned(), "running"),
        (Told().planned().asked(), "waiting"),
        (approved(), "running"),
        (approved().add("executing", revision=1), "running"),
        (approved().add("paused", reason="interrupted"), "paused"),
        (approved().add("paused").add("executing"), "running"),
        (approved().add("run_ended", status="partial", reason="r"), "partial"),
        (approved().add("run_ended", status="failed", reason="r").add("paused"), "failed"),
    ],
)
def test_the_status_follows_from_the_last_events(told: Told, status: str) -> None:
    assert told.record.status == status


def test_other_settings_say_nothing_of_where_a_run_stands() -> None:
    told = Told().add("configured", settings={"max_replans": 0})

    record = project(told.events)
    assert (record.status, record.assignment.configuration.settings) == ("planning", {"max_replans": 0})


def test_feedback_is_collected_and_a_plan_is_awaited() -> None:
    told = Told().planned().asked().add("decided", decision="feedback", message="cheaper", by="person")

    assert told.record.plan_state.feedback == ["cheaper"]
    assert told.record.plan_state.awaits_plan
    assert not told.planned(revision=2).record.plan_state.awaits_plan


def test_only_the_replanners_revisions_count_as_replans() -> None:
    told = Told().planned().planned(revision=2, author="person").planned(revision=3, author="replanner")

    assert (told.record.plan_state.replans, told.record.plan_state.revision) == (1, 3)


def test_dropped_steps_add_up_over_the_plans_that_were_approved() -> None:
    told = approved().planned(revision=2, dropped=["x"]).decided().planned(revision=3, dropped=["y"])

    assert told.record.plan_state.dropped == ("x", "y")
    assert told.planned(revision=4, dropped=["z"]).record.plan_state.dropped == ("x", "z")


def test_what_was_written_at_a_checkpoint_is_found_again() -> None:
    record = approved().record

    assert record.checkpoints == {"c1", "c2", "c3", "c4"}
    assert record.review_state.decided_at["c4"].decision == "approve"
    assert record.plan_state.revised_at["c2"].revision == 1


def test_a_call_that_only_started_may_have_happened() -> None:
    assert uncertain(approved().started().record) == ["k1"]


def test_a_call_that_raised_may_have_happened() -> None:
    assert uncertain(approved().started().finished(status="failed").record) == ["k1"]


def test_a_call_that_succeeded_is_not_uncertain() -> None:
    record = approved().started().finished().record

    assert uncertain(record) == []
    assert reused(record) == "sent"


def test_a_tool_that_says_nothing_happened_is_believed() -> None:
    assert uncertain(approved().started().finished(status="failed", nothing_happened=True).record) == []


def test_a_repeatable_call_is_never_uncertain() -> None:
    assert uncertain(approved().started(repeatable=True).record) == []


def test_a_call_made_again_is_uncertain_again() -> None:
    told = approved().started().finished(status="failed", nothing_happened=True).started()

    assert uncertain(told.record) == ["k1"]


def settled(happened: bool, result: Any = None, told: Told | None = None) -> Told:
    entry = {"key": "k1", "happened": happened, "result": result}
    return (told or approved().started()).decided("settle", settled=[entry])


def test_a_call_that_a_person_says_happened_is_a_success_with_their_result() -> None:
    record = settled(True, {"id": 7}).record

    assert uncertain(record) == []
    assert reused(record) == {"id": 7}
    assert record.steps.results["a"] == StepResult("succeeded", {"id": 7})


def test_a_call_that_a_person_says_did_not_happen_may_be_made() -> None:
    record = settled(False).record

    assert uncertain(record) == []
    assert record.calls.finished("k1") is None
    assert "a" not in record.steps.results


def test_a_settled_call_of_a_model_step_is_not_the_result_of_the_step() -> None:
    assert "a" not in settled(True, 1, approved().started(number=1)).record.steps.results


def test_settling_approves_no_plan() -> None:
    told = settled(True, told=Told().planned().started())

    assert told.record.review_state.approval is None


def test_a_call_that_simply_succeeded_is_reused_under_its_own_key_only() -> None:
    told = approved().started().finished().planned(revision=2)

    assert reused(told.record) == "sent"
    assert reused(told.record, key="k2") is None


def test_a_step_that_failed_waits_for_another_revision() -> None:
    record = approved().started().finished(status="failed").record

    assert record.steps.failed_in("a", Pass(1))
    assert not record.steps.failed_in("a", Pass(2))
    assert not record.steps.failed_in("b", Pass(1))


def test_a_model_step_that_failed_does_so_too() -> None:
    failed = {"status": "failed", "error": "no answer", "inputs": "", "revision": 3}

    record = approved().add("step_finished", "b", **failed).record

    assert record.steps.failed_in("b", Pass(3))
    assert record.steps.results["b"].error == "no answer"


def test_an_outcome_belongs_to_the_last_call_of_that_number_that_was_begun() -> None:
    told = approved().started(key="k1").planned(revision=2).started(key="k2", revision=2).finished()

    assert told.record.calls.by_key["k1"].result is None
    assert told.record.calls.by_key["k2"].result is not None


def test_calls_of_one_step_that_are_told_apart_by_their_number_have_outcomes_of_their_own() -> None:
    told = approved().started(key="k1", number=1).started(key="k2", number=2).finished(value="one", call=1)

    assert reused(told.record, "k1") == "one"
    assert told.record.calls.by_key["k2"].result is None


def test_arguments_that_stand_in_the_ledger_need_no_digest_there() -> None:
    call = {"key": "k1", "call": 0, "tool": "send", "args": {"to": "x"}, "repeatable": False, "revision": 1}

    record = approved().add("call_started", "a", **call).record

    assert record.calls.by_key["k1"].args_digest == digest({"to": "x"})


def test_what_succeeded_is_counted_anew_when_more_is_read() -> None:
    told = approved().started().finished()
    record = project(told.events[:-1])
    assert record.steps.succeeded == frozenset()

    assert apply_events(record, told.events[-1:]).steps.succeeded == {"a"}


def test_a_step_that_succeeded_did_not_fail() -> None:
    assert not approved().started().finished().record.steps.failed_in("a", Pass(1))


def test_the_calls_of_a_model_step_are_not_its_result() -> None:
    record = approved().started(number=1).finished(call=1).record

    assert record.steps.results == {}
    assert record.steps.succeeded == set()


def test_a_model_step_remembers_what_its_result_rests_on() -> None:
    told = approved().add("step_finished", "b", status="succeeded", value=None, inputs="i", revision=1)

    assert told.record.steps.inputs == {"b": "i"}
    assert told.record.steps.succeeded == {"b"}


def test_answers_of_models_are_remembered_and_failures_are_not() -> None:
    told = Told().add("model_finished", key="m1", response={"content": "x"}).add("model_finished", key="m2", error="e")

    assert told.record.calls.responses == {"m1": {"content": "x"}}


@pytest.mark.parametrize(
    ("kind", "payload", "why"),
    [("lease_taken", {}, "of the kind 'lease_taken'"), ("paused", {"version": 2}, "of version 2 of 'paused'")],
    ids=["kind", "version"],
)
def test_an_event_of_a_newer_release_is_refused_by_name(kind: str, payload: dict[str, Any], why: str) -> None:
    told = approved().add(kind, **payload)

    with pytest.raises(UnknownEventError, match=why) as refused:
        told.record.review_state.approval  # noqa: B018
    assert refused.value.seq == 5


def test_a_run_with_events_of_a_newer_release_can_be_looked_at() -> None:
    told = approved().add("lease_taken").add("paused", version=7).started()

    assert [event.seq for event in known(told.events)] == [1, 2, 3, 4, 7]
    assert project(known(told.events)).review_state.approval is not None


def test_the_outcome_of_a_call_may_come_after_the_end() -> None:
    record = approved().started().add("run_ended", status="cancelled", reason="cancelled").finished().record

    assert record.status == "cancelled"
    assert record.steps.results["a"].value == "sent"


UNMET = {"met": False, "checks": [], "error": "not ok", "revision": 1}


def test_a_result_that_has_to_be_looked_at_is_no_success_until_it_has_been() -> None:
    told = approved().started().finished(unchecked=True)
    assert told.record.steps.succeeded == set() and told.record.steps.results["a"].status == "interrupted"

    record = told.add("step_checked", "a", met=True, checks=[], revision=1).record

    assert record.steps.succeeded == {"a"} and record.steps.results["a"].value == "sent"


@pytest.mark.parametrize("unchecked", [{"unchecked": True}, {}], ids=["before", "in one transaction"])
def test_a_step_whose_result_does_not_meet_its_criteria_failed_though_its_call_succeeded(
    unchecked: dict[str, bool],
) -> None:
    record = approved().started().finished(**unchecked).add("step_checked", "a", **UNMET).record

    assert (
        record.steps.failed_in("a", Pass(1))
        and record.steps.results["a"].error == "not ok"
        and record.steps.results["a"].value is None
    )
    assert reused(record) == "sent" and uncertain(record) == ["k1"]
    assert "which took effect although the step failed (not ok)" in repeats(record, PLAN)[0]


def test_a_model_step_whose_result_does_not_meet_its_criteria_failed() -> None:
    finished = {"status": "succeeded", "value": "text", "inputs": "i", "revision": 1}

    record = approved().add("step_finished", "b", **finished).add("step_checked", "b", **UNMET).record

    assert record.steps.failed_in("b", Pass(1)) and record.steps.succeeded == set()


def test_a_read_whose_result_does_not_meet_its_criteria_is_made_again() -> None:
    record = approved().started(repeatable=True).finished().add("step_checked", "a", **UNMET).record

    assert reused(record) is None and uncertain(record) == []


def test_tries_are_counted_within_a_revision() -> None:
    told = approved().started(repeatable=True).finished().add("step_checked", "a", again=True, **UNMET)
    assert told.record.steps.retries == {"a": 1} and not told.record.steps.failed_in("a", Pass(1))

    assert told.planned(revision=2).record.steps.retries == {}


def test_what_a_person_settles_has_still_to_be_looked_at() -> None:
    told = approved().started().finished(status="failed")
    settled = [{"key": "k1", "happened": True, "result": "sent"}]

    record = told.decided("settle", settled=settled).record

    assert set(record.steps.unchecked) == {"a"} and record.steps.succeeded == {"a"}


def test_repeats_names_calls_that_may_have_happened_and_that_the_plan_may_make_again() -> None:
    record = approved().started().finished(status="failed").record

    (sentence,) = repeats(record, PLAN)

    assert all(word in sentence for word in ("a called send", "refused", "may call it again"))


def test_repeats_is_silent_where_nothing_can_be_repeated() -> None:
    assert repeats(approved().started().finished().record, PLAN) == []
    assert repeats(approved().started().finished(status="failed").record, Plan(steps=PLAN.steps[1:])) == []


ANOTHER = {**PREVIEW, "same": False}
PAYLOADS = {
    **FULL,
    "plan_revised": {
        **FULL["plan_revised"],
        "cause": "failure",
        "written_by": "os:ann",
        "previews": [{**ANOTHER, "key": "e" * 64}],
    },
    "steered": {**FULL["steered"], "approver": "os:bob"},
    "run_forked": {**FULL["run_forked"], "tainted": ["step_3"]},
    "call_previewed": {"previews": [{**ANOTHER, "key": "f" * 64}]},
    "call_started": {**FULL["call_started"], "previewed": ANOTHER},
    "model_started": {**FULL["model_started"], "role": "executor"},
    "late_answer": {**FULL["late_answer"], "checkpoint": "c"},
}
STORY = (
    *("run_started", "plan_revised", "plan_refused", "standing_given", "call_started", "call_asked", "step_held"),
    *("step_uncertain", "condition_evaluated", "budget_reached", "review_requested", "voted"),
    "run_ended",
)
CHANGES = {
    "run_started": "assignment people.askers spending.budget started_at",
    "configured": "assignment spending.budget",
    "take_over_asked": "assignment",
    "plan_revised": (
        "people.askers people.values plan_state.awaits_plan plan_state.binding plan_state.digest "
        "plan_state.digests plan_state.effects plan_state.failures plan_state.new_effects "
        "plan_state.plan plan_state.planned plan_state.replaced plan_state.replans "
        "plan_state.revised plan_state.revised_at plan_state.revision plan_state.stalled plan_state.tainted "
        "review_state.previews spending.usage steps.of_plan steps.retries"
    ),
    "plan_refused": "plan_state.issues plan_state.unchanged",
    "review_requested": (
        "plan_state.seen review_state.previews review_state.request review_state.requests review_state.requests_about"
    ),
    "decided": (
        "calls.by_key calls.elsewhere people.acted people.values people.votes plan_state.approved_by_people "
        "plan_state.approved_plan plan_state.approved_plans plan_state.approved_revision plan_state.issues "
        "plan_state.replaced plan_state.replaced_before plan_state.seen_before plan_state.stalled "
        "plan_state.tainted plan_state.unchanged review_state.approval review_state.decided_at "
        "review_state.held review_state.last_decision_seq review_state.previews review_state.rejected "
        "review_state.replaced review_state.request review_state.seen review_state.with_plan said "
        "spending.budget spending.prevents_planning spending.shortage standing.by_id steps.answers "
        "steps.labels steps.results"
    ),
    "steered": (
        "assignment people.acted people.askers people.votes plan_state.feedback plan_state.feedback_rounds "
        "plan_state.is_wished plan_state.steered review_state.request spending.prevents_planning"
    ),
    "executing": "",
    "call_started": (
        "calls.by_key calls.keys_of calls.latest review_state.previews spending.begun spending.total "
        "spending.usage standing.by_id steps.earlier"
    ),
    "call_finished": "calls.by_key spending.elapsed_s spending.usage",
    "call_previewed": "review_state.previews",
    "call_refused": "review_state.refused",
    "call_asked": "calls.by_key spending.elapsed_s spending.usage",
    "step_held": "review_state.held",
    "step_uncertain": "calls.elsewhere review_state.uncertain",
    "model_started": "calls.openings spending.reserved spending.total spending.usage steps.earlier",
    "model_finished": "calls.followed calls.responses spending.elapsed_s spending.total spending.usage",
    "step_finished": (
        "steps.earlier steps.inputs steps.labels steps.missing steps.result_pass steps.results steps.unchecked"
    ),
    "step_checked": "steps.earlier steps.judged steps.result_pass steps.results steps.retries",
    "cap_reached": "",
    "condition_evaluated": "steps.conditions steps.earlier steps.results",
    "budget_reached": "spending.elapsed_s spending.prevents_planning spending.replanner_is_due spending.shortage",
    "paused": "paused",
    "redacted": "",
    "run_forked": "assignment people.askers people.values plan_state.tainted",
    "inherited": "steps.earlier steps.labels steps.missing steps.results steps.succeeded_of_plan steps.supplied",
    "call_inherited": "calls.elsewhere calls.inherited",
    "owner_replaced": "calls.by_key",
    "step_skipped": "people.votes review_state.request steps.earlier steps.results",
    "result_supplied": (
        "people.values people.votes review_state.request steps.earlier steps.givers steps.labels "
        "steps.results steps.succeeded_of_plan steps.supplied steps.unchecked"
    ),
    "run_reopened": (
        "ended people.askers people.values plan_state.issues plan_state.reopened plan_state.unchanged "
        "review_state.last_expired spending.budget spending.prevents_planning spending.shortage "
        "standing.by_id steps.retries"
    ),
    "run_ended": "ended people.votes review_state.request",
    "standing_given": "standing.by_id",
    "voted": "people.votes",
    "standing_revoked": "standing.by_id",
    "response_given": "people.acted review_state.response",
    "review_reminded": "review_state.request",
    "review_escalated": "review_state.request",
    "review_expired": "people.votes review_state.last_expired review_state.rejected review_state.request",
    "late_answer": "checkpoints review_state.late_at",
}
"""What an event of a kind changes, at its place in a story, or at the end of it before the run has ended."""


def parts(record: RunState) -> dict[str, Any]:
    """Return the parts of a state, those of its values that events change by themselves."""
    found: dict[str, Any] = {}
    for name, part in vars(record).items():
        is_whole = not is_dataclass(part) or name in ("assignment", "ended", "paused", "said")
        inner = () if is_whole else tuple(one.name for one in fields(part) if not one.name.startswith("_"))
        found |= {f"{name}.{one}": getattr(part, one) for one in inner} or {name: part}
    return {name: part for name, part in found.items() if name not in ("seq", "control_seq", "last_kind", "updated_at")}


@pytest.mark.parametrize("kind", FULL)
def test_an_event_changes_what_it_is_about_and_nothing_else(kind: str) -> None:
    before = STORY[: STORY.index(kind)] if kind in STORY else STORY[:-1]
    before = (*STORY[:-1], "review_expired", "run_ended") if kind == "run_reopened" else before
    record = project(Event(n, one, "step_1", 1000.0 + n, PAYLOADS[one]) for n, one in enumerate(before, 1))
    record.steps.earlier["step_1"], record.steps.retries = StepResult("succeeded"), Counter({"step_2": 1})
    was = deepcopy(parts(record))

    apply_events(record, [Event(50, kind, "step_1", 2000.0, PAYLOADS[kind])])

    changed = [name for name, part in parts(record).items() if part != was[name]]
    assert sorted(changed) == CHANGES[kind].split()
    assert record.spending.elapsed_s < 1000.0, "since it was started"
    assert "" not in {**record.steps.results, **record.steps.conditions} and all(
        call.step for call in record.calls.elsewhere.values()
    )


@pytest.mark.parametrize("kind", ["step_checked", "call_finished", "step_finished"])
def test_a_call_that_took_effect_is_uncertain_no_more_once_its_step_has_succeeded(kind: str) -> None:
    told = approved().started().finished(unchecked=True).add("step_checked", "a", **UNMET)
    assert uncertain(told.record) == ["k1"]

    if kind == "step_checked":
        told.finished(unchecked=True).add(kind, "a", met=True, revision=1)
    else:
        told.add(kind, "a", status="succeeded", call=0, revision=1)
    assert uncertain(told.record) == []


@pytest.mark.parametrize(
    ("started", "is_replaced"), [({}, False), ({"number": 1}, True)], ids=["its call", "a model's"]
)
def test_a_failed_step_whose_call_happened_needs_no_replacement(started: dict[str, Any], is_replaced: bool) -> None:
    replaced = [{"step": "a", "tools": ["send"], "by": ["b"], "standing": "asked"}]
    plan = Plan(steps=PLAN.steps[1:])
    told = approved().started(**started).planned(plan, revision=2, replaced=replaced)

    assert bool(settled(True, told=told).record.plan_state.replaced) is is_replaced


def test_a_call_of_another_run_that_happened_replaces_no_step_of_this_one() -> None:
    replaced = [{"step": "a", "tools": ["send"], "by": ["b"], "standing": "asked"}]
    other = {"key": "k1", "run": "t.1", "step": "a", "seq": 3}
    told = approved().add("step_uncertain", "a", key="k2", tool="send", calls=[other], revision=1)
    told.planned(Plan(steps=PLAN.steps[1:]), revision=2, replaced=replaced)

    entry = {"key": "k1", "happened": True, "result": 1, "run": "t.1"}
    assert told.decided("settle", settled=[entry]).record.plan_state.replaced != ()


def test_a_call_that_did_not_happen_leaves_the_failure_of_its_step_as_it_was() -> None:
    record = settled(False, told=approved().started().finished(status="failed")).record

    assert record.steps.results["a"].status == "failed" and not record.steps.unchecked


def test_a_call_that_happened_is_no_result_of_a_step_that_calls_another_tool_by_now() -> None:
    other = Plan(steps=(Step(id="a", objective="o", tool="read"),))

    assert "a" not in settled(True, 1, approved().started().planned(other, revision=2)).record.steps.results


def test_what_was_said_at_the_first_approval_of_a_plan_stays() -> None:
    told = Told().planned().asked(takes={"calls": 1}).decided("reject")
    assert told.record.said is None
    assert Told().planned().asked().decided().record.said is None

    told.asked(2, takes={"calls": 2}).decided().asked(3, takes={"calls": 3}).decided()
    assert told.record.said is not None and told.record.said.takes == {"calls": 2}


def test_only_a_later_plan_of_a_person_is_a_value_and_only_an_edit_ends_standing_approvals() -> None:
    assert Told().planned(written_by="os:ann").record.people.values == {}
    assert Told().planned().planned(revision=2, written_by="os:ann").record.people.values != {}

    given = {"id": "sa", "tool": "send", "args": {}, "at_most": 5, "fingerprint": "f", "policy": "p"}
    for author, holds in (("person", False), ("state", False), ("planner", True), ("replanner", True)):
        record = approved().add("standing_given", **given).planned(revision=2, author=author).record
        assert (record.standing.by_id["sa"].revoked_by is None) is holds
