"""The ending of a run as a chat message."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from planner_executor.graph.plain_text.markdown import answer_markdown, fenced, text_markdown
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.record.run_status import RunStatus
from planner_executor.graph.words.name_list import listed

SAID_CHARACTERS = 10_000
"""Limit of an answer's JSON in the chat, in characters."""
LISTED = 20
"""Largest object that is shown as a list."""


def ending_text(
    status: RunStatus,
    reason: str,
    answer: JsonValue,
    unjudged: Sequence[str] = (),
    compared: str = "",
    ahead: Sequence[str] = (),
) -> str:
    """Return the ending of a run as text: the answer, with the reason unless the run succeeded.

    A reason names the steps `unjudged`, whose success criteria nobody judged; a success names them after its answer.
    `compared` is what was expected against what it took (see `graph.text.expectation`), and `ahead` says which calls
    standing approvals let through.
    """
    # The reason may quote a tool or a model: within the fence no word of it is markup.
    parts = [] if status == "succeeded" else [fenced(f"{status}: {escaped(reason)}")]
    if answer is not None or status == "succeeded":
        parts.append(_answer_in_words(answer))
    if unjudged and status == "succeeded":
        parts.append(f"Success criteria that nobody judged: {listed(unjudged)}.")
    parts += [f"{text_markdown(escaped(line))}." for line in ahead]
    return "\n\n".join([*parts, *([f"{compared[0].upper()}{compared[1:]}."] if compared else [])])


def _answer_in_words(answer: JsonValue) -> str:
    """Return an answer without images, HTML and hidden link targets, since it may be derived from untrusted text."""
    if isinstance(answer, str):
        return answer_markdown(answer)
    if not isinstance(answer, dict | list):
        return json.dumps(answer)
    if isinstance(answer, dict) and 0 < len(answer) <= LISTED and all(map(_fits_a_line, answer.values())):
        return "\n".join(f"- **{text_markdown(escaped(name))}:** {_line(value)}" for name, value in answer.items())
    return fenced(_start_of(answer), "json")


def _fits_a_line(value: JsonValue) -> bool:
    """Whether a value fits into a list item; longer ones get a code block, whose lines chats do not wrap."""
    return "\n" not in value if isinstance(value, str) else not isinstance(value, dict | list)


def _line(value: JsonValue) -> str:
    return text_markdown(value) if isinstance(value, str) else json.dumps(value)


def _start_of(answer: JsonValue) -> str:
    """Return the JSON of an answer on several lines, as far as it is shown: the whole may take seconds to write."""
    text = ""
    # It is written piece by piece, and no further than it is shown.
    for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(answer):
        text += piece
        if len(text) > SAID_CHARACTERS:
            return f"{text[:SAID_CHARACTERS]}\n… (the whole is the run's answer)"
    return text
