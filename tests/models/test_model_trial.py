"""The trial of a model on the goals of this repository, against a server on loopback whose answers are written down.

`goal_answers.json` has right answers to each goal, so that a check which no model could meet is found.
"""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from benchmarks.models.__main__ import trial
from benchmarks.models.goals import read_goals

RIGHT = json.loads((Path(__file__).parent / "goal_answers.json").read_text())
CACHED = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 80},
}


def say(replies: Any, answer: Any, **more: Any) -> None:
    """Reply with an answer; one with `tool_calls` is a turn of a model step."""
    functions = [
        {**call, "arguments": json.dumps(call["arguments"])}
        for call in (answer.get("tool_calls", ()) if isinstance(answer, dict) else ())
    ]
    calls = [{"id": f"call_{n}", "type": "function", "function": each} for n, each in enumerate(functions)]
    replies.say("" if calls else answer, **more, **({"tool_calls": calls, "finish": "tool_calls"} if calls else {}))


def run(replies: Any, folder: Path, *goals: str) -> Result:
    settings = replies.settings()
    config = folder / "models.toml"
    config.write_text(f'[models.planner]\nmodel = "{settings.model}"\nbase_url = "{settings.base_url}"\n')
    app = Typer()
    app.command()(trial)
    named = [word for goal in goals for word in ("--only", goal)]
    return CliRunner().invoke(app, ["--config", str(config), "--out", str(folder / "trial"), *named])


def rows(page: str) -> list[list[str]]:
    table = [line for line in page.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.slow
def test_right_answers_meet_every_check(replies: Any, tmp_path: Path) -> None:
    suite, _ = read_goals()
    for case in suite.cases:
        for answer in RIGHT[case.id]:
            say(replies, answer)

    result = run(replies, tmp_path)

    page = (tmp_path / "trial" / "page.md").read_text()
    assert result.exit_code == 0, result.output
    assert len(suite.cases) == 40 and len(rows(page)) == 40
    assert [row for row in rows(page) if row[1:4] != ["at once", "yes", "yes"]] == []
    assert "What went wrong" not in page and not replies.script


@pytest.mark.parametrize(
    ("file", "fact"),
    [
        ("docs/side-effects.md", "# How the agent keeps side effects safe\n"),
        ("docs/models.md", "| `timeout_s` | timeout of one request, in seconds | 300 |"),
        ("docs/plan-format.md", "there are four:"),
        (
            "examples/renewable-energy/energy-storage.md",
            "139 US\ndollars per kilowatt-hour in 2023 and of 115 US dollars",
        ),
        ("examples/renewable-energy/jobs-investment-policy.md", "2030 to at least 42.5 per cent"),
        ("examples/renewable-energy/onshore-wind.md", "cost between 27 and 73 US dollars"),
    ],
)
def test_what_the_goals_ask_for_still_stands_in_the_documents(file: str, fact: str) -> None:
    assert fact in (Path(__file__).parents[2] / file).read_text()


PAGE = """\
# Trial of `scripted-model`

`python -m benchmarks.models`, DAY, planner-executor VERSION. planner: `scripted-model`; executor: `scripted-model`; \
replanner: `scripted-model`.

- Plans and revisions valid: 4 of 6 goals at once, 1 more after repair
- Calls as expected: 4 of 6
- Result right: 3 of 6
- Tokens: 500; share of the prompts that came from the provider's cache: 60 %

| Goal | Plan valid | Calls as expected | Result right | Tokens | Prompt from the cache |
|---|---|---|---|--:|--:|
| sum | after repair (1) | yes | yes | 220 | 80 % |
| capital | at once | no | yes | 110 | 80 % |
| rename | at once | yes | no | 110 | 0 % |
| rotterdam | no | no | no | 30 | unknown |
| mail | at once | yes | no | 15 | unknown |
| printer | at once | yes | yes | 15 | unknown |

## What went wrong

- capital, succeeded: `1 of 1 steps succeeded; calls that succeeded: 1 x write_file`
- rename, succeeded: `1 of 1 steps succeeded; the file final.txt does not exist`
- rotterdam, failed: `the planner gave no plan: the answer holds no JSON object; it said: It is shipping.txt.; \
the goal is not reached; calls that succeeded: none; not found in ''`
- mail, succeeded: `answered without a plan; it does not say that it cannot; not found in 'I have sent the mail.'`
"""
UNCACHED = {**CACHED, "prompt_tokens_details": {"cached_tokens": 0}}
SILENT = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def test_the_page_says_of_each_goal_what_the_model_got_right(replies: Any, tmp_path: Path) -> None:
    unknown = {"steps": [{"id": "add", "objective": "Add", "tool": "add", "args": {"expression": "12 * 4 + 5"}}]}
    say(replies, unknown, usage=CACHED)
    say(replies, RIGHT["sum"][0], usage=CACHED)
    note = {"id": "note", "objective": "Note", "tool": "write_file", "args": {"path": "a.txt", "content": "Paris"}}
    say(replies, {"steps": [note], "answer": "Paris"}, usage=CACHED)
    move = {"id": "move", "objective": "Move", "tool": "move_file", "args": {"path": "draft.txt", "to": "old.txt"}}
    say(replies, {"steps": [move]}, usage=UNCACHED)
    say(replies, "I shall look for it.", usage=SILENT)
    say(replies, "It is shipping.txt.", usage=SILENT)
    say(replies, {"steps": [], "answer": "I have sent the mail."}, usage=SILENT)
    say(replies, RIGHT["printer"][0], usage=SILENT)
    goals = ("sum", "capital", "rename", "rotterdam", "mail", "printer")

    result = run(replies, tmp_path, *goals)

    page = (tmp_path / "trial" / "page.md").read_text()
    assert result.exit_code == 0, result.output
    today = str(datetime.now(UTC).date())
    assert page == PAGE.replace("DAY", today).replace("VERSION", version("planner-executor"))


def test_the_same_command_goes_on_where_it_was_interrupted(replies: Any, tmp_path: Path) -> None:
    goals = ("capital", "mail")
    say(replies, RIGHT["capital"][0], usage=CACHED)
    replies.reply({"error": {"message": "no such model"}}, status=404)
    first = run(replies, tmp_path, *goals)
    before = (tmp_path / "trial" / "page.md").read_text()
    say(replies, RIGHT["mail"][0], usage=CACHED)

    second = run(replies, tmp_path, *goals)

    after = (tmp_path / "trial" / "page.md").read_text()
    assert (first.exit_code, second.exit_code, len(replies.requests)) == (1, 0, 3)
    assert "Not tried: 1 of 2 goals; 1 of them had no model, or no budget left" in before
    assert [row[-1] for row in rows(after)] == ["80 %", "80 %"]


def test_the_offline_rules_are_tried_without_a_key(tmp_path: Path) -> None:
    app = Typer()
    app.command()(trial)

    done = CliRunner().invoke(app, ["--planner", "offline", "--out", str(tmp_path), "--only", "sum", "--only", "mail"])

    assert done.exit_code == 0, done.output
    assert [row[1:4] for row in rows((tmp_path / "page.md").read_text())] == [
        ["at once", "yes", "yes"],
        ["no", "yes", "no"],
    ]


def test_a_goal_that_is_none_is_named(replies: Any, tmp_path: Path) -> None:
    refused = run(replies, tmp_path, "smu")

    assert refused.exit_code == 2 and "there is no goal smu" in refused.output
