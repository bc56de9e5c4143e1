"""Model servers on loopback: aimock, which speaks OpenAI's protocol from a script, and a plain one for raw bytes."""

import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from graph import ModelSettings
from graph.prompts.executor import EXECUTOR
from graph.prompts.planner import PLANNER
from graph.prompts.replanner import REPLANNER

MODEL = "scripted-model"
KEY = "sk-secret-0123456789abcdef"
ROLES = {"planner": PLANNER, "executor": EXECUTOR, "replanner": REPLANNER}
USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


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
    """A running aimock; each role is told apart by the first line of its instructions."""

    url: str
    says = staticmethod(says)
    calls = staticmethod(calls)
    fails = staticmethod(fails)

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def settings(self, **more: Any) -> ModelSettings:
        settings = {"model": f"openai:{MODEL}", "base_url": self.base_url, "api_key": SecretStr(KEY)}
        return ModelSettings(**{**settings, **more})

    def answers(self, role: str, *fixtures: dict[str, Any]) -> None:
        """Let the model answer a role's requests in this order."""
        self._script({"model": MODEL, "systemMessage": ROLES[role].splitlines()[0]}, fixtures)

    def any(self, *fixtures: dict[str, Any]) -> None:
        """Let the model answer all requests in this order, whoever asks."""
        self._script({"model": MODEL}, fixtures)

    def _script(self, match: dict[str, Any], fixtures: tuple[dict[str, Any], ...]) -> None:
        numbered = [{**fixture, "match": {**match, "sequenceIndex": n}} for n, fixture in enumerate(fixtures)]
        self._send("/__aimock/fixtures", {"fixtures": numbered})

    def reset(self) -> None:
        self._send("/__aimock/reset", {})

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies of all chat requests, in order."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal", timeout=10) as answer:
            journal = json.loads(answer.read())
        return [entry["body"] for entry in journal if entry["path"] == "/v1/chat/completions"]

    def _send(self, path: str, body: Any) -> None:
        data, headers = json.dumps(body).encode(), {"content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()


@pytest.fixture(scope="session")
def aimock_process(node_package: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[AiMock]:
    script = node_package("@copilotkit/aimock") / "dist" / "cli.js"
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "first.json").write_text(
        json.dumps({"fixtures": [{"match": {"model": "none"}, "response": {"content": ""}}]})
    )
    command = ["node", str(script), "--port", "0", "--fixtures", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
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


@dataclass
class Replies:
    """What the plain server sends, one reply per request: status, headers, body; and the requests that it got."""

    port: int = 0
    script: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    hangs: bool = False
    lists: int = 404
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def settings(self, **more: Any) -> ModelSettings:
        return ModelSettings(
            **{"model": f"openai:{MODEL}", "base_url": self.base_url, "api_key": SecretStr(KEY), **more}
        )

    def reply(self, body: Any = b"", status: int = 200, kind: str = "application/json", **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.script.append((status, {"content-type": kind, **named}, data))

    def say(self, content: Any, finish: str = "stop", **more: Any) -> None:
        """Reply with an answer as OpenAI's servers give it."""
        text = content if isinstance(content, str) else json.dumps(content)
        message = {"role": "assistant", "content": text, **more}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self.reply(
            {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": USAGE}
        )

    def stream(self, content: str, finish: str | None = "stop") -> None:
        """Reply with an answer in one piece of a stream; without `finish` its end never comes."""
        choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [choice]}
        done = "data: [DONE]\n\n" if finish else ""
        self.reply(f"data: {json.dumps(chunk)}\n\n{done}".encode(), kind="text/event-stream")


@pytest.fixture
def replies() -> Iterator[Replies]:
    """Return what a plain server on loopback sends; `lists` is the status for who wants a list of models."""
    told = Replies()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(told.lists)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            told.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            if told.hangs:
                if not self.connection.recv(1):  # nothing more is sent: this is the end of the connection
                    told.closed.set()
                return
            status, headers, data = told.script.pop(0)
            self.send_response(status)
            for name, value in {"content-length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        told.port = server.server_port
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield told
        server.shutdown()
