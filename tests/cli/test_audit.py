"""`audit`: the story of a run, whole or by section, for people and for programs."""

import json
from collections.abc import Callable

from typer.testing import Result

Cli = Callable[..., Result]


def test_a_run_is_told_from_its_goal_to_its_end(cli: Cli, waiting: str) -> None:
    cli("resume", waiting, "--approve")

    lines = cli("audit", waiting).stdout.splitlines()

    for words in (
        "1  started for the goal: add",
        "revision 1 of the plan by the caller: brought by the caller",
        'added sum: calculator {"expression":"40 + 2"} (Add)',
        "approved by a person",
        'write calls write_report (write) with {"content":"it is 42"}',
        "ended as succeeded: 2 of 2 steps succeeded",
    ):
        assert any(words in line for line in lines), words


def test_one_section_leaves_the_others_out(cli: Cli, waiting: str) -> None:
    told = cli("audit", waiting, "--only", "decisions").stdout

    assert "request 1 was shown" in told and "revision 1" not in told.split("request 1")[0]


def test_for_programs_every_event_is_whole(cli: Cli, waiting: str) -> None:
    data = json.loads(cli("audit", waiting, "--json").stdout)

    assert data["run"] == waiting
    assert [event["kind"] for event in data["events"]] == ["run_started", "plan_revised", "review_requested"]
    assert set(data["artifacts"]) == {data["events"][0]["payload"]["configured"]["tools"]["artifact"]["id"]}


def test_an_unknown_run_is_a_sentence(cli: Cli, waiting: str) -> None:
    assert cli("audit", "nobody").exit_code == 2
    assert cli("audit", "nobody", "--db", "none.db").exit_code == 2
