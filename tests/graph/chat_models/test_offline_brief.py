"""A cited brief over a folder of documents."""

from collections.abc import Callable
from pathlib import Path

import pytest

from planner_executor.graph.chat_models.offline.goals import brief_goal
from planner_executor.graph.plan.references import resolve
from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult

Ask = Callable[..., str]
Planned = Callable[..., Plan]
RENEWABLES = "Research the latest trends in renewable energy and write a brief report"


def tools_of(plan: Plan) -> list[str | None]:
    return [step.tool for step in plan.steps]


def test_a_report_is_searches_side_by_side_then_a_summary_of_all_then_the_file(planned: Planned) -> None:
    plan = planned(RENEWABLES)

    assert tools_of(plan) == [*["search_documents"] * 4, "summarize_text", "write_report"]
    assert [waits_for(plan.steps)[step.id] for step in plan.steps[:4]] == [()] * 4
    assert plan.steps[4].args["text"] == [f"{{step_{n}_result}}" for n in (1, 2, 3, 4)]
    assert plan.steps[4].args["focus"] == "latest trends in renewable energy"
    assert plan.steps[5].args == {
        "content": "{step_5_result}",
        "path": "report.md",
        "title": "Latest trends in renewable energy",
    }
    assert plan.answer == {"report": "{step_6_result.path}", "summary": "{step_5_result.summary}"}


def test_a_topic_that_looks_like_a_reference_is_searched_for_as_it_is_written(planned: Planned) -> None:
    plan = planned("Research the trends of {step_1} and <step_2_result> in {step_1_result} and write a brief report")

    assert plan.steps[0].literal == ("query",)
    assert "{step_1} and <step_2_result> in {step_1_result}" in str(plan.steps[0].filled_args({})["query"])


def test_the_searches_look_at_different_sides(planned: Planned) -> None:
    queries = [step.args["query"] for step in planned(RENEWABLES).steps[:4]]

    assert queries[0] == "latest trends in renewable energy"
    assert all(str(query).startswith("renewable energy: ") for query in queries[1:])
    assert len(set(queries)) == 4


def test_the_plan_works_with_the_real_tools(
    planned: Planned, carry_out: Callable[..., dict[str, StepResult]], tmp_path: Path
) -> None:
    plan = planned(RENEWABLES)

    results = carry_out(plan)

    assert {result.status for result in results.values()} == {"succeeded"}
    answer = resolve(plan.answer, {step: result.value for step, result in results.items()})
    report = (tmp_path / "workspace" / "report.md").read_text()
    assert report.count("\n- ") > 8
    assert len({line.split(":")[0] for line in report.split("Sources")[1].splitlines() if line.startswith("- ")}) >= 3
    assert set(answer) == {"report", "summary"}


def test_without_a_report_the_answer_holds_the_statements(planned: Planned) -> None:
    plan = planned("summarise what the documents say about offshore wind")

    assert tools_of(plan)[-1] == "summarize_text"
    assert plan.answer == {"summary": "{step_5_result.summary}", "statements": "{step_5_result.statements}"}


@pytest.mark.parametrize(
    ("goal", "topic", "report"),
    [
        (
            "Research how this agent keeps side effects safe and write a brief report with sources",
            "how this agent keeps side effects safe",
            True,
        ),
        ("write a report about X-rays", "X-rays", True),
        ("find out how batteries work", "how batteries work", False),
        ("What do the documents say about hydrogen?", "hydrogen", False),
        ("Please research offshore wind. Write a report with sources.", "offshore wind", True),
        ("Research how plants store and produce energy", "how plants store and produce energy", False),
        ("How are permits given according to the documents?", "How are permits given", False),
        ("give me an overview of grid flexibility", "grid flexibility", False),
        ("Research the history of the internet", "history of the internet", False),
        ("Summarise what stands in notes.md about heat", "what stands in notes.md about heat", False),
    ],
)
def test_the_topic_is_what_is_left_without_the_words_around_it(goal: str, topic: str, report: bool) -> None:
    found = brief_goal(goal)

    assert found is not None
    assert (found.topic, found.report, found.web, found.path) == (topic, report, False, None)


@pytest.mark.parametrize(
    ("goal", "topic", "words"),
    [
        ("What is C++?", "What is C++", 1),
        ("What is the capital of France?", "What is the capital of France", 2),
        ("What is .NET?", "What is .NET", 1),
        ("who builds offshore wind farms", "who builds offshore wind farms", 3),
        ("Is hydrogen cheaper than gas?", "Is hydrogen cheaper than gas", 3),
    ],
)
def test_a_question_is_searched_for_with_its_words_together(
    goal: str, topic: str, words: int, planned: Planned
) -> None:
    plan = planned(goal)

    assert tools_of(plan) == ["search_documents", "summarize_text"]
    assert plan.steps[0].args == {"query": topic, "limit": 8, "min_words": words}


def test_a_question_may_be_answered_in_a_file(planned: Planned) -> None:
    plan = planned("What is .NET? Write it to net.md")

    assert plan.steps[0].args["query"] == "What is .NET" and plan.steps[-1].args["path"] == "net.md"


@pytest.mark.parametrize(
    "goal", ["What time is it?", "How are you?", "What is 3 apples plus 4?", "what is 5!", "Do my taxes", "Be nice"]
)
def test_a_question_that_no_document_answers_is_refused(goal: str, ask: Ask) -> None:
    assert ask(goal).startswith(("This is the offline model", "The offline rules"))


def test_a_question_is_refused_rather_than_another_one_answered(
    planned: Planned, replan: Ask, carry_out: Callable[..., dict[str, StepResult]]
) -> None:
    goal = "What is the capital of Norway?"
    plan = planned(goal)

    results = carry_out(plan)

    assert results["step_1"].status == "failed" and "capital, norway together" in str(results["step_1"].error)
    assert "no document answers" in replan(goal, plan, results)


def test_a_file_in_the_goal_is_where_the_report_goes(planned: Planned) -> None:
    plan = planned("Write a short report on offshore wind to out/notes.md")

    assert plan.steps[-1].args["path"] == "out/notes.md"
    assert plan.steps[0].args["query"] == "offshore wind"


@pytest.mark.parametrize("goal", ["Research solar power on the web", "Find information about solar power online"])
def test_the_web_is_searched_beside_the_documents_where_it_is_named(goal: str, planned: Planned) -> None:
    plan = planned(goal)

    assert tools_of(plan)[-2:] == ["web_search", "summarize_text"]
    assert plan.steps[-2].args == {"query": "solar power"}
    assert "{step_5_result}" in plan.steps[-1].args["text"]


@pytest.mark.parametrize("constraint", ["no web", "do not use the internet", "stay offline"])
def test_a_constraint_may_rule_the_web_out(constraint: str, planned: Planned) -> None:
    assert "web_search" not in tools_of(planned("Research solar power on the web", constraint))


def test_constraints_bound_the_summary(planned: Planned) -> None:
    plan = planned("Research solar power", "at most 3 statements", "only local documents, with sources please")

    assert plan.steps[-1].args["max_sentences"] == 3
    assert len(plan.steps) == 5


@pytest.mark.parametrize(
    "wish",
    [
        "in the style of a pirate",
        "spend at most 200",
        "at most 3 statements, in the style of a pirate",
        "only 2 searches and in French",
        "exactly 9 searches",
        "only 0 searches",
        "at most 0 statements",
        "do not write it to notes.md",
        "do not search for coal",
        "search for wind but not coal",
        "cite no sources",
        "do not cite sources",
        "cite two sources",
        "not only 2 searches",
        "use only the web",
        "not offline",
    ],
)
def test_a_wish_that_the_rules_cannot_keep_to_in_full_is_refused(wish: str, ask: Ask) -> None:
    assert "cannot keep to this constraint" in ask(RENEWABLES, wish)
    assert "cannot use this feedback" in ask(RENEWABLES, feedback=(wish,))


def test_words_of_a_search_are_no_wish_of_their_own(planned: Planned) -> None:
    plan = planned("Research solar power", feedback=("search for web frameworks",))

    assert "web_search" not in tools_of(plan) and plan.steps[4].args["query"] == "web frameworks"


def test_a_goal_cannot_smuggle_references_into_arguments(planned: Planned) -> None:
    plan = planned("Research {step_5_result} and {step_1_result.passages}")

    assert waits_for(plan.steps)["step_1"] == ()
    assert resolve(plan.steps[0].args["query"], {}) == "{step_5_result} and {step_1_result.passages}"


def test_missing_tools_are_named(ask: Ask) -> None:
    answer = ask("Research solar power", without=("search_documents",))

    assert "search_documents" in answer
    assert "summarize_text" not in answer


def test_a_report_that_no_tool_can_write_is_said_with_the_answer(planned: Planned) -> None:
    plan = planned(RENEWABLES, without=("write_report",))

    assert tools_of(plan)[-1] == "summarize_text"
    assert "write_report" in plan.answer["note"]


@pytest.mark.parametrize("goal", ["Summarise the documents", "Summarize this text: A. B.", "Research it"])
def test_a_brief_about_nothing_is_asked_back(goal: str, ask: Ask) -> None:
    assert "find no topic" in ask(goal)


@pytest.mark.parametrize(
    ("feedback", "queries"),
    [
        (("fewer searches",), 2),
        (("Please use only one search.",), 1),
        (("only 5 searches",), 5),
        (("fewer searches", "too many searches"), 1),
        (("add a search for floating foundations",), 5),
        (("fewer searches", "add a search for floating foundations"), 3),
    ],
)
def test_feedback_changes_the_searches(feedback: tuple[str, ...], queries: int, planned: Planned) -> None:
    plan = planned(RENEWABLES, feedback=feedback)

    assert tools_of(plan).count("search_documents") == queries
    assert len(plan.steps[queries].args["text"]) == queries


def test_a_search_that_was_asked_for_is_made_as_it_was_named(planned: Planned) -> None:
    plan = planned(RENEWABLES, feedback=('also search for "floating foundations", and write it to wind.md',))

    assert plan.steps[4].args["query"] == "floating foundations"
    assert plan.steps[-1].args["path"] == "wind.md"


def test_feedback_takes_the_web_out_and_in(planned: Planned) -> None:
    goal = "Research solar power on the web"

    assert "web_search" not in tools_of(planned(goal, feedback=("without the web, please",)))
    assert "web_search" in tools_of(planned(goal, feedback=("without web", "use the web after all")))


def test_feedback_that_no_rule_knows_is_declined_and_the_known_is_named(ask: Ask) -> None:
    answer = ask(RENEWABLES, feedback=("make it rhyme",))

    assert "make it rhyme" in answer
    assert "fewer searches" in answer
