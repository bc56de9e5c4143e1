"""Detection of a model's thoughts in its answer, for the markup of known models.

Tags such as `<think>`, `<seed:think>` and `◁think▷` may be nested, and may lack their end (everything after is thought)
or their beginning (everything before is thought). Channels are those of gpt-oss: only `final` contains the answer.
"""

import re
from collections import Counter

_NAMES = "think|thinking|thoughts?|reasoning|scratchpad|antthinking"
TAG = (
    rf"<(?P<end>/?)(?:\w{{1,20}}:)?(?P<name>{_NAMES})(?:\s[^<>]{{0,200}})?>"
    rf"|◁(?P<wide_end>/?)(?P<wide>{_NAMES})▷"
    r"|\[(?P<square_end>/?)THINK\]"
    r"|<\|(?:START|BEGIN_OF|(?P<capital_end>END(?:_OF)?))_(?:THINKING|THOUGHT)\|>"
)
CHANNEL = r"<\|channel\|>\s*(?P<channel>[\w-]{0,40})[^<]{0,200}(?:<\|constrain\|>[^<]{0,100})?(?:<\|message\|>)?"
TURN = r"<\|start\|>\s*(?P<turn>[\w.-]{0,40})[^<]{0,100}(?:<\|message\|>)?"

_TAG = re.compile(TAG, re.IGNORECASE)
_FIRST_TAG = re.compile(rf"\s*(?:{TAG})", re.IGNORECASE)
_NEXT_CHANNEL = re.compile(r"<\|(?:channel|start|end|return|call)\|>", re.IGNORECASE)
_FINAL = re.compile(r"<\|start\|>\s*assistant\s*<\|channel\|>\s*final\b[^<]{0,200}<\|message\|>", re.IGNORECASE)
_FIRST_CHANNEL = re.compile(rf"\s*(?:<\|start\|>\s*assistant\s*)?{CHANNEL}", re.IGNORECASE)
_END = re.compile(r"<\|(?:end|return)\|>", re.IGNORECASE)
# No string: the empty text before a tag at the very beginning would be in it.
_QUOTES = ("`", '"', "'")
_BARE_ANALYSIS, _BARE_FINAL = re.compile(r"\s*analysis(?=\S)"), "assistantfinal"
"""Remains of channel markers that a server has stripped."""


def is_end(tag: re.Match[str]) -> bool:
    """Whether a tag is an end tag."""
    return any(tag[name] for name in ("end", "wide_end", "square_end", "capital_end"))


def thoughts_end(text: str, tag: re.Match[str]) -> int:
    """Return the end of the thoughts that a tag begins, nested ones included; the end of the text if unclosed."""
    waiting, counted = [_name(tag)], Counter([_name(tag)])
    for met in _TAG.finditer(text, tag.end()):
        name = _name(met)
        if not is_end(met):
            waiting.append(name)
            counted[name] += 1
        elif counted[name]:
            while (last := waiting.pop()) != name:
                counted[last] -= 1
            counted[name] -= 1
            if not waiting:
                return met.end()
    return len(text)


def channel_end(text: str, start: int) -> int:
    """Return the end of the channel or foreign turn whose content begins at `start`."""
    following = _NEXT_CHANNEL.search(text, start)
    return following.start() if following else len(text)


def bare_final(text: str) -> int:
    """Return the start of the final channel in an answer with stripped channel markers, or 0."""
    final = text.find(_BARE_FINAL) if _BARE_ANALYSIS.match(text) else -1
    return final + len(_BARE_FINAL) if final >= 0 else 0


def after_thoughts(text: str) -> str:
    """Return a model's answer without the thoughts that it begins with.

    Later tags are part of the answer, except for an unquoted end tag without a beginning: text before it is thought.

    >>> after_thoughts("<think>A capital, so...</think> Paris")
    'Paris'
    """
    rest, start, open_tags = _final_channel(text[bare_final(text) :].strip()), 0, 0
    while (first := _FIRST_TAG.match(rest, start)) and not is_end(first):
        start = thoughts_end(rest, first)
    for tag in _TAG.finditer(rest, start):
        if rest[tag.start() - 1 : tag.start()] in _QUOTES:
            continue
        open_tags += -1 if is_end(tag) else 1
        if open_tags < 0:
            open_tags, start = 0, tag.end()
    return rest[start:].strip()


def _final_channel(text: str) -> str:
    """Return the content of the final channel, or the text if it has no channels."""
    rest = text
    final = _FINAL.search(text)
    if final is not None and text[final.start() - 1 : final.start()] not in _QUOTES:
        rest = text[final.end() :]
    elif first := _FIRST_CHANNEL.match(text):
        is_final = first["channel"].lower() == "final"
        rest = text[first.end() if is_final else channel_end(text, first.end()) :]
    else:
        return text
    end = _END.search(rest)
    return (rest[: end.start()] or rest[end.end() :] if end else rest).strip()


def _name(tag: re.Match[str]) -> str:
    name = tag["name"] or tag["wide"] or tag[0].strip("[]/<|>").rsplit("_", 1)[-1]
    return name.lower()
