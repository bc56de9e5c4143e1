"""`langgraph dev` in a directory of its own, on loopback, without key; what a client of it needs."""

import errno
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
CHAT = REPOSITORY / "tests" / "node" / "chat" / "dist"
START_S = 300.0
WAIT_S = 120.0


@dataclass
class Server:
    """A server that can be killed and started again; `home` is its working directory, its log, and its database."""

    home: Path
    config: Path
    port: int
    variables: dict[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.home / "server.log").read_text(errors="replace")

    def start(self) -> None:
        command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
        command += ["--port", str(self.port), "--config", str(self.config)]
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.home, env=self.environment(), stdout=log, stderr=subprocess.STDOUT
            )
        self.until(self._answers, "the server answers", START_S)

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def until(self, holds: Callable[[], Any], what: str, within_s: float = WAIT_S) -> Any:
        """Return what `holds` returns once that is true."""
        assert self.process is not None
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            if found := holds():
                return found
            try:
                self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                continue
            pytest.fail(f"the server ended; its log: {self.log[-3000:]}")
        return pytest.fail(f"not within {within_s} s: {what}; the server's log: {self.log[-3000:]}")

    def open_gate(self, words: str) -> None:
        """Let the tool that waits go on with these words; returns once it was there to be let go."""
        pipe = self.until(self._gate, "a tool waits at the gate")
        os.write(pipe, words.encode())
        os.close(pipe)

    def effects(self) -> list[str]:
        log = self.home / "effects.log"
        return log.read_text().split() if log.exists() else []

    def _gate(self) -> int | None:
        try:
            return os.open(self.home / "gate", os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return None
            raise

    def _answers(self) -> bool:
        with socket.socket() as client:
            client.settimeout(1)
            if client.connect_ex(("127.0.0.1", self.port)):
                return False
            client.sendall(b"GET /ok HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            try:
                return b" 200 " in client.recv(100)
            except TimeoutError:
                return False

    def environment(self) -> dict[str, str]:
        """Return nothing of the environment but what finds programs: no key, no proxy, no tracing."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
        return kept | {
            "HOME": str(self.home),
            "PLANNER_EXECUTOR_DB": str(self.home / "runs.db"),
            "PLANNER_EXECUTOR_DOCS": str(REPOSITORY / "examples" / "renewable-energy"),
            "PLANNER_EXECUTOR_WORKSPACE": str(self.home / "workspace"),
            "WAITING_GRAPH_HOME": str(self.home),
            "LANGGRAPH_CLI_NO_ANALYTICS": "1",
            "LANGSMITH_TRACING": "false",
            "NO_COLOR": "1",
            **self.variables,
        }


@dataclass
class Thread:
    """A thread as a client drives it."""

    client: Any
    graph: str = "planner_executor"
    id: str = ""

    def __post_init__(self) -> None:
        self.id = self.id or self.client.threads.create()["thread_id"]

    def run(self, input: Any = None, **options: Any) -> dict[str, Any]:
        """Run to the next pause or the end and return the thread's values."""
        values = self.client.runs.wait(self.id, self.graph, input=input, **options)
        assert "__error__" not in values, values["__error__"]
        return dict(self.state()["values"])

    def answer(self, resume: Any, **options: Any) -> dict[str, Any]:
        return self.run(command={"resume": resume}, **options)

    def state(self) -> dict[str, Any]:
        return dict(self.client.threads.get_state(self.id))

    def request(self) -> dict[str, Any]:
        """Return the review request that the thread shows; the chat ends with an assistant's message that says it."""
        state = self.state()
        (interrupt,) = state["interrupts"]
        request: dict[str, Any] = interrupt["value"]
        last = state["values"]["messages"][-1]
        assert last["type"] == "ai" and request["digest"] in last["content"]
        assert all(action["description"] in last["content"] for action in request["action_requests"])
        assert (request["error"] or "") in last["content"]
        return request


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Start servers; what blocked one's event loop fails the test that ends it."""
    if importlib.util.find_spec("langgraph_cli") is None or importlib.util.find_spec("langgraph_api") is None:
        pytest.skip("langgraph-cli[inmem] is not installed: pip install '.[studio]' in the folder of planner-executor")
    started: list[Server] = []

    def start(
        graphs: dict[str, str] | None = None,
        auth: Path | None = None,
        http: dict[str, Any] | None = None,
        **variables: str,
    ) -> Server:
        home = tmp_path_factory.mktemp("studio")
        for package in ("graph", "tools"):  # paths in langgraph.json are read from the working directory
            (home / package).symlink_to(REPOSITORY / package)
        (home / "workspace").mkdir()
        os.mkfifo(home / "gate")
        server = Server(home, _config(home, graphs, auth, http), _free_port(), variables)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.kill()
        assert "BlockingError" not in server.log
        shutil.rmtree(server.home, ignore_errors=True)


@pytest.fixture(scope="session")
def server(serve: Callable[..., Server]) -> Server:
    """The repository's own langgraph.json, served."""
    return serve()


@pytest.fixture
def client(server: Server) -> Iterator[Any]:
    with connected(server) as client:
        yield client


@pytest.fixture
def thread(client: Any) -> Thread:
    return Thread(client)


@pytest.fixture(scope="session")
def waiting_server(serve: Callable[..., Server]) -> Server:
    """A server of the graphs whose tools wait: one that asks a person, and one that does not."""
    file = Path(__file__).with_name("waiting_graph.py")
    return serve({"waiting": f"{file}:graph", "unasked": f"{file}:unasked"})


@pytest.fixture
def waiting(waiting_server: Server) -> Iterator[Callable[..., Thread]]:
    """Return how to get a thread of the graph whose tools wait, also after the server was started again."""
    clients = []

    def thread(id: str = "") -> Thread:
        clients.append(connected(waiting_server))
        client = clients[-1].__enter__()
        if id:  # the development server writes its list of threads every ten seconds only
            client.threads.create(thread_id=id, if_exists="do_nothing")
        return Thread(client, "waiting", id)

    (waiting_server.home / "effects.log").unlink(missing_ok=True)
    yield thread
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def thread_of() -> Iterator[Callable[..., Thread]]:
    """Return how to get a thread of any server, as whoever the headers say."""
    with ExitStack() as clients:
        yield lambda server, **headers: Thread(clients.enter_context(connected(server, **headers)))


@pytest.fixture(scope="session")
def chat_page() -> Iterator[str]:
    """The address of agent-chat-ui, served on loopback."""
    if not (CHAT / "index.html").exists():
        pytest.skip(f"{CHAT.relative_to(REPOSITORY)} is not built: run tests/node/chat/build, which needs npm")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietFiles, directory=str(CHAT))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves files without a word on standard error."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


def connected(server: Server, **headers: str) -> Any:
    from langgraph_sdk import get_sync_client

    return get_sync_client(url=server.url, timeout=WAIT_S, headers=headers)


def _config(home: Path, graphs: dict[str, str] | None, auth: Path | None, http: dict[str, Any] | None = None) -> Path:
    own = REPOSITORY / "langgraph.json"
    if graphs is None and auth is None and http is None:
        return own
    changed = json.loads(own.read_text())
    changed |= {"graphs": graphs} if graphs else {}
    changed |= {"http": http} if http else {}
    changed |= {"auth": {"path": f"{auth}:auth", "disable_studio_auth": True}} if auth else {}
    (home / "langgraph.json").write_text(json.dumps(changed))
    return home / "langgraph.json"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
