import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph import build_graph
from graph.testing import LoggedTools, ScriptedModel

settings.register_profile("untimed", deadline=None)  # how fast the machine is just now decides nothing
settings.load_profile("untimed")
NODE_PACKAGES = "tests/node/node_modules/.installed"
SMALL_SERVER = Path(__file__).parent / "tools" / "mcp" / "small_server.py"


@dataclass(frozen=True)
class SmallMcp:
    """The MCP server of `tests/tools/mcp/small_server.py`; its folder tells how it behaves and what it was asked."""

    folder: Path

    def entry(self, **more: Any) -> dict[str, Any]:
        return {"command": sys.executable, "args": ["-I", "-S", str(SMALL_SERVER), str(self.folder)], **more}

    def behave(self, how: str, words: str = "") -> None:
        (self.folder / how).write_text(words)

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        return [(tool, args) for tool, args in self._read("calls")]

    @property
    def starts(self) -> list[int]:
        return self._read("starts")

    @contextmanager
    def over_http(self, port: int = 0) -> Iterator[str]:
        command = [sys.executable, "-I", "-S", str(SMALL_SERVER), str(self.folder), str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
            finally:
                process.kill()

    def _read(self, file: str) -> list[Any]:
        path = self.folder / file
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def small(tmp_path: Path) -> SmallMcp:
    folder = tmp_path / "small"
    folder.mkdir()
    return SmallMcp(folder)


@pytest.fixture(scope="session")
def node_package() -> Callable[[str], Path]:
    """Return a function that returns the folder of a package that `make test` installs from `tests/node`."""

    def folder(name: str) -> Path:
        found = Path(__file__).parent / "node" / "node_modules" / name
        if shutil.which("node") is None or not found.is_dir():
            pytest.skip(f"{name} needs node, and npm to install it: make {NODE_PACKAGES}")
        return found

    return folder


@pytest.fixture(autouse=True)
def nothing_said_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own settings and keys reach a test."""
    for name in list(os.environ):
        if name.startswith("PLANNER_EXECUTOR_") or name.startswith("OPENAI_"):
            monkeypatch.delenv(name)


@pytest.fixture
def saver() -> InMemorySaver:
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))


@pytest.fixture
def tools() -> LoggedTools:
    return LoggedTools()


@pytest.fixture
def build(saver: InMemorySaver, tools: LoggedTools) -> Callable[..., Any]:
    """Build a graph whose planner answers from a script, with a reading, a writing and a failing tool."""

    def make(*answers: Any, **options: Any) -> Any:
        own = [
            tools.tool("search", lambda query: {"items": [query.upper()]}, effect="read"),
            tools.tool("write", lambda text: len(text), effect="write"),
            tools.tool("send", lambda to: f"sent to {to}"),
            tools.tool("broken", _raise, effect="read"),
        ]
        model = ScriptedModel(answers)
        graph = build_graph(model, **{"tools": own, "checkpointer": saver, **options})
        graph.model = model
        return graph

    return make


def _raise(**_: Any) -> None:
    raise ValueError("the service is down")
