"""Taking a value out: from texts however they write it, and with it what could be used to guess it."""

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.redaction import MARK, Redactor, Unredactable, names_for, redacted_payload

SECRET = 'pa"ss\nwörd'
words = st.text(st.characters(codec="utf-8"), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


def event(seq: int, kind: Any, **payload: Any) -> Event:
    return Event(seq, kind, None, 0.0, payload)


@given(before=words, after=words, depth=st.integers(0, 3), ascii_only=st.booleans())
def test_the_value_is_found_however_deep_json_text_hides_it(
    before: str, after: str, depth: int, ascii_only: bool
) -> None:
    text = before + SECRET + after
    for _ in range(depth):
        text = json.dumps({"t": text}, ensure_ascii=ascii_only)

    found = Redactor(SECRET).text(text)

    for form in Redactor(SECRET).forms:
        assert form not in found
    assert MARK in found


@given(value=json_values, secret=st.text(st.characters(codec="utf-8"), min_size=4, max_size=12))
def test_json_keeps_its_shape_and_loses_the_value(value: Any, secret: str) -> None:
    assume(not set("[]") & set(secret) and secret not in MARK)
    redactor = Redactor(secret)

    found = redactor.json([value, {secret: [secret + "!"]}])

    assert found[1] == {MARK: [MARK + "!"]}
    assert redactor.json(found) == found
    assert redactor.finds([secret]) and not redactor.finds(found)


def test_a_number_that_is_written_like_the_value_is_found() -> None:
    assert Redactor("4711").json({"pin": 4711, "other": 47110, "text": "is 4711."}) == {
        "pin": MARK, "other": 47110, "text": f"is {MARK}.",
    }  # fmt: skip


@pytest.mark.parametrize("end", ["…", "\n and more", "\\u2026", "", '"}', '\\\\\\"}'])
def test_a_beginning_of_the_value_is_found_where_the_text_was_cut(end: str) -> None:
    redactor = Redactor("a long secret sentence")

    assert redactor.text(f"it is a long secret sen{end}") == f"it is {MARK}{end}"
    assert redactor.text("it is a long second thing") == "it is a long second thing"


@pytest.mark.parametrize("cut", ["…", "\\u2026", "\\\\u2026"])
def test_an_end_of_the_value_is_found_where_the_middle_of_a_text_was_cut_out(cut: str) -> None:
    redactor = Redactor("a long secret sentence")

    assert redactor.text(f"it is{cut}g secret sentence, it was") == f"it is{cut}{MARK}, it was"
    assert redactor.text(f"it is{cut}a short sentence") == f"it is{cut}a short sentence"


def test_each_form_of_the_value_is_found_where_a_text_was_cut_also_at_its_beginning() -> None:
    redactor = Redactor('pa"ss wörd for all')

    assert redactor.text('pa"ss wörd… and pa\\"ss wörd… and pa"ss wörd fo…') == f"{MARK}… and {MARK}… and {MARK}…"
    assert redactor.text(json.dumps('is pa"ss wörd for all!')) == json.dumps(f"is {MARK}!")


@pytest.mark.parametrize(
    ("secret", "text", "may"),
    [
        ("4711-0815-22", "*4711* 0815 22", True),
        ("4711-0815-22", "it was 4711-0815-22 by then", False),
        ("4711-0815-22", "4711 and 0815", False),
        ("abcd-efgh", "a b c d e f g h", True),
        ("abcd-efg", "a b c d e f g", False),
    ],
)
def test_a_rewritten_text_may_hold_a_value_whose_letters_it_has_in_order(secret: str, text: str, may: bool) -> None:
    assert Redactor(secret).may_echo_in(text) is may


def test_a_form_that_is_too_short_is_left_and_only_texts_and_numbers_are_looked_at() -> None:
    assert Redactor("a\u200bbc").text("abc a\u200bbc") == f"abc {MARK}"
    assert Redactor("true").json({4711: True, "text": "true"}) == {4711: True, "text": MARK}


def test_too_short_a_value_is_refused() -> None:
    with pytest.raises(Unredactable, match="4"):
        Redactor("abc")


def test_a_word_of_the_record_is_refused() -> None:
    with pytest.raises(Unredactable, match="status"):
        redacted_payload({"status": "failed"}, Redactor("failed"))
    with pytest.raises(Unredactable, match="fields"):
        redacted_payload({"revision": 1}, Redactor("revision"))
    for payload in ({"settings": {"max_retries": 1}}, {"configured": {"settings": {"max_retries": 1}}}):
        with pytest.raises(Unredactable, match="setting"):
            redacted_payload(payload, Redactor("retries"))


PLAN_DIGEST, BINDING, KEY, OTHER, SUBJECT, INPUTS, DEEP, WHOLE, HELD, P1 = (
    digest(word) for word in ("plan", "binding", "k", "o", "s", "in", "deep", "whole", "held", "p1")
)
EVENTS = [
    event(1, "plan_revised", plan={"args": "4711"}, digest=PLAN_DIGEST, binding=BINDING, failures=["0123456789abcdef"]),
    event(2, "review_requested", digest=PLAN_DIGEST, subject=SUBJECT),
    event(3, "call_started", key=KEY, args={"pin": 4711}),
    event(4, "call_started", key=OTHER, args={"pin": 5000}),
    event(5, "step_finished", inputs=INPUTS, value=digest("somebody's")),
    event(6, "call_started", args="4711", within={"of": [DEEP]}, word="plain"),
    event(7, "call_previewed", previews=[{"key": P1, "whole": WHOLE}, {"key": "k"}]),
    event(8, "step_held", previewed={"whole": HELD}),
    event(9, "model_started", prompt={}, prompt_digest=digest("asked"), key=digest("model")),
]


def names() -> dict[str, str]:
    numbers = count()
    return names_for(EVENTS, lambda found: Redactor("4711").finds(found.payload), lambda _: str(next(numbers)))


def test_every_digest_that_may_rest_on_the_value_gets_a_name_and_no_other_does() -> None:
    assert set(names()) == {PLAN_DIGEST, BINDING, SUBJECT, KEY, INPUTS, DEEP, WHOLE, HELD, "0123456789abcdef", P1}
    assert len(set(names().values())) == 10


def test_a_digest_has_the_same_name_wherever_it_stands() -> None:
    redactor = Redactor("4711", names())

    first, second = (redacted_payload(found.payload, redactor) for found in EVENTS[:2])

    assert first["digest"] == second["digest"] == redactor.text(f"{PLAN_DIGEST}") != PLAN_DIGEST
    assert redactor.text(f"Digest: {PLAN_DIGEST}.") == f"Digest: {first['digest']}."


def test_without_the_value_nothing_gets_a_name() -> None:
    assert names_for(EVENTS, lambda _: False, str) == {}


def test_where_a_prompt_was_left_out_its_digest_gets_a_name() -> None:
    asked = event(6, "model_started", prompt_digest=digest("p"), key=digest("mk"))

    found = names_for([*EVENTS, asked], lambda found: found.seq == 3, lambda _: "x")

    assert {digest("p"), digest("mk")} <= set(found)
