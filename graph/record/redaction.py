"""Removal of a value from a run's events, and of the digests over it, which could be used to guess it.

The value is found in its plain form, in the forms shown to people (on one line, with escapes, in a chat's Markdown),
and as a JSON string, nested several times. A beginning or an end of the value is found where a text was cut. Digests
are not salted, so each digest that may cover the value is replaced by a random name, the same one everywhere, which
still shows which data belongs together.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plain_text.markdown import answer_markdown, text_markdown
from planner_executor.graph.plain_text.sanitize import document, escaped, folded, one_line, visible
from planner_executor.graph.plan.json_values import is_number
from planner_executor.graph.record.events import Event

MARK = "[redacted]"
LEAST_CHARACTERS = 4
"""Shorter values stand in too much that has nothing to do with them."""
CUT_CHARACTERS = 8
"""How much of a value must stand at a cut for it to be taken for its beginning."""
CUT = re.compile(r'…|\n|$|\\*"|\\+(?:u2026|n)')
"""Marks the end of a text that was cut, in JSON text too."""
CUT_BACKWARDS = re.compile(r"…|6202u\\+")
"""What comes before the rest of a text whose middle was cut out, read backwards."""
NESTED = 3
"""How often JSON text may stand in JSON text."""

NAME = "redacted-"
"""Prefix of the names that replace digests."""
DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b")
CONTENT = frozenset((
    "plan", "args", "value", "response", "prompt", "shown", "content", "answer", "brought", "artifact", "error",
    "message", "issues", "diff", "decisions", "actions", "history", "setup", "goal", "constraints", "reason",
    "settings", "configured", "questions", "replies", "stalled", "state", "checkpoint", "result", "given", "checks",
    "judged", "effects",
))  # fmt: skip
"""Fields whose digests, if they hold any, are somebody's content and rest on nothing of ours."""
RESTS_ON_MORE = frozenset({"inputs", "failures"})
"""Fields with digests over data outside the same event."""
OWN_WORDS = frozenset(("status", "by", "author", "decision", "tool", "role", "effect", "asked", "limit"))
"""Fields that reading the record depends on."""

_UNSEEN_BEFORE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
"""What version 0.1.0 left out of the words that it recorded for people."""


class Unredactable(ValueError):
    """The value cannot be removed; the message states the reason."""


@dataclass(frozen=True)
class Redactor:
    """Removes one value from texts and JSON, and replaces digests by the names in `names`."""

    value: str
    names: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.value) < LEAST_CHARACTERS:
            raise Unredactable(f"it has fewer than {LEAST_CHARACTERS} characters, which stand in too much else")

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The forms of the value, the longest first."""
        forms = [self.value, *_shown(self.value)]
        for _ in range(NESTED):
            forms += [json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in forms for ascii_only in (True, False)]
        # The longest first: of one with a shorter form in it the rest would stay.
        return tuple(sorted({form for form in forms if len(form) >= LEAST_CHARACTERS}, key=lambda f: (-len(f), f)))

    def text(self, text: str) -> str:
        """Return a text without the value."""
        text = _without_beginnings(self._without_forms(text), self.forms, MARK, CUT)
        # A text whose middle was cut out may go on with the end of the value.
        if CUT_BACKWARDS.search(text[::-1]):
            forms = [form[::-1] for form in self.forms]
            text = _without_beginnings(text[::-1], forms, MARK[::-1], CUT_BACKWARDS)[::-1]
        return DIGEST.sub(lambda found: self.names.get(found[0], found[0]), text) if self.names else text

    def _without_forms(self, text: str) -> str:
        for form in self.forms:
            text = text.replace(form, MARK)
        return text

    def json(self, value: Any) -> Any:
        """Return JSON without the value; a number with the same spelling becomes text."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key) if isinstance(key, str) else key: self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        # A number has no room for a mark within it, so it becomes one.
        if is_number(value) and json.dumps(value) == self.value.strip():
            return MARK
        return value

    def may_echo_in(self, text: str) -> bool:
        """Whether a rewritten text, such as an answer in a chat, may hold the value in an unknown form.

        It may if it has all letters of the value in order.
        """
        letters = _letters(self.value)
        return len(letters) >= CUT_CHARACTERS and letters in _letters(self._without_forms(text))

    def finds(self, value: Any) -> bool:
        """Whether JSON contains the value."""
        return bool(self.json(value) != value)


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _shown(value: str) -> list[str]:
    """Return a value in the form that people are shown, by this version and by the first one."""
    shown = [show(value) for show in (escaped, visible, document, one_line, folded, text_markdown, answer_markdown)]
    return [*shown, " ".join(_UNSEEN_BEFORE.sub("", value).split())]


def names_for(
    events: Sequence[Event], holds: Callable[[Event], bool], new_name: Callable[[str], str]
) -> dict[str, str]:
    """Return digest -> name, for the digests of a run that may cover a value.

    Args:
        events: The run.
        holds: Whether an event, or an artifact that it names, holds the value.
        new_name: Returns a new name.
    """
    held = [event for event in events if holds(event)]
    if not held:
        return {}
    found = {text for event in events for text in _resting_on_more(event.payload)}
    waiting = {event.seq: event for event in events}
    reached = {event.seq for event in held}
    # A digest may cover another that covers the value, so names spread until none is left.
    while reached:
        for seq in reached:
            found.update(_digests(waiting.pop(seq).payload))
        reached = {seq for seq, event in waiting.items() if found & set(_digests(event.payload))}
    return {digest: NAME + new_name(digest) for digest in sorted(found)}


def redacted_payload(payload: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """Return an event's payload without the value.

    Raises:
        Unredactable: The value is a word that the record's format uses.
    """
    changed: dict[str, Any] = redactor.json(dict(payload))
    if set(changed) != set(payload):
        raise Unredactable("it is the name of one of the record's own fields")
    if set(_settings(changed)) != set(_settings(payload)):
        raise Unredactable("it stands in the name of a setting")
    for name in OWN_WORDS & set(payload):
        if changed[name] != payload[name]:
            raise Unredactable(f"it stands in {name}, which the record is read by")
    return changed


def _settings(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings in an event."""
    found: Mapping[str, Any] = payload.get("configured", payload).get("settings", {})
    return found


def _without_beginnings(text: str, forms: Sequence[str], mark: str, cut: re.Pattern[str]) -> str:
    """Return the text without beginnings of the value, in any form, at the places where the text was cut."""
    heads = {form[:CUT_CHARACTERS] for form in forms}
    kept, start = [], 0
    while places := [place for head in heads if (place := text.find(head, start)) >= 0]:
        place = min(places)
        end = place + max(_common(text, place, form) for form in forms)
        kept += [text[start:place], mark] if cut.match(text, end) else [text[start:end]]
        start = end
    return "".join([*kept, text[start:]])


def _common(text: str, place: int, form: str) -> int:
    """Return the number of characters that the text from an index on shares with the form."""
    most = min(len(form), len(text) - place)
    return next((count for count in range(most) if text[place + count] != form[count]), most)


def _digests(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield the digests of this package in a payload."""
    for name, value in payload.items():
        if name not in CONTENT:
            yield from _within(value)


def _within(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str) and DIGEST.fullmatch(value):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _within(item)
    elif isinstance(value, dict):
        yield from _digests(value)


def _resting_on_more(payload: Mapping[str, Any]) -> Iterator[str]:
    for name in RESTS_ON_MORE & set(payload):
        yield from _within(payload[name])
    for preview in (*payload.get("previews", ()), payload.get("previewed") or {}):
        if "whole" in preview:
            yield preview["whole"]
    if "prompt_digest" in payload and "prompt" not in payload:
        yield from (payload["prompt_digest"], payload["key"])
