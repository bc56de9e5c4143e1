"""The content of a report, in any form -> one Markdown text."""

import json
from dataclasses import dataclass

from planner_executor.tools.coverage import coverage_in
from planner_executor.tools.embedded_json import json_pieces
from planner_executor.tools.report.brief import Statement, brief, statements_in

_DEEPEST_SECTION = 4


@dataclass(frozen=True)
class Report:
    """A Markdown text, and how many cited statements are in it."""

    markdown: str
    statements: int


def render(content: object, title: str | None = None) -> Report:
    """Return the report: text as it is, summaries and passages as a brief, other objects as sections.

    Args:
        content: Text, or a summary, or any JSON; summaries are also found inside text, objects and lists.
        title: Heading of the whole; a brief has one in any case.
    """
    content = _unwrapped(content)
    counted: list[Statement] = []
    statements = _all_statements(content)
    body = _body(content, 2, counted)
    title = title or (_brief_title(statements) if statements else None)
    if title and not body.lstrip().startswith("# "):
        body = f"# {' '.join(title.split())}\n\n{body}"
    return Report(body.rstrip() + "\n", len(counted))


def _body(content: object, level: int, counted: list[Statement]) -> str:
    if statements := _all_statements(content):
        counted.extend(statements)
        return brief(statements, level, coverage_in(content))
    if isinstance(content, str):
        return _text(content, level, counted)
    if isinstance(content, dict) and level <= _DEEPEST_SECTION:
        sections = (f"{'#' * level} {key}\n\n{_body(value, level + 1, counted)}" for key, value in content.items())
        return "\n\n".join(section.rstrip() for section in sections)
    if isinstance(content, list) and all(not isinstance(item, dict | list) for item in content):
        return "\n".join(f"- {_plain(item)}" for item in content)
    if isinstance(content, dict | list):
        return f"```json\n{json.dumps(content, ensure_ascii=False, indent=2)}\n```"
    return _plain(content)


def _all_statements(content: object) -> list[Statement]:
    """Return the statements of a summary, of a list of summaries, or of a bare list of statements."""
    if isinstance(content, list) and content:
        found = [statements_in(item) for item in content]
        if all(found):
            return [statement for statements in found if statements for statement in statements]
        return statements_in({"statements": content}) or []
    return statements_in(content) or []


def _text(text: str, level: int, counted: list[Statement]) -> str:
    """Return the text with a brief in place of each summary that stands in it as JSON."""
    parts = [""]
    for words, value in json_pieces(text):
        if statements := _all_statements(value):
            counted.extend(statements)
            parts += [brief(statements, level, coverage_in(value)), ""]
        else:
            parts[-1] += words
    return text if len(parts) == 1 else "\n\n".join(part.strip() for part in parts if part.strip())


def _unwrapped(content: object) -> object:
    """Return the object or list that a text consists of, or the content itself."""
    pieces = list(json_pieces(content.strip())) if isinstance(content, str) else []
    return pieces[0][1] if len(pieces) == 1 and _all_statements(pieces[0][1]) else content


def _brief_title(statements: list[Statement]) -> str:
    queries = {statement.get("query") for statement in statements}
    query = queries.pop() if len(queries) == 1 else None
    return f"Brief: {query}" if query else "Brief"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
