"""Parsing of English goals that ask for a brief."""

import re
from dataclasses import dataclass

from planner_executor.graph.chat_models.offline.text_format import short_line
from planner_executor.tools.words import content_words

_MAX_CHARACTERS = 1000
_MAX_TOPIC_CHARACTERS = 200

_THE = r"(?:(?:the|my|our|these|your|all|local) )*"
_DOCUMENTS = rf"{_THE}(?:documents|docs|documentation|notes|files|papers|folder|library|sources|texts)"
_KIND = r"(?:reports?|brief(?:ing)?s?|memos?|articles?|overview|summary|note|paper)"
_WRITE = r"(?:write|draft|prepare|create|produce|compile|save|store|put together|put|make|give me)"
FILE = r"""["'`]?(?P<path>[^\s"'`{}]+\.(?:md|markdown|txt))\b["'`]?"""

TO_FILE = re.compile(
    rf"\s*\b(?:(?:in)?to|in|as|called|named)(?: (?:a|the))?(?: file)?(?: (?:called|named))? {FILE}", re.I
)
_WEB = re.compile(
    r"\s*\b(?:and )?(?:(?:on|from|using|use|with|via|search) )?"
    r"(?:(?<!of )the (?:web|internet)|(?:web|internet) search)\b"
    r"|\s*\bonline(?= sources| for|[.,;]|\s*$| and)(?: sources)?",
    re.I,
)
NOT_THE_WEB = re.compile(
    r"\s*,?\s*\b(?:no|not|without|never)\b(?: (?:use|using|search|searching|the|any))* (?:web|internet)(?: search)?",
    re.I,
)
SENTENCES = re.compile(
    r",?\s*\b(?:(?:in|with|using) )?(?:at most|no more than|up to|maximum|max|within|in|only) (?P<count>\d{1,3})"
    r" (?:sentences?|statements?|points?|bullets?(?: points)?)\b",
    re.I,
)
_SOURCES = re.compile(
    r",?\s*\b(?:with (?:(?:its|their|cited|the) )?(?:sources|citations|references)|and cite (?:\w+ )?sources)\b", re.I
)
_POLITE = re.compile(
    r"^(?:(?:please|can you|could you|would you|i want you to|i(?: would|'d) like you to|help me(?: to)?|let's|then)\b"
    r"[\s,]*)+",
    re.I,
)
_RESEARCH = re.compile(
    r"^(?:(?:do|make) (?:some |a bit of )?research|research|investigate|explore|study|look into|look up|find out"
    r"|(?:find|gather|collect) (?:out |some )?(?:information|facts|evidence|sources)|learn"
    rf"|search(?: (?:{_DOCUMENTS}))?|summari[sz]e|report)\b(?: back)?"
    r"(?: (?:on|in|into|about|for|regarding))?[:\s]+(?P<topic>.+)$",
    re.I,
)
_REPORT_ON = re.compile(
    rf"^(?:{_WRITE} (?:me |us )?)?(?:an? |the |one )?(?:[\w-]+ ){{0,4}}?{_KIND}"
    r"(?::| (?:about|on|of|regarding|concerning|covering|for|describing|explaining|that (?:explains|describes|covers)))"
    r" (?P<topic>.+)$",
    re.I,
)
_ASKED_OF_DOCUMENTS = re.compile(
    rf"^(?:what (?:do|does|did) {_DOCUMENTS} (?:say|tell us|tell me|tell|state|hold|contain|know)(?: (?:about|on))?"
    rf"|according to {_DOCUMENTS},?) (?P<topic>.+)$"
    rf"|^(?P<topic_first>.+?),? (?:according to|in|from) {_DOCUMENTS}$",
    re.I,
)
_QUESTION = re.compile(r"^(?P<topic>(?:what|who|whom|whose|when|where|which|why|how)(?:'s)?\b.+)$", re.I)
_YES_OR_NO = re.compile(r"^(?P<topic>(?:is|are|was|were|do|does|did|can|could|has|have|will|should|must)\b.+)\?$", re.I)
_NOT_OF_DOCUMENTS = re.compile(
    r"\b(?:are|do|did|have|can|will|would) you\b|\bwhat (?:time|day|date) is it\b"
    r"|\b(?:today|tonight|tomorrow|right now)\b"
    r"|\d\s*(?:[-+*/^!%=]|plus|minus|times|divided)|(?:[-+*/^%=]|plus|minus|times|by)\s*\d",
    re.I,
)
"""Questions that documents do not answer, though they may hold the words: about this moment, of sums."""
_AND_WRITE = re.compile(rf"[\s.,;]*(?:and |then |please )*{_WRITE}\b", re.I)
_OUTPUT = re.compile(
    rf"(?:\s*[.;,:]\s*(?:and then |and |then )?|\s+(?:and then|and|then)\s+)(?:please )?"
    rf"(?:(?:{_WRITE}|present|list|cite|give)\b.*\b(?:{_KIND}|it|them|findings|results|sources|file)\b|summari[sz]e\b|report\b).*$",
    re.I,
)
_WRITTEN = re.compile(
    rf"\b(?!give){_WRITE} (?:me |us |up )?"
    rf"(?:(?:an?|the|one) [^.;]*?)?(?:(?:brief|short|concise|cited|full) )*\b{_KIND}\b"
    rf"|^(?:an? )?(?:[\w-]+ ){{0,3}}?{_KIND} (?:about|on)\b",
    re.I,
)
_STORED = re.compile(r"\b(?:write|save|store|put|draft|report)\b", re.I)
_AROUND_TOPIC = [
    re.compile(pattern, re.I)
    for pattern in (
        r"^what is (?:known|said|written|there) (?:about|on)\s+",
        rf"^(?:what )?{_DOCUMENTS}(?: (?:say|says|tell us|tell|state|hold|contain))? (?:about|on|regarding|for)\s+",
        r"^(?:about|on|regarding|the|of|for|information|facts)\s+",
        rf",?\s+(?:(?:and|in|from|using|with|based on|according to|over|through) {_DOCUMENTS})$",
        r",?\s+(?:for me|please|and|or|from|on|in|using)$",
        r"[\s?.!,;:]+$",
    )
]
_GIVEN_WITH_THE_GOAL = re.compile(
    rf"^(?:this|that|it|{_DOCUMENTS}|the (?:following|text)(?: \w+)?)\b\s*(?::|$)|^this \w+:", re.I
)


@dataclass(frozen=True)
class BriefGoal:
    """A requested brief; an empty `topic` means that none was found."""

    topic: str
    report: bool = False
    brief: bool = False
    path: str | None = None
    web: bool = False
    sentences: int | None = None
    question: bool = False


def brief_goal(goal: str) -> BriefGoal | None:
    """Return the brief that a goal asks for, or None if it asks for something else.

    >>> brief_goal("Research the latest trends in renewable energy and write a brief report").topic
    'latest trends in renewable energy'
    """
    text = short_line(goal.replace("\u2019", "'"), _MAX_CHARACTERS)
    file, sentences = _target(text), SENTENCES.search(text)
    text = text.replace(file[0], "") if file else text
    text, no_web = NOT_THE_WEB.subn("", text)
    web = _WEB.search(text)
    bare = _POLITE.sub("", _SOURCES.sub("", _WEB.sub("", SENTENCES.sub("", text))).strip(" ,;"))
    found, asked = _topic_part(bare.rstrip(" ?.!")), None
    if found is None:
        found = asked = _question(bare)
    if found is None:
        return None
    return BriefGoal(
        topic=_cleaned(found),
        report=bool(file or _WRITTEN.search(text)),
        brief=bool(re.search(r"\b(?:brief|short|concise)\b", text, re.I)),
        path=file["path"] if file else None,
        web=web is not None and not no_web,
        sentences=int(sentences["count"]) if sentences else None,
        question=asked is not None,
    )


def _target(text: str) -> re.Match[str] | None:
    """Return the match of the report's file; a file after "in" is a source unless the goal stores something."""
    file = TO_FILE.search(text)
    reads = file is not None and file[0].strip().startswith("in ") and not _STORED.search(text)
    return None if reads else file


def _topic_part(text: str) -> str | None:
    for pattern in (_ASKED_OF_DOCUMENTS, _REPORT_ON, _RESEARCH):
        if match := pattern.match(text):
            parts = match.groupdict()
            return parts["topic"] or parts["topic_first"] if "topic_first" in parts else parts["topic"]
    return None


def _question(text: str) -> str | None:
    if _NOT_OF_DOCUMENTS.search(text):
        return None
    asked, _, rest = text.partition("?")
    # What follows the question mark says where the answer goes; it is not part of the topic.
    if _AND_WRITE.match(rest):
        text = f"{asked}?"
    match = _QUESTION.match(text) or _YES_OR_NO.match(text)
    return match["topic"] if match else None


def _cleaned(topic: str) -> str:
    topic, before = _OUTPUT.sub("", topic), ""
    # What is left at an end by one pattern may be what another takes off.
    while topic != before:
        before = topic
        for pattern in _AROUND_TOPIC:
            topic = pattern.sub("", topic)
    if _GIVEN_WITH_THE_GOAL.search(topic) or not content_words(topic):
        return ""
    return short_line(topic, _MAX_TOPIC_CHARACTERS)
