"""The thoughts of a model in its answer, in the markup of the models that are known: they are never the answer.

`<think>`, `<seed:think>`, `◁think▷` and the like come in pairs, may be nested, may lack their end (all that follows is
thought) or their beginning (all before is thought). Channels are those of gpt-oss: only `final` holds the answer.
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
_CHANNEL = re.compile(CHANNEL, re.IGNORECASE)
_FINAL = re.compile(r"<\|start\|>\s*assistant\s*<\|channel\|>\s*final\b[^<]{0,200}<\|message\|>", re.IGNORECASE)
_FIRST_CHANNEL = re.compile(rf"\s*(?:<\|start\|>\s*assistant\s*)?{CHANNEL}", re.IGNORECASE)
_END = re.compile(r"<\|(?:end|return)\|>", re.IGNORECASE)
_QUOTES = "`\"'"
_BARE_ANALYSIS, _BARE_FINAL = re.compile(r"\s*analysis(?=\S)"), "assistantfinal"
"""What is left of channels if a server drops their marks."""


def is_end(tag: re.Match[str]) -> bool:
    """Whether a tag ends thoughts."""
    return any(tag[name] for name in ("end", "wide_end", "square_end", "capital_end"))


def thoughts_end(text: str, tag: re.Match[str]) -> int:
    """Return where the thoughts end that a tag begins, those within them included; the text's end if they never do."""
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
    """Return where the channel, or the turn of somebody else, ends whose words begin at `start`."""
    following = _NEXT_CHANNEL.search(text, start)
    return following.start() if following else len(text)


def bare_final(text: str) -> int:
    """Return where the final channel begins in an answer whose marks of channels were dropped; 0 if it has none."""
    final = text.find(_BARE_FINAL) if _BARE_ANALYSIS.match(text) else -1
    return final + len(_BARE_FINAL) if final >= 0 else 0


def after_thoughts(text: str) -> str:
    """Return a model's answer in words, without the thoughts it begins with.

    Tags further on are words of the answer, but for an end without a beginning: what stands before it is thought,
    unless it is quoted.

    >>> after_thoughts("<think>A capital, so...</think> Paris")
    'Paris'
    """
    said, start, open_tags = _final_channel(text[bare_final(text) :].strip()), 0, 0
    while (first := _FIRST_TAG.match(said, start)) and not is_end(first):
        start = thoughts_end(said, first)
    for tag in _TAG.finditer(said, start):
        if said[tag.start() - 1 : tag.start()] in tuple(_QUOTES):
            continue
        open_tags += -1 if is_end(tag) else 1
        if open_tags < 0:
            open_tags, start = 0, tag.end()
    return said[start:].strip()


def _final_channel(text: str) -> str:
    """Return what was said in the final channel, if there are channels at all."""
    said = text
    final = _FINAL.search(text)
    if final is not None and text[final.start() - 1 : final.start()] not in tuple(_QUOTES):
        said = text[final.end() :]
    elif first := _FIRST_CHANNEL.match(text):
        is_final = first["channel"].lower() == "final"
        said = text[first.end() if is_final else channel_end(text, first.end()) :]
    else:
        return text
    end = _END.search(said)
    return (said[: end.start()] or said[end.end() :] if end else said).strip()


def _name(tag: re.Match[str]) -> str:
    name = tag["name"] or tag["wide"] or tag[0].strip("[]/<|>").rsplit("_", 1)[-1]
    return name.lower()
