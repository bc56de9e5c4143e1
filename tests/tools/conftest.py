"""A web site on loopback, guards that admit it under any name and nothing else that is not public, and PDF files."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from planner_executor.tools.web.addresses import Address
from planner_executor.tools.web.guard import Guard, public_only

Handler = Callable[[BaseHTTPRequestHandler], None]


FORBIDDEN = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.8.8.8",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2001:0:7f00:1::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::1",
]


class Site:
    """Serves what `routes` says, and remembers what it was asked: method, path and headers, and bodies."""

    def __init__(self) -> None:
        self.routes: dict[str, Handler] = {}
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.bodies: list[bytes] = []
        self.closing = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.port: int = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def url(self, path: str = "/", host: str = "page.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def serve(self, path: str, body: bytes | str = b"", status: int = 200, **headers: str) -> None:
        """Answer a path; an underscore in a header's name is a hyphen."""
        content = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def handle(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **named}.items():
                request.send_header(name, value)
            request.end_headers()
            if request.command != "HEAD":
                request.wfile.write(content)

        self.routes[path] = handle

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Answering(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                site.asked.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
                site.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.close_connection = True
                try:
                    route = site.routes.get(self.path.partition("?")[0])
                    route(self) if route else self.send_error(404)
                except OSError:
                    pass  # the client has gone

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        return Answering


class Names:
    """A resolver with a table; a name that holds several answers gives the next one each time. Remembers the asking."""

    def __init__(self, table: Mapping[str, Sequence[str] | list[Sequence[str]]]) -> None:
        self.table = dict(table)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answers = self.table.get(host, ())
        if isinstance(answers, list):
            return answers.pop(0)
        return answers


@pytest.fixture
def site() -> Iterator[Site]:
    serving = Site()
    yield serving
    serving.close()


@pytest.fixture
def names() -> type[Names]:
    return Names


@pytest.fixture
def guard(site: Site) -> Callable[..., Guard]:
    """Build a guard that admits the site at 127.0.0.1, and of everything else only what is public."""

    def rule(host: str, address: Address, port: int) -> str | None:
        return None if (str(address), port) == ("127.0.0.1", site.port) else public_only(host, address, port)

    def make(resolve: Any = None) -> Guard:
        return Guard(resolve or Names({"page.example": ("127.0.0.1",), "other.example": ("127.0.0.1",)}), rule)

    return make


@pytest.fixture(params=FORBIDDEN)
def forbidden(request: pytest.FixtureRequest) -> str:
    """One address of each range that nobody may be led to."""
    return str(request.param)


@pytest.fixture
def pdf() -> Callable[..., bytes]:
    """Return what makes a PDF with one line of text a page."""

    def made(*pages: str) -> bytes:
        kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
        objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
        objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
        for number, words in enumerate(pages):
            stream = f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET"
            font = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
            objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {5 + 2 * number} 0 R >>")
            objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        body, offsets = "%PDF-1.4\n", []
        for number, text in enumerate(objects, 1):
            offsets.append(len(body))
            body += f"{number} 0 obj\n{text}\nendobj\n"
        table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
        size = len(objects) + 1
        end = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
        return f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode()

    return made
