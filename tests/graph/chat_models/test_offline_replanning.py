"""What the rules do when a step failed."""

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.graph.chat_models.json_text import NoJson, json_from
from planner_executor.graph.chat_models.offline import OfflineModel
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.prompts.replanner import replanner_messages
from planner_executor.graph.prompts.tool_lines import tools_text
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.steps import Steps

Ask = Callable[..., str]
Planned = Callable[..., Plan]
CarryOut = Callable[..., dict[str, StepResult]]

WIND = "Research offshore wind and write a brief report"
WEB = "Research offshore wind on the web and write a brief report"
FOUND = StepResult("succeeded", {"query": "offshore wind", "passages": [{"text": "Wind blows."}]})
NOTHING = "none of the words offshore, wind occurs in the 8 documents looked through; search with other words"
BLOCKED = StepResult("blocked")


def failed(error: str) -> StepResult:
    return StepResult("failed", error=error)


def outcome(plan: Plan, **results: StepResult) -> dict[str, StepResult]:
    """Searches found something and the rest is blocked, where nothing else is said."""
    return {
        step.id: results.get(step.id, FOUND if step.tool in ("search_documents", "web_search") else BLOCKED)
        for step in plan.steps
    }


def is_prose(answer: str) -> bool:
    try:
        json_from(answer)
    except NoJson:
        return True
    return False


def test_a_dropped_step_whose_words_look_like_a_reference_is_named_by_its_id(
    planned: Planned, revised: Planned
) -> None:
    goal = "Research the trends of {step_1} and write a brief report"
    plan = planned(goal)

    after = revised(goal, plan, outcome(plan, step_3=failed("none of the words atlantis occurs in the 8 documents")))

    assert after.answer == {**plan.answer, "note": "left out, since it failed: step_3"}


def test_a_search_that_found_nothing_is_left_out_where_others_found_something(
    planned: Planned, revised: Planned
) -> None:
    plan = planned(WIND)

    after = revised(WIND, plan, outcome(plan, step_3=failed("none of the words atlantis occurs in the 8 documents")))

    assert list(after.by_id) == ["step_1", "step_2", "step_4", "step_5", "step_6"]
    assert after.by_id["step_5"].args["text"] == ["{step_1_result}", "{step_2_result}", "{step_4_result}"]
    assert after.by_id["step_6"] == plan.by_id["step_6"]
    assert after.answer == {**plan.answer, "note": f"left out, since it failed: {plan.by_id['step_3'].objective}"}


def test_a_search_that_a_person_wished_for_may_fail_without_harm(
    planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    plan = planned(WIND, feedback=("fewer searches", "add a search for atlantis"))
    results = carry_out(plan)
    assert results["step_3"].status == "failed"

    after = revised(WIND, plan, results)

    assert {step: result.status for step, result in carry_out(after, results).items()} == dict.fromkeys(
        ["step_1", "step_2", "step_4", "step_5"], "succeeded"
    )


def test_a_search_that_broke_is_left_out_where_others_found_something(planned: Planned, revised: Planned) -> None:
    plan = planned(WIND)

    after = revised(WIND, plan, outcome(plan, step_1=failed("no answer within 60 s")))

    assert "step_1" not in after.by_id


def test_searches_that_met_no_word_of_the_topic_do_not_count_as_found(planned: Planned, replan: Ask) -> None:
    plan = planned(WIND)

    answer = replan(WIND, plan, outcome(plan, step_1=failed(NOTHING)))

    assert is_prose(answer)
    assert "none of the words" in answer


def test_a_topic_that_no_document_knows_ends_honestly(planned: Planned, replan: Ask, carry_out: CarryOut) -> None:
    goal = "Research quantum cryptography and write a report"
    plan = planned(goal)

    results = carry_out(plan)

    assert results["step_1"].status == "failed"
    assert results["step_6"].status == "blocked"
    assert is_prose(replan(goal, plan, results))


def test_another_word_of_the_goal_is_tried_where_the_query_was_off(
    specs: Mapping[str, ToolSpec], revised: Planned, carry_out: CarryOut
) -> None:
    steps = [
        {"id": "look", "objective": "Look", "tool": "search_documents", "args": {"query": "zeppelins", "limit": 3}},
        {"id": "sum", "objective": "Sum up", "tool": "summarize_text", "args": {"text": "{look_result.passages}"}},
    ]
    plan = read_plan({"steps": steps}, specs).plan
    assert plan is not None

    after = revised("Research offshore wind", plan, carry_out(plan))

    assert after.by_id["look"].args == {"query": "offshore wind", "limit": 3}
    assert after.by_id["sum"] == plan.by_id["sum"]
    assert carry_out(after)["sum"].status == "succeeded"


def test_a_person_may_name_the_other_query(planned: Planned, revised: Planned) -> None:
    plan = planned(WIND)
    results = outcome(plan, **{f"step_{n}": failed(NOTHING) for n in (1, 2, 3, 4)})

    after = revised(WIND, plan, results, feedback=("search for hydrogen instead",))

    assert after.by_id["step_1"].args["query"] == "hydrogen"
    assert after.by_id["step_5"].args["text"] == ["{step_1_result}"]


def test_when_every_search_broke_one_simple_search_is_tried_and_then_a_document_is_read(
    planned: Planned, revised: Planned, carry_out: CarryOut
) -> None:
    goal = "Research how offshore wind farms are connected"
    plan = planned(goal)
    broken = failed("OperationalError: database is locked")

    once = revised(goal, plan, outcome(plan, **{f"step_{n}": broken for n in (1, 2, 3, 4)}))
    twice = revised(goal, once, outcome(once, step_1=broken))

    assert [step.id for step in once.steps] == ["step_1", "step_5"]
    assert once.by_id["step_1"].args["query"] == "offshore connected"
    assert [step.tool for step in twice.steps] == ["read_document", "summarize_text", "list_documents"]
    assert "first document" in twice.answer["note"]
    assert {result.status for result in carry_out(twice).values()} == {"succeeded"}


def test_without_documents_there_is_no_other_way(planned: Planned, replan: Ask) -> None:
    plan = planned(WIND)
    missing = failed("documents folder '{here}' is not a folder; put files ending in .md there")

    answer = replan(WIND, plan, outcome(plan, **{f"step_{n}": missing for n in (1, 2, 3, 4)}))

    assert answer == (
        "The offline rules have no other way to go on: "
        "documents folder '(here)' is not a folder; put files ending in .md there"
    )


def test_a_web_search_that_failed_is_left_out(planned: Planned, revised: Planned) -> None:
    plan = planned(WEB)
    assert plan.by_id["step_5"].tool == "web_search"

    after = revised(WEB, plan, outcome(plan, step_5=failed("web search for 'x' did not answer (no network)")))

    assert "step_5" not in after.by_id
    assert after.by_id["step_6"].args["text"] == [f"{{step_{n}_result}}" for n in (1, 2, 3, 4)]


def test_a_web_search_that_the_plan_needs_becomes_a_search_of_the_documents(
    specs: Mapping[str, ToolSpec], revised: Planned
) -> None:
    steps = [
        {"id": "web", "objective": "Look", "tool": "web_search", "args": {"query": "offshore wind"}},
        {"id": "sum", "objective": "Sum up", "tool": "summarize_text", "args": {"text": "{web_result}"}},
    ]
    plan = read_plan({"steps": steps}, specs).plan
    assert plan is not None

    after = revised(WEB, plan, {"web": failed("did not answer"), "sum": BLOCKED})

    assert after.by_id["web"].tool == "search_documents"
    assert after.by_id["web"].args == {"query": "offshore wind"}


def test_a_web_search_whose_parts_the_plan_needs_cannot_be_replaced(specs: Mapping[str, ToolSpec], replan: Ask) -> None:
    steps = [{"id": "web", "objective": "Look", "tool": "web_search", "args": {"query": "offshore wind"}}]
    plan = read_plan({"steps": steps, "answer": "{web_result.results[0].url}"}, specs).plan
    assert plan is not None

    assert is_prose(replan(WEB, plan, {"web": failed("did not answer")}))


@pytest.mark.parametrize(
    ("path", "name"),
    [("/etc/wind.md", "wind.md"), ("../../wind notes.pdf", "wind-notes.md"), ("wind.md", "wind-report.md")],
)
def test_a_report_whose_path_was_refused_is_written_under_another_name(
    path: str, name: str, planned: Planned, revised: Planned
) -> None:
    plan = planned(WIND)
    report = plan.steps[-1].model_copy(update={"args": {**plan.steps[-1].args, "path": path}})
    plan = plan.model_copy(update={"steps": (*plan.steps[:-1], report)})
    results = outcome(plan, step_5=FOUND, step_6=failed(f"path {path!r} is refused; give a relative path inside 'out'"))

    after = revised(WIND, plan, results)

    assert after.by_id["step_6"].args == {**report.args, "path": name}


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("step_6", "'x.md' was not written, nothing changed: No space left on device"),
        ("step_5", "nothing to summarise"),
    ],
)
def test_what_no_rule_mends_is_given_up_with_its_error(step: str, error: str, planned: Planned, replan: Ask) -> None:
    plan = planned(WIND)

    answer = replan(WIND, plan, outcome(plan, **{step: failed(error)}))

    assert is_prose(answer)
    assert error in answer


def test_division_by_zero_is_given_up(planned: Planned, replan: Ask, carry_out: CarryOut) -> None:
    plan = planned("What is 1 / 0 + 2?")

    answer = replan("What is 1 / 0 + 2?", plan, carry_out(plan))

    assert is_prose(answer)
    assert "division by zero" in answer


def test_an_effect_that_may_have_happened_is_left_to_a_person(planned: Planned, replan: Ask) -> None:
    plan = planned(WIND)
    results = outcome(plan, step_5=FOUND, step_6=failed("path is a folder")._replace(status="uncertain"))

    assert is_prose(replan(WIND, plan, results))


def test_a_step_for_a_model_that_failed_is_given_up(replan: Ask) -> None:
    plan = Plan(steps=(Step(id="think", objective="Think"),))

    assert is_prose(replan("anything", plan, {"think": failed("the offline model is a set of rules")}))


def test_where_nothing_failed_the_rest_is_kept(planned: Planned, revised: Planned) -> None:
    plan = planned(WIND)

    assert revised(WIND, plan, {"step_1": FOUND}) == plan


def test_feedback_changes_what_has_not_run(planned: Planned, revised: Planned) -> None:
    plan, wishes = planned(WIND), ("fewer searches", "search for hydrogen", "at most 3 statements", "no report")

    after = revised(WIND, plan, {"step_1": FOUND}, feedback=wishes[:1])
    assert list(after.by_id) == ["step_1", "step_2", "step_5", "step_6"]
    after = revised(WIND, plan, {"step_1": FOUND}, feedback=wishes[1:2])
    assert after.by_id["step_7"].args == {"query": "hydrogen"}
    assert "{step_7_result}" in after.by_id["step_5"].args["text"]
    after = revised(WIND, plan, {"step_1": FOUND}, feedback=wishes[2:])
    assert after.by_id["step_5"].args["max_sentences"] == 3 and "step_6" not in after.by_id


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ("only 2 searches", "3 searches have been made already"),
        ("no web", "searched already"),
        ("at most 3 statements", "no summary is left"),
        ("search for hydrogen", "nothing that is left takes"),
        ("write it to notes.md", "no report is left"),
    ],
)
def test_a_wish_that_comes_too_late_is_refused(wish: str, why: str, replan: Ask, specs: Mapping[str, ToolSpec]) -> None:
    search = {"objective": "Search", "tool": "search_documents"}
    steps = [{**search, "id": f"s{n}", "args": {"query": word}} for n, word in enumerate(("sun", "tide", "wave"))]
    steps.append({"id": "web", "objective": "Search", "tool": "web_search", "args": {"query": "sun"}})
    steps.append({"id": "last", "objective": "Count", "tool": "calculator", "args": {"expression": "1"}})
    plan = read_plan({"steps": steps}, specs).plan
    assert plan is not None

    answer = replan(WIND, plan, dict.fromkeys(("s0", "s1", "s2", "web"), FOUND), feedback=(wish,))

    assert is_prose(answer) and why in answer


def test_a_constraint_that_the_rules_cannot_keep_to_is_not_revised_past(
    planned: Planned, specs: Mapping[str, ToolSpec]
) -> None:
    plan = planned(WIND)
    messages = replanner_messages(
        Goal(WIND, ("spend at most 200",)), tools_text(specs.values()), plan, RunState(steps=Steps({})), "steered", {}
    )

    assert "cannot keep to this constraint: spend at most 200" in str(OfflineModel().invoke(messages).text)


def test_a_report_is_not_written_elsewhere_than_a_person_asked_for(planned: Planned, replan: Ask) -> None:
    plan = planned(WIND, feedback=("write it to deep/notes.md",))

    answer = replan(
        WIND,
        plan,
        outcome(plan, step_5=FOUND, step_6=failed("give a relative path")),
        feedback=("write it to deep/notes.md",),
    )

    assert is_prose(answer) and "which was asked for" in answer


def test_where_nothing_is_left_the_results_are_the_answer(revised: Planned, specs: Mapping[str, ToolSpec]) -> None:
    steps = [{"id": name, "objective": "Count", "tool": "calculator", "args": {"expression": "1"}} for name in "ab"]
    plan = read_plan(steps, specs).plan
    assert plan is not None

    after = revised("count", plan, {"a": StepResult("succeeded", 1), "b": StepResult("succeeded", 1)})

    assert after.answer == {"a": "{a_result}", "b": "{b_result}"}


def test_a_person_may_rename_a_report_that_is_not_written_yet(planned: Planned, revised: Planned) -> None:
    plan = planned(WIND)

    after = revised(WIND, plan, {"step_1": FOUND}, feedback=("write it to wind-notes.md",))

    assert after.by_id["step_6"].args["path"] == "wind-notes.md"


def test_feedback_that_no_rule_knows_is_declined(planned: Planned, replan: Ask) -> None:
    plan = planned(WIND)

    assert is_prose(replan(WIND, plan, {"step_1": FOUND}, feedback=("make it rhyme",)))


ERRORS = [NOTHING, "no answer within 60 s", "documents folder 'x' is not a folder", "give a relative path", "{[oops"]
WISHES = ["no web", "search for hydrogen", "write it to other.md", "make it rhyme"]


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_whatever_failed_the_answer_is_a_valid_revision_without_the_failed_calls_or_words(
    data: st.DataObject, planned: Planned, replan: Ask, specs: Mapping[str, ToolSpec]
) -> None:
    plan = planned(data.draw(st.sampled_from([WIND, WEB, "Research hydrogen", "Write a report on jobs to /tmp/x.md"])))
    statuses = st.sampled_from([*(failed(error) for error in ERRORS), FOUND, FOUND, BLOCKED])
    results = {step.id: data.draw(statuses) for step in plan.steps}
    succeeded = {step for step, result in results.items() if result.status == "succeeded"}

    answer = replan(WIND, plan, results, feedback=tuple(data.draw(st.lists(st.sampled_from(WISHES), max_size=2))))

    if not is_prose(answer):
        reading = read_revision(json.loads(answer), plan, succeeded, specs)
        assert reading.plan is not None, reading.issues
        calls = [(plan.by_id[step].tool, plan.by_id[step].args) for step, r in results.items() if r.status == "failed"]
        assert not [step for step in reading.plan.steps if step.id not in succeeded and (step.tool, step.args) in calls]
