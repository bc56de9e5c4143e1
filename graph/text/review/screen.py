"""A request on a screen: its descriptions, with one digest, which is that of the request, and without the refusal.

Each description repeats digest and refusal, since a client may show one of them and nothing else.
"""

import re
from collections.abc import Mapping
from typing import Any

from planner_executor.graph.review.request import PLAN_LINE, asked_again, digest_line
from planner_executor.graph.review.request_json import digest_of_all

_HEX = "[0-9a-f]{64}"
_DIGEST = re.compile(rf"(?:\n\n{PLAN_LINE}{_HEX})?\n\n{digest_line(_HEX)}(?=\n\n|\Z)")


def screen_descriptions(request: Mapping[str, Any]) -> list[str]:
    """Return the descriptions as a screen shows them, one after the other; the last ends with the digest."""
    told = [_without_end(action["description"], request["error"]) for action in request["action_requests"]]
    return [*told[:-1], f"{told[-1]}\n\n{digest_line(digest_of_all(request))}"]


def _without_end(description: str, error: str | None) -> str:
    again = asked_again(error) if error else ""  # it came first in earlier releases
    return _DIGEST.sub("", description.removeprefix(f"{again}\n\n").removesuffix(f"\n\n{again}"))
