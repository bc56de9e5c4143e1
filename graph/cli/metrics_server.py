"""The server of `metrics --listen`: prometheus-client's WSGI application, for this machine only (decision 0040)."""

import socketserver
from collections.abc import Iterable
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from planner_executor.graph.errors import AgentError, InputError
from planner_executor.graph.serving.hosts import read_host

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from prometheus_client import CollectorRegistry

LOOPBACK = "127.0.0.1"


class MetricsServer(socketserver.ThreadingMixIn, WSGIServer):
    """WSGI server with one thread per scrape."""

    # A scrape that hangs must not keep the command from its end.
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without the reverse DNS lookup that `WSGIServer` would do."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]
        self.setup_environ()


class QuietHandler(WSGIRequestHandler):
    """Request handler without an access log."""

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def listening(port: int, registry: "CollectorRegistry") -> WSGIServer:
    """Return a server of the registry's metrics, bound to loopback; port 0 picks a free one.

    Raises:
        InputError: The port cannot be had.
    """
    try:
        return make_server(LOOPBACK, port, guarded(registry), MetricsServer, QuietHandler)
    except OSError as error:
        raise InputError(
            "--listen", f"port {port} cannot be had ({error.strerror}); name another, or 0 for any"
        ) from None


def guarded(registry: "CollectorRegistry") -> "WSGIApplication":
    """Return a WSGI application for `GET /metrics` that refuses any `Host` but this machine's.

    Without that check, a web page could read the metrics by DNS rebinding (decision 0040).
    """
    from prometheus_client import make_wsgi_app

    metrics_app = make_wsgi_app(registry)

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not _is_own_host(environ):
            return _refused(start_response, "421 Misdirected Request", "use http://127.0.0.1 or http://localhost")
        if environ["PATH_INFO"] != "/metrics":
            return _refused(start_response, "404 Not Found", "the only path is /metrics")
        try:
            content: Iterable[bytes] = metrics_app(environ, start_response)
        except AgentError as error:
            return _refused(start_response, "503 Service Unavailable", str(error))
        return content

    return answer


def _is_own_host(environ: "WSGIEnvironment") -> bool:
    host = read_host(environ.get("HTTP_HOST", ""))  # repeated headers arrive joined by commas and do not parse
    return host is not None and host.is_loopback


def _refused(start_response: "StartResponse", status: str, reason: str) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{reason}\n".encode()]
