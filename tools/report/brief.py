"""A summary or a search result -> Markdown in which every statement has a citation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner_executor.tools.citation import citation
from planner_executor.tools.numbers_in_words import counted

_STATEMENTS_OF_A_GROUP = 1.5
Statement = Mapping[str, Any]


def statements_in(content: object) -> list[Statement] | None:
    """Return the statements of a summary, or the passages of a search result; None for anything else."""
    if not isinstance(content, dict):
        return None
    for key in ("statements", "passages"):
        found = content.get(key)
        if isinstance(found, list) and found and all(_is_statement(item) for item in found):
            return [{"query": content.get("query"), **item} for item in found]
    return None


def brief(statements: Sequence[Statement], level: int, coverage: Mapping[str, Any]) -> str:
    """Return an intro line, the statements, under headings if they form groups, their sources, and what was skipped.

    Args:
        statements: In the order they are to be read.
        level: Heading level of the sections.
        coverage: What was looked through and skipped, as `coverage_in` returns it.
    """
    parts = [" ".join([_intro(statements), *_looked_through(coverage)])]
    for heading, group in _sections(statements):
        if heading:
            parts.append(f"{'#' * level} {heading}")
        parts.append("\n".join(_bullet(statement) for statement in group))
    if sources := _sources(statements):
        parts += [f"{'#' * level} Sources", "\n".join(sources)]
    if skipped := list(_skipped(coverage)):
        parts += [f"{'#' * level} Skipped files", "\n".join(skipped)]
    return "\n\n".join(parts)


def _is_statement(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("text"), str)


def _intro(statements: Sequence[Statement]) -> str:
    documents = len({statement["source"] for statement in statements if statement.get("source")})
    number = counted(len(statements), "statement")
    if not documents:
        return f"{number}, word for word."
    return f"{number} from {counted(documents, 'document')}, word for word; behind each stands where it was found."


def _looked_through(coverage: Mapping[str, Any]) -> Iterator[str]:
    if coverage:
        searched, skipped = coverage["searched"], coverage["skipped_count"]
        also = f", {counted(skipped, 'file was', 'files were')} skipped" if skipped else ""
        yield f"{counted(searched, 'document was', 'documents were')} looked through{also}."


def _skipped(coverage: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each reason, with the files, and how many more there are."""
    by_reason = _grouped(coverage.get("skipped", ()), "reason")
    for reason, files in by_reason.items():
        yield f"- {', '.join(' '.join(str(file['source']).split()) for file in files)}: {' '.join(str(reason).split())}"
    more = coverage.get("skipped_count", 0) - len(coverage.get("skipped", ()))
    if more > 0:
        yield f"- and {counted(more, 'more file')}"


def _bullet(statement: Statement) -> str:
    words = " ".join(str(statement["text"]).split())
    place = citation(statement)
    return f"- {words} ({place})" if place else f"- {words}"


def _sections(statements: Sequence[Statement]) -> list[tuple[str | None, list[Statement]]]:
    """Group by the titles of the documents, or the headings of one; by search if no document has a title.

    Words of a search are what was looked for, not what was found. There are no groups if few hold two statements.
    """
    by_title, by_query = _grouped(statements, "title"), _grouped(statements, "query")
    if None in by_title and len(by_query) > 1:
        return [(_title(key), group) for key, group in by_query.items()]
    groups = by_title if len(by_title) > 1 else _grouped(statements, "heading")
    if None not in groups and len(groups) > 1 and len(statements) >= _STATEMENTS_OF_A_GROUP * len(groups):
        return [(_title(key), group) for key, group in groups.items()]
    return [(None, list(statements))]


def _grouped(statements: Sequence[Statement], key: str) -> dict[str | None, list[Statement]]:
    groups: dict[str | None, list[Statement]] = {}
    for statement in statements:
        value = statement.get(key)
        groups.setdefault(value if isinstance(value, str) else None, []).append(statement)
    return groups


def _title(words: str | None) -> str:
    line = " ".join((words or "Further statements").split())
    return line[:1].upper() + line[1:]


def _sources(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield one line for each source, with the places used."""
    by_source = _grouped([statement for statement in statements if citation(statement)], "source")
    for source, group in by_source.items():
        pages = sorted({int(statement["page"]) for statement in group if statement.get("page")})
        lines = sorted({int(statement["line"]) for statement in group if statement.get("line")})
        used = [_places(unit, found) for unit, found in (("page", pages), ("line", lines)) if found]
        yield f"- {source}" + (f": {'; '.join(used)}" if used else "")


def _places(unit: str, numbers: Sequence[int]) -> str:
    return f"{unit if len(numbers) == 1 else unit + 's'} {', '.join(map(str, numbers))}"
