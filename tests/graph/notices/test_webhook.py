"""Webhooks: what a receiver gets and believes, and which answers count as arrived."""

import asyncio
import json
from contextlib import suppress

import pytest

from planner_executor.graph.errors import NoticeError
from planner_executor.graph.notices.webhook import KEY, SIGNATURE, TIMESTAMP, send, signature, signature_fault

SECRET = b"0123456789abcdef"
CONTENT = {"id": "n1", "title": "é waits"}


@pytest.mark.parametrize(
    ("at", "now", "believed"),
    [
        ("1000", 1300.0, True),
        ("1000", 700.0, True),
        ("1000", 1300.5, False),
        ("1000", 699.5, False),
        ("1000.0", 1000.0, False),
        ("", 0.0, False),
    ],
)
def test_a_notice_is_believed_within_five_minutes_of_its_time(at: str, now: float, believed: bool) -> None:
    headers = {SIGNATURE: signature(SECRET, at, b"{}"), TIMESTAMP: at}

    assert (signature_fault(SECRET, headers, b"{}", now) is None) == believed


def sent(status: str, *headers: str) -> bytes:
    """Send a notice to a receiver that gives this answer, and return what it got."""
    got: list[bytes] = []

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-length")
        )
        got.append(head + await reader.readexactly(length))
        lines = [f"HTTP/1.1 {status}", "Content-Length: 0", "Connection: close", *headers]
        writer.write("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
        await writer.drain()
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(receive, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            await send(f"http://127.0.0.1:{port}/hook", SECRET, CONTENT, 1000.9)

    asyncio.run(main())
    assert len(got) == 1
    return got[0]


def test_a_receiver_gets_signed_json_with_the_key_of_the_notice() -> None:
    head, _, body = sent("204 No Content").partition(b"\r\n\r\n")
    headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n")[1:])

    assert json.loads(body) == CONTENT
    assert headers[KEY] == "n1" and headers[TIMESTAMP] == "1000"
    assert signature_fault(SECRET, headers, body, 1000.0) is None


@pytest.mark.parametrize(
    ("status", "headers"),
    [("503 Service Unavailable", []), ("302 Found", ["Location: /elsewhere"]), ("400 Bad Request", [])],
)
def test_another_answer_means_that_it_did_not_arrive(status: str, headers: list[str]) -> None:
    with pytest.raises(NoticeError, match=f"the receiver answered with {status[:3]}"):
        sent(status, *headers)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/s3cret", "http://[s3cret", "http://xn--s3cret-/"])
async def test_a_receiver_that_is_not_reached_is_told_without_its_address(url: str) -> None:
    with pytest.raises(NoticeError, match="the receiver was not reached") as failed:
        await send(url, SECRET, CONTENT, 1000.0)

    assert "s3cret" not in str(failed.value)


async def test_a_receiver_that_never_ends_its_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_executor.graph.notices.webhook.TIMEOUT_S", 3600.0)  # however busy the machine is
    left = asyncio.Event()

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            while True:
                writer.write(b"1\r\nx\r\n")
                await writer.drain()
        writer.close()
        left.set()

    async with await asyncio.start_server(flood, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        await send(f"http://127.0.0.1:{port}/hook", SECRET, CONTENT, 1000.0)
        await left.wait()
