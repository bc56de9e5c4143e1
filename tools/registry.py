"""The project's own set of tools."""

from collections.abc import Collection, Sequence
from pathlib import Path

from langchain_core.tools import BaseTool

from planner_executor.incident_tools import incident_tools, is_incident
from planner_executor.tools.calculator import calculator
from planner_executor.tools.convert_document import convert_document
from planner_executor.tools.documents.library import Library
from planner_executor.tools.errors import ConfigInvalid
from planner_executor.tools.extras import absent_tools
from planner_executor.tools.fetch_page import fetch_page
from planner_executor.tools.files.root import Root
from planner_executor.tools.http_get import http_get
from planner_executor.tools.http_send import http_send
from planner_executor.tools.list_documents import list_documents
from planner_executor.tools.list_files import list_files
from planner_executor.tools.move_file import move_file
from planner_executor.tools.packs import DEFAULT_PACKS, PACKS, tools_in
from planner_executor.tools.query_csv import query_csv
from planner_executor.tools.query_json import query_json
from planner_executor.tools.query_sqlite import query_sqlite
from planner_executor.tools.read_document import read_document
from planner_executor.tools.read_file import read_file
from planner_executor.tools.run_python import run_python
from planner_executor.tools.search_documents import search_documents
from planner_executor.tools.search_files import search_files
from planner_executor.tools.summarize_text import summarize_text
from planner_executor.tools.web.allowed_hosts import READING, SENDING, AllowedHost, AllowList, hosts_from_environment
from planner_executor.tools.web.service import Service
from planner_executor.tools.web.tavily import Tavily
from planner_executor.tools.web_search import web_search
from planner_executor.tools.write_file import write_file
from planner_executor.tools.write_report import write_report


def default_tools(
    documents: Path,
    workspace: Path,
    http_hosts: Sequence[AllowedHost] | None = None,
    packs: Collection[str] = DEFAULT_PACKS,
) -> list[BaseTool]:
    """Return the tools of packs that can work here, always in the same order: one whose extra is missing is left out.

    Args:
        documents: The folder of documents, logs and sources to search and read.
        workspace: The folder of files that are written and read; files in it are not documents.
        http_hosts: The hosts that `http_get` and `http_send` may ask; default: those of
            PLANNER_EXECUTOR_HTTP_HOSTS. A tool without any host is left out.
        packs: Names in `tools.packs.PACKS`; default: those that are there by default. Over the documents
            of the example of an incident, the pack `documents` has its tools too.

    Raises:
        ConfigInvalid: A host in the environment is invalid, or a pack is unknown.
    """
    if unknown := [name for name in packs if name not in PACKS]:
        raise ConfigInvalid("packs", f"there is no pack {unknown[0]!r}; use some of {', '.join(PACKS)}")
    chosen = tools_in(packs)
    hosts = hosts_from_environment() if http_hosts is None else tuple(http_hosts)
    library = Library(documents, without=(workspace,))
    files = Root(workspace, "workspace")
    both = (files, Root(documents, "documents"))
    absent = absent_tools()
    if Tavily.configured():  # the search needs no package then
        absent.pop("web_search", None)
    found = [
        search_documents(library),
        read_document(library),
        list_documents(library),
        summarize_text(),
        calculator(),
        write_report(workspace),
        web_search(),
        fetch_page(),
        list_files(files),
        read_file(files),
        search_files(files),
        write_file(files),
        move_file(files),
        convert_document(both),
        query_csv(both),
        query_json(both),
        query_sqlite(both),
        run_python(),
        *http_tools(hosts),
    ]
    own = [tool for tool in found if tool.name in chosen and tool.name not in absent]
    has_more = "documents" in packs and is_incident(documents)
    return [*own, *incident_tools(documents, workspace)] if has_more else own


def every_tool(documents: Path, workspace: Path) -> list[BaseTool]:
    """Return the tools of all packs and of the example, over any folder: runs may have begun with each of them.

    Raises:
        ConfigInvalid: A host in the environment is invalid.
    """
    own = default_tools(documents, workspace, packs=tuple(PACKS))
    return own if is_incident(documents) else [*own, *incident_tools(documents, workspace)]


def http_tools(hosts: tuple[AllowedHost, ...]) -> list[BaseTool]:
    """Return the tools that have a host to ask."""
    allowed = AllowList(hosts)
    found = ((READING, http_get), (SENDING, http_send))
    return [make(Service(allowed)) for methods, make in found if allowed.allowing(methods).hosts]
