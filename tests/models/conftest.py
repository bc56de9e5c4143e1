"""A plain model server on loopback, for raw bytes; aimock, which follows a script, is in the folder above."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from planner_executor import ModelSettings

MODEL = "scripted-model"
KEY = "sk-secret-0123456789abcdef"
USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}


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

    def say(self, content: Any, finish: str = "stop", usage: Mapping[str, Any] = USAGE, **more: Any) -> None:
        """Reply with an answer as OpenAI's servers give it."""
        text = content if isinstance(content, str) else json.dumps(content)
        message = {"role": "assistant", "content": text, **more}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        self.reply(
            {"id": "c", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage}
        )

    def stream(self, content: str, finish: str | None = "stop", **more: str) -> None:
        """Reply with an answer in one piece of a stream; without `finish` its end never comes."""
        choice = {"index": 0, "delta": {"content": content, **more}, "finish_reason": finish}
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
