"""Repairs of failed calls; none repeats the same call."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from planner_executor.graph.chat_models.offline import brief
from planner_executor.graph.chat_models.offline.constraints import SEARCH_FOR
from planner_executor.graph.chat_models.offline.goals import brief_goal
from planner_executor.graph.chat_models.offline.remaining import NoRepair, Remaining
from planner_executor.graph.chat_models.offline.text_format import short_line, slug
from planner_executor.graph.plan.references import escape_references, references_in
from planner_executor.tools.words import content_words

_NO_DOCUMENTS = re.compile(r"\bdocuments? folder\b|\bno (?:readable )?documents\b", re.I)
_NOTHING_FOUND = re.compile(
    r"\bnone of the words\b|\bno word to look for\b|\bnothing (?:was )?found\b|\bno passages?\b", re.I
)
_PATH_TROUBLE = re.compile(r"\bgive a relative path\b|\bname too long\b|\b(?:is a|not a) (?:folder|directory)\b", re.I)
_SIMPLE = 2


def repair_searches(remaining: Remaining) -> None:
    """Continue with the successful searches, else search with other words, else read a document.

    Raises:
        NoRepair: There are no documents, or they do not mention the topic.
    """
    failed = [step["id"] for step in remaining.failed_calls("search_documents")]
    # Only if nothing that is left needs what they should have found.
    if _others_found_something(remaining, failed) and all(remaining.can_drop(step) for step in failed):
        remaining.drop(*failed)
    # An empty folder stays empty, whatever is searched for.
    elif without := [error for step in failed if _NO_DOCUMENTS.search(error := remaining.failed[step])]:
        raise NoRepair(without[0])
    elif query := _other_query(remaining, failed):
        _search_instead(remaining, failed[0], query)
        remaining.drop(*failed[1:])
    elif all(_NOTHING_FOUND.search(remaining.failed[step]) for step in failed):
        raise NoRepair(_nothing_about(remaining))
    else:
        _read_instead(remaining, failed[0])
        remaining.drop(*failed[1:])


def repair_web_search(remaining: Remaining) -> None:
    """Continue without the web if there are other sources, else search the documents instead.

    Raises:
        NoRepair: The plan needs the web search.
    """
    for step in remaining.failed_calls("web_search"):
        query = _query(step)
        if remaining.can_drop(step["id"]):
            remaining.drop(step["id"])
        elif query and _is_new(query, remaining) and _may_change_shape(remaining, step["id"], brief.SEARCH):
            remaining.give(
                {
                    "id": step["id"],
                    "objective": f"Find what the documents say about {query}, since the web did not answer",
                    "tool": "search_documents",
                    "args": {"query": escape_references(query)},
                }
            )
        else:
            raise NoRepair(f"the web did not answer, and the plan needs {step['id']}")


def repair_report(remaining: Remaining) -> None:
    """Write to another path if the path was the problem.

    Raises:
        NoRepair: The path was not the problem, or contains a reference.
    """
    for step in remaining.failed_calls("write_report"):
        path = step.get("args", {}).get("path", "report.md")
        if not _PATH_TROUBLE.search(remaining.failed[step["id"]]) or any(references_in(path)):
            raise NoRepair("the report could not be written, and another name would not help")
        stem = slug(PurePosixPath(str(path).replace("\\", "/")).stem)
        names = (f"{stem}.md", f"{stem}-report.md", "report.md")
        name = next(name for name in names if name != path)
        args = {**step.get("args", {}), "path": name}
        remaining.give({**step, "objective": f"Write the report to {name}", "args": args})


def _nothing_about(remaining: Remaining) -> str:
    goal = brief_goal(remaining.prompt.goal)
    if goal and goal.question:
        return "no document answers this question, as far as words can tell"
    return "the documents hold none of the words that the goal is about"


def _others_found_something(remaining: Remaining, failed: list[str]) -> bool:
    """Whether a successful search is on topic: its match is not due to aspect words alone."""
    absent = {
        word
        for step in failed
        if _NOTHING_FOUND.search(remaining.failed[step])
        for word in content_words(_query(remaining.steps[step]))
    }
    aside = brief.WORDS_OF_SIDES - set(content_words(remaining.prompt.goal))
    for step in remaining.succeeded:
        if remaining.tool(step) == "web_search":
            return True
        if remaining.tool(step) == "search_documents":
            query = set(content_words(_query(remaining.every_step[step])))
            # A search for "wind: cost" that found passages on cost alone says nothing about wind.
            if not absent or not query & aside or query - absent - aside:
                return True
    return False


def _other_query(remaining: Remaining, failed: list[str]) -> str | None:
    """Return an untried query: one from feedback, else other words of the goal, or fewer of them."""
    requested = [found["query"] for wish in remaining.prompt.feedback if (found := SEARCH_FOR.search(wish))]
    goal = brief_goal(remaining.prompt.goal)
    topic = brief.about(goal.topic) if goal else remaining.prompt.goal
    tried = {word for step in failed for word in content_words(_query(remaining.steps[step]))}
    others = [word for word in content_words(topic) if word not in tried]
    longest = sorted(content_words(topic), key=len, reverse=True)[:_SIMPLE]
    simple = [word for word in content_words(topic) if word in longest]
    nothing_found = all(_NOTHING_FOUND.search(remaining.failed[step]) for step in failed)
    # With no hit other words may find something; with a fault of the search fewer and simpler ones may.
    candidates = [*reversed(requested), " ".join(others if nothing_found else simple)]
    return next((query for query in candidates if _is_new(query, remaining)), None)


def _is_new(query: str, remaining: Remaining) -> bool:
    words = set(content_words(query))
    steps = (step for step in remaining.every_step.values() if step.get("tool") == "search_documents")
    return bool(words) and all(set(content_words(_query(step))) != words for step in steps)


def _query(step: dict[str, Any]) -> str:
    return str(step.get("args", {}).get("query", ""))


def _search_instead(remaining: Remaining, step: str, query: str) -> None:
    query = short_line(query, 300)
    old = remaining.steps[step]
    args = {**old.get("args", {}), "query": escape_references(query)}
    remaining.give({**old, "objective": f"Find what the documents say about {query}", "args": args})


def _read_instead(remaining: Remaining, step: str) -> None:
    """Read the first document instead of a search that does not work."""
    if not _may_change_shape(remaining, step, {"list_documents": (), "read_document": ("path",)}):
        raise NoRepair("the search does not work, and the documents cannot be read without it")
    listing = remaining.new_id()
    remaining.give({"id": listing, "objective": "List the documents", "tool": "list_documents", "args": {}})
    remaining.give(
        {
            "id": step,
            "objective": "Read the first document, since the search does not work",
            "tool": "read_document",
            "args": {"path": f"{{{listing}_result.documents[0].source}}"},
        }
    )
    remaining.note("the search did not work, so this rests on the first document alone")


def _may_change_shape(remaining: Remaining, step: str, tools: Mapping[str, Sequence[str]]) -> bool:
    return not remaining.prompt.missing(tools) and not remaining.refers_to_parts_of(step)
