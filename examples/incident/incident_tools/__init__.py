"""The tools of this example: the agent has them beside its own if the documents are those of the example.

Nothing is imported from a folder of documents: the tools are those of the installation, whatever the folder holds.
"""

from pathlib import Path

from langchain_core.tools import BaseTool

from planner_executor.incident_tools.group_errors import group_errors
from planner_executor.incident_tools.read_logs import read_logs
from planner_executor.incident_tools.read_source import read_source
from planner_executor.tools.folder import Folder

FOLDER = "incident_tools"
"""The name of this folder, by which the example, or a copy of it, is known."""


def is_incident(documents: Path) -> bool:
    """Whether a folder of documents is the example."""
    return (documents / FOLDER).is_dir()


def incident_tools(documents: Path, workspace: Path) -> list[BaseTool]:
    """Return the tools over a folder of documents; files in the workspace are not documents."""
    folder = Folder(documents, without=(workspace,))
    return [read_logs(folder), group_errors(folder), read_source(folder)]
