"""The project's own set of tools."""

from pathlib import Path

from langchain_core.tools import BaseTool

from tools.calculator import calculator
from tools.documents.library import Library
from tools.folder import Folder
from tools.group_errors import group_errors
from tools.list_documents import list_documents
from tools.read_document import read_document
from tools.read_logs import read_logs
from tools.read_source import read_source
from tools.search_documents import search_documents
from tools.summarize_text import summarize_text
from tools.web_search import web_search
from tools.write_report import write_report


def default_tools(documents: Path, workspace: Path) -> list[BaseTool]:
    """Return all tools, always in the same order.

    Args:
        documents: The folder that is searched and read, logs and sources in it too; nothing outside it is.
        workspace: The folder that reports are written to; what lies in it is no document.
    """
    library = Library(documents, without=(workspace,))
    folder = Folder(documents, without=(workspace,))
    return [
        search_documents(library),
        read_document(library),
        list_documents(library),
        summarize_text(),
        calculator(),
        write_report(workspace),
        web_search(),
        read_logs(folder),
        group_errors(folder),
        read_source(folder),
    ]
