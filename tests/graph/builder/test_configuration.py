"""What a graph is built with: checked before anything starts, the stricter of two modes holds, files out of reach."""

import os
import sys
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from planner_executor import Agent, build_graph, default_tools
from planner_executor.graph.builder.configuration import policy_of, settings_of
from planner_executor.graph.checkpoints.saver import strict_serializer
from planner_executor.graph.errors import ConfigError, PolicyError
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step

PLAN = {"steps": [step("a", "look", q="x")]}


def build(**options: Any) -> Any:
    tools = [
        LoggedTools().tool("look", effect="read"),
        LoggedTools().tool("send", schema={"type": "object", "properties": {"to": {"type": "string"}}}),
    ]
    return build_graph(ScriptedModel([PLAN]), **{"tools": tools, **options})


@pytest.mark.parametrize(
    ("own", "policys", "mode"),
    [
        (None, None, "always"),
        (None, "never", "never"),
        (None, "side_effects", "side_effects"),
        ("never", None, "never"),
        ("never", "side_effects", "side_effects"),
        ("side_effects", "never", "side_effects"),
        ("always", "never", "always"),
        ("never", "always", "always"),
    ],
)
def test_of_the_callers_mode_and_the_policys_the_stricter_holds(
    own: str | None, policys: str | None, mode: str
) -> None:
    given = {name: value for name, value in (("approval", own), ("policy", policys and {"approval": policys})) if value}

    assert settings_of(given).approval == mode


@pytest.mark.parametrize(
    "given",
    [
        {"aproval": "never"}, {"approval": "sometimes"}, {"approval": None}, {"replan": "always"}, {"max_steps": 0},
        {"max_replans": -1}, {"max_concurrency": True}, {"max_repairs": 1.0}, {"budget": {"tool_cals": 1}},
        {"budget": 5}, {"budget": Budget(tool_calls=-1)}, {"budget": {"calls": {"send": -1}}}, {"policy": 5},
        {"policy": {"approval": "sometimes"}}, {"policy": Policy(approval="sometimes")},
        {"policy": Policy(effects={"wirte": "deny"})}, {"policy": Policy(effects={"write": "forbid"})},
        {"policy": Policy(tools={"send": ToolRule("no")})}, {"policy": Policy(limits=Budget(steps=-1))},
        {"policy": Policy(tools={"send": ToolRule(args={"to": Constraint(domains=("https://x",))})})},
        {"policy": Policy(rates={"send": 0.0})}, {"policy": "nowhere.toml"}, {"policy": Path("/")},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_work_is_refused_before_anything_starts(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        build(**given)


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        ("[tools.sned]\nverdict = 'deny'", 1),
        ("[tools.send]\nverdict = 'review'\n[tools.send.args.too]\ndomains = ['x.com']", 3),
        ("[tools.send]\nargs.to = { untrusted_from = ['contacts'] }", 2),
        ("[limits]\ntool_calls = 5\ncalls.sned = 5", 3),
        ("[rates]\nsned = 5", 2),
    ],
)
def test_a_rule_about_nothing_that_is_there_is_refused_with_its_line(tmp_path: Path, policy: str, line: int) -> None:
    (tmp_path / "policy.toml").write_text(policy)

    with pytest.raises(PolicyError) as error:
        build(policy=tmp_path / "policy.toml")

    assert error.value.line == line


def test_rates_and_limits_of_tools_and_models_that_are_there_are_accepted() -> None:
    limits = {"rates": {"send": 5, "scripted": 5, "gpt": 1}, "prices": {"gpt": {"input": 1, "output": 1}}}

    build(policy={**limits, "limits": {"calls": {"send": 1}}}, budget={"calls": {"look": 1}})
    with pytest.raises(ConfigError):
        build(budget={"calls": {"sned": 1}})


def test_a_policy_is_a_file_its_data_or_an_object(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("effects.write = 'deny'")
    expected = Policy(effects={"write": "deny"})

    assert [policy_of(given) for given in (str(tmp_path / "policy.toml"), expected.to_json(), expected)] == [
        expected
    ] * 3
    assert policy_of(None) == Policy()


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"], ids=ascii)
def test_a_path_of_a_policy_that_no_file_can_have_is_refused(path: str) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        policy_of(path)


def test_a_policy_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_bytes(b"\xff\xfe")

    with pytest.raises(PolicyError):
        policy_of(tmp_path / "policy.toml")


PRICED = {"scripted": {"input": 1, "output": 1}}


@pytest.mark.parametrize("where", ["budget", "limits"])
@pytest.mark.parametrize("which", ["planner", "executor", "replanner", "named"])
def test_a_bounded_cost_wants_the_price_of_every_model(where: str, which: str) -> None:
    bound: dict[str, Any] = {"budget": {"cost_usd": 1.0}} if where == "budget" else {}
    limits = {"limits": {"cost_usd": 1.0}} if where == "limits" else {}
    other = ScriptedModel([])
    other.model_name = "unpriced"
    models: dict[str, Any] = {"executors": {"cheap": other}} if which == "named" else {which: other}
    given = {"planner": ScriptedModel([PLAN]), **models, **bound, "tools": []}

    with pytest.raises(ConfigError, match="unpriced"):
        build_graph(**given, policy={"prices": PRICED, **limits})
    build_graph(**given, policy={"prices": {**PRICED, "unpriced": PRICED["scripted"]}, **limits})


def test_a_client_cannot_choose_a_model_that_has_no_price_where_the_cost_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-0123456789")
    graph = build(policy={"prices": PRICED}, budget={"cost_usd": 1.0}, approval="never", client_models=["*"])

    with pytest.raises(ConfigError, match="has no price"):
        graph.invoke({"goal": "g"}, on_thread(), context={"executor": "openai:unpriced"})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "workspace")
    return tmp_path / "workspace"


def own(workspace: Path) -> dict[str, Any]:
    return {"planner": ScriptedModel([PLAN]), "tools": default_tools(workspace.parent / "docs", workspace)}


@pytest.mark.parametrize(
    "place", ["workspace/runs.db", "workspace/deep/runs.db", "link/runs.db", "workspace/../link/x.db"]
)
def test_the_records_may_not_lie_where_a_tool_writes(workspace: Path, place: str) -> None:
    file = workspace.parent / place

    with pytest.raises(ConfigError, match="can write"):
        build_graph(**own(workspace), ledger=file)
    with pytest.raises(ConfigError, match="can write"), Agent.open(workspace / "runs.db", **own(workspace)):
        pass


def test_the_file_of_a_checkpointer_may_not_lie_there_either(workspace: Path) -> None:
    with SqliteSaver.from_conn_string(str(workspace / "runs.db")) as saver:
        saver.serde = strict_serializer()
        with pytest.raises(ConfigError, match="can write"):
            build_graph(**own(workspace), checkpointer=saver)


async def test_the_file_of_an_asynchronous_checkpointer_is_looked_at_before_anything_is_written(
    workspace: Path,
) -> None:
    with pytest.raises(ConfigError, match="can write"):
        async with aiosqlite.connect(workspace / "runs.db") as connection:
            saver = AsyncSqliteSaver(connection, serde=strict_serializer())
            graph = build_graph(**own(workspace), checkpointer=saver)
            await graph.ainvoke({"goal": "g"}, on_thread())


def test_a_policy_may_not_lie_where_a_tool_writes(workspace: Path) -> None:
    (workspace / "policy.toml").write_text("approval = 'always'")

    with pytest.raises(ConfigError, match="can write"):
        build_graph(**own(workspace), policy=workspace / "policy.toml")


def test_records_and_policy_may_lie_beside_it_and_where_tools_only_read(workspace: Path) -> None:
    (workspace.parent / "policy.toml").write_text("approval = 'always'")
    reading = LoggedTools().tool("look", effect="read", folder=str(workspace.parent))

    build_graph(**own(workspace), policy=workspace.parent / "policy.toml", ledger=workspace.parent / "runs.db")
    build(tools=[reading], ledger=workspace.parent / "runs.db")


def test_a_folder_counts_from_where_the_tools_were_made(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace.parent)
    given = {"planner": ScriptedModel([PLAN]), "tools": default_tools(Path("docs"), Path("workspace"))}
    monkeypatch.chdir(os.sep)

    with pytest.raises(ConfigError, match="can write"):
        build_graph(**given, ledger=workspace / "runs.db")


def test_a_policy_may_have_rules_for_a_tool_that_is_installed_elsewhere(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    rules = {"tools": {"run_python": {"verdict": "deny"}}, "limits": {"calls": {"run_python": 1}}}

    graph = build_graph(**own(workspace), policy=rules)

    assert graph.name == "planner-executor"
