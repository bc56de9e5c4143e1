"""What a run works with: folders, models and limits, kept in the ledger so that `resume` uses the same."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from graph.errors import InputError


@dataclass(frozen=True)
class Setup:
    """Folders are absolute; a model of None is the embedded one, or the planner's."""

    documents: str
    workspace: str
    planner: str | None = None
    executor: str | None = None
    replanner: str | None = None
    approval: str = "always"
    max_replans: int = 2
    max_concurrency: int = 16

    @classmethod
    def default(cls) -> "Setup":
        """Return what holds where nothing is said."""
        return cls(documents=_absolute(Path("docs")), workspace=_absolute(Path("workspace")))

    def remembered(self, setup: Mapping[str, Any]) -> "Setup":
        """Return the setup of a run that may have been started by other means than this command."""
        known: dict[str, Any] = {field.name: setup.get(field.name) for field in fields(self)}
        return self.changed(**known)

    def changed(self, **given: Any) -> "Setup":
        """Return the setup with what is given; None is not given."""
        named = {name: value for name, value in given.items() if value is not None}
        for folder in ("documents", "workspace"):
            if folder in named:
                named[folder] = _absolute(Path(named[folder]))
        return replace(self, **named)

    def to_json(self) -> dict[str, Any]:
        """Return what the ledger keeps."""
        return asdict(self)

    def options(self) -> dict[str, Any]:
        """Return the options of `graph.build_graph`: the models and tools themselves.

        Raises:
            ModelConfigError: A model cannot be made.
        """
        from graph.chat_models.roles import chat_model
        from tools import default_tools

        roles = {"planner": self.planner, "executor": self.executor, "replanner": self.replanner}
        models: dict[str, Any] = {
            role: chat_model(name) for role, name in roles.items() if name is not None or role == "planner"
        }
        tools = default_tools(documents=Path(self.documents), workspace=Path(self.workspace))
        limits = {"max_replans": self.max_replans, "max_concurrency": self.max_concurrency}
        return {**models, "tools": tools, "approval": self.approval, **limits}


def check_folders(documents: Path | None, workspace: Path | None) -> None:
    """Refuse folders that were named and cannot serve; the workspace is made when it is first written to.

    Raises:
        InputError: There is no such folder.
    """
    if documents is not None and not documents.is_dir():
        raise InputError("--docs", f"{documents} is no folder; name the folder that holds the documents")
    if workspace is not None and workspace.exists() and not workspace.is_dir():
        raise InputError("--workspace", f"{workspace} is no folder; name a folder, or one that does not exist yet")


def _absolute(folder: Path) -> str:
    return str(folder.absolute())
