"""Plan of a cited brief: parallel searches, a summary and, if wanted, a report."""

import math
import re
from typing import Any

from planner_executor.graph.chat_models.offline.constraints import BriefSpec
from planner_executor.graph.chat_models.offline.goals import BriefGoal
from planner_executor.graph.chat_models.offline.text_format import capitalised
from planner_executor.graph.plan.references import escape_references
from planner_executor.graph.words.name_list import enumerated
from planner_executor.tools.words import content_words

SEARCH = {"search_documents": ("query",)}
SUMMARY = {"summarize_text": ("text",)}
REPORT = {"write_report": ("content", "path")}
WEB = {"web_search": ("query",)}

_SEARCHES = 4
_PASSAGES = 8
_MAX_SENTENCES = 100
_EVERY_WORD = 9
_ALL_OF = 3
_MOST_OF = 0.75
_ASKING = frozenset(
    {"called", "difference", "happen", "happens", "kind", "kinds", "long", "many", "mean", "means", "often", "type"}
    | {"types", "work", "works"}
)

_NEWS = re.compile(
    r"^(?:(?:latest|recent|current|newest|new|key|main|important|global|future)\s+)*"
    r"(?:trends?|developments?|news|advances?|progress|outlook|state|market|markets)\s+(?:in|of|on|for|about)\s+(?:the\s+)?",
    re.I,
)
_QUESTION = re.compile(
    r"^(?:how|why|whether|what|which|when|where|who)(?:\s+(?:is|are|do|does|did|can|to|the|this|these))*\s+", re.I
)
_SIDES_OF_NEWS = (
    ("growth", "capacity added", "share", "record year"),
    ("cost", "price", "investment"),
    ("limits", "risks", "obstacles", "delays"),
    ("policy", "targets", "outlook"),
)
_SIDES_OF_HOW = (
    ("rules", "order", "checks"),
    ("failure", "error", "crash", "retry"),
    ("limits", "cost", "exceptions"),
    ("records", "examples"),
)
_SIDES = (
    ("reasons", "examples", "rules"),
    ("limits", "failure", "cost"),
    ("figures", "growth", "records"),
    ("order", "steps", "checks"),
)
WORDS_OF_SIDES = frozenset(content_words(str((_SIDES_OF_NEWS, _SIDES_OF_HOW, _SIDES))))
"""Words in queries besides those of the topic."""


def brief_spec(goal: BriefGoal) -> BriefSpec:
    """Return the specification of a brief about a goal, before constraints and feedback."""
    queries = (goal.topic,) if goal.question else queries_for(goal.topic)
    return BriefSpec(
        **vars(goal),
        queries=queries[:_SEARCHES],
        spare=queries[_SEARCHES:],
        min_words=needed_words(goal.topic) if goal.question else None,
    )


def needed_words(question: str) -> int:
    """Return how many words of a question a passage must hold: with fewer it would answer another question.

    >>> needed_words("What is the capital of France"), needed_words("How do heat pumps work")
    (2, 2)
    """
    words = [word for word in content_words(question) if word not in _ASKING]
    return max(1, len(words) if len(words) <= _ALL_OF else math.ceil(_MOST_OF * len(words)))


def queries_for(topic: str) -> tuple[str, ...]:
    """Return queries for the topic itself and for different aspects of it.

    The search ranks passages by the number of matching words, so the words of an aspect must not outnumber those of the
    topic, except for news about a wide field.

    >>> queries_for("offshore wind")[2]
    'offshore wind: limits and failure'
    """
    subject = about(topic)
    most = len(content_words(subject))
    sides: tuple[tuple[str, ...], ...] = _SIDES_OF_HOW if _QUESTION.match(topic) else _SIDES
    if _NEWS.match(topic):
        sides, most = _SIDES_OF_NEWS, _EVERY_WORD
    return (topic, *(f"{subject}: {enumerated(side[:most])}" for side in sides))


def about(topic: str) -> str:
    """Return the subject of a topic, without question words and words such as "latest trends".

    >>> about("latest trends in renewable energy"), about("how this agent keeps side effects safe")
    ('renewable energy', 'agent keeps side effects safe')
    """
    return _QUESTION.sub("", _NEWS.sub("", topic)) or topic


def brief_plan(spec: BriefSpec, without: str | None = None) -> dict[str, Any]:
    """Return the plan of a brief.

    Args:
        spec: The specification.
        without: Note on omitted parts, added to the answer.
    """
    searches = [
        _search(number, query, spec.min_words if query == spec.topic else None)
        for number, query in enumerate(spec.queries, 1)
    ]
    if spec.web:
        searches.append(_web_search(len(searches) + 1, spec.topic))
    summary = _summary(spec, [step["id"] for step in searches])
    answer: dict[str, Any] = {"summary": f"{{{summary['id']}_result.summary}}"}
    steps = [*searches, summary]
    if spec.report:
        steps.append(_report(spec, summary["id"]))
        answer = {"report": f"{{{steps[-1]['id']}_result.path}}", **answer}
    else:
        answer["statements"] = f"{{{summary['id']}_result.statements}}"
    return {"steps": steps, "answer": {**answer, "note": without} if without else answer}


def _search(number: int, query: str, min_words: int | None) -> dict[str, Any]:
    needed = {} if min_words is None else {"min_words": min_words}
    return {
        "id": f"step_{number}",
        "objective": _objective(query),
        "tool": "search_documents",
        "args": {"query": escape_references(query), "limit": _PASSAGES, **needed},
    }


def _objective(query: str) -> str:
    """Return the objective of a search, its distinguishing aspect first."""
    subject, _, side = query.rpartition(": ")
    return f"Search for {side} ({subject})" if subject else f"Search for {query}"


def _web_search(number: int, topic: str) -> dict[str, Any]:
    return {
        "id": f"step_{number}",
        "objective": f"Search the web for {topic}",
        "tool": "web_search",
        "args": {"query": escape_references(topic)},
    }


def _summary(spec: BriefSpec, searches: list[str]) -> dict[str, Any]:
    sentences = spec.sentences or (2 if spec.brief else 3) * len(searches)
    return {
        "id": f"step_{len(searches) + 1}",
        "objective": f"Summarise what was found on {spec.topic}",
        "tool": "summarize_text",
        "args": {
            "text": [f"{{{step}_result}}" for step in searches],
            "max_sentences": min(sentences, _MAX_SENTENCES),
            "focus": escape_references(spec.topic),
        },
    }


def _report(spec: BriefSpec, summary: str) -> dict[str, Any]:
    path = spec.path or "report.md"
    return {
        "id": f"step_{int(summary.removeprefix('step_')) + 1}",
        "objective": f"Write {path}",
        "tool": "write_report",
        "args": {
            "content": f"{{{summary}_result}}",
            "path": escape_references(path),
            "title": escape_references(capitalised(spec.topic)),
        },
    }
