"""Parsing of English goals that ask for an audit of a failing service."""

import re
from dataclasses import dataclass, replace

from planner_executor.graph.chat_models.offline.goals import TO_FILE
from planner_executor.graph.chat_models.offline.text_format import asks_for_more, capitalised, short_line

_MAX_CHARACTERS = 1000
_MAX_TITLE_CHARACTERS = 200

_STRONG = r"(?:audit|diagnose|debug|troubleshoot)"
_ASKS = re.compile(
    r"^(?:please |can you |could you |help me )*"
    rf"(?:(?P<strong>{_STRONG})|(?:investigate|analy[sz]e|probe|inspect|explain|determine|check|tell me"
    r"|(?:find|work|figure) out|find|why)\b)",
    re.I,
)
_WHY = re.compile(r"\bwhy\b|\bcauses?\b|\breasons?\b|\bwhat makes\b", re.I)
_FAILS = re.compile(
    r"\b(?:fail(?:s|ing|ed|ures?)?|crash(?:es|ing|ed)?|errors?|exceptions?|broken|breaks?|down|outage|incident"
    r"|unavailable|not work(?:ing)?|5\d\d|5xx)\b",
    re.I,
)
_RUNNING = re.compile(
    r"\b(?:services?|servers?|app|application|api|endpoint|website|site|backend|worker|daemon|deployment|logs?"
    r"|incident|outage|requests?|5\d\d|5xx|fix)\b",
    re.I,
)
_OF_DOCUMENTS = re.compile(r"\b(?:documents?|documentation|docs|papers|articles|according to)\b", re.I)
_OUTPUT = re.compile(
    r"(?:\s*[.;,:]\s*(?:and then |and |then )?|\s+(?:and then|and|then)\s+)(?:please )?"
    r"(?:draft|write|propose|suggest|prepare|make|give|save|store|put|report)\b.*$",
    re.I,
)
_DRAFT = re.compile(r"\b(?:draft|write|propose|suggest|prepare|save|store|put)\b", re.I)
_NO_DRAFT = re.compile(
    r"\b(?:no|without (?:a|any)|(?:don't|do not) (?:draft|write) (?:a|any)) (?:fix|draft|report|file)\b", re.I
)
_LOG = re.compile(
    r"""(?<![^\s"'`(])[\w.*/-]{0,200}\.(?:log|jsonl|ndjson|export|journal)(?:[.-]\d{1,8}){0,3}(?:\.gz)?(?![\w/])""",
    re.ASCII,
)  # fmt: skip
_PLACE = re.compile(
    r"\b(?:name|give|state|say|show|cite)\b[^.;]{0,40}\bline\b(?: as file:line)?|\blogs?\b|\bfix\b", re.I
)
"""What every audit does."""


@dataclass(frozen=True)
class AuditGoal:
    """A requested audit; without `logs`, the usual log files are read."""

    title: str
    logs: tuple[str, ...] = ()
    draft: bool = False
    path: str | None = None


def audit_goal(goal: str) -> AuditGoal | None:
    """Return the audit that a goal asks for, or None if it asks for something else.

    >>> audit_goal("Find out why checkout fails with 500 and draft a fix").title
    'Why checkout fails with 500'
    >>> audit_goal("Find out why wind farms fail") is None
    True
    """
    # Goals are of any length, and the patterns are tried at every place of them.
    text = short_line(goal.replace("\u2019", "'"), _MAX_CHARACTERS)
    asks = _ASKS.match(text)
    if asks is None or _OF_DOCUMENTS.search(text) or not (_FAILS.search(text) and _RUNNING.search(text)):
        return None
    # A word such as "check" alone asks for many things; with a question why it asks for an audit.
    if not asks["strong"] and not _WHY.search(text):
        return None
    file = TO_FILE.search(text)
    bare = text.replace(file[0], "") if file else text
    return AuditGoal(
        title=_title(bare),
        logs=tuple(dict.fromkeys(_LOG.findall(text))),
        draft=bool(file or _DRAFT.search(text)) and not _NO_DRAFT.search(text),
        path=file["path"] if file else None,
    )


def apply_to_audit(audit: AuditGoal, wish: str) -> AuditGoal | None:
    """Return the audit as a person wishes it, or None if any part of the wish cannot be met."""
    wish = short_line(wish, _MAX_CHARACTERS)
    understood = _LOG.findall(wish)
    if understood:
        audit = replace(audit, logs=tuple(dict.fromkeys([*audit.logs, *understood])))
    if none := _NO_DRAFT.search(wish):
        audit = replace(audit, draft=False)
        understood.append(none[0])
    elif file := TO_FILE.search(wish):
        audit = replace(audit, draft=True, path=file["path"])
        understood.append(file[0])
    places = [place[0] for place in _PLACE.finditer(wish)]
    is_met = bool(understood or places) and not asks_for_more(wish, [*understood, *places])
    return audit if is_met else None


def _title(text: str) -> str:
    text = _OUTPUT.sub("", text).rstrip(" ?.!,;:")
    why = re.search(r"\bwhy\b.*", text, re.I)
    return short_line(capitalised(why[0] if why else text), _MAX_TITLE_CHARACTERS)
