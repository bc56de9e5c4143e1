"""All that a review can ask, answered by options of `resume`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Cli = Callable[..., Result]

ASKS = {
    "steps": [
        {"id": "name", "objective": "Know the name", "ask": "Under which name?"},
        {"id": "read", "objective": "Read the note", "tool": "read_file", "args": {"path": "note.txt"}},
        {"id": "look", "objective": "See it", "gate": "Is this the note?", "depends_on": ["read"]},
        {
            "id": "write",
            "objective": "Keep it",
            "tool": "write_file",
            "args": {"path": "{name_result}", "content": "{read_result.text}"},
            "depends_on": ["look"],
        },
        {
            "id": "copy",
            "objective": "Keep it where it says",
            "tool": "write_file",
            "args": {"path": "{read_result.text}", "content": "x"},
            "depends_on": ["write"],
        },
    ],
    "answer": "{write_result.path}",
}


@pytest.fixture
def run(cli: Cli, folder: Path, latest: Callable[[], str]) -> str:
    """Return a run that waits for its plan, and for the answer to a question."""
    (folder / "workspace").mkdir()
    (folder / "workspace/note.txt").write_text("there.txt")
    (folder / "plan.json").write_text(json.dumps(ASKS))
    cli("run", "keep it", "--plan", "plan.json")
    return latest()


def told(cli: Cli, run: str) -> dict[str, Any]:
    return json.loads(cli("show", run, "--json").stdout)


def printed(result: Result, words: str) -> list[str]:
    """Return the arguments of a command that was printed."""
    (line,) = (line for line in result.stdout.splitlines() if f" {words}" in line and "planner-executor resume" in line)
    return line.split()[1:]


def test_a_question_a_gate_and_a_call_are_answered_by_the_commands_that_are_printed(
    cli: Cli, run: str, folder: Path
) -> None:
    asked = cli("resume", run)
    assert "name asks: `Under which name?`" in asked.stdout
    command = [word.replace("TEXT", "here.txt") for word in printed(asked, "--approve --answer name=TEXT --digest")]

    gate = cli(*command)
    assert gate.exit_code == 3
    assert "look waits for your consent: `Is this the note?`" in gate.stdout and "there.txt" in gate.stdout
    assert not (folder / "workspace/here.txt").exists()

    call = cli(*printed(gate, "--approve"))
    assert call.exit_code == 3
    assert '- copy: write_file\n    path: "there.txt"\n    content: "x"\n' in call.stdout
    assert "- path, from read_file" in call.stdout
    assert (folder / "workspace/here.txt").read_text() == "there.txt"

    done = cli(*printed(call, "--approve"))
    assert (done.exit_code, (folder / "workspace/there.txt").read_text()) == (0, "x")
    assert [made["decision"] for made in told(cli, run)["decisions"]] == ["approve", "settle", "settle"]


def test_the_digest_of_one_question_answers_no_other(cli: Cli, run: str, folder: Path) -> None:
    asked = printed(cli("resume", run), "--approve --answer")
    gate = printed(cli(*[word.replace("TEXT", "here.txt") for word in asked]), "--approve")
    cli(*gate)

    assert "the open request has another digest" in cli(*gate).stderr
    assert (
        "the open request has another digest"
        in cli("resume", run, "--approve", "--digest", told(cli, run)["digest"]).stderr
    )
    assert not (folder / "workspace/there.txt").exists()


def test_a_call_may_be_sent_back_with_words_or_end_the_run(cli: Cli, run: str, folder: Path) -> None:
    cli("resume", run, "--approve", "--answer", "name=here.txt")
    cli("resume", run, "--approve")

    assert cli("resume", run, "--reject").exit_code == 1
    assert told(cli, run)["status"] == "rejected" and not (folder / "workspace/there.txt").exists()


BESIDE_THE_POINT = [
    (["--approve"], "undecided: name: Under which name?"),
    (["--answer", "name=x"], "undecided: the plan"),
    (["--approve", "--answer", "nam=x"], "nam has no open question; open questions: name: Under which name?"),
    (["--approve", "--answer", "here.txt"], "is not STEP=TEXT"),
    (["--approve", "--answer", "name= "], "is not STEP=TEXT"),
    (["--approve", "--answer", "name=x", "--answer", "name=y"], "name is named twice"),
    (["--approve", "--answer", "name=x", "--raise", "steps=2"], "no limit of the budget is reached"),
    (["--finish"], "no limit of the budget is reached"),
    (["--approve", "--finish"], "give one decision"),
]


def test_what_is_left_open_or_beside_the_point_decides_nothing(cli: Cli, run: str) -> None:
    for options, words in BESIDE_THE_POINT:
        result = cli("resume", run, *options)

        assert (result.exit_code, words in result.stderr) == (2, True), options
        assert told(cli, run)["decisions"] == [], options


def test_yes_answers_no_question_passes_no_gate_and_makes_no_call(cli: Cli, run: str, folder: Path) -> None:
    assert cli("resume", run, "--yes").exit_code == 3
    assert told(cli, run)["decisions"] == []
    cli("resume", run, "--approve", "--answer", "name=here.txt")
    assert cli("resume", run, "--yes").exit_code == 3
    assert not (folder / "workspace/here.txt").exists()
    cli("resume", run, "--approve")

    assert cli("resume", run, "--yes").exit_code == 3
    assert not (folder / "workspace/there.txt").exists()


@pytest.fixture
def twice(folder: Path) -> None:
    """Have a plan of two calls, one after the other."""
    steps = [
        {"id": name, "objective": "Add", "tool": "calculator", "args": {"expression": "1 + 1"}, "depends_on": after}
        for name, after in (("a", []), ("b", ["a"]))
    ]
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))


@pytest.fixture
def short(cli: Cli, twice: None, latest: Callable[[], str]) -> str:
    """Return a run that has spent its budget after one of two calls."""
    cli("run", "add", "--plan", "plan.json", "--budget", "tool_calls=1", "--yes")
    return latest()


def test_a_budget_is_raised_by_the_command_that_is_printed(cli: Cli, short: str) -> None:
    asked = cli("resume", short, "--yes")
    assert (asked.exit_code, "- 1 of 1 tool call\n\nLeft to do: b." in asked.stdout) == (3, True)

    result = cli(*[word.replace("NUMBER", "2") for word in printed(asked, "--raise tool_calls=NUMBER")])

    assert result.exit_code == 0


def test_a_run_whose_budget_is_spent_may_finish_with_what_there_is_or_end(cli: Cli, short: str) -> None:
    finished = cli(*printed(cli("resume", short), "--finish"))

    assert (finished.exit_code, told(cli, short)["status"]) == (1, "budget_exhausted")


def test_a_bare_rejection_of_a_budget_ends_the_run(cli: Cli, short: str) -> None:
    assert cli("resume", short, "--reject").exit_code == 1
    assert told(cli, short)["status"] == "rejected"


def test_a_budget_goes_no_further_than_the_policy(
    cli: Cli, twice: None, folder: Path, latest: Callable[[], str]
) -> None:
    (folder / "policy.toml").write_text("[limits]\ntool_calls = 1\n")
    cli("run", "add", "--plan", "plan.json", "--policy", "policy.toml", "--yes")

    result = cli("resume", latest(), "--raise", "tool_calls=5")

    assert (result.exit_code, "hard limit of tool_calls cannot be raised" in result.stderr) == (2, True)
    assert told(cli, latest())["status"] == "waiting"


def test_the_request_says_what_the_plan_takes_and_what_is_left(cli: Cli, folder: Path) -> None:
    each = {"id": "all", "objective": "Add", "tool": "calculator", "args": {"expression": "{item_result} + 1"}}
    (folder / "plan.json").write_text(json.dumps({"steps": [{**each, "for_each": [1, 2], "max_items": 5}]}))

    result = cli("run", "add", "--plan", "plan.json", "--budget", "tool_calls=7")

    assert "at most 5 tool calls. Left of the budget: 7 tool calls." in result.stdout


def test_an_option_that_does_not_fit_is_one_sentence_and_not_the_review_before_it(cli: Cli, waiting: str) -> None:
    answer, happened, more = ["--answer", "s=x"], ["--happened", "true"], ["--raise", "tool_calls=3"]
    for options in (["--finish"], answer, happened, more, ["--approve", "--digest", "0"]):
        done = cli("resume", waiting, *options)

        assert done.exit_code == 2 and done.stdout == "", options
        assert len(done.stderr.strip().splitlines()) == 1, options
