"""What a call does in the words of its tool's declaration: `refund {amount} to {to}`, filled with what is known."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.references import references_in

_PLACE = re.compile(r"\{(\w+)\}")
LONGEST_VALUE = 120
"""Characters of an argument that stand in the words; the arguments beside them are whole."""
CHOSEN, NOT_GIVEN = "[chosen by the model]", "[not given]"


def placeholders(summary: str) -> list[str]:
    """Return the arguments that a summary names, in order.

    >>> placeholders("refund {amount} to {to}")
    ['amount', 'to']
    """
    return _PLACE.findall(summary)


def call_words(
    summary: str,
    args: Mapping[str, JsonValue],
    schema: Mapping[str, Any],
    *,
    by_model: bool = False,
    known: bool = False,
) -> str:
    """Return what a call does; what stands in an argument is not looked through again.

    Args:
        summary: The words of the tool, with arguments in braces.
        args: The arguments of the plan or of the call.
        schema: That of the arguments, whose defaults stand for what is not given.
        by_model: Whether a model chooses what is not given.
        known: Whether the arguments are values; else those with a reference are not known yet, and name their step.

    >>> call_words("refund {amount} to {to}", {"amount": "{look_result.n}", "to": "{x}"}, {})
    'refund [look_result.n] to {x}'
    """
    defaults = {name: given["default"] for name, given in schema.get("properties", {}).items() if "default" in given}
    # A model may give another value than the default, so that is not told as the one that will be used.
    values = dict(args) if by_model else defaults | dict(args)
    missing = CHOSEN if by_model else NOT_GIVEN
    return _PLACE.sub(lambda found: _word(values[found[1]], known) if found[1] in values else missing, summary)


def _word(value: JsonValue, known: bool) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) > LONGEST_VALUE:
        text = f"{text[:LONGEST_VALUE]}… ({len(text)} characters)"
    if known or not any(references_in(value)):
        return text
    return f"[{text.removeprefix('{').removesuffix('}')}]"
