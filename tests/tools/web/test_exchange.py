import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import anyio
import httpx
import pytest

from planner_executor.tools.errors import RequestFailed
from planner_executor.tools.web.exchange import WebResponse, exchange, within
from planner_executor.tools.web.transport import guarded, request_for

MOST = 100_000


@pytest.fixture
def got(site: Any, guard: Any) -> Callable[..., WebResponse]:
    async def get(seconds: float) -> WebResponse:
        with within(seconds, site.url()):
            async with guarded(guard()) as transport:
                return await exchange(transport.handle_async_request, request_for("GET", site.url(), {}), MOST)

    return lambda seconds=10.0: anyio.run(get, seconds)


def test_a_body_comes_whole_with_its_status_and_type(site: Any, got: Any) -> None:
    site.serve("/", "x" * MOST, Content_Type="text/Plain; charset=utf-8")

    answer = got()

    assert (len(answer.body), answer.fault, answer.is_success) == (MOST, None, True)
    assert (answer.phrase, answer.content_type) == ("200 OK", "text/plain")


def test_a_body_that_is_too_large_is_named_so(site: Any, got: Any) -> None:
    site.serve("/", "x" * (MOST + 1))

    answer = got()

    assert (len(answer.body), answer.fault) == (MOST, "it is larger than 100,000 bytes")


def test_a_packed_body_is_unpacked(site: Any, got: Any) -> None:
    site.serve("/", gzip.compress(b"words " * 1000), Content_Encoding="gzip")

    assert got().body == b"words " * 1000
    assert site.asked[0][2]["accept-encoding"] == "gzip"


def test_a_bomb_is_unpacked_no_further_than_it_may_be_large(site: Any, got: Any) -> None:
    site.serve("/", gzip.compress(bytes(100_000_000)), Content_Encoding="gzip")
    tracemalloc.start()

    answer = got()

    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(answer.body), answer.fault) == (MOST, "it is larger than 100,000 bytes")
    assert peak_bytes < 20_000_000


@pytest.mark.parametrize(
    ("packing", "body"),
    [
        ("gzip", b"no gzip at all"),
        ("gzip", gzip.compress(b"words" * 100, mtime=0)[:-12]),
        ("gzip", gzip.compress(b"words", mtime=0) + b"more"),
        ("gzip", zlib.compress(b"words")),
        ("br", b"words"),
        ("gzip, gzip", gzip.compress(gzip.compress(b"words", mtime=0), mtime=0)),
        ("zstd", b"words"),
    ],
)
def test_a_body_packed_otherwise_is_at_fault(site: Any, got: Any, packing: str, body: bytes) -> None:
    site.serve("/", body, Content_Encoding=packing)

    assert "packed" in (got().fault or "")


def test_a_body_that_breaks_off_is_at_fault(site: Any, got: Any) -> None:
    site.serve("/", b"half", Content_Length="100")

    answer = got()

    assert answer.body == b"half"
    assert (answer.fault or "").startswith("the connection broke")


@pytest.mark.parametrize("said", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000])
def test_an_invalid_response_is_a_failed_request(site: Any, got: Any, said: bytes) -> None:
    site.routes["/"] = lambda request: request.wfile.write(said) and None

    with pytest.raises(RequestFailed) as failure:
        got()

    assert failure.value.reason.startswith("the connection broke")


def drip(site: Any, start: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    def handle(request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(start)
        while not site.closing.wait(0.02):
            request.wfile.write(b"x")

    return handle


@pytest.mark.parametrize(
    "start",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"", b"HTTP/1.1 100 "],
)
def test_a_server_that_drips_is_left_in_time(site: Any, got: Any, start: bytes) -> None:
    site.routes["/"] = drip(site, start)

    with pytest.raises(RequestFailed) as failure:
        got(seconds=0.1)

    assert failure.value.reason == "no complete answer within 0.1 seconds"


def test_a_name_that_is_looked_up_for_ever_is_left_in_time(guard: Any) -> None:
    async def get() -> None:
        with within(0.1, "http://slow.example/"):
            async with guarded(guard(lambda host: anyio.sleep_forever())) as transport:
                request = request_for("GET", httpx.URL("http://slow.example/"), {})
                await exchange(transport.handle_async_request, request, MOST)

    with pytest.raises(RequestFailed):
        anyio.run(get)


def test_of_a_failure_the_beginning_is_read(site: Any, got: Any) -> None:
    site.serve("/", "x" * 50_000, status=500)

    answer = got()

    assert (len(answer.body), answer.phrase) == (20_000, "500 Internal Server Error")


def test_an_unknown_status_is_a_number(site: Any, got: Any) -> None:
    site.serve("/", status=799)

    assert got().phrase == "799"
