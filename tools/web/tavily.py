"""Search by Tavily, with a key from the environment. Uses its HTTP API directly."""

import json
import os
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
from pydantic import SecretStr

from planner_executor.tools.errors import NotConnected, RequestFailed
from planner_executor.tools.web.blocking import blocking
from planner_executor.tools.web.charset import text_of
from planner_executor.tools.web.exchange import WebResponse, exchange, within
from planner_executor.tools.web.searching import LATER, Found, NoAnswerError
from planner_executor.tools.web.statuses import advice

VARIABLE = "TAVILY_API_KEY"

_URL = "https://api.tavily.com/search"
_SECONDS = 20.0
_MOST_BYTES = 2_000_000
_LONGEST_SAYING = 200
_REASONS = {
    401: (f"the key in {VARIABLE} is not accepted", "have a person mend it, or search local documents instead"),
    403: (f"the key in {VARIABLE} may not search", "have a person mend it, or search local documents instead"),
    432: (f"the plan of the key in {VARIABLE} is used up", "search local documents instead"),
    433: (f"the budget of the key in {VARIABLE} is used up", "search local documents instead"),
}


@dataclass(frozen=True)
class Tavily:
    """An engine that needs a key; the key never appears in its messages."""

    key: SecretStr
    url: str = _URL

    @classmethod
    def configured(cls) -> "Tavily | None":
        """Return the engine for the key in TAVILY_API_KEY, or None if there is none."""
        key = os.environ.get(VARIABLE, "").strip()
        return cls(SecretStr(key)) if key else None

    def __call__(self, query: str, limit: int) -> list[Found]:
        """Return Tavily's results.

        Raises:
            NoAnswerError: It was not reached, refused, or sent no list of results.
        """
        key = self.key.get_secret_value()
        # No header can carry such a key, and the client's error would show it.
        if not key.isascii() or not key.isprintable():
            raise NoAnswerError(*_REASONS[401], may_pass=False)
        try:
            answer = blocking(self._asked)({"query": query, "max_results": limit})
        except (NotConnected, RequestFailed) as error:
            raise NoAnswerError(self._clean(error.reason)) from None
        if not answer.is_success or answer.fault:
            raise self._refusal(answer)
        return self._found(answer)

    async def _asked(self, question: dict[str, Any]) -> WebResponse:
        headers = {"authorization": f"Bearer {self.key.get_secret_value()}", "accept-encoding": "gzip"}
        async with httpx.AsyncClient(timeout=_SECONDS) as client:
            request = client.build_request("POST", self.url, json=question, headers=headers)
            with within(_SECONDS, self.url):
                return await exchange(partial(client.send, stream=True), request, _MOST_BYTES)

    def _found(self, answer: WebResponse) -> list[Found]:
        try:
            results = json.loads(self._text(answer))["results"]
            return [Found(*(str(each.get(name) or "") for name in ("title", "url", "content"))) for each in results]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise NoAnswerError(f"Tavily's response is not a list of results: {self._saying(answer)}") from None

    def _refusal(self, answer: WebResponse) -> NoAnswerError:
        if answer.is_success:
            return NoAnswerError(f"Tavily's answer is not whole: {answer.fault}")
        if answer.status in _REASONS:
            return NoAnswerError(*_REASONS[answer.status], may_pass=False)
        if answer.status == httpx.codes.TOO_MANY_REQUESTS:
            return NoAnswerError("Tavily was asked too often", advice(answer.status, answer.headers))
        return NoAnswerError(f"Tavily answered {answer.phrase}: {self._saying(answer)}", LATER)

    def _saying(self, answer: WebResponse) -> str:
        return " ".join(self._text(answer).split())[:_LONGEST_SAYING]

    def _text(self, answer: WebResponse) -> str:
        return self._clean(text_of(answer.body, answer.headers.get("content-type", "")))

    def _clean(self, text: str) -> str:
        return text.replace(self.key.get_secret_value(), "[hidden]")
