"""The settings file: which one it is, who vouches for it, and what its entries may do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.settings.settings_file import (
    FILE,
    FILE_VARIABLE,
    SettingsFile,
    Table,
    TextOrVariable,
    read_file,
    settings_file,
)
from planner_executor.graph.settings.trust import trust

MAIL: Table[str] = Table("notify", TextOrVariable, lambda given: [f"notify writes to {given}", f"it calls {given}"])
QUIET: Table[str] = Table("notify", TextOrVariable)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder, with a store of one's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


def written(name: str, text: str = 'notify = "x"\n') -> Path:
    Path(name).write_text(text)
    return Path(name)


def file_with(text: str, **more: Any) -> SettingsFile:
    return SettingsFile(FILE, read_file(FILE, text.encode()).values, text=text, **more)


def test_without_a_file_there_is_nothing_set() -> None:
    assert settings_file(None) == SettingsFile(FILE)
    assert not settings_file(None).is_named and not settings_file(None).is_trusted


def test_a_file_of_the_folder_is_used_and_nobody_vouches_for_it() -> None:
    written(str(FILE))
    found = settings_file(None)

    assert (found.path, found.values, found.is_named, found.is_trusted) == (FILE, {"notify": "x"}, False, False)


def test_a_file_of_the_folder_that_was_trusted_is_trusted_until_it_is_named() -> None:
    trust(written(str(FILE)), FILE.read_bytes())

    assert settings_file(None).is_trusted and not settings_file(FILE).is_trusted and settings_file(FILE).is_named


def test_a_named_file_is_used_in_place_of_the_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    written(str(FILE), 'notify = "folder"\n')
    mine, theirs = written("mine.toml", 'notify = "mine"\n'), written("theirs.toml", 'notify = "theirs"\n')
    monkeypatch.setenv(FILE_VARIABLE, str(theirs))

    assert [settings_file(name).values["notify"] for name in (mine, None)] == ["mine", "theirs"]
    assert settings_file(None).is_named


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = ", "planner-executor.toml: "),
        ('notifi = "x"', "line 1: notifi is unknown; did you mean notify?"),
        ("\n\n[modells]\n", "line 3: modells is unknown"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(text: str, words: str) -> None:
    written(str(FILE), text)

    with pytest.raises(ConfigError) as caught:
        settings_file(None)

    assert words in str(caught.value)


def test_a_named_file_has_to_be_there() -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: No such file"):
        settings_file("gone.toml")


def test_a_text_may_stand_for_a_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_NAME", "ann")

    assert [QUIET.value_in(file_with(f'notify = "{text}"')) for text in ("bob", "env:A_NAME")] == ["bob", "ann"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [('"env:NOT_SET"', "is the value of NOT_SET, which is not set"), ('""', "must be text"), ("3", "must be text")],
)
def test_a_text_that_is_none_is_a_fault_on_its_line(entry: str, words: str) -> None:
    file = file_with(f"\nnotify = {entry}")

    for ask in (QUIET.value_in, QUIET.acts_in):
        with pytest.raises(ConfigError, match=f"{FILE}, line 2: notify {words}"):
            ask(file)


@pytest.mark.parametrize(
    ("more", "is_used"), [({}, False), ({"is_named": True}, True), ({"is_trusted": True}, True)], ids=str
)
def test_what_acts_is_used_only_from_a_file_that_somebody_vouches_for(more: dict[str, bool], is_used: bool) -> None:
    file = file_with('notify = "ann"', **more)

    assert MAIL.acts_in(file) == ["notify writes to ann", "it calls ann"] and QUIET.value_in(file) == "ann"
    if is_used:
        assert MAIL.value_in(file) == "ann"
    else:
        with pytest.raises(ConfigError, match="is not trusted, and notify writes to ann; read it, then run"):
            MAIL.value_in(file)


@pytest.mark.parametrize("table", [MAIL, QUIET])
def test_an_entry_that_is_not_there_is_nothing_and_does_nothing(table: Table[str]) -> None:
    found: tuple[str | None, Sequence[str]] = table.value_in(file_with("")), table.acts_in(file_with(""))

    assert found == (None, ())


@pytest.mark.parametrize("entry", [r'policy = "a\u0000b"', r'tools = ["x:Y", "a\u0000b"]', r'notify.link = "a\u0000b"'])
def test_a_text_with_a_nul_character_is_refused_by_line_wherever_it_stands(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"line 2: \S+ text with a NUL character cannot be kept"):
        read_file(FILE, f"# settings\n{entry}".encode())
