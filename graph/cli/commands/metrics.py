"""`planner-executor metrics`: counts over all runs, for Prometheus and whatever reads its format."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from graph.cli import options
from graph.cli.exit_codes import reported
from graph.cli.run_lookup import with_runs
from graph.cli.screen import Screen
from graph.errors import AgentError, InputError
from graph.serving.hosts import read_host

Listen = Annotated[
    int | None,
    typer.Option("--listen", metavar="PORT", min=0, max=65535, help="Serve them at 127.0.0.1:PORT/metrics."),
]


def metrics(listen: Listen = None, db: options.Database = options.DATABASE) -> None:
    """Print counts over all runs in Prometheus' text format, or serve them until Ctrl-C."""
    screen = Screen.here()
    with reported(screen):
        if listen is None:
            print(_text(db), end="")  # noqa: T201  (the whole of standard output is for a machine)
            return
        with _listening(listen, db) as server:
            screen.say(f"http://127.0.0.1:{server.server_port}/metrics")
            server.serve_forever()


def _text(database: Path) -> str:
    return with_runs(database, lambda runs: runs.counters()).to_text()


def _listening(port: int, database: Path) -> ThreadingHTTPServer:
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), _serving(database))
    except OSError as error:
        raise InputError(
            "--listen", f"port {port} cannot be had ({error.strerror}); name another, or 0 for any"
        ) from None


def _serving(database: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers `GET /metrics`."""

        def do_GET(self) -> None:
            """Send the counts as they are now, to those who ask this machine by its own name."""
            host = read_host(self.headers.get("Host", ""))
            if len(self.headers.get_all("Host", [])) != 1 or host is None or not host.is_loopback:
                self.send_error(421, explain="ask for http://127.0.0.1 or http://localhost")
                return
            if urlsplit(self.path).path != "/metrics":
                self.send_error(404)
                return
            try:
                content = _text(database).encode()
            except AgentError as error:
                self.send_error(503, explain=str(error))
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing of each scrape."""

    return Handler
