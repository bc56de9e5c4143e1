"""`playbook`: keep a plan that ran, look at it, check it, and run it again with other values."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]
PLAN = {
    "steps": [
        {"id": "find", "objective": "Find wind", "tool": "search_documents", "args": {"query": "wind"}},
        {
            "id": "write",
            "objective": "Write it down",
            "tool": "write_report",
            "args": {"path": "found.md", "title": "On wind", "content": "{find_result}"},
            "when": {"of": "{find_result.passages}", "condition": "length(@) > `0`"},
        },
    ],
    "answer": "{write_result.path}",
}
NAMED = ["--param", "topic=find.args.query", "--param", "topic=find.objective", "--param", "topic=write.args.title"]


@pytest.fixture
def kept(folder: Path, cli: Cli, latest: Callable[[], str]) -> str:
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs" / "notes.md").write_text("# Notes\n\nWind is cheap, and the sea is deep.\n")
    (folder / "plan.json").write_text(json.dumps(PLAN))
    assert cli("run", "Look for something", "--plan", "plan.json", "--yes").exit_code == 0
    assert cli("playbook", "save", latest(), "--as", "about", *NAMED).exit_code == 0
    return "about.yaml"


def test_a_kept_plan_runs_with_another_value_and_no_planner(kept: str, cli: Cli) -> None:
    ran = cli("playbook", "run", kept, "--param", "topic=sea", "--yes")

    assert ran.exit_code == 0, ran.output
    assert "planning" not in ran.output and "{param.topic}" in ran.output


def test_save_names_the_other_places_of_a_value(kept: str, cli: Cli, latest: Callable[[], str]) -> None:
    refused = cli("playbook", "save", latest(), "--as", "other", *NAMED[:2])
    same = cli("playbook", "save", latest(), "--as", "about", *NAMED)

    assert refused.exit_code == same.exit_code == 2
    assert "find.objective" in refused.output and "write.args.title" in refused.output
    assert "about.yaml" in same.output and "name another file" in same.output


def test_a_playbook_is_shown_and_checked(kept: str, cli: Cli, folder: Path) -> None:
    shown, checked = cli("playbook", "show", kept), cli("playbook", "check", kept)
    content = json.loads(cli("playbook", "show", kept, "--json").output)

    assert "- topic: string" in shown.output and "query: '{param.topic}'" in shown.output
    assert checked.exit_code == 0 and content["digest"][:12] in checked.output
    text = (folder / kept).read_text()
    (folder / kept).write_text(text.replace("effect: read\n", "effect: write\n", 1))
    changed = cli("playbook", "check", kept)
    assert changed.exit_code == 1 and "search_documents had the effect write, and has read" in changed.output
    assert "had the effect write" in cli("playbook", "run", kept, "--param", "topic=sea", "--yes").output


def test_a_playbook_where_a_tool_can_write_is_refused(kept: str, cli: Cli, folder: Path) -> None:
    (folder / "workspace" / kept).write_text((folder / kept).read_text())

    checked = cli("playbook", "check", f"workspace/{kept}")
    ran = cli("playbook", "run", f"workspace/{kept}", "--param", "topic=sea", "--yes")

    assert (checked.exit_code, ran.exit_code) == (1, 2)
    assert "write_report can write where it lies" in checked.output and "keep it in a folder" in ran.output


@pytest.mark.parametrize("given", [[], ["--param", "topic"], ["--param", "topics=sea"]])
def test_a_value_that_is_missing_or_unknown_starts_nothing(kept: str, cli: Cli, given: list[str]) -> None:
    refused = cli("playbook", "run", kept, *given, "--yes")

    assert refused.exit_code == 2
    assert cli("runs").output.count("succeeded") == 1
