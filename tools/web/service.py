"""Requests to allowed hosts, and their responses."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from planner_executor.tools.errors import NothingHappened, RequestFailed, UrlRefused
from planner_executor.tools.url_display import display_url, strip_passwords
from planner_executor.tools.web.allowed_hosts import HIDDEN, AllowList, Method
from planner_executor.tools.web.charset import text_of
from planner_executor.tools.web.exchange import WebResponse, exchange, within
from planner_executor.tools.web.guard import Guard, Resolver, system_addresses
from planner_executor.tools.web.redirects import follow
from planner_executor.tools.web.statuses import advice, refused
from planner_executor.tools.web.transport import guarded, request_for
from planner_executor.tools.web.urls import checked_url

SECONDS = 30.0
MOST_BYTES = 1_000_000

# By these a server says that it did not do what it was asked for; after any other failure it may have done it.
_NOT_DONE = (307, 308, 400, 401, 403, 404, 405, 410, 413, 415, 422, 428, 429)
# What was asked for is done, and its result stands elsewhere; a request with an effect follows no redirect.
_DONE_ELSEWHERE = (301, 302, 303)
_TELLING = ("content-length", "etag", "last-modified", "link", "location", "retry-after")
_LONGEST_HEADER = 1000
_LONGEST_SAYING = 300


@dataclass(frozen=True)
class Service:
    """The hosts of an allow-list, each connection checked against it."""

    allowed: AllowList
    resolve: Resolver = system_addresses
    seconds: float = SECONDS

    async def read(self, url: str, method: Method) -> dict[str, Any]:
        """Send a reading request, follow redirects to allowed hosts, and return the response.

        Raises:
            UrlRefused, NotConnected: Nothing was sent.
            RequestFailed: There is no answer, or its status is an error.
        """
        target = checked_url(url)

        def request(place: httpx.URL) -> httpx.Request:
            return request_for(method, place, self.allowed.entry(place, method).headers)

        with within(self.seconds, url):
            async with guarded(Guard(self.resolve, self.allowed.rule)) as transport:
                answer = await follow(transport.handle_async_request, target, request, MOST_BYTES)
        if not answer.is_success:
            raise self._refusal(answer)
        body, fault = self._body(answer)
        if fault:
            raise RequestFailed(str(answer.url), fault)
        return {**self._start(answer), "body": body}

    def request_preview(self, url: str, method: Method, content: bytes, headers: Mapping[str, str]) -> str:
        """Return the request that `send` would send, as text, without what the hosts' headers hold; nothing is sent.

        Raises:
            UrlRefused: It would not be sent.
        """
        target = checked_url(url)
        entry = self.allowed.entry(target, method)
        hidden = dict.fromkeys(entry.headers, HIDDEN)
        request = request_for(method, target, {**headers, **hidden}, content)
        lines = [
            f"{method} {strip_passwords(str(request.url))}",
            *(f"{name}: {value}" for name, value in request.headers.items()),
        ]
        return self.allowed.without_secrets("\n".join([*lines, "", content.decode("utf-8", "replace")]).rstrip("\n"))

    async def send(self, url: str, method: Method, content: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        """Send a request that may change something, once; follow no redirect.

        Returns:
            The response. If its body cannot be read, `omitted` is the reason; the request was carried out, so it is
            not an error.

        Raises:
            NothingHappened: It was not done.
            RequestFailed: It may have been done.
        """
        target = checked_url(url)
        entry = self.allowed.entry(target, method)
        if len(content) > MOST_BYTES:
            raise UrlRefused(url, f"the body is larger than {MOST_BYTES:,} bytes")
        with within(self.seconds, url):
            async with guarded(Guard(self.resolve, self.allowed.rule)) as transport:
                request = request_for(method, target, {**headers, **entry.headers}, content)
                answer = await exchange(transport.handle_async_request, request, MOST_BYTES)
        if answer.status in _NOT_DONE:
            said = self._answer_text(answer)
            rejected = f"{display_url(url)} rejected the request with {answer.phrase}"
            raise NothingHappened(f"{rejected}: {said}" if said else rejected)
        if not answer.is_success and answer.status not in _DONE_ELSEWHERE:
            raise self._refusal(answer)
        body, fault = self._body(answer)
        return {**self._start(answer), "body": body, "omitted": fault}

    def _start(self, answer: WebResponse) -> dict[str, Any]:
        telling = {name: answer.headers[name][:_LONGEST_HEADER] for name in _TELLING if name in answer.headers}
        return {
            "url": self.allowed.without_secrets(str(answer.url)),
            "status": answer.status,
            "content_type": answer.content_type[:_LONGEST_HEADER],
            "headers": {name: self.allowed.without_secrets(value) for name, value in telling.items()},
        }

    def _body(self, answer: WebResponse) -> tuple[Any, str | None]:
        """Return JSON or text, and the reason if there is none."""
        if answer.fault:
            return None, answer.fault
        text = self.allowed.without_secrets(text_of(answer.body, answer.headers.get("content-type", "")))
        kind = answer.content_type
        if kind == "application/json" or kind.endswith("+json"):
            try:
                return _json(text), None
            except (ValueError, RecursionError):
                return None, f"its body is not valid {kind[:80]}"
        # A zero byte, or U+FFFD where no character set fitted: bytes, whatever the header says.
        if "\0" in text or "\ufffd" in text:
            return None, f"its body is {kind[:80] or 'no text'}, and only text and JSON can be returned"
        return text, None

    def _answer_text(self, answer: WebResponse) -> str:
        location = answer.headers.get("location")
        words = f"it has moved to {location}" if location else text_of(answer.body, "")
        said = self.allowed.without_secrets(" ".join(words.replace("\0", " ").split()))
        return said if len(said) <= _LONGEST_SAYING else f"{said[:_LONGEST_SAYING]}…"

    def _refusal(self, answer: WebResponse) -> RequestFailed:
        next_move, said = advice(answer.status, answer.headers), self._answer_text(answer)
        reason = f"it answered {answer.phrase}; {next_move}"
        return refused(str(answer.url), answer.status, f"{reason}; it said: {said}" if said else reason)


def _json(text: str) -> Any:
    """Parse JSON; NaN, infinities and lone surrogates are refused, since they cannot be recorded."""
    value = json.loads(text) if text.strip() else None
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value
