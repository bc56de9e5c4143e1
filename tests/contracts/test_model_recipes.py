"""Every recipe of docs/models.md makes the models it says."""

import re
import shlex
from pathlib import Path

import pytest

from planner_executor.graph.chat_models.roles import role_models

TEXT = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
FILES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
VARIABLES = [block for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) if block.startswith("export")]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "VLLM_API_KEY", "GATEWAY_KEY"):
        monkeypatch.setenv(name, "k-0123456789")


@pytest.mark.parametrize("text", FILES)
def test_a_settings_file_makes_models(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.toml").write_text(text)

    models = role_models({}, tmp_path / "own.toml")

    assert models.planner.name in text


@pytest.mark.parametrize("text", VARIABLES)
def test_variables_make_models(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in shlex.split(text):
        if "=" in word:
            monkeypatch.setenv(*word.split("=", 1))

    assert role_models({}).planner.name in text


def test_there_are_recipes() -> None:
    assert len(FILES) >= 4 and len(VARIABLES) >= 2
