"""Parsing of constraints and feedback in English into changes of a brief."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from graph.chat_models.offline.goals import FILE, NOT_THE_WEB, SENTENCES
from graph.chat_models.offline.text_format import one_line
from tools.words import content_words


@dataclass(frozen=True)
class BriefSpec:
    """Specification of a brief.

    `spare` are further possible queries; `path` is the path of the report, None for a default name.
    """

    topic: str
    queries: tuple[str, ...]
    spare: tuple[str, ...] = ()
    sentences: int | None = None
    brief: bool = False
    web: bool = False
    report: bool = False
    path: str | None = None


Change = Callable[[BriefSpec, re.Match[str]], BriefSpec]

_WORDS_FOR_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a single": 1}
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(_WORDS_FOR_NUMBERS)})"
SEARCH_FOR = re.compile(
    r"\bsearch(?:es)?(?: also| instead)? for (?P<query>.+?)(?: (?:too|also|instead|as well))?"
    r"(?=[.;]|,? and (?:write|use|do|without)\b|$)",
    re.I,
)
WRITE_TO = re.compile(rf"\b(?:(?:in)?to|in|as|called|named|file)(?: (?:a|the))?(?: file)? {FILE}", re.I)


def _count(spec: BriefSpec, match: re.Match[str]) -> BriefSpec:
    given = match["count"].lower()
    wanted = max(1, int(given) if given.isdigit() else _WORDS_FOR_NUMBERS[given])
    every = spec.queries + spec.spare
    return replace(spec, queries=every[:wanted], spare=every[wanted:])


def _fewer(spec: BriefSpec, _: re.Match[str]) -> BriefSpec:
    wanted = max(1, len(spec.queries) // 2)
    return replace(spec, queries=spec.queries[:wanted], spare=spec.queries[wanted:] + spec.spare)


def _also(spec: BriefSpec, match: re.Match[str]) -> BriefSpec:
    query = one_line(match["query"], 300).strip("\"'` ")
    return replace(spec, queries=(*spec.queries, query)) if content_words(query) else spec


_CHANGES: list[tuple[re.Pattern[str], Change]] = [
    (
        re.compile(rf"\b(?:only|at most|no more than|just|exactly|max(?:imum)?) {_COUNT} search(?:es)?\b", re.I),
        _count,
    ),
    (re.compile(rf"^(?:use )?{_COUNT} search(?:es)?[.!]?$", re.I), _count),
    (
        re.compile(r"\b(?:fewer|less) (?:search(?:es)?|steps|queries)\b|\btoo many (?:searches|steps|queries)\b", re.I),
        _fewer,
    ),
    (SEARCH_FOR, _also),
    (SENTENCES, lambda spec, match: replace(spec, sentences=max(1, int(match["count"])))),
    (
        re.compile(r"^(?:be |keep it |make it |a )?(?:brief|short|concise|shorter)[.!]?$", re.I),
        lambda o, _: replace(o, brief=True),
    ),
    (
        re.compile(r"\b(?:no|without (?:a|the|any)|don't write a) (?:report|file)\b", re.I),
        lambda o, _: replace(o, report=False),
    ),
    (WRITE_TO, lambda spec, match: replace(spec, report=True, path=match["path"])),
]
_ANY_WEB = re.compile(r"\b(?:web|internet|online)\b", re.I)
_NO_WEB = re.compile(NOT_THE_WEB.pattern + r"|\boffline\b|\bnothing online\b|\blocal (?:documents|files) only\b", re.I)


def apply_to_brief(spec: BriefSpec, instruction: str) -> BriefSpec | None:
    """Return the specification changed by an instruction, or None if the instruction is not understood.

    >>> spec = BriefSpec("wind", ("wind", "wind: cost"))
    >>> apply_to_brief(spec, "Fewer searches, please").queries
    ('wind',)
    >>> apply_to_brief(spec, "Make it rhyme") is None
    True
    """
    instruction = one_line(instruction.replace("\u2019", "'"), 1000)
    understood = False
    if _NO_WEB.search(instruction) or _ANY_WEB.search(instruction):
        spec, understood = replace(spec, web=not _NO_WEB.search(instruction)), True
    for pattern, change in _CHANGES:
        if match := pattern.search(instruction):
            spec, understood = change(spec, match), True
    return spec if understood else None
