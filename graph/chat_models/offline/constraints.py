"""Parsing of constraints and feedback in English into changes of a brief."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from planner_executor.graph.chat_models.offline.goals import FILE, NOT_THE_WEB, SENTENCES, BriefGoal
from planner_executor.graph.chat_models.offline.text_format import asks_for_more, short_line
from planner_executor.tools.words import content_words


@dataclass(frozen=True, kw_only=True)
class BriefSpec(BriefGoal):
    """Specification of a brief.

    `spare` are further queries that could be asked; `path` is where the report goes, None for a name of its own;
    `min_words` is how many words of a question a passage must hold to answer it.
    """

    queries: tuple[str, ...]
    spare: tuple[str, ...] = ()
    min_words: int | None = None


Change = Callable[[BriefSpec, re.Match[str]], BriefSpec | None]
"""Returns None if the spec cannot be changed like that."""

_WORDS_FOR_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a single": 1}
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(_WORDS_FOR_NUMBERS)})"
SEARCH_FOR = re.compile(
    r"\bsearch(?:es)?(?: also| instead)? for (?P<query>.+?)(?: (?:too|also|instead|as well))?"
    r"(?=[.;]|,? and (?:write|use|do|without)\b|$)",
    re.I,
)
WRITE_TO = re.compile(rf"\b(?:(?:in)?to|in|as|called|named|file)(?: (?:a|the))?(?: file)? {FILE}", re.I)


def _count(spec: BriefSpec, match: re.Match[str]) -> BriefSpec | None:
    given = match["count"].lower()
    wanted = int(given) if given.isdigit() else _WORDS_FOR_NUMBERS[given]
    every = spec.queries + spec.spare
    if wanted < 1 or (match[0].lower().startswith("exactly") and wanted > len(every)):
        return None
    return replace(spec, queries=every[:wanted], spare=every[wanted:])


def _fewer(spec: BriefSpec, _: re.Match[str]) -> BriefSpec | None:
    wanted = len(spec.queries) // 2
    every = spec.queries + spec.spare
    return replace(spec, queries=every[:wanted], spare=every[wanted:]) if wanted else None


def _also(spec: BriefSpec, match: re.Match[str]) -> BriefSpec | None:
    query = short_line(match["query"], 300).strip("\"'` ")
    is_plain = content_words(query) and not re.search(r"\b(?:not|never|except|nor)\b", query, re.I)
    return replace(spec, queries=(*spec.queries, query)) if is_plain else None


def _at_most(spec: BriefSpec, match: re.Match[str]) -> BriefSpec | None:
    wanted = int(match["count"])
    return replace(spec, sentences=wanted) if wanted else None


_CHANGES: list[tuple[re.Pattern[str], Change]] = [
    (SEARCH_FOR, _also),
    (
        re.compile(
            NOT_THE_WEB.pattern + r"|\boffline\b|\bnothing online\b|\blocal (?:documents|files) only\b"
            r"|\bonly (?:(?:from|in|the|my|our|these|local) )*(?:documents|files|folder)\b",
            re.I,
        ),
        lambda o, _: replace(o, web=False),
    ),
    (re.compile(r"\b(?:web|internet|online)\b", re.I), lambda o, _: replace(o, web=True)),
    (
        re.compile(rf"\b(?:only|at most|no more than|just|exactly|max(?:imum)?) {_COUNT} search(?:es)?\b", re.I),
        _count,
    ),
    (re.compile(rf"^(?:use )?{_COUNT} search(?:es)?[.!]?$", re.I), _count),
    (
        re.compile(r"\b(?:fewer|less) (?:search(?:es)?|steps|queries)\b|\btoo many (?:searches|steps|queries)\b", re.I),
        _fewer,
    ),
    (SENTENCES, _at_most),
    (
        re.compile(
            r"\b(?:with|cite|name|list|include|give)\b(?: (?:the|its|their|your|all|any|of))*"
            r" (?:sources|citations|references)\b",
            re.I,
        ),
        lambda o, _: o,
    ),
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


def apply_to_brief(spec: BriefSpec, wish: str) -> BriefSpec | None:
    """Return the spec as a person wishes it, or None if any part of the wish cannot be met.

    >>> spec = BriefSpec("wind", queries=("wind", "wind: cost"))
    >>> apply_to_brief(spec, "Fewer searches, please").queries
    ('wind',)
    >>> apply_to_brief(spec, "Make it rhyme") is None, apply_to_brief(spec, "One search, and make it rhyme") is None
    (True, True)
    """
    wish = short_line(wish.replace("\u2019", "'"), 1000)
    left, understood = wish, list[str]()
    for pattern, change in _CHANGES:
        if not (match := pattern.search(left)):
            continue
        made = change(spec, match)
        if made is None:
            return None
        spec, left = made, left.replace(match[0], " . ", 1)
        understood.append(match[0])
    return None if not understood or asks_for_more(left, ()) else spec
