"""What clients are sent and send has a published JSON Schema: the files of `schemas/`, and what whole runs send."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from planner_executor import Agent
from planner_executor.graph.record.stream_event import VERSION, stream_schema
from planner_executor.graph.review.answer_form import answer_schema
from planner_executor.graph.review.content import review_schema
from planner_executor.graph.review.decision import KEYS, InvalidResponse, read_answer
from planner_executor.graph.review.interrupt_form import plan_schema, request_schema
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import ActionName
from planner_executor.graph.serving.run_progress import progress_schema, run_progress
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step
from planner_executor.tools.call_progress import CallProgress, progress_listener

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "schemas"
MADE: dict[str, Callable[[], dict[str, Any]]] = {
    "plan": plan_schema,
    "review": review_schema,
    "request": request_schema,
    "decision": answer_schema,
    "stream": stream_schema,
    "progress": progress_schema,
}
REQUESTS = sorted((ROOT / "tests" / "data" / "reviews").glob("*/studio.json"))
PLAN = {"steps": [{"id": "a", "objective": "o"}]}


def faults(name: str, value: Any) -> list[str]:
    """Return what the published schema says of a value."""
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


@pytest.mark.parametrize("name", MADE)
def test_a_published_schema_is_that_of_the_types(name: str) -> None:
    file, written = FOLDER / f"{name}.json", json.dumps(MADE[name](), indent=1) + "\n"
    if os.environ.get("RENEW_SNAPSHOTS"):
        file.write_text(written)
    assert file.read_text() == written, f"{file} differs; `make snapshots` writes it anew"


@pytest.mark.parametrize("name", ["progress", "review", "stream"])
def test_what_clients_are_sent_names_the_version_of_its_form(name: str) -> None:
    schema = MADE[name]()

    assert schema["properties"]["version"]["const"] >= 1 and "version" in schema["required"]


@pytest.mark.parametrize("name", MADE)
def test_a_schema_is_one_and_says_what_each_object_is(name: str) -> None:
    schema = MADE[name]()

    Draft202012Validator.check_schema(schema)
    objects = [one for one in [schema, *schema["$defs"].values()] if "properties" in one]
    assert objects and all(one.get("description") for one in objects)
    assert [one["title"] for one in objects if one.get("additionalProperties") is not False] == (
        ["EditedPlan"] if name == "decision" else []
    )


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.parent.name)
def test_every_request_that_was_looked_at_fits_its_schema(file: Path) -> None:
    request = json.loads(file.read_text())

    assert faults("request", request) == []
    assert faults("request", {**request, "more": 1}) and faults("request", {**request, "error": 1})


@pytest.mark.parametrize("file", REQUESTS, ids=lambda file: file.parent.name)
def test_every_plan_that_was_looked_at_fits_its_schema(file: Path) -> None:
    actions = json.loads(file.read_text())["action_requests"]

    for plan in (one["args"]["plan"] for one in actions if one["name"] == "run_plan"):
        assert faults("plan", plan) == []
        assert faults("plan", {**plan, "more": 1}) and faults("plan", {"steps": [{**plan["steps"][0], "timeout_s": 0}]})


def test_the_events_of_a_whole_run_fit_their_schema(build: Callable[..., Any], tools: LoggedTools) -> None:
    half = tools.tool("half", lambda n: 1 // (n % 2), effect="read")
    each = {**step("a", "half", n="{item_result}"), "for_each": [1, 2], "max_failures": 1}
    gate = {"id": "b", "objective": "o", "gate": "Go on?", "depends_on": ["a"]}
    graph = build({"steps": [each, gate]}, approval="never", tools=[half])

    told = list(graph.stream({"goal": "g"}, on_thread(), stream_mode="custom"))

    assert {event["kind"] for event in told} == {"step", "item", "person"}
    assert [fault for event in told for fault in faults("stream", event)] == []
    assert faults("stream", {**told[0], "more": 1})


def test_what_a_tool_reports_in_mid_call_fits_the_schema(build: Callable[..., Any], tools: LoggedTools) -> None:
    def work() -> int:
        listener = progress_listener()
        assert listener is not None
        listener(CallProgress(1, None, "first page"))
        return 1

    graph = build({"steps": [step("a", "work")]}, approval="never", tools=[tools.tool("work", work, effect="read")])

    told = list(graph.stream({"goal": "g"}, on_thread(), stream_mode="custom"))

    assert [event["progress"]["text"] for event in told if event["kind"] == "progress"] == ["1, first page"]
    assert [fault for event in told for fault in faults("stream", event)] == []


def test_the_progress_of_a_run_fits_its_schema_before_a_decision_and_at_the_end(
    tmp_path: Path, tools: LoggedTools
) -> None:
    plan = {"steps": [step("a", "send", to="x"), {"id": "b", "objective": "o", "gate": "Go on?", "depends_on": ["a"]}]}
    planner = ScriptedModel([plan])
    with Agent.open(tmp_path / "runs.db", planner=planner, tools=[tools.tool("send")]) as agent:
        first = agent.start("g")
        logs = [agent.log(first.id)]
        run = agent.resume(first.id, "approve")
        logs.append(agent.log(first.id))
        agent.resume(first.id, run.decide(approve=True))
        logs.append(agent.log(first.id))

    told = [run_progress(log) for log in logs]

    assert [one["status"] for one in told] == ["waiting", "waiting", "succeeded"] and told[1]["person"] == ["b"]
    assert [fault for one in told for fault in faults("progress", one)] == []
    assert faults("progress", {**told[0], "more": 1})


def request(name: ActionName) -> ReviewRequest:
    action = ReviewAction(name, ARGS[name], name, key="k" if name == "run_step" else None)
    return ReviewRequest(run="t.1", revision=1, digest="d" * 64, binding="b" * 64, actions=(action,))


def edit(name: ActionName, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


ARGS: dict[ActionName, dict[str, Any]] = {
    "run_plan": {"plan": PLAN},
    "run_step": {"step": "a", "tool": "send", "args": {"to": "x"}},
    "answer_question": {"step": "a", "question": "?", "answer": None},
    "settle_effect": {"step": "a", "tool": "send", "args": {"to": "x"}, "happened": None, "result": None},
    "raise_budget": {"budget": {"steps": 1}, "spent": {"steps": 1}},
}
APPROVE = {"type": "approve"}
ANSWERS: list[tuple[ActionName, Any]] = [
    *(("run_plan", short) for short in (True, False, "yes", "no", "only last year", PLAN, PLAN["steps"])),
    *(("run_plan", edit("run_plan", plan=plan)) for plan in (PLAN, PLAN["steps"], json.dumps(PLAN))),
    ("run_plan", {**APPROVE, "reason": "as agreed", "ask_later": ["a"]}),
    ("run_plan", {"type": "reject", "comments": [{"step": "a", "text": "only last year"}], "final": True}),
    ("run_plan", json.dumps({"decisions": [APPROVE]})),
    ("run_step", {**APPROVE, "standing": {"at_most": 5, "args": {"to": {"one_of": ["x"]}}, "until": "2026-12-01T08Z"}}),
    ("run_step", edit("run_step", args={"to": "y"})),
    ("run_step", edit("run_step", **{**ARGS["run_step"], "args": '{"to": "y"}'})),
    ("answer_question", edit("answer_question", answer=["Oslo"])),
    ("answer_question", edit("answer_question", **{**ARGS["answer_question"], "answer": "Oslo"})),
    ("settle_effect", edit("settle_effect", happened=False)),
    ("settle_effect", edit("settle_effect", **{**ARGS["settle_effect"], "happened": " TRUE", "result": {"n": 1}})),
    ("raise_budget", edit("raise_budget", budget={"steps": 9, "tokens": None})),
    ("raise_budget", edit("raise_budget", **{**ARGS["raise_budget"], "budget": '{"steps": 9}'})),
    *((name, {"type": "reject", "message": "n", "digest": "d" * 64}) for name in ARGS),
]


@pytest.mark.parametrize(("name", "answer"), ANSWERS)
def test_a_form_of_an_answer_fits_the_schema_and_is_read(name: ActionName, answer: Any) -> None:
    listed = {"decisions": [answer], "digest": None}
    is_decision = isinstance(answer, dict) and "type" in answer

    assert faults("decision", answer) == [] and len(read_answer(answer, request(name))) == 1
    assert (faults("decision", listed) == []) is is_decision
    if is_decision:
        assert read_answer(listed, request(name)) == read_answer(answer, request(name))
        assert faults("decision", {**answer, "more": 1})


odd = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.lists(st.just("a"), max_size=2))
comment = st.fixed_dictionaries({"step": st.just("a"), "text": odd}, optional={"more": odd})
fields = {
    "digest": st.sampled_from(["d" * 64, None, 1]),
    "standing": st.sampled_from([{"at_most": 1}, None, 1]),
    "comments": st.one_of(st.lists(comment, max_size=1), odd),
    **dict.fromkeys(("reason", "ask_later", "message", "final", "edited_action", "more"), odd),
}
decisions = st.fixed_dictionaries({"type": st.sampled_from(["approve", "reject"])}, optional=fields)


@given(decisions, st.sampled_from(sorted(ARGS)))
def test_what_is_read_as_a_decision_fits_the_schema_but_for_keys_that_are_null(
    decision: dict[str, Any], name: ActionName
) -> None:
    try:
        read_answer(decision, request(name))
    except InvalidResponse:
        return
    assert faults("decision", {key: value for key, value in decision.items() if value is not None}) == []


def test_the_reader_takes_the_keys_of_the_schema_and_no_others() -> None:
    forms = answer_schema()["$defs"]
    named = {"approve": "Approval", "edit": "Edit", "reject": "Rejection"}

    assert {kind: set(forms[form]["properties"]) for kind, form in named.items()} == KEYS


def test_the_page_of_the_stream_and_the_schema_have_the_same_version() -> None:
    assert stream_schema()["properties"]["version"]["const"] == progress_schema()["properties"]["version"]["const"]
    assert stream_schema()["properties"]["version"]["const"] == VERSION
