import gc
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cases import item_of
from hypothesis import HealthCheck, settings
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from postgres_server import new_schema
from pydantic import SecretStr
from sample import left_out

from planner_executor import ModelSettings, build_graph
from planner_executor.graph.ledger.lease import Pace
from planner_executor.graph.prompts.executor import EXECUTOR
from planner_executor.graph.prompts.planner import PLANNER
from planner_executor.graph.prompts.replanner import REPLANNER
from planner_executor.graph.testing import LoggedTools, ScriptedModel
from planner_executor.graph.work.worker import Worker

for profile, examples in {"check": 10, "test": 50, "many": 2_000}.items():
    # How fast the machine is decides nothing, and a property's examples share its folder and its patches.
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    settings.register_profile(profile, max_examples=examples, deadline=None, suppress_health_check=quiet)
settings.load_profile("test")
FROM_OUTSIDE = {"chat_browser", "node_package", "serve", "time_server"}
"""Fixtures that start a program which is none of ours: who asks for one is an `e2e` test."""
OF_RUNS = {"scenarios", "faults", "studio", "engine"}
LONG_S = 600
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic")
"""Options of a browser that looks for nothing outside."""
NODE_PACKAGES = "tests/node/node_modules/.installed"
SMALL_SERVER = Path(__file__).parent / "tools" / "mcp" / "small_server.py"
MODEL = "scripted-model"
KEY = "sk-secret-0123456789abcdef"
signal.signal(signal.SIGINT, signal.default_int_handler)  # a run in the background ignores it, with all that it starts
gc.disable()  # until all is collected: collecting makes a million objects and no garbage
ROLES = {"planner": PLANNER, "executor": EXECUTOR, "replanner": REPLANNER}
USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs programs from outside, give marked tests time, and draw those of a matrix."""
    if left := set(left_out(items)):
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=[*left])
    for item in items:
        if FROM_OUTSIDE & set(getattr(item, "fixturenames", ())):
            item.add_marker("e2e")
        if item.get_closest_marker("e2e") or item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(LONG_S))


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: Any) -> pytest.Item | None:
    """Take the cases of a test together, but not where each is a run."""
    return item_of(collector, name, obj) if collector.path.parent.name not in OF_RUNS else None


def pytest_collection_finish() -> None:
    """Let no search for garbage look through what was imported and collected: it stays. Search less often too."""
    gc.freeze()
    gc.set_threshold(7_000, 10, 10)  # with Python's 700 a twentieth of the work is to search
    gc.enable()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


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


def says(content: Any, **more: Any) -> dict[str, Any]:
    """Return a fixture that answers with text, or with an object as JSON, and counts 16 tokens."""
    return {"response": {"content": content, "usage": USAGE}, **more}


def calls(tool: str, **args: Any) -> dict[str, Any]:
    """Return a fixture that asks for a call of a tool."""
    return {"response": {"toolCalls": [{"name": tool, "arguments": args}], "usage": USAGE}}


def fails(status: int, message: str = "not now", **more: Any) -> dict[str, Any]:
    """Return a fixture that answers with an error."""
    return {"response": {"error": {"message": message}, "status": status, **more}}


@dataclass(frozen=True)
class AiMock:
    """A running aimock, which refuses all keys but its own; roles are told apart by the first line they are told."""

    url: str
    key = KEY
    says = staticmethod(says)
    calls = staticmethod(calls)
    fails = staticmethod(fails)

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def settings(self, **more: Any) -> ModelSettings:
        settings = {"model": f"openai:{MODEL}", "base_url": self.base_url, "api_key": SecretStr(self.key)}
        return ModelSettings(**{**settings, **more})

    def answers(self, role: str, *fixtures: dict[str, Any]) -> None:
        """Let the model answer a role's requests in this order."""
        self._script({"model": MODEL, "systemMessage": ROLES[role].splitlines()[0]}, fixtures)

    def any(self, *fixtures: dict[str, Any]) -> None:
        """Let the model answer all requests in this order, whoever asks."""
        self._script({"model": MODEL}, fixtures)

    def _script(self, match: dict[str, Any], fixtures: tuple[dict[str, Any], ...]) -> None:
        numbered = [{**fixture, "match": {**match, "sequenceIndex": n}} for n, fixture in enumerate(fixtures)]
        self._ask("/__aimock/fixtures", {"fixtures": numbered})

    def reset(self) -> None:
        self._ask("/__aimock/reset", {})

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all chat requests, in order."""
        journal = json.loads(self._ask("/__aimock/journal"))
        return [entry["body"] for entry in journal if entry["path"] == "/v1/chat/completions"]

    def _ask(self, path: str, body: Any = None) -> bytes:
        """Send a body, or ask for what there is."""
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.key}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bytes(answer.read())


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of either driver."""
    return new_schema() if request.param == "postgres" else str(tmp_path / "runs.db")


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


@pytest.fixture(scope="session")
def aimock_process(node_package: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[AiMock]:
    script = node_package("@copilotkit/aimock") / "dist" / "cli.js"
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "first.json").write_text(
        json.dumps({"fixtures": [{"match": {"model": "none"}, "response": {"content": ""}}]})
    )
    command = ["node", str(script), "--port", "0", "--fixtures", str(folder)]
    variables = {**os.environ, "AIMOCK_API_KEYS": KEY}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables, text=True
    ) as process:
        assert process.stdout is not None
        try:
            said = ""
            while not (found := re.search(r"http://127\.0\.0\.1:\d+", said)):
                said = process.stdout.readline()
                assert said, "aimock ended before it listened"
            threading.Thread(target=process.stdout.read, daemon=True).start()  # its log must not fill the pipe
            yield AiMock(found[0])
        finally:
            process.kill()


@pytest.fixture
def aimock(aimock_process: AiMock) -> AiMock:
    aimock_process.reset()
    return aimock_process


@pytest.fixture(autouse=True)
def no_authorities(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients of loopback meet no certificate: to read those of the authorities takes each of them 20 ms of work."""
    if request.node.get_closest_marker("e2e") is None:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        monkeypatch.setenv("SSL_CERT_DIR", str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def nothing_said_of_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's own settings and keys reach a test."""
    for name in list(os.environ):
        if name.startswith("PLANNER_EXECUTOR_") or name.startswith("OPENAI_"):
            monkeypatch.delenv(name)


@pytest.fixture
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers take an owner that says nothing for gone at once, and not after twelve seconds."""
    begin = Worker.__post_init__

    def quick(worker: Worker) -> None:
        worker.pace = Pace(beat_s=0.0, lease_s=0.0, look_s=0.01)
        begin(worker)

    monkeypatch.setattr(Worker, "__post_init__", quick)


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


@pytest.fixture(scope="module")
def chat_browser() -> Iterator[Any]:
    """The Chromium of this machine, for one module: its driver's event loop runs on this thread until it is closed."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", *QUIET])
        yield browser
        browser.close()
