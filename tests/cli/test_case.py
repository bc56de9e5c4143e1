"""`playbook test` and `case add`: a run becomes a case, and its playbook is tried without a model or an effect."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from typer.testing import Result

Cli = Callable[..., Result]


@pytest.fixture
def case(kept: str, cli: Cli, latest: Callable[[], str], folder: Path) -> Path:
    """Return the only case of a playbook, made of the run that it was saved of."""
    added = cli("case", "add", latest(), "--playbook", "about.yaml", "--as", "wind", "--yes")
    assert added.exit_code == 0, added.output
    assert 'topic: "wind"' in added.output and "find, search_documents: " in added.output
    assert "expected call: write_report(path='found.md'" in added.output
    return folder / "about.cases" / "wind.yaml"


def test_a_run_is_a_case_that_passes_and_writes_nothing(case: Path, cli: Cli, folder: Path) -> None:
    written = folder / "workspace" / "found.md"
    written.unlink()

    passed = cli("playbook", "test", "about.yaml", "--junit", "junit.xml")

    assert passed.exit_code == 0 and "about wind: passed" in passed.output, passed.output
    assert not written.exists()
    suite = fromstring((folder / "junit.xml").read_text())[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("about", "1", "0")


def test_a_case_fails_when_an_answer_has_another_shape(case: Path, cli: Cli, folder: Path) -> None:
    case.write_text(case.read_text().replace("passages:", "hits:"))

    failed = cli("playbook", "test", "about.yaml", "--junit", "junit.xml")
    lives = cli("playbook", "test", "about.yaml", "--reads")

    assert failed.exit_code == 1 and "about wind: failed" in failed.output
    assert "it ended failed, not succeeded" in failed.output and ".passages is not there" in failed.output
    assert "was called 0 times, not 1 time" in failed.output
    (failure,) = fromstring((folder / "junit.xml").read_text()).iter("failure")
    assert ".passages is not there" in str(failure.text)
    assert "search_documents answers otherwise now: the answer.hits is missing" in re.sub(r"\s+", " ", lives.output)


def test_a_call_without_an_answer_fails_the_case(case: Path, cli: Cli) -> None:
    case.write_text(case.read_text().replace("step: write", "step: other"))

    failed = cli("playbook", "test", "about.yaml")

    assert failed.exit_code == 1 and "the case has no answer for call 0 of write: write_report" in failed.output


def test_a_failed_run_is_a_case_too(case: Path, cli: Cli, latest: Callable[[], str], folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('playbooks = "."\n')
    assert cli("trust", "about.yaml", "--yes").exit_code == 0
    assert cli("playbook", "run", "about", "--param", "topic=zebra", "--yes", "--replan", "never").exit_code == 1

    asked = cli("case", "add", latest())
    added = cli("case", "add", latest(), "--as", "failed", "--yes")
    tested = cli("playbook", "test")

    assert asked.exit_code == 2 and "nothing was written" in asked.output
    assert "it expects the run to end failed" in added.output
    assert tested.exit_code == 0 and "about failed: passed" in tested.output and "2 cases, 0 failed" in tested.output


def test_what_is_no_case_is_named(case: Path, cli: Cli, waiting: str) -> None:
    unknown = cli("case", "add", waiting)
    other = cli("case", "add", waiting, "--playbook", "about.yaml")
    case.write_text("ends: well\nanswers: [{tool: 1}]\n")
    unread = cli("playbook", "test", "about.yaml")
    case.unlink()
    none = cli("playbook", "test", "about.yaml")

    assert unknown.exit_code == other.exit_code == unread.exit_code == none.exit_code == 2
    assert "was not started by a playbook" in unknown.output and "has not ended" in other.output
    assert "ends" in unread.output and "there are no cases" in none.output
