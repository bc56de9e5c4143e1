"""What a review says of values: nothing in them hides, be it another value, the end, or what cannot be seen."""

import json

from hypothesis import given
from hypothesis import strategies as st

from graph.run.review_text import MAX_CHARACTERS, shown

ARGS = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=8), st.integers(0, 9_000), min_size=1, max_size=8)


@given(ARGS)
def test_each_argument_is_named_with_its_beginning_and_how_much_is_missing_however_long_the_others_are(
    lengths: dict[str, int],
) -> None:
    args = {name: "x" * length for name, length in lengths.items()}

    text = shown(args)

    assert len(text) <= MAX_CHARACTERS + 60 * len(args)
    for name, value in args.items():
        assert f'"{name}":"{value[:100]}' in text
    assert (text == json.dumps(args, separators=(",", ":"))) is ("more characters" not in text)


def test_a_short_value_stands_whole_beside_a_long_one() -> None:
    text = shown({"to": "x" * 90_000, "body": "b" * 1_500, "cc": "mallory@example.com"})

    assert '"body":"' + "b" * 1_500 + '"' in text and '"cc":"mallory@example.com"' in text
    assert "more characters" in text and len(text) < MAX_CHARACTERS + 100


def test_what_cannot_be_seen_is_written_out() -> None:
    assert shown({"to": "ann\u202emoc.live@", "\u200b": 1}) == '{"to":"ann\\u202emoc.live@","\\u200b":1}'


def test_a_long_text_says_how_much_more_there_is() -> None:
    text = shown("x" * (MAX_CHARACTERS + 8))

    assert text.endswith("... and 10 more characters")  # the quotes are counted
