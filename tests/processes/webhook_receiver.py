"""A webhook on loopback that keeps what arrived, and the settings that name it."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from planner_executor.graph.notices.webhook import signature_fault

SECRET = "0123456789abcdef"
ARRIVE_S = 120.0


@dataclass
class Receiver:
    """What arrived at a webhook; `answers` are the status codes of its next answers."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def await_one(self) -> dict[str, Any]:
        assert self.arrived.acquire(timeout=ARRIVE_S), "no notice arrived"
        headers, body = self.got[-1]
        assert signature_fault(SECRET.encode(), headers, body, time.time()) is None
        return dict(json.loads(body))


@contextmanager
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = found.answers.pop(0) if found.answers else 204
            self.send_response(status)
            self.end_headers()
            if status == 204:
                found.got.append((dict(self.headers), body))
                found.arrived.release()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def settings(folder: Path, url: str, kinds: str = "waits failed ended") -> Path:
    file = folder / "settings.toml"
    told = "\n".join(f'{kind} = ["ops"]' for kind in kinds.split())
    file.write_text(
        f'[notify]\nsecret = "{SECRET}"\nlink = "https://desk/{{run}}"\n{told}\n[notify.addresses]\nops = "{url}"\n'
    )
    return file
