"""Citations: the place of a passage in its document, as text."""

from collections.abc import Mapping
from typing import Any


def citation(statement: Mapping[str, Any]) -> str | None:
    """Return `file.md:12`, `file.md:12-13`, `file.pdf, page 3` or the bare source; None without a source.

    >>> citation({"source": "file.md", "line": 12, "end_line": 13}), citation({"source": "a.pdf", "page": 3})
    ('file.md:12-13', 'a.pdf, page 3')
    """
    source, line, page = statement.get("source"), statement.get("line"), statement.get("page")
    if not source:
        return None
    if page:
        return f"{source}, page {page}"
    if not line:
        return str(source)
    end_line = statement.get("end_line") or line
    return f"{source}:{line}" if end_line == line else f"{source}:{line}-{end_line}"
