"""`playbook`: keep a plan that ran, look at it, check it, and run it again with other values."""

import asyncio
import json
import re
import shlex
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from planner_executor.graph.cli.options import DATABASE
from planner_executor.graph.runs.runs import open_runs

ROOT = Path(__file__).parents[2]
Cli = Callable[..., Result]
NAMED = [f"--param=topic={place}" for place in ("find.args.query", "find.objective", "write.args.title")]


def test_a_kept_plan_runs_with_another_value_and_no_planner(kept: str, cli: Cli) -> None:
    ran = cli("playbook", "run", kept, "--param", "topic=sea", "--yes")

    assert ran.exit_code == 0, ran.output
    assert "planning" not in ran.output and "{param.topic}" in ran.output


def test_save_names_the_other_places_of_a_value(kept: str, cli: Cli, latest: Callable[[], str]) -> None:
    refused = cli("playbook", "save", latest(), "--as", "other", *NAMED[:1])
    same = cli("playbook", "save", latest(), "--as", "about", *NAMED)

    missing = cli("playbook", "check", "abuot.yaml")
    assert refused.exit_code == same.exit_code == missing.exit_code == 2
    assert "abuot.yaml: No such file or directory; name one that is there" in missing.output
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
    assert "write_report can write to its folder" in checked.output and "keep it in a folder" in ran.output


def test_a_name_stands_for_a_trusted_file_of_the_folder(kept: str, cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('playbooks = "kept"\n')
    (folder / "kept").mkdir()
    place = folder / "kept" / kept
    place.write_text((folder / kept).read_text())
    (folder / "kept" / "broken.yaml").write_text("steps: []")
    sea = ("playbook", "run", "about", "--param", "topic=sea", "--yes")

    untrusted, listed = cli(*sea), cli("playbook", "list")
    assert untrusted.exit_code == 2 and "is not trusted" in untrusted.output
    assert "about 1, digest" in listed.output and "not trusted" in listed.output and "broken.yaml" in listed.output
    trusted = cli("trust", f"kept/{kept}", "--yes")
    assert trusted.exit_code == 0 and "may call write_report, whose effect is write" in trusted.output
    assert cli(*sea).exit_code == 0

    place.write_text(place.read_text().replace("Write it down", "Write it up"))
    assert "has changed since" in cli(*sea).output
    (folder / "kept" / "second.yaml").write_text((folder / kept).read_text())
    assert "are different playbooks with the name about" in cli(*sea).output


def test_no_file_of_another_folder_takes_the_place_of_a_name(kept: str, cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('playbooks = "kept"\n')
    (folder / "kept").mkdir()
    (folder / "kept" / kept).write_text((folder / kept).read_text())
    assert cli("trust", f"kept/{kept}", "--yes").exit_code == 0
    (folder / "about").write_text((folder / kept).read_text().replace("Write it down", "Write it up"))

    shown = cli("playbook", "show", "about")

    assert "Write it down" in shown.output and "Write it up" not in shown.output
    (folder / "kept" / kept).unlink()
    (folder / "kept" / kept).symlink_to(folder / "about")
    assert "is not trusted" in cli("playbook", "run", "about", "--param", "topic=sea", "--yes").output


def test_what_changed_since_it_was_trusted_is_said(kept: str, cli: Cli, folder: Path) -> None:
    text = (folder / kept).read_text()
    (folder / "second.yaml").write_text(text)
    assert cli("playbook", "diff", kept).exit_code == cli("playbook", "diff", kept, "second.yaml").exit_code == 0
    (folder / kept).write_text("# A comment.\n" + text.replace("Write it down", "Write\u202eit up"))

    since, other = cli("playbook", "diff", kept), cli("playbook", "diff", "second.yaml", kept)
    trusted = cli("trust", kept, "--yes")

    assert since.exit_code == other.exit_code == 1 and since.output == other.output
    assert "Write it down" in since.output and "Write\\u202Eit up" in since.output and "comment" not in since.output
    assert "has changed since it was trusted" in trusted.output and "+ # A comment." in trusted.output
    assert cli("playbook", "diff", kept).exit_code == 0
    assert "was never trusted" in cli("playbook", "diff", "second.yaml").output


def test_a_new_playbook_can_be_checked_at_once_and_replaces_no_file(cli: Cli, folder: Path) -> None:
    (folder / "docs").mkdir(exist_ok=True)
    assert cli("playbook", "new", "report-topic").exit_code == 0

    assert cli("playbook", "check", "report-topic.yaml").exit_code == 0
    assert "name another file" in cli("playbook", "new", "report-topic").output
    assert "name must be a word" in cli("playbook", "new", "Report").output
    assert not (folder / "Report.yaml").exists()


def told(name: str) -> list[list[str]]:
    """Return the commands of a section of the page."""
    section = (ROOT / "docs" / "playbooks.md").read_text().split(f"## {name}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"```bash\n(.*?)```", section.replace("\\\n", ""), re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


def test_the_playbook_of_an_incident_finds_the_line_in_another_one(
    cli: Cli, folder: Path, latest: Callable[[], str]
) -> None:
    """No model: the service fails for real, and its log is that of the failure."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for place in ("billing/ledger", "billing/edge", "billing/worker", "billing/incident_tools"):
        (folder / place).mkdir(parents=True)
    source = folder / "billing" / "ledger" / "invoice.py"
    source.write_text("def total(items, rates):\n    net = sum(items)\n    return net * (1 + rates['PL'])\n")
    own: dict[str, Any] = {}
    exec(compile(source.read_text(), "/srv/app/ledger/invoice.py", "exec"), own)
    try:
        own["total"]([3, 4], {"DE": 0.19})
    except KeyError as error:
        failure = "".join(traceback.format_exception(error.with_traceback(error.__traceback__.tb_next)))
    record = {"timestamp": "2027-02-03T10:00:01Z", "level": "ERROR", "message": "no invoice", "exc_info": failure}
    (folder / "billing" / "worker" / "invoices.json").write_text(json.dumps(record) + "\n")
    request = '10.0.0.1 - - [03/Feb/2027:10:00:01 +0000] "POST /invoices HTTP/1.1" 500 12 "-" "curl"'
    (folder / "billing" / "edge" / "requests.log").write_text(f"{request}\n")
    (folder / "billing" / "edge" / "deploys.log").write_text("2027-02-03T09:59:00Z INFO deployed ledger 3.1\n")

    first, save, again, test = told("From a run to a program")
    assert cli(*first).exit_code == 0
    assert json.loads(cli("show", latest(), "--json").output)["usage"]["model_calls"] > 0
    assert cli(*[latest() if word == "3aebeca1.1" else word for word in save]).exit_code == 0
    ran = cli(*again)

    assert ran.exit_code == 0, ran.output
    shown = json.loads(cli("show", latest(), "--json").output)
    assert (shown["answer"]["failing_line"], shown["usage"].get("model_calls", 0)) == ("ledger/invoice.py:3", 0)
    assert "find-failing-line checkout: passed" in cli(*test).output


def test_what_save_wrote_is_trusted(kept: str, cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('playbooks = "."\n')

    assert cli("playbook", "run", "about", "--param", "topic=sea", "--yes").exit_code == 0
    assert "no playbook 'other'" in cli("playbook", "show", "other").output


def test_a_run_names_its_playbook_and_a_change_under_the_same_version_is_said(
    kept: str, cli: Cli, folder: Path, latest: Callable[[], str]
) -> None:
    sea = ("playbook", "run", kept, "--param", "topic=sea", "--yes")
    first = cli(*sea)
    ran, again = latest(), cli(*sea)
    last = latest()
    digest = json.loads(cli("playbook", "show", kept, "--json").output)["digest"]

    assert "has changed since" not in first.output + again.output
    assert f"the playbook about 1, digest {digest[:12]}" in cli("show", ran).output
    assert json.loads(cli("show", ran, "--json").output)["playbook"]["digest"] == digest
    assert f"runs the playbook about 1, digest {digest[:12]}" in cli("audit", ran).output
    assert cli("runs", "--tag", "about").output.count("succeeded") == 2
    assert cli("replay", ran).exit_code == 0
    assert cli("run", "Look", "--plan", "plan.json", "--tag", "about", "--yes").exit_code == 0
    (folder / kept).write_text((folder / kept).read_text().replace("Write it down", "Write it up"))
    changed = cli(*sea)
    told = f"about 1 is not the playbook that ran as {last}: it has changed"
    assert told in changed.output and told in cli("audit", latest()).output


@pytest.mark.parametrize("given", [[], ["--param", "topic"], ["--param", "topics=sea"]])
def test_a_value_that_is_missing_or_unknown_starts_nothing(kept: str, cli: Cli, given: list[str]) -> None:
    refused = cli("playbook", "run", kept, *given, "--yes")

    assert refused.exit_code == 2
    assert cli("runs").output.count("succeeded") == 1


@pytest.mark.usefixtures("quick_workers")
def test_a_worker_begins_what_is_due_and_says_so(kept: str, cli: Cli, folder: Path) -> None:
    (folder / "playbooks").mkdir()
    (folder / "playbooks" / kept).write_bytes((folder / kept).read_bytes())
    schedule = 'name = "nightly"\nplaybook = "about"\ncron = "0 0 1 1 *"\nparams = { topic = "sun" }\n'
    (folder / "planner-executor.toml").write_text(f'playbooks = "playbooks"\n[[schedules]]\n{schedule}')
    assert "planner-executor.toml is not trusted, and schedules" in cli("work", "--once").stderr
    assert cli("trust", "--yes").exit_code == cli("trust", f"playbooks/{kept}", "--yes").exit_code == 0
    assert "counts from when a worker sees it" in cli("playbook", "due").stdout
    assert cli("work", "--once").exit_code == 0
    assert "nightly: about at '0 0 1 1 * UTC', next 20" in cli("playbook", "due").stdout

    async def pass_time() -> None:
        async with open_runs(DATABASE) as runs:
            (moment,) = await runs.ledger.timetable.moments()
            assert await runs.ledger.timetable.replace(moment, moment._replace(due_at=time.time()))

    asyncio.run(pass_time())
    said = cli("work", "--once").stdout

    assert "nightly of 20" in said and "has started run" in said and "waits for a person" in said


def test_a_parameter_with_two_values_is_refused(kept: str, cli: Cli) -> None:
    refused = cli("playbook", "run", kept, "--param", "topic=sea", "--param", "topic=sun", "--yes")

    assert refused.exit_code == 2 and "--param: topic has more than one value; give one" in refused.stderr
