"""`planner-executor trust`: a folder's settings file acts once it is trusted, and until it changes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from planner_executor.graph.builder.configuration import PACK, identity_in_file, looks_in_file, tools_in_file
from planner_executor.graph.chat_models.sources import from_file
from planner_executor.graph.cli import app
from planner_executor.graph.cli.commands.trust import HOMES
from planner_executor.graph.desk.desk_table import with_table
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.notices.addresses import addresses_of
from planner_executor.graph.playbooks.schedule import SCHEDULES
from planner_executor.graph.settings.settings_file import TABLES, settings_file
from planner_executor.graph.testing import step

Cli = Callable[..., Result]
Replies = Any


@pytest.fixture
def cli() -> Cli:
    return lambda *args: CliRunner().invoke(app, list(args), catch_exceptions=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder with a plan, of a user who has trusted nothing."""
    for name in ("PLANNER_EXECUTOR_DB", "PLANNER_EXECUTOR_CONFIG", "PLANNER_EXECUTOR_POLICY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    Path("plan.json").write_text(json.dumps({"steps": [step("sum", "calculator", expression="40 + 2")]}))
    return tmp_path / "folder"


@pytest.fixture
def stranger(folder: Path, replies: Replies, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a settings file that sends a variable of the environment to an address of its own."""
    monkeypatch.setenv("A_KEY", "sk-0123456789abcdef")
    replies.say({"steps": [], "answer": "Paris"})
    file = folder / "planner-executor.toml"
    file.write_text(f'[models.planner]\nmodel = "openai:m"\nbase_url = "{replies.base_url}"\napi_key_env = "A_KEY"\n')
    return file


def test_a_strangers_file_sends_no_key_and_the_sentence_says_what_to_do(
    cli: Cli, stranger: Path, replies: Replies
) -> None:
    done = cli("run", "What is the capital of France?", "--yes")

    assert (done.exit_code, replies.requests) == (2, [])
    assert "models.planner sends the variable A_KEY to http://127.0.0.1" in done.stderr
    assert "`planner-executor trust planner-executor.toml`" in done.stderr
    assert cli("runs").stdout.splitlines()[1:] == []


def test_once_trusted_it_acts_until_it_changes(cli: Cli, stranger: Path, replies: Replies) -> None:
    said = cli("trust", "--yes")
    done = cli("run", "What is the capital of France?", "--yes")
    stranger.write_text(stranger.read_text() + "# changed\n")
    changed = cli("run", "What is the capital of France?", "--yes")

    assert said.exit_code == 0
    assert "sends the variable A_KEY" in said.stdout and "is trusted until it changes" in said.stdout
    assert done.exit_code == 0 and "Paris" in done.stdout
    assert changed.exit_code == 2 and "is not trusted" in changed.stderr


def test_a_file_that_is_named_needs_no_trust(cli: Cli, stranger: Path) -> None:
    assert cli("run", "What is the capital of France?", "--yes", "--config", stranger.name).exit_code == 0


def test_trust_can_be_taken_back(cli: Cli, stranger: Path) -> None:
    cli("trust", "--yes")

    assert cli("trust", "--revoke").exit_code == 0
    assert cli("run", "What is the capital of France?", "--yes").exit_code == 2


def test_the_policy_that_the_file_names_is_trusted_with_it_and_by_its_own_digest(cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text('policy = "policy.toml"\n')
    (folder / "policy.toml").write_text('approval = "never"\n')
    refused = cli("run", "add", "--plan", "plan.json")

    said = cli("trust", "--yes")
    done = cli("run", "add", "--plan", "plan.json")
    (folder / "policy.toml").write_text('approval = "never"\n[tools.write_report]\nverdict = "allow"\n')
    changed = cli("run", "add", "--plan", "plan.json")

    assert "policy.toml is not trusted, and allows more than no policy would (approval is never)" in refused.stderr
    assert "policy.toml: looser than no policy: approval is never" in said.stdout
    assert [each.exit_code for each in (refused, done, changed)] == [2, 0, 2]


@pytest.mark.parametrize("text", [None, "polcy = 1", "[models"])
def test_what_is_no_settings_file_is_not_trusted(cli: Cli, folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "planner-executor.toml").write_text(text)

    done = cli("trust", "--yes")

    assert done.exit_code == 2 and "planner-executor.toml" in done.stderr


ACTS = {
    "models": (
        '[models.planner]\nmodel = "other:m"\nbase_url = "https://far.example/v1"\napi_key_env = "A_KEY"\n'
        "options = { default_headers = {}, transport = 1 }\n"
        '[models.executor]\nmodel = "openai:m"\nfallbacks = ["openai:n"]\n',
        [
            "models.planner sends the variable A_KEY to https://far.example/v1",
            "models.planner sends prompts to https://far.example/v1",
            "models.planner sends prompts for another provider to https://far.example/v1",
            "models.planner sets the option transport, which may redirect requests",
            "models.executor asks openai:m with your key",
            "models.executor.fallbacks asks openai:n with your key",
        ],
    ),
    "tools": ('tools = ["shop.tools:A", "shop:B"]\n', ["imports shop.tools:A", "imports shop:B"]),
    "look": ('look = ["list_documents"]\n', ["lets planners call list_documents before anybody is asked"]),
    "pack": ('pack = ["code"]\n', ["adds the pack code"]),
    "identity": ('identity = "shop:who"\n', ["imports shop:who, which says who people are"]),
    "notify": (
        '[notify]\nwaits = ["ada", "ops"]\nsecret = "0123456789abcdef"\nlink = "https://desk.example/{run}"\n'
        '[notify.addresses]\nada = "mailto://u:p@example.org"\nops = "https://hooks.example/secret/path"\n',
        [
            "[notify] sends notices of runs to ada (mailto): waits",
            "[notify] sends notices of runs to ops (https://hooks.example): waits",
            "[notify] puts links to https://desk.example/{run} into notices",
            "[notify] signs notices with its secret",
        ],
    ),
    "desk": (
        '[desk]\nurl = "https://desk.example"\nproxies = ["10.0.0.5"]\nsession_s = 600\n'
        'reviewers = { names = ["ada"] }\nreaders = { names = ["*"] }\n'
        '[desk.oidc]\nissuer = "https://login.example"\nclient_id = "d"\n',
        [
            "url of the review desk: https://desk.example",
            "proxies of the review desk: ['10.0.0.5']",
            "session_s of the review desk: 600",
            "reviewers of the review desk: {'names': ['ada']}",
            "readers of the review desk: {'names': ['*']}",
            "people sign in to the review desk by oidc: https://login.example",
        ],
    ),
    "schedules": (
        '[[schedules]]\nname = "nightly"\nplaybook = "report"\ncron = "30 2 * * *"\n',
        ["schedules: nightly has workers run the playbook report at '30 2 * * * UTC'"],
    ),
}


def use(table: str) -> Any:
    """Read a table of the folder's settings file as a run, a graph or a desk does."""
    readers: dict[str, Callable[[], Any]] = {
        "models": lambda: from_file(None),
        "tools": lambda: tools_in_file(None),
        "look": lambda: looks_in_file(None),
        "pack": lambda: PACK.value_in(settings_file(None)),
        "identity": lambda: identity_in_file(None),
        "notify": lambda: addresses_of(None),
        "desk": lambda: with_table(DeskSettings(), None),
        "schedules": lambda: SCHEDULES.value_in(settings_file(None)),
    }
    return readers[table]()


@pytest.mark.parametrize("table", ACTS)
def test_what_a_refusal_names_is_one_of_the_acts_that_are_shown_and_asked_about(
    cli: Cli, folder: Path, table: str
) -> None:
    text, acts = ACTS[table]
    (folder / "planner-executor.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        use(table)

    asked = CliRunner().invoke(app, ["trust"], input="n\n")
    with pytest.raises(ConfigError, match="is not trusted"):
        use(table)
    said = CliRunner().invoke(app, ["trust"], input="y\n")

    shown = [line.removeprefix("planner-executor.toml: ") for line in asked.stdout.splitlines()[: len(acts)]]
    assert shown == acts and asked.stdout.splitlines()[len(acts)].startswith("Trust planner-executor.toml")
    assert f"and {acts[0]};" in str(refused.value)
    assert asked.exit_code == 2 and "nothing was trusted" in asked.stderr
    assert said.exit_code == 0 and use(table)


def test_each_table_of_a_settings_file_has_its_acts() -> None:
    assert {*HOMES, "policy", "playbooks"} == set(TABLES) and set(ACTS) == set(HOMES)


def test_without_an_answer_nothing_is_trusted(cli: Cli, stranger: Path) -> None:
    done = cli("trust")

    assert done.exit_code == 2 and "--yes" in done.stderr
    assert cli("run", "What is the capital of France?", "--yes").exit_code == 2


@pytest.mark.parametrize(
    "fault",
    [
        "tools = 'shop:T'",
        "tools = [1]",
        "identity = 1",
        "policy = 1",
        "policy = 'missing.toml'",
        "policy = 'broken.toml'",
        "[models.planner]\nmodl = 'm'",
        "[notify]\nsecrt = 'x'",
        "[notify]\nsecret = 'env:NOT_SET'",
        "[desk]\nreviewer = {}",
        "[desk]\nurl = 'http://far.example'",
    ],
)
def test_a_file_with_a_fault_is_not_trusted(cli: Cli, folder: Path, fault: str) -> None:
    (folder / "broken.toml").write_text("aproval = 'never'\n")
    more = "" if "tools" in fault else 'tools = ["shop:T"]\n'
    (folder / "planner-executor.toml").write_text(more + fault)

    done = cli("trust", "--yes")

    assert done.exit_code == 2 and done.stdout == "" and ".toml" in done.stderr
    assert not list(folder.parent.glob("state/**/trusted.json"))
