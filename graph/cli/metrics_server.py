"""The server of `metrics --listen`: prometheus-client's WSGI application, for this machine only (decision 0040)."""

import socketserver
from collections.abc import Iterable
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from graph.errors import AgentError, InputError
from graph.serving.hosts import read_host

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from prometheus_client import CollectorRegistry

LOOPBACK = "127.0.0.1"


class MetricsServer(socketserver.ThreadingMixIn, WSGIServer):
    """Answers each scrape on a thread of its own."""

    daemon_threads = True

    def server_bind(self) -> None:
        """Bind to the address; the name server is not asked for its name."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]
        self.setup_environ()


class QuietHandler(WSGIRequestHandler):
    """Says nothing of each scrape."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def listening(port: int, registry: "CollectorRegistry") -> WSGIServer:
    """Return a server of the registry's metrics, bound to loopback; port 0 takes any that is free.

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
    """Return an application that answers `GET /metrics` to those who ask this machine by its own name."""
    from prometheus_client import make_wsgi_app

    served = make_wsgi_app(registry)

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not _is_own_host(environ):
            return _refused(start_response, "421 Misdirected Request", "ask for http://127.0.0.1 or http://localhost")
        if environ["PATH_INFO"] != "/metrics":
            return _refused(start_response, "404 Not Found", "ask for /metrics")
        try:
            content: Iterable[bytes] = served(environ, start_response)
        except AgentError as error:
            return _refused(start_response, "503 Service Unavailable", str(error))
        return content

    return answer


def _is_own_host(environ: "WSGIEnvironment") -> bool:
    host = read_host(environ.get("HTTP_HOST", ""))  # several such headers come joined by commas, and are no host
    return host is not None and host.is_loopback


def _refused(start_response: "StartResponse", status: str, why: str) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{why}\n".encode()]
