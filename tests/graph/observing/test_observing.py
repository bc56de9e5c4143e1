"""Those who look on: log records, spans, tracers and counters, of whole runs and without a word of their content."""

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.types import Command
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from planner_executor import Agent, build_graph
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.observing.json_lines import JsonLines
from planner_executor.graph.observing.log import log_events
from planner_executor.graph.observing.otel import OtelObserver
from planner_executor.graph.observing.prometheus import exposition, registry_of
from planner_executor.graph.record.counters import BOUNDS_S, GAUGES, HELP, HISTOGRAMS, Counters, RunCounter
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import LoggedTools, ScriptedModel, drafted, on_thread, step, whole_payload

Build = Callable[..., Any]
SECRET = "hunter2-secret"
PLAN = {
    "steps": [
        step("a", "search", query=SECRET),
        step("b", "broken"),
        {"id": "c", "objective": "think", "depends_on": ["a"]},
    ]
}


def whole_event(seq: int, kind: str, step_id: str, **told: Any) -> Event:
    return Event(seq=seq, kind=kind, step=step_id, payload=whole_payload(kind, told), at=0.0)


def spans(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        found.setdefault(span.name, []).append(span)
    return found


def traced() -> tuple[OtelObserver, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return OtelObserver(provider), exporter


def test_a_run_is_spans_of_planner_review_steps_tools_and_models(build: Build) -> None:
    observer, exporter = traced()
    graph = build(PLAN, "a thought", observers=[observer], replan="never")
    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume=True), on_thread())

    found = spans(exporter)
    first, second = found["invoke_agent planner-executor"]
    (tool,), (chat, _) = found["execute_tool search"], found["chat scripted"]
    assert found["plan planner"][0].parent == first.context and chat.parent == found["plan planner"][0].context
    assert found["step a"][0].parent == second.context and tool.parent == found["step a"][0].context
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
    }
    asked = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")
    assert chat.attributes is not None and [chat.attributes[name] for name in asked] == ["chat", "scripted", "scripted"]
    assert (tool.kind, chat.kind) == (SpanKind.INTERNAL, SpanKind.CLIENT)
    assert second.links[0].context == first.context and len(found["review"]) == 2
    assert not found["execute_tool broken"][0].status.is_ok and found["step c"]
    assert second.attributes is not None and second.attributes["planner_executor.status"] == "partial"


def test_spans_hold_no_argument_and_no_result(build: Build) -> None:
    observer, exporter = traced()
    build(PLAN, "a thought", observers=[observer], approval="never", replan="never").invoke({"goal": "g"}, on_thread())

    assert SECRET not in "".join(span.to_json() for span in exporter.get_finished_spans())


def test_events_are_log_records_with_fields_and_without_content(build: Build, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "planner_executor.run"):
        build(PLAN, "a thought", approval="never", replan="never").invoke({"goal": "g"}, on_thread())

    records = [record for record in caplog.records if record.name == "planner_executor.run"]
    failed = next(record for record in records if record.levelno == logging.WARNING)
    assert (failed.run, failed.event, failed.step) == ("thread.1", "call_finished", "b")  # type: ignore[attr-defined]
    assert {record.event for record in records} >= {"run_started", "call_started", "run_ended"}  # type: ignore[attr-defined]
    assert SECRET not in caplog.text


class Names(BaseCallbackHandler):
    def __init__(self) -> None:
        self.models: list[Any] = []
        self.tools: list[Any] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
        self.models.append((more["name"], more["metadata"]))

    def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
        self.tools.append((more.get("name") or serialized["name"], more["metadata"]))


def test_tracers_are_told_roles_steps_and_revisions(build: Build) -> None:
    names = Names()
    graph = build(PLAN, "a thought", approval="never", replan="never")
    graph.invoke({"goal": "g"}, {**on_thread(), "callbacks": [names]})

    assert [name for name, _ in names.models] == ["planner", "executor c"]
    assert names.models[1][1]["step"] == "c" and names.models[1][1]["revision"] == 1
    assert {name for name, _ in names.tools} == {"search", "broken"}
    assert {about["step"] for _, about in names.tools} == {"a", "b"}


def test_each_event_is_a_line_of_json_as_it_is_written(build: Build) -> None:
    out = StringIO()
    build(PLAN, "a thought", observers=[JsonLines(out)], approval="never", replan="never").invoke(
        {"goal": "g"}, on_thread()
    )

    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [lines[0]["event"], lines[-1]["event"]] == ["run_started", "run_ended"]
    assert all(set(line) == {"run", "event", "step", "at", "payload"} for line in lines)


def counted(database: Path) -> Counters:
    async def look() -> Counters:
        async with open_runs(database) as runs:
            return await runs.counters()

    return asyncio.run(look())


def test_what_is_counted_over_runs_is_what_happened(tmp_path: Path, tools: LoggedTools) -> None:
    search = tools.tool("search", lambda query: query, effect="read")
    plan = {"steps": [step("a", "search", query='odd "name"')]}
    with Agent.open(tmp_path / "runs.db", planner=ScriptedModel([plan, plan]), tools=[search]) as agent:
        agent.resume(agent.start("g").id, "approve")
        waiting = agent.start("g")
    counters = counted(tmp_path / "runs.db")

    assert waiting.request is not None and counters.value("runs_waiting", waits_for="person") == 1
    assert counters.value("runs_total") == 2 and counters.value("runs_ended_total", status="succeeded") == 1
    assert counters.value("tool_calls_total", tool="search", status="succeeded") == 1
    assert counters.value("steps_total", status="succeeded") == 1
    assert counters.value("questions_total", kind="run_plan") == 2
    assert 'planner_executor_model_calls_total{model="scripted",role="planner"} 2.0' in exposition(
        registry_of(lambda: counters)
    )


def test_an_observer_that_fails_is_told_nothing_more_and_stops_no_run(
    build: Build, caplog: pytest.LogCaptureFixture, tools: LoggedTools
) -> None:
    calls, seen = [], StringIO()

    def broken(_: Any, drafts: Any) -> None:
        calls.extend(drafts)
        if drafts[0].kind == "call_started":
            raise OSError("no space left")

    graph = build(
        {"steps": [step("a", "send", to="x"), {**step("b", "send", to="y"), "depends_on": ["a"]}]},
        observers=[broken, JsonLines(seen)],
        approval="never",
    )
    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "succeeded" and [args for _, args in tools.calls] == [{"to": "x"}, {"to": "y"}]
    assert calls[-1].kind == "call_started" and '"run_ended"' in seen.getvalue()
    assert len([line for line in caplog.messages if "no space left" in line]) == 1


@pytest.mark.e2e
def test_looking_on_needs_no_package_of_its_own_unless_it_is_asked_for() -> None:
    import subprocess
    import sys

    code = (
        "import sys, planner_executor.graph.builder.graph_builder; "
        "print('opentelemetry' in sys.modules and 'planner_executor.graph.observing.otel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_a_graph_without_observers_is_built_as_before() -> None:
    assert build_graph(ScriptedModel([])).name == "planner-executor"


def test_names_from_outside_begin_no_log_line_and_forge_no_field(caplog: pytest.LogCaptureFixture) -> None:
    name = "send status=succeeded\nWARNING forged\u2028\u202e"
    draft = drafted("call_started", {"tool": name, "role": 'a"b', "revision": 1}, "s")

    with caplog.at_level(logging.DEBUG, "planner_executor.run"):
        log_events(RunKey("thread\nforged", 1), [draft])

    (record,) = caplog.records
    assert record.getMessage() == (
        "thread\\u{a}forged.1 call_started s revision=1 "
        'role="a\\"b" tool="send status=succeeded\\\\u{a}WARNING forged\\\\u{2028}\\\\u{202e}"'
    )
    assert record.__dict__["tool"] == "send status=succeeded\\u{a}WARNING forged\\u{2028}\\u{202e}"
    assert "\n" not in record.__dict__["run"]


def test_names_from_outside_begin_no_line_of_the_metrics_and_hide_nothing() -> None:
    tools = ("send\n# EOF", "send\x1b[2J\u2028\u200d")
    refused = [
        Event(seq, "call_refused", "s", 0.0, whole_payload("call_refused", {"tool": tool}))
        for seq, tool in enumerate(tools, 1)
    ]

    counters = Counters(RunCounter().count(refused), {})
    lines = exposition(registry_of(lambda: counters)).split("\n")

    assert not [line for line in lines if line.startswith("# EOF")]
    assert "\\\\u{1b}[2J\\\\u{2028}\\\\u{200d}" in "\n".join(lines)


def test_every_metric_is_named_also_if_nothing_was_counted() -> None:
    told = exposition(registry_of(lambda: Counters({}, {}))).splitlines()

    assert {line for line in told if line.startswith("# TYPE")} == {
        *(f"# TYPE planner_executor_{name} counter" for name in HELP),
        *(f"# TYPE planner_executor_{name} gauge" for name in GAUGES),
        *(f"# TYPE planner_executor_{name} histogram" for name in HISTOGRAMS),
    }


def test_the_seconds_of_steps_are_a_histogram_with_few_labels() -> None:
    lasted = [0.05, 0.3, 0.4, 45.0, 90_000.0]
    events = [
        whole_event(
            number, "step_finished", f"s{number}", status=status, started_at=1_000.0, ended_at=1_000.0 + seconds
        )
        for number, (status, seconds) in enumerate([*(("succeeded", one) for one in lasted), ("failed", 2.0)], 1)
    ]
    counters = Counters(RunCounter().count(events), {})

    told = exposition(registry_of(lambda: counters)).splitlines()
    lines = [line.removeprefix("planner_executor_step_seconds") for line in told if "step_seconds" in line]
    buckets = {line for line in lines if line.startswith("_bucket") and "succeeded" in line}
    assert {
        '_bucket{le="0.1",status="succeeded"} 1.0',
        '_bucket{le="0.5",status="succeeded"} 3.0',
        '_bucket{le="30",status="succeeded"} 3.0',
        '_bucket{le="60",status="succeeded"} 4.0',
        '_bucket{le="+Inf",status="succeeded"} 5.0',
    } <= buckets
    assert len(buckets) == len(BOUNDS_S) + 1
    assert '_count{status="succeeded"} 5.0' in lines and '_sum{status="failed"} 2.0' in lines


def test_a_count_of_many_digits_is_told_to_the_last() -> None:
    counters = Counters({("tokens_total", (("direction", "input"),)): 123_456_789}, {})

    assert 'planner_executor_tokens_total{direction="input"} 1.23456789e+08' in exposition(
        registry_of(lambda: counters)
    )


def test_metrics_without_their_package_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    with pytest.raises(ConfigError, match=r"pip install .\.\[metrics\]"):
        registry_of(lambda: Counters({}, {}))


def test_spans_of_libraries_within_a_tool_are_children_of_its_call(build: Build, tools: LoggedTools) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def fetch(query: str) -> str:
        with provider.get_tracer("a library").start_as_current_span("within"):
            return query

    search = tools.tool("fetch", fetch, effect="read")
    plan = {"steps": [step("a", "fetch", query="x"), {"id": "b", "objective": "think", "depends_on": ["a"]}]}

    class Traced(ScriptedModel):
        def _generate(self, *args: Any, **more: Any) -> Any:
            with provider.get_tracer("a library").start_as_current_span("asked"):
                return super()._generate(*args, **more)

    graph = build_graph(
        Traced([plan, "a thought"]), tools=[search], approval="never", observers=[OtelObserver(provider)]
    )
    assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"

    found = spans(exporter)
    assert found["within"][0].parent == found["execute_tool fetch"][0].context
    assert [span.parent for span in found["asked"]] == [span.context for span in found["chat scripted"]]


def test_a_span_that_failed_says_why_without_arguments(tools: LoggedTools) -> None:
    def fail(query: str) -> str:
        raise ConnectionError(f"no route for {query} to 'cluster seven' at 10.0.0.7")

    observer, exporter = traced()
    broken = tools.tool("fail", fail, effect="read")
    graph = build_graph(
        ScriptedModel([{"steps": [step("a", "fail", query="quiet harbour")]}]),
        tools=[broken],
        approval="never",
        replan="never",
        observers=[observer],
    )
    graph.invoke({"goal": "g"}, on_thread())

    (call,) = spans(exporter)["execute_tool fail"]
    assert call.status.description == "ConnectionError: no route for … … to … at …"
    told = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert not [word for word in ("quiet", "harbour", "cluster", "10.0.0.7") if word in told]
