"""The graph in `langgraph dev`, driven as Studio drives it: see the plan, change it, approve it, look back, fork."""

from typing import Any

import pytest

RESEARCH = {
    "goal": "Research offshore wind and write a brief report with sources",
    "constraints": ["at most 2 searches"],
}
SUM = {
    "steps": [
        {"id": "sum", "objective": "add", "tool": "calculator", "args": {"expression": "2 + 3"}},
        {"id": "twice", "objective": "double", "tool": "calculator", "args": {"expression": "{sum_result} * 2"}},
    ]
}
OTHER = {"steps": [{"id": "other", "objective": "add", "tool": "calculator", "args": {"expression": "40 + 2"}}]}
APPROVE = {"decisions": [{"type": "approve"}]}


def edited(plan: Any) -> dict[str, Any]:
    return {"decisions": [{"type": "edit", "edited_action": {"name": "run_plan", "args": {"plan": plan}}}]}


def before_review(thread: Any) -> dict[str, Any]:
    """Return the earliest checkpoint at which the thread stood before its review."""
    return [entry for entry in thread.client.threads.get_history(thread.id) if entry["next"] == ["review"]][-1]


def test_the_input_and_the_settings_are_published_with_descriptions(client: Any) -> None:
    (assistant,) = client.assistants.search(graph_id="planner_executor")
    schemas = client.assistants.get_schemas(assistant["assistant_id"])

    goal_in = schemas["input_schema"]["properties"]
    settings = schemas["context_schema"]["properties"]
    operation = {"operation", "fork_from", "run"}
    assert set(goal_in) == {"goal", "constraints", "tags", "plan", "messages", *operation}
    assert "required" not in schemas["input_schema"]
    limits = {"max_concurrency", "max_replans", "max_repairs"}
    assert {"planner", "executor", "replanner", "judge", "model_settings", *limits} <= set(settings)
    assert settings["planner"]["default"] == "offline" and settings["max_concurrency"]["default"] == 16
    assert settings["approval"]["enum"] == ["always"] and settings["approval"]["readOnly"]
    assert settings == schemas["config_schema"]["properties"]
    assert all(field["description"] for field in [*goal_in.values(), *settings.values()])
    assert settings["planner"]["langgraph_nodes"] == ["planner"]
    edges = client.assistants.get_graph(assistant["assistant_id"])["edges"]
    assert all(edge["data"] for edge in edges if edge.get("conditional"))
    assert schemas["output_schema"] and schemas["state_schema"]


def test_from_a_goal_to_a_report_with_a_look_at_the_plan_between(thread: Any, server: Any) -> None:
    report = server.home / "workspace" / "report.md"
    report.unlink(missing_ok=True)  # of another test at the same server

    values = thread.run(RESEARCH)
    request = thread.request()

    assert values["status"] == "waiting" and request["action_requests"][0]["args"] == {"plan": values["plan"]}
    assert request["digest"] == values["digest"] and not report.exists()

    values = thread.answer(APPROVE)

    assert values["status"] == "succeeded" and "offshore-wind.txt" in str(values["answer"])
    assert report.exists()
    assert {result["status"] for result in values["results"].values()} == {"succeeded"}
    history = thread.client.threads.get_history(thread.id)
    assert [entry["next"] for entry in history] == [[], ["executor"], ["review"], ["planner"], ["__start__"]]


def test_a_plan_edited_in_the_state_leads_to_a_new_review(thread: Any) -> None:
    thread.run({"goal": "add", "plan": SUM})
    first = thread.request()["digest"]

    thread.client.threads.update_state(thread.id, {"plan": OTHER})
    thread.run(None)
    request = thread.request()

    assert request["action_requests"][0]["args"] == {"plan": OTHER} and request["revision"] == 2
    assert request["digest"] != first and request["error"] is None
    assert thread.answer(APPROVE)["answer"] == 42


def test_a_decision_edits_the_plan_and_a_fork_from_before_it_is_a_run_of_its_own(thread: Any) -> None:
    first = thread.run({"goal": "add", "plan": SUM})["run"]["id"]
    values = thread.answer(edited(OTHER))
    assert (values["status"], values["revision"], values["answer"]) == ("succeeded", 2, 42)

    thread.run(None, checkpoint=before_review(thread)["checkpoint"])
    request = thread.request()

    assert request["run"] != first and request["action_requests"][0]["args"] == {"plan": SUM}
    assert thread.answer(APPROVE)["answer"] == 10


def test_a_fork_with_another_plan_shows_that_plan(thread: Any) -> None:
    thread.run({"goal": "add", "plan": SUM})
    thread.answer(APPROVE)

    forked = thread.client.threads.update_state(
        thread.id, {"plan": OTHER}, checkpoint=before_review(thread)["checkpoint"]
    )
    thread.run(None, checkpoint=forked["checkpoint"])

    assert thread.request()["action_requests"][0]["args"] == {"plan": OTHER}
    assert thread.answer(APPROVE)["answer"] == 42


def test_bad_answers_in_parallel_and_a_second_approval_do_no_harm(thread: Any) -> None:
    thread.run({"goal": "add", "plan": SUM})
    create, join = thread.client.runs.create, thread.client.runs.join
    odd = [{"decisions": []}, "", {"type": "yes"}, 1]

    runs = [create(thread.id, thread.graph, command={"resume": answer}) for answer in odd]
    for run in runs:
        join(thread.id, run["run_id"])
    assert thread.request()["error"] and thread.state()["values"]["results"] == {}

    runs = [create(thread.id, thread.graph, command={"resume": APPROVE}) for _ in range(2)]
    for run in runs:
        join(thread.id, run["run_id"])
    values = thread.state()["values"]
    assert values["status"] == "succeeded" and values["answer"] == 10


def test_settings_count_for_one_invocation_and_cannot_waive_the_review(thread: Any) -> None:
    settings = {"max_concurrency": 1, "planner": "offline"}
    with pytest.raises(Exception, match="ConfigError"):
        thread.run({"goal": "add", "plan": SUM}, context={**settings, "approval": "never"})

    values = thread.run({"goal": "add", "plan": SUM}, context=settings)

    assert values["status"] == "waiting" and thread.request()
    assert thread.answer(APPROVE, context=settings)["answer"] == 10


def test_progress_goes_through_the_chat_and_the_planners_json_does_not(thread: Any) -> None:
    modes = ["messages-tuple", "custom"]
    planned = list(thread.client.runs.stream(thread.id, thread.graph, input=RESEARCH, stream_mode=modes))
    told = list(thread.client.runs.stream(thread.id, thread.graph, command={"resume": APPROVE}, stream_mode=modes))

    stated, asked = [part.data[0] for part in planned if part.event == "messages"]
    decided, progress, *_ = [part.data[0] for part in told if part.event == "messages"]
    steps = [(part.data["step"], part.data["status"]) for part in told if part.event == "custom"]
    assert (stated["type"], stated["content"]) == ("human", RESEARCH["goal"])
    assert "Your decision is needed." in asked["content"]
    assert decided["content"].startswith("Approved by ")
    assert "steps done. Running: step_1, step_2" in progress["content"]
    assert steps.index(("step_1", "running")) < steps.index(("step_1", "succeeded"))
