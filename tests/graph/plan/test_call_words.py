"""What a call does, in the words of its tool's declaration."""

from typing import Any

import pytest

from planner_executor.graph.plan.call_words import CHOSEN, NOT_GIVEN, call_words, placeholders

SCHEMA = {"properties": {"amount": {}, "to": {}, "currency": {"default": "EUR"}}}


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        ({"amount": 40, "to": "ann"}, {}, "refund 40 EUR to ann"),
        ({"amount": 40, "to": "ann", "currency": "USD"}, {}, "refund 40 USD to ann"),
        ({"amount": "{look_result.n}", "to": ["a", "b"]}, {}, 'refund [look_result.n] EUR to ["a", "b"]'),
        ({"amount": "{x}", "to": "{amount} {to}"}, {}, "refund {x} EUR to {amount} {to}"),
        ({"amount": "{look_result.n}", "to": "a"}, {"known": True}, "refund {look_result.n} EUR to a"),
        ({"amount": 1, "to": "x" * 121}, {}, f"refund 1 EUR to {'x' * 120}… (121 characters)"),
        ({"amount": 1, "to": "ö" * 120}, {}, f"refund 1 EUR to {'ö' * 120}"),
        ({"amount": 1, "to": ["ö"]}, {}, 'refund 1 EUR to ["ö"]'),
        ({"to": "ann"}, {}, f"refund {NOT_GIVEN} EUR to ann"),
        ({"to": "ann"}, {"by_model": True}, f"refund {CHOSEN} {CHOSEN} to ann"),
    ],
)
def test_a_summary_is_filled_with_what_is_known(args: dict[str, Any], options: dict[str, Any], words: str) -> None:
    assert call_words("refund {amount} {currency} to {to}", args, SCHEMA, **options) == words


def test_other_braces_of_a_summary_are_text() -> None:
    assert placeholders("{} {a b} {a}") == ["a"]
    assert call_words("{} {a b} {a}", {"a": 1}, {}) == "{} {a b} 1"
