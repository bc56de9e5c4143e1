"""Open requests as a table in a notebook."""

from collections.abc import Sequence

from planner_executor.graph.text.inbox import InboxRow
from planner_executor.graph.text.table import Bundle, table_bundle
from planner_executor.graph.words.times import local_time


def inbox_bundle(rows: Sequence[InboxRow], following: str | None) -> Bundle:
    """Return open requests as a table; `following` is the value of `after` for the next page."""
    untils = (local_time(row.until) if row.until is not None else "-" for row in rows)
    cells = [
        (row.run, row.asked, row.does, local_time(row.since), until, row.may_take, row.goal)
        for row, until in zip(rows, untils, strict=True)
    ]
    more = f"there are more: inbox(after={following!r})" if following else ""
    return table_bundle(("run", "asks for", "would", "since", "until", "may take", "goal"), cells, more)
