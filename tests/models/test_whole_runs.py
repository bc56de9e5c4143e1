"""Whole runs through OpenAI's client against a scripted server: by the graph, the facade and the command line."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command
from typer.testing import CliRunner

from planner_executor import Agent, build_graph, default_tools
from planner_executor.graph.cli import app as command_line
from planner_executor.graph.testing import LoggedTools, on_thread, step

ROOT = Path(__file__).parents[2]
TEXTS = ROOT / "examples" / "renewable-energy"
GOAL = "Research the latest trends in renewable energy and write a brief report"

BRIEF = {
    "steps": [
        step("step_1", "search_documents", query="solar capacity growth", limit=4),
        step("step_2", "search_documents", query="offshore wind cost", limit=4),
        {
            "id": "step_3",
            "objective": "Find one more passage, on storage, and name the most important trend",
            "tools": ["search_documents"],
            "depends_on": ["step_1", "step_2"],
        },
        step("step_4", "summarize_text", text=["{step_1_result}", "{step_2_result}"], max_sentences=6),
        step("step_5", "write_report", content="{step_4_result}", path="report.md", title="Latest trends"),
    ],
    "answer": {"report": "{step_5_result.path}", "trend": "{step_3_result}"},
}


def script_the_brief(aimock: Any) -> None:
    """Let the planner fail once and then plan, and the executor search before it answers."""
    slow_down = f"slow down, {aimock.key}"
    aimock.answers("planner", aimock.fails(429, slow_down, retryAfter=0), aimock.says(BRIEF))
    search = aimock.calls("search_documents", query="battery storage")
    aimock.answers("executor", search, aimock.says("Solar power grows fastest"))


def check_the_brief(report: Path) -> None:
    text = report.read_text()
    cited = re.findall(r"\(([\w.-]+):(\d+)", text)
    assert text.startswith("# Latest trends") and len(cited) >= 4
    assert all(int(line) <= len((TEXTS / source).read_text().splitlines()) for source, line in cited)


def test_the_main_job_by_the_facade(aimock: Any, tmp_path: Path) -> None:
    script_the_brief(aimock)
    tools = default_tools(documents=TEXTS, workspace=tmp_path / "workspace")

    with Agent.open(tmp_path / "runs.db", planner=aimock.settings(), tools=tools) as agent:
        run = agent.resume(agent.start(GOAL).id, "approve")
        ended = [event.payload for event in agent.log(run.id) if event.kind == "model_finished"]

    report = tmp_path / "workspace" / "report.md"
    assert (run.status, run.answer) == ("succeeded", {"report": str(report), "trend": "Solar power grows fastest"})
    check_the_brief(report)
    assert [payload["usage"]["total_tokens"] for payload in ended] == [16, 16, 16]
    attempts = [payload.get("attempts", []) for payload in ended]
    assert [[attempt["kind"] for attempt in tried] for tried in attempts] == [["rate_limit"], [], []]
    assert len(aimock.requests) == 4


@pytest.mark.slow
def test_the_main_job_by_the_command_line(aimock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script_the_brief(aimock)
    (tmp_path / "planner-executor.toml").write_text(
        f'[models.planner]\nmodel = "openai:scripted-model"\nbase_url = "{aimock.base_url}"\napi_key_env = "A_KEY"\n'
    )
    monkeypatch.setenv("PLANNER_EXECUTOR_CONFIG", "planner-executor.toml")
    monkeypatch.setenv("A_KEY", aimock.key)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "planner_executor", "run", GOAL, "--docs", str(TEXTS), "--yes"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    check_the_brief(tmp_path / "workspace" / "report.md")
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [data for data in [*kept, (done.stdout + done.stderr).encode()] if aimock.key.encode() in data]


@pytest.mark.slow
def test_the_main_job_on_the_tools_of_a_filesystem_server(
    aimock: Any, node_package: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = node_package("@modelcontextprotocol/server-filesystem") / "dist" / "index.js"
    shutil.copytree(TEXTS, tmp_path / "files")
    entry = {"command": "node", "args": [str(script), str(tmp_path / "files")]}
    rules = {"write_file": {"free_args": ["content"]}}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"files": {**entry, "tools": rules}}}))
    sources = [str(tmp_path / "files" / name) for name in ("solar-power.md", "energy-storage.md")]
    report = str(tmp_path / "files" / "report.md")
    plan = [
        *(step(f"read_{n}", "read_text_file", path=source) for n, source in enumerate(sources)),
        step("trends", "summarize_text", text=["{read_0_result.content}", "{read_1_result.content}"]),
        step("write", "files_write_file", path=report, content="# Trends\n\n{trends_result.summary}\n"),
    ]
    aimock.answers("planner", aimock.says({"steps": plan, "answer": "{trends_result.summary}"}))
    for name, value in {"": "openai:scripted-model", "_BASE_URL": aimock.base_url, "_API_KEY": aimock.key}.items():
        monkeypatch.setenv(f"PLANNER_EXECUTOR_PLANNER{name}", value)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "planner_executor", "run", GOAL, "--mcp", "servers.json", "--yes"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(report).read_text().startswith("# Trends\n\n") and len(aimock.requests) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and aimock.key.encode() in path.read_bytes()]


def app(aimock: Any, **options: Any) -> tuple[Any, LoggedTools]:
    tools = LoggedTools()
    own = [
        tools.tool("search", lambda query: {"items": [query.upper()]}, effect="read"),
        tools.tool("broken", lambda: 1 / 0, effect="read"),
    ]
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    return build_graph(aimock.settings(), tools=own, checkpointer=saver, **options), tools


def test_by_the_graph_each_node_in_an_event_loop_of_its_own(aimock: Any) -> None:
    think = {"id": "think", "objective": "Think", "tools": ["search"], "depends_on": ["try"]}
    aimock.answers("planner", aimock.says({"steps": [step("try", "broken"), think]}))
    aimock.answers("replanner", aimock.says({"steps": [step("try", "search", query="x")], "keep": ["think"]}))
    aimock.answers("executor", aimock.calls("search", query="wind"), aimock.says("it blows"))
    graph, tools = app(aimock)

    graph.invoke({"goal": "g"}, on_thread())
    graph.invoke(Command(resume="approve"), on_thread())
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert (state["status"], state["answer"]) == ("succeeded", "it blows")
    assert tools.calls == [("broken", {}), ("search", {"query": "x"}), ("search", {"query": "wind"})]


def test_the_replanner_and_the_executor_may_have_models_of_their_own(aimock: Any, replies: Any) -> None:
    aimock.answers("planner", aimock.says({"steps": [{"id": "think", "objective": "Think"}]}))
    replies.say("a cheap thought")
    graph, _ = app(aimock, executor=replies.settings())

    graph.invoke({"goal": "g"}, on_thread())
    state = graph.invoke(Command(resume="approve"), on_thread())

    assert state["answer"] == "a cheap thought"
    assert (len(aimock.requests), len(replies.requests)) == (1, 1)


def test_a_client_chooses_how_the_model_is_asked(aimock: Any) -> None:
    aimock.answers("planner", aimock.says({"steps": [], "answer": "yes"}))
    graph, _ = app(aimock)
    context = {"model_settings": {"planner": {"temperature": 0.5, "options": {"seed": 7}}}}

    state = graph.invoke({"goal": "g"}, on_thread(), context=context)

    (request,) = aimock.requests
    assert (state["answer"], request["temperature"], request["seed"]) == ("yes", 0.5, 7)


async def test_tokens_are_counted_while_the_chat_streams(aimock: Any) -> None:
    aimock.answers("planner", aimock.says({"steps": [{"id": "think", "objective": "Think"}]}))
    aimock.answers("executor", aimock.says("a thought in several pieces, as they come"))
    graph, _ = app(aimock, approval="never")

    told = graph.astream({"goal": "g"}, on_thread(), stream_mode="messages")
    words = "".join([part.text async for part, where in told if where["langgraph_node"] == "executor"])

    assert "a thought in several pieces" in words
    assert [request["stream"] for request in aimock.requests] == [True, True]
    assert all(request["stream_options"] == {"include_usage": True} for request in aimock.requests)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("I would rather talk about the weather.", "talk about the weather"),
        (json.dumps(BRIEF)[:200], "cut off"),
    ],
)
def test_an_answer_that_is_no_plan_ends_the_run_with_its_words(aimock: Any, answer: str, words: str) -> None:
    aimock.answers("planner", aimock.says(answer), aimock.says(answer))
    graph, _ = app(aimock)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["status"] == "failed" and words in state["reason"]
    assert len(aimock.requests) == 2


def test_a_server_that_refuses_ends_the_run_with_one_sentence(aimock: Any) -> None:
    aimock.answers("planner", *[aimock.fails(400, "no such thing")] * 2)
    graph, _ = app(aimock)

    state = graph.invoke({"goal": "g"}, on_thread())

    assert state["reason"].startswith("the planner model scripted-model failed 2 times: the server refuses the request")


@pytest.mark.parametrize(
    ("plan", "answer"),
    [
        ({"steps": [], "answer": "Paris"}, "Paris"),
        ({"steps": [step("sum", "calculator", expression="40 + 2")]}, "42"),
    ],
    ids=["no step", "one step that reads"],
)
def test_the_direct_road_by_the_command_line(
    replies: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: Any, answer: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planner-executor.toml").write_text(
        f'[models.planner]\nmodel = "openai:m"\nbase_url = "{replies.base_url}"\napi_key = "k"\n'
    )
    replies.say(plan)

    done = CliRunner().invoke(command_line, ["run", "g", "--approval", "side_effects"])

    assert done.exit_code == 0 and answer in done.stdout, done.output
    assert len([path for path, _, _ in replies.requests if path.endswith("completions")]) == 1
