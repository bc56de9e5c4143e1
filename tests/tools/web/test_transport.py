import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest
import trustme

from planner_executor.tools.errors import NotConnected, UrlRefused
from planner_executor.tools.web.exchange import WebResponse, exchange
from planner_executor.tools.web.guard import Guard
from planner_executor.tools.web.transport import GuardedTransport, guarded, request_for


def got(guard: Guard, url: str) -> WebResponse:
    async def get() -> WebResponse:
        async with guarded(guard) as transport:
            return await exchange(transport.handle_async_request, request_for("GET", httpx.URL(url), {}), 1000)

    return anyio.run(get)


def test_the_connection_goes_to_the_address_that_was_checked(site: Any, guard: Any, names: Any) -> None:
    resolve = names({"page.example": [("127.0.0.1",), ("127.0.0.2",)]})
    site.serve("/", "words")

    answer = got(guard(resolve), site.url())

    assert answer.body == b"words"
    assert resolve.asked == ["page.example"]
    assert site.asked[0][2]["host"] == f"page.example:{site.port}"


def test_an_answer_that_changes_after_the_check_leads_nowhere_else(site: Any, guard: Any, names: Any) -> None:
    """The name is harmless when it is checked first, and points at the machine itself a moment later."""
    resolve = names({"rebind.example": [("93.184.216.34",), ("127.0.0.1",)]})
    checked = guard(resolve)
    first = anyio.run(checked.addresses, httpx.URL("http://rebind.example/"))

    with pytest.raises(UrlRefused):
        got(checked, "http://rebind.example/")

    assert [str(address) for address in first] == ["93.184.216.34"]
    assert site.asked == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
def test_this_machine_is_not_reached_by_any_of_its_names(site: Any, host: str) -> None:
    with pytest.raises(UrlRefused) as refusal:
        got(Guard(), site.url(host=host))

    assert "only public ones may be used" in refusal.value.reason
    assert site.asked == []


def test_another_port_of_an_admitted_address_is_not_reached(site: Any, guard: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(UrlRefused):
        got(guard(), f"http://page.example:{other.getsockname()[1]}/")


def test_the_next_address_is_tried_if_one_does_not_answer(site: Any, names: Any) -> None:
    site.serve("/", "words")
    everything = Guard(names({"page.example": ("127.0.0.9", "127.0.0.1")}), lambda host, address, port: None)

    assert got(everything, site.url()).body == b"words"


def test_a_refused_connection_is_an_error_that_names_it(names: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        everything = Guard(names({}), lambda host, address, port: None)
        with pytest.raises(NotConnected):
            got(everything, f"http://127.0.0.1:{free.getsockname()[1]}/")


def test_no_proxy_password_file_or_cookie_of_the_environment_is_used(
    site: Any, guard: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "netrc").write_text("machine page.example login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.serve("/", "words")

    assert got(guard(), site.url()).body == b"words"

    assert {"authorization", "cookie"}.isdisjoint(site.asked[0][2])


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[int]:
    """A TLS server for page.example that keeps connections open."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("page.example").configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=_serve, args=(listener, context))
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def _serve(listener: socket.socket, context: ssl.SSLContext) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        try:
            with context.wrap_socket(plain, server_side=True) as connection:
                while connection.recv(10_000):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")
        except OSError:
            continue


@pytest.fixture
def secure_get(authority: trustme.CA, names: Any) -> Callable[..., bytes]:
    """Get several addresses with one transport, and return the last body."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    guard = Guard(names({"page.example": ("127.0.0.1",), "other.example": ("127.0.0.1",)}), lambda *_: None)

    async def get(urls: tuple[str, ...]) -> bytes:
        async with GuardedTransport(guard, context) as transport:
            requests = [request_for("GET", httpx.URL(url), {}) for url in urls]
            answers = [await exchange(transport.handle_async_request, request, 1000) for request in requests]
        return answers[-1].body

    return lambda *urls: anyio.run(get, urls)


@pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
def test_the_certificate_is_checked_against_the_name(secure: int, secure_get: Callable[..., bytes], host: str) -> None:
    assert secure_get(f"https://page.example:{secure}/") == b"secret"

    with pytest.raises(NotConnected) as failure:
        secure_get(f"https://{host}:{secure}/")

    assert "certificate" in failure.value.reason.lower()


def test_another_name_at_the_same_address_is_greeted_anew(secure: int, secure_get: Callable[..., bytes]) -> None:
    with pytest.raises(NotConnected):
        secure_get(f"https://page.example:{secure}/", f"https://other.example:{secure}/")
