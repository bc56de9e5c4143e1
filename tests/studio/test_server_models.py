"""The graph in `langgraph dev` with models on an OpenAI-compatible server, as a client of the API drives it."""

from collections.abc import Iterator
from typing import Any

import pytest

PLAN = {
    "steps": [
        {"id": "find", "objective": "Find", "tool": "search_documents", "args": {"query": "offshore wind cost"}},
        {"id": "judge", "objective": "Say what matters most", "tools": ["search_documents"], "depends_on": ["find"]},
        {"id": "write", "objective": "Write", "tool": "write_report", "args": {"content": "# Brief\n\n{judge_result}"}},
    ],
    "answer": {"file": "{write_result.path}", "trend": "{judge_result}"},
}
APPROVE = {"decisions": [{"type": "approve"}]}


def script_a_brief(aimock: Any) -> None:
    aimock.answers("planner", aimock.fails(429, f"slow down, {aimock.key}", retryAfter=0), aimock.says(PLAN))
    search = aimock.calls("search_documents", query="battery storage")
    aimock.answers("executor", search, aimock.says("Offshore wind grows fastest"))


@pytest.fixture(scope="module")
def planned_by_environment(serve: Any, aimock_process: Any) -> Any:
    """A server whose planner, and so its executor, is named by the environment."""
    return serve(
        PLANNER_EXECUTOR_PLANNER="openai:scripted-model",
        PLANNER_EXECUTOR_PLANNER_BASE_URL=aimock_process.base_url,
        PLANNER_EXECUTOR_PLANNER_API_KEY_ENV="A_KEY",
        A_KEY=aimock_process.key,
    )


@pytest.fixture(scope="module")
def offline_by_default(serve: Any, aimock_process: Any) -> Any:
    """A server that plans by the embedded rules, and knows a model server by its replanner."""
    return serve(
        PLANNER_EXECUTOR_PLANNER="offline",
        PLANNER_EXECUTOR_REPLANNER="openai:scripted-model",
        PLANNER_EXECUTOR_REPLANNER_BASE_URL=aimock_process.base_url,
        PLANNER_EXECUTOR_REPLANNER_API_KEY=aimock_process.key,
    )


def files_of(server: Any) -> Iterator[bytes]:
    return (path.read_bytes() for path in server.home.rglob("*") if path.is_file())


def test_a_brief_from_goal_to_report_by_the_model_that_the_environment_names(
    planned_by_environment: Any, thread_of: Any, aimock: Any
) -> None:
    script_a_brief(aimock)
    thread = thread_of(planned_by_environment)

    thread.run({"goal": "Write a brief on offshore wind"})
    request = thread.request()

    workspace = planned_by_environment.home / "workspace"
    assert [step["id"] for step in request["action_requests"][0]["args"]["plan"]["steps"]] == ["find", "judge", "write"]
    assert len(aimock.requests) == 2 and not list(workspace.iterdir())

    values = thread.answer(APPROVE)

    assert (values["status"], values["answer"]["trend"]) == ("succeeded", "Offshore wind grows fastest")
    assert (workspace / "report.md").read_text() == "# Brief\n\nOffshore wind grows fastest\n"
    assert len(aimock.requests) == 4
    assert not [data for data in files_of(planned_by_environment) if aimock.key.encode() in data]


def test_a_client_chooses_model_and_server_by_the_settings_of_one_invocation(
    offline_by_default: Any, thread_of: Any, aimock: Any
) -> None:
    script_a_brief(aimock)
    chosen = {"base_url": aimock.base_url, "temperature": 0.5, "options": {"seed": 7}}
    context = {"planner": "openai:scripted-model", "model_settings": {"planner": chosen}}
    thread = thread_of(offline_by_default)

    thread.run({"goal": "Write a brief on offshore wind"}, context=context)
    values = thread.answer(APPROVE, context=context)

    assert values["status"] == "succeeded"
    assert {(request["temperature"], request["seed"]) for request in aimock.requests} == {(0.5, 7)}
    assert not [data for data in files_of(offline_by_default) if aimock.key.encode() in data]


@pytest.mark.parametrize(
    ("context", "error", "sentence"),
    [
        (
            {"model_settings": {"planner": {"base_url": "http://127.0.0.1:9/v1"}}},
            "ModelConfigError",
            "the settings of this graph do not name the server",
        ),
        ({"planner": "openai:other"}, "ModelConfigError", "clients may not choose it for the planner"),
        ({"max_replans": 3}, "ConfigError", "max_replans=3 is more than this graph allows"),
    ],
    ids=["an address of the client's own", "a model that nobody offers", "a limit that is raised"],
)
def test_a_setting_that_cannot_work_ends_the_invocation_before_anything_is_planned(
    offline_by_default: Any, thread_of: Any, context: dict[str, Any], error: str, sentence: str
) -> None:
    thread = thread_of(offline_by_default)

    values = thread.client.runs.wait(thread.id, thread.graph, input={"goal": "g"}, context=context, raise_error=False)

    assert values["__error__"]["error"] == error and not thread.state()["values"].get("plan")
    assert sentence in values["__error__"]["message"]


def test_an_input_that_cannot_work_reaches_its_client_as_a_sentence(offline_by_default: Any, thread_of: Any) -> None:
    thread = thread_of(offline_by_default)

    values = thread.client.runs.wait(thread.id, thread.graph, input={"goal": " "}, raise_error=False)

    assert values["__error__"]["error"] == "InputError" and "give a goal" in values["__error__"]["message"]
