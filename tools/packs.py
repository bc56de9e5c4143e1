"""Packs: which of the project's own tools come together. Texts, options and checks are made of this table."""

from collections.abc import Collection, Mapping
from typing import NamedTuple


class Pack(NamedTuple):
    """Tools that come together: what they are for, and whether they are there if nobody chooses packs or tools.

    `looks` are those that list, or show the head or the schema of a table.
    """

    purpose: str
    tools: tuple[str, ...]
    by_default: bool = True
    looks: tuple[str, ...] = ()


PACKS: Mapping[str, Pack] = {
    "documents": Pack(
        "search and read a folder of documents, and write a report with sources",
        (
            "search_documents",
            "read_document",
            "list_documents",
            "convert_document",
            "summarize_text",
            "write_report",
        ),
        looks=("list_documents",),
    ),
    "files": Pack(
        "list, read, search, write and move files of the workspace",
        ("list_files", "read_file", "search_files", "write_file", "move_file"),
        looks=("list_files",),
    ),
    "tables": Pack(
        "query tables and compute",
        ("query_csv", "query_json", "query_sqlite", "calculator"),
        looks=("query_csv", "query_sqlite"),
    ),
    "web": Pack(
        "search the web, read pages, and call allowed hosts", ("web_search", "fetch_page", "http_get", "http_send")
    ),
    "code": Pack("run Python in a sandbox", ("run_python",), by_default=False),
}
"""All packs by name; each tool is in one of them."""
DEFAULT_PACKS = tuple(name for name, pack in PACKS.items() if pack.by_default)

LOOKS = tuple(tool for pack in PACKS.values() for tool in pack.looks)
"""The tools by which a planner may look before it proposes, if the setting `look` is "packs"."""


def tools_in(packs: Collection[str]) -> frozenset[str]:
    """Return the names of the tools in some packs."""
    return frozenset(tool for name in packs for tool in PACKS[name].tools)
