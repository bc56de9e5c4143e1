"""Files that are trusted once, by digest."""

import json
import os
import stat
from pathlib import Path

import pytest

from planner_executor import build_graph, default_tools
from planner_executor.graph.builder.configuration import policy_named
from planner_executor.graph.chat_models.sources import from_file
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.settings.trust import CONTENTS, content_trusted, forget, is_trusted, store_path, trust

KEY = '[models.planner]\nmodel = "openai:m"\nbase_url = "https://elsewhere.example/v1"\napi_key_env = "A_KEY"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder, with a store of one's own that does not exist yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("A_KEY", "sk-0123456789")
    monkeypatch.delenv("PLANNER_EXECUTOR_CONFIG", raising=False)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


def settings(text: str, name: str = "planner-executor.toml") -> Path:
    file = Path(name)
    file.write_text(text)
    return file


def test_a_file_is_trusted_until_it_changes_and_only_where_it_lies(folder: Path) -> None:
    file = settings(KEY)
    trust(file, file.read_bytes())

    assert is_trusted(file, file.read_bytes()) and is_trusted(folder / file, file.read_bytes())
    assert not is_trusted(file, file.read_bytes() + b"\n")
    assert not is_trusted(folder / "copy.toml", file.read_bytes())
    assert forget(file) and not is_trusted(file, file.read_bytes()) and not forget(file)


def test_what_was_trusted_is_kept_until_it_is_trusted_no_longer(folder: Path) -> None:
    file = folder / "planner-executor.toml"
    file.write_text("a = 1")
    assert content_trusted(file) is None

    trust(file, b"a = 1")
    trust(file, b"a = 2")

    store = store_path()
    assert store is not None and content_trusted(file) == b"a = 2"
    (kept,) = (store.parent / CONTENTS).iterdir()
    kept.write_bytes(b"a = 3")
    assert content_trusted(file) is None
    assert forget(file) and not list((store.parent / CONTENTS).iterdir())


def test_the_store_is_the_users_own_and_forgets_files_that_are_gone() -> None:
    first, second = settings("", "a.toml"), settings("", "b.toml")
    trust(first, b"")
    first.unlink()
    trust(second, b"")
    store = store_path()

    assert store is not None and list(json.loads(store.read_text())) == [str(second.resolve())]
    assert stat.S_IMODE(store.stat().st_mode) == 0o600 and stat.S_IMODE(store.parent.stat().st_mode) == 0o700
    assert sorted(store.parent.iterdir()) == [store.parent / CONTENTS, store]


@pytest.mark.parametrize("fault", ["others write", "others write the folder", "no JSON", "no object"])
def test_a_store_that_may_be_somebody_elses_word_is_refused(fault: str) -> None:
    file = settings("")
    trust(file, b"")
    store = store_path()
    assert store is not None
    if fault.startswith("others"):
        (store.parent if "folder" in fault else store).chmod(0o777)
    else:
        store.write_text("[" if fault == "no JSON" else "[]")

    with pytest.raises(ConfigError, match=r"trusted\.json"):
        is_trusted(file, b"")


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        '[models]\nplanner = "openai:gpt-5"\n',
        '[models.planner]\nmodel = "openai:m"\nbase_url = "https://elsewhere.example/v1"\n',
        '[models.planner]\nmodel = "openai:m"\nbase_url = "http://127.0.0.1.elsewhere.example/v1"\n',
        '[models.planner]\nmodel = "anthropic:m"\nbase_url = "http://localhost:1/v1"\n',
        '[models.executor]\nbase_url = "http://localhost:1/v1"\n',
        '[models.executor]\napi_key = "sk-of-a-stranger"\n',
        '[models.executor.options]\nopenai_api_base = "https://elsewhere.example/v1"\n',
        '[models.executor.options.default_headers]\nAuthorization = "Bearer sk-of-a-stranger"\n',
        '[models.executor.options.extra_body]\nmodel = "dear"\n',
        '[models.planner]\nmodel = "offline"\nfallbacks = ["openai:gpt-5"]\n',
        '[models.executors.cheap]\nmodel = "openai:gpt-5"\n',
        'policy = "loose.toml"\n',
    ],
)
def test_what_uses_something_of_the_users_needs_a_file_that_was_named_or_trusted(text: str) -> None:
    file = settings(text)
    settings('[tools.write_report]\nverdict = "allow"\n', "loose.toml")

    def used(config: Path | None = None) -> None:
        from_file(config)
        policy_named(None, config)

    with pytest.raises(ConfigError, match=r"not trusted.*run `planner-executor trust planner-executor.toml`"):
        used()
    used(file)
    trust(file, file.read_bytes())
    trust(Path("loose.toml"), Path("loose.toml").read_bytes())
    used()
    file.write_text(f"{text}# changed\n")
    with pytest.raises(ConfigError, match="not trusted"):
        used()


def test_a_file_that_the_environment_names_counts_as_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_CONFIG", str(settings(KEY)))

    assert settings_file(None).is_named and set(from_file(None)) == {"planner"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        '[models]\nplanner = "offline"\n[models.executor]\ntemperature = 0.5\noptions = { seed = 7 }\n',
        '[models.planner]\nmodel = "openai:m"\nbase_url = "http://127.0.0.1:1/v1"\noptions = { extra_body = {} }',
        'policy = "strict.toml"\n',
    ],
)
def test_what_uses_nothing_of_the_users_needs_no_trust(text: str) -> None:
    settings(text)
    settings('approval = "always"\n[effects]\nexternal = "deny"\n[limits]\ntool_calls = 3\n', "strict.toml")

    from_file(None)
    policy_named(None)


def test_trust_in_a_settings_file_does_not_cover_what_its_policy_becomes() -> None:
    file, policy = settings('policy = "p.toml"\n'), settings('[effects]\nread = "review"\n', "p.toml")
    trust(file, file.read_bytes())
    policy_named(None)

    policy.write_text('approval = "never"\n')

    with pytest.raises(ConfigError, match=r"p\.toml is not trusted, and allows more.*approval is never"):
        policy_named(None)


@pytest.mark.parametrize("what", ["the store", "the key that seals runs"])
def test_no_tool_can_write_what_authority_rests_on(folder: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder.parent / "place"
    if what == "the store":
        monkeypatch.setenv("XDG_STATE_HOME", str(place))
    else:
        monkeypatch.setenv("PLANNER_EXECUTOR_LEDGER_KEY_FILE", str(place / "key"))

    with pytest.raises(ConfigError, match="can write"):
        build_graph(tools=default_tools(documents=folder, workspace=place))


def test_a_home_folder_that_is_part_of_the_folder_keeps_no_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "home")

    assert store_path() is None


def test_nobody_loads_an_env_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANNER_EXECUTOR_PLANNER", raising=False)
    settings("PLANNER_EXECUTOR_PLANNER=openai:gpt-5\nPLANNER_EXECUTOR_APPROVAL=never\n", ".env")

    app = build_graph()

    assert "PLANNER_EXECUTOR_PLANNER" not in os.environ
    assert app.name == "planner-executor", "with the model that .env names it would want a key"
    assert "env" not in json.loads((Path(__file__).parents[3] / "langgraph.json").read_text())


@pytest.mark.parametrize("named", [None, "", "state"])
def test_without_an_absolute_folder_for_it_the_store_is_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, folder: Path, named: str | None
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    if named is None:
        monkeypatch.delenv("XDG_STATE_HOME")
    else:
        monkeypatch.setenv("XDG_STATE_HOME", named)

    assert store_path() == folder / ".local/state/planner-executor/trusted.json"


def test_without_a_home_folder_nothing_can_be_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "home")

    assert not is_trusted(Path("a.toml"), b"")
    with pytest.raises(ConfigError, match="set XDG_STATE_HOME or HOME"):
        trust(Path("a.toml"), b"")


def test_others_may_pass_through_the_folder_of_the_store() -> None:
    file = settings("")
    trust(file, b"")
    store = store_path()
    assert store is not None
    store.parent.chmod(0o711)

    assert is_trusted(file, b"")


@pytest.mark.parametrize("what", ["planner_executor.graph.settings.trust.tempfile.mkstemp", "pathlib.Path.replace"])
def test_a_store_that_cannot_be_written_is_an_error_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(what, full)

    with pytest.raises(ConfigError, match=r"trusted\.json cannot be written: No space left"):
        trust(settings(""), b"")
    store = store_path()
    assert store is not None and list(store.parent.iterdir()) == []
