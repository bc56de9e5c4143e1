"""The tools of a graph by name, and a preview of the files that a plan would replace."""

import logging
import stat
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import JsonValue

from planner_executor.graph.calls.bound_tool import BoundTool, bind
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.errors import ToolConfigError
from planner_executor.graph.plan.catalog import UNDECLARED, Catalog, ToolSpec, is_undeclared
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.person import same_name
from planner_executor.graph.record.values import Kept, keep_constant, normalise
from planner_executor.graph.words.name_list import counted
from planner_executor.tools.errors import NothingHappened
from planner_executor.tools.extras import absent_tools
from planner_executor.tools.files.root import Root

NEWER = ("attempts", "backoff_s", "look", "reads", "summary", "reversible")
"""Fields that earlier releases did not record."""
LOGGER = logging.getLogger("planner_executor.tools")


class Toolbox(Mapping[str, BoundTool]):
    """The tools of a graph by name; `is_timed` means that their time limits are kept by the clock."""

    is_timed = True

    def __init__(self, tools: Iterable[BaseTool | Callable[..., Any] | BoundTool]) -> None:
        self._tools: dict[str, BoundTool] = {}
        taken: dict[str, str] = {}
        for given in tools:
            bound = given if isinstance(given, BoundTool) else bind(given)
            name = bound.spec.name
            if (other := taken.setdefault(same_name(name), name)) != name:
                raise ToolConfigError(name, f"it could be taken for the tool {other!a}; rename one")
            if name in self._tools:
                raise ToolConfigError(name, "two tools have this name; rename one")
            self._tools[name] = bound
        self.specs: Mapping[str, ToolSpec] = Catalog(
            {name: bound.spec for name, bound in self._tools.items()}, absent_tools()
        )
        self._warned: set[str] = set()

    def warn_of_undeclared(self, granted: Iterable[str]) -> None:
        """Warn, once per tool, if a model is granted a tool without declared effects."""
        new = sorted({name for name in granted if is_undeclared(self.specs[name])} - self._warned)
        self._warned.update(new)
        for name in new:
            LOGGER.warning("tool %s: %s", name, UNDECLARED, extra={"tool": name})

    @cached_property
    def faces(self) -> Mapping[str, Mapping[str, Any]]:
        """The specifications of the tools by name, as the ledger keeps them."""
        return {name: normalise(_recorded(spec)) for name, spec in self.specs.items()}  # type: ignore[misc]

    @cached_property
    def kept(self) -> Kept:
        """The specifications of the tools, to store once."""
        return keep_constant([dict(face) for face in self.faces.values()])

    def only(self, names: Container[str]) -> "Toolbox":
        """Return the toolbox with no other tools than these, itself if it has none."""
        if all(name in names for name in self._tools):
            return self
        return Toolbox(bound for name, bound in self._tools.items() if name in names)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that tools declare."""
        return tuple(dict.fromkeys(spec.folder for spec in self.specs.values() if spec.folder))

    async def would_replace(self, plan: Plan) -> list[str]:
        """Return sentences on the files that calls of a plan would replace, for tools that can preview it."""
        steps = {step.id: step for step in plan.steps if step.tool in self and step.for_each is None}
        foreseeing = {name: self[str(step.tool)] for name, step in steps.items() if self[str(step.tool)].foresees}
        if not foreseeing:
            return []
        sentences = await run_sync(
            lambda: {name: foreseeing[name].foreseen(_known(steps[name])) for name in foreseeing}
        )
        return [f"{name}: {sentence}" for name, sentence in sentences.items() if sentence]

    def preview_on_record(self, key: str) -> CallPreview | None:  # noqa: ARG002  (a replay has some)
        """Return the preview of a call that is due, as a record has it."""
        return None

    @property
    def previews_on_record(self) -> tuple[CallPreview, ...]:
        """The previews of a plan that a person proposed, as a record has them."""
        return ()

    def file(self, path: str) -> str | None:
        """Describe the regular file at a path in the tools' folders, None if absent; links out are not followed."""
        for folder in self.folders:
            root = Root(Path(folder), folder)
            try:
                with root.place(path) as place:
                    found = place.look()
            except (NothingHappened, OSError):
                continue
            if found is not None and stat.S_ISREG(found.st_mode):
                return counted(found.st_size, "byte")
        return None

    def __getitem__(self, name: str) -> BoundTool:
        return self._tools[name]

    def __iter__(self) -> Any:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def _known(step: Step) -> dict[str, JsonValue]:
    """Return a step's arguments, with None in place of those with a reference."""
    return {**dict.fromkeys(step.args), **step.fixed_args()}


def _recorded(spec: ToolSpec) -> dict[str, Any]:
    """Return a specification for the ledger; newer fields are left out if they are unset."""
    unset = {name for name in NEWER if getattr(spec, name) in (None, ())} | ({"look"} if not spec.look else set())
    return {each.name: getattr(spec, each.name) for each in fields(spec) if each.name not in unset}
