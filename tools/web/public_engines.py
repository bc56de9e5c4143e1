"""Search by the public engines that `ddgs` asks, without a key. Needs the extra `web`."""

import re

from planner_executor.tools.url_display import strip_passwords
from planner_executor.tools.web.searching import Found, NoAnswerError

_TIMEOUT_S = 10
_LONGEST_REASON = 300
_UNREACHED = re.compile(r"\b(DNS|Connect\w*)Error\b")
_SLOW_DOWN = (
    "wait a few minutes, use other words, or have a person set TAVILY_API_KEY for an engine that wants a key; "
    "until then search local documents"
)


def ask_public_engines(query: str, limit: int) -> list[Found]:
    """Return the results of the engines; honours the proxy in `DDGS_PROXY`.

    A rate limit looks like an empty result, so the advice is the same.

    Raises:
        NoAnswerError: No network, no engine answered, nothing found, or `ddgs` is not installed.
    """
    try:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    except ImportError as error:
        raise NoAnswerError(
            "it needs: pip install '.[web]' in the folder of planner-executor", "search local documents instead"
        ) from error
    try:
        found = DDGS(timeout=_TIMEOUT_S).text(query, max_results=limit)
    except RatelimitException as error:
        raise NoAnswerError("the public engines were asked too often", _SLOW_DOWN) from error
    except TimeoutException as error:
        raise NoAnswerError("the public engines took too long") from error
    except DDGSException as error:
        raise _no_answer(str(error)) from error
    return [Found(*(str(each.get(name) or "") for name in ("title", "href", "body"))) for each in found]


def _no_answer(words: str) -> NoAnswerError:
    if words.startswith("No results"):
        return NoAnswerError("nothing found, or asked too often", _SLOW_DOWN)
    if found := _UNREACHED.search(words):
        return NoAnswerError(f"the public engines cannot be reached: {found[0]}")
    return NoAnswerError(strip_passwords(" ".join(words.split()))[:_LONGEST_REASON])
