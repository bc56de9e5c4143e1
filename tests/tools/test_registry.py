import json
import shutil
import sys
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool

from planner_executor import AllowedHost
from planner_executor.tools.errors import ConfigInvalid
from planner_executor.tools.extras import EXTRAS, absent_tools
from planner_executor.tools.packs import PACKS
from planner_executor.tools.registry import default_tools, every_tool

NAMES = [
    "search_documents",
    "read_document",
    "list_documents",
    "summarize_text",
    "calculator",
    "write_report",
    "web_search",
    "fetch_page",
    "list_files",
    "read_file",
    "search_files",
    "write_file",
    "move_file",
    "convert_document",
    "query_csv",
    "query_json",
    "query_sqlite",
    "run_python",
]


def all_packs(documents: Path, workspace: Path) -> list[BaseTool]:
    return default_tools(documents, workspace, packs=tuple(PACKS))


def names_of(tools: list[BaseTool]) -> list[str]:
    return [tool.name for tool in tools]


def test_the_tools_come_in_a_stable_order(tmp_path: Path) -> None:
    assert names_of(all_packs(tmp_path, tmp_path / "workspace")) == NAMES


def test_each_tool_is_in_one_pack_and_code_is_there_by_name_only(tmp_path: Path) -> None:
    packed = [tool for pack in PACKS.values() for tool in pack.tools]

    assert sorted(packed) == sorted([*NAMES, "http_get", "http_send"])
    assert names_of(default_tools(tmp_path, tmp_path)) == [name for name in NAMES if name != "run_python"]
    assert names_of(default_tools(tmp_path, tmp_path, packs=["code"])) == ["run_python"]
    assert default_tools(tmp_path, tmp_path, packs=()) == []


def test_a_pack_that_is_none_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="there is no pack 'cod'; use some of documents, files, tables, web, code"):
        default_tools(tmp_path, tmp_path, packs=["cod"])


@pytest.mark.parametrize("tool", EXTRAS)
def test_a_tool_whose_extra_is_missing_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    module, extra = EXTRAS[tool]
    monkeypatch.setitem(sys.modules, module, None)

    assert names_of(all_packs(tmp_path, tmp_path)) == [name for name in NAMES if name != tool]
    assert absent_tools() == {tool: f"it needs: pip install '.[{extra}]' in the folder of planner-executor"}


def test_a_search_engine_with_a_key_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ddgs", None)
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-0123456789")

    assert names_of(all_packs(tmp_path, tmp_path)) == NAMES


def test_every_tool_declares_its_effect(tmp_path: Path) -> None:
    for tool in all_packs(tmp_path, tmp_path / "workspace"):
        declared = tool.metadata or {}
        more = {"folder", "reads", "reversible", "preview", "preview_leaves"}
        assert set(declared) - more == {"effect", "idempotent", "timeout_s", "trusted", "free_args"}, tool.name
        assert declared["effect"] in {"read", "write", "external"}
        assert set(declared["free_args"]) <= set(tool.args), tool.name


def test_an_approval_to_write_is_for_this_workspace(tmp_path: Path) -> None:
    writing = [t for t in default_tools(tmp_path, tmp_path / "out") if (t.metadata or {})["effect"] == "write"]

    assert {(tool.metadata or {})["folder"] for tool in writing} == {str(tmp_path / "out")}


def test_a_tool_that_reads_files_declares_whose(tmp_path: Path) -> None:
    reads = {t.name: (t.metadata or {}).get("reads") for t in all_packs(tmp_path / "docs", tmp_path / "out")}
    documents, workspace = str(tmp_path / "docs"), str(tmp_path / "out")

    assert {name: folders for name, folders in reads.items() if folders} == {
        **{name: [documents] for name in ("list_documents", "search_documents", "read_document")},
        **{name: [workspace] for name in ("list_files", "read_file", "search_files")},
        **{name: [workspace, documents] for name in ("convert_document", "query_csv", "query_json", "query_sqlite")},
    }


def test_every_effect_says_whether_it_can_be_undone(tmp_path: Path) -> None:
    declared = {t.name: t.metadata or {} for t in all_packs(tmp_path, tmp_path / "out")}

    assert {name: d["reversible"] for name, d in declared.items() if d["effect"] != "read"} == {
        "write_report": False,
        "write_file": False,
        "move_file": True,
        "web_search": False,
        "fetch_page": False,
    }


def test_few_tools_write_and_only_those_that_ask_the_web_leave_the_machine(tmp_path: Path) -> None:
    effects = {t.name: (t.metadata or {})["effect"] for t in all_packs(tmp_path, tmp_path / "workspace")}

    assert {name: effect for name, effect in effects.items() if effect != "read"} == {
        "write_report": "write",
        "write_file": "write",
        "move_file": "write",
        "web_search": "external",
        "fetch_page": "external",
    }


def test_no_tool_drops_an_unknown_argument_and_none_hides_an_error(tmp_path: Path) -> None:
    for tool in all_packs(tmp_path, tmp_path / "workspace"):
        assert tool.get_input_jsonschema()["additionalProperties"] is False, tool.name
        assert not tool.handle_tool_error


def test_the_first_parameter_takes_the_plain_text_of_a_plan_step(tmp_path: Path) -> None:
    first = {tool.name: next(iter(tool.args), None) for tool in all_packs(tmp_path, tmp_path / "workspace")}

    assert first == {
        "search_documents": "query",
        "read_document": "path",
        "list_documents": None,
        "summarize_text": "text",
        "calculator": "expression",
        "write_report": "content",
        "web_search": "query",
        "fetch_page": "url",
        "list_files": "pattern",
        "read_file": "path",
        "search_files": "text",
        "write_file": "path",
        "move_file": "path",
        "convert_document": "path",
        "query_csv": "path",
        "query_json": "path",
        "query_sqlite": "path",
        "run_python": "code",
    }


def test_a_search_a_summary_and_a_report_make_a_brief_whose_citations_can_be_opened(tmp_path: Path) -> None:
    documents, workspace = tmp_path / "docs", tmp_path / "docs" / "out"
    documents.mkdir()
    (documents / "wind.md").write_text("# Wind\n\nOffshore wind costs more to build than wind on land.\n")
    tools = {tool.name: tool for tool in default_tools(documents, workspace)}

    found = tools["search_documents"].invoke({"query": "offshore wind cost"})
    summary = tools["summarize_text"].invoke({"text": [found]})
    tools["write_report"].invoke({"content": summary})

    report = (workspace / "report.md").read_text()
    assert "- Offshore wind costs more to build than wind on land. (wind.md:3)" in report
    assert json.loads(json.dumps(summary)) == summary


def test_reports_in_the_workspace_are_not_documents(tmp_path: Path) -> None:
    (tmp_path / "wind.md").write_text("Wind turns into power.\n")
    tools = {tool.name: tool for tool in default_tools(tmp_path, tmp_path / "out")}
    tools["write_report"].invoke({"content": "Wind was reported."})

    listed = tools["list_documents"].invoke({})

    assert [document["source"] for document in listed["documents"]] == ["wind.md"]


def test_a_tool_for_services_is_offered_if_a_host_is_named(tmp_path: Path) -> None:
    def extra(*hosts: AllowedHost) -> list[str]:
        return [tool.name for tool in default_tools(tmp_path, tmp_path, hosts)][len(NAMES) - 1 :]

    assert extra() == []
    assert extra(AllowedHost("https://a.example")) == ["http_get"]
    assert extra(AllowedHost("https://a.example", ("POST",))) == ["http_send"]
    assert extra(AllowedHost("https://a.example"), AllowedHost("https://b.example", ("PUT",))) == [
        "http_get",
        "http_send",
    ]


def test_the_environment_may_name_the_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_HTTP_HOSTS", "https://a.example")

    assert default_tools(tmp_path, tmp_path)[-1].name == "http_get"
    assert default_tools(tmp_path, tmp_path, http_hosts=())[-1].name == "query_sqlite"


def test_the_example_of_an_incident_has_its_tools_over_its_own_folder_alone(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "incident"
    its_own = ["read_logs", "group_errors", "read_source"]

    assert names_of(default_tools(example, tmp_path))[-3:] == its_own
    shutil.copytree(example, tmp_path / "copy")
    (tmp_path / "copy" / "incident_tools" / "__init__.py").write_text("raise AssertionError('imported')")
    assert names_of(default_tools(tmp_path / "copy", tmp_path))[-3:] == its_own
    assert not {*its_own} & {*names_of(default_tools(example, tmp_path, packs=["files", "code"]))}
    assert not {*its_own} & {*names_of(default_tools(tmp_path, tmp_path))}
    assert sorted(names_of(every_tool(tmp_path, tmp_path))) == sorted(names_of(every_tool(example, tmp_path)))
    assert names_of(every_tool(tmp_path, tmp_path)) == [*NAMES, *its_own]
