"""The policy on a page of the desk: read once, and anew when a file of it changes."""

import asyncio
from pathlib import Path

import pytest

from planner_executor.graph.cli.desk_policy import desk_policy
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.errors import ConfigError


@pytest.fixture(autouse=True)
def no_policy_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANNER_EXECUTOR_POLICY", raising=False)
    monkeypatch.delenv("PLANNER_EXECUTOR_CONFIG", raising=False)


def test_a_policy_is_read_once_and_anew_when_its_file_or_the_settings_file_changes(folder: Path) -> None:
    (folder / "one.toml").write_text('[effects]\nwrite = "deny"\n')
    shown = desk_policy(RunOptions())

    none, again = asyncio.run(shown()), asyncio.run(shown())
    (folder / "planner-executor.toml").write_text('policy = "one.toml"\n')
    named = asyncio.run(shown())
    (folder / "one.toml").write_text('[effects]\nwrite = "deny"\nexternal = "deny"\n')
    changed = asyncio.run(shown())

    assert none is again and none.source == "none: only the approval mode applies"
    assert named.source == changed.source == "one.toml" and named.digest != changed.digest
    assert asyncio.run(shown()) is changed


def test_a_policy_that_cannot_be_read_is_not_kept(folder: Path) -> None:
    file = folder / "one.toml"
    file.write_text("[effects]\nwrite = 3\n")
    shown = desk_policy(RunOptions(policy=file))

    with pytest.raises(ConfigError):
        asyncio.run(shown())
    file.write_text('[effects]\nwrite = "deny"\n')

    assert asyncio.run(shown()).digest
