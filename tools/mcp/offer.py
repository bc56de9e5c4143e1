"""A tool of a server, with the rules of the configuration applied."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from planner_executor.tools.declaration import Effect, declare
from planner_executor.tools.mcp.config import CALL_TIMEOUT_S, HttpServer, StdioServer
from planner_executor.tools.mcp.hints import effect_of

if TYPE_CHECKING:
    from mcp.types import Tool

DESCRIPTION_CHARACTERS = 2_000


@dataclass(frozen=True)
class Offer:
    """A tool as plans use it; `tool` is the server's name for it. One that runs `as_task_only` cannot be called."""

    tool: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect
    idempotent: bool
    timeout_s: float
    trusted: bool
    free_args: tuple[str, ...]
    place: str
    as_task_only: bool = False
    attempts: int | None = None
    backoff_s: float | None = None

    @classmethod
    def of(cls, tool: "Tool", server: StdioServer | HttpServer) -> "Offer | None":
        """Return a tool of a server, or None if the configuration excludes it.

        Rules take precedence over hints. A tool of a server on another machine is external whatever the hints are:
        its arguments leave this machine.
        """
        rules = server.rules_for(tool.name)
        if rules.disabled:
            return None
        hints = tool.annotations.model_dump(by_alias=True) if tool.annotations else {}
        hinted, repeatable = effect_of(hints)
        if rules.effect == "write":  # then it does not only read, whatever the hints say
            repeatable = hints.get("idempotentHint") is True
        return cls(
            tool=tool.name,
            description=(tool.description or tool.title or tool.name)[:DESCRIPTION_CHARACTERS],
            schema={"properties": {}, **tool.input_schema},  # which LangChain looks for
            effect=rules.effect or (hinted if server.is_here else "external"),
            idempotent=repeatable if rules.idempotent is None else rules.idempotent,
            timeout_s=rules.timeout_s or CALL_TIMEOUT_S,
            trusted=rules.trusted is True,
            free_args=rules.free_args or (),
            place=server.place,
            as_task_only=tool.execution is not None and tool.execution.task_support == "required",
            attempts=rules.attempts,
            backoff_s=rules.backoff_s,
        )

    @cached_property
    def face(self) -> str:
        """The part of the tool that an approval covers: schema and effect."""
        return json.dumps([self.schema, self.effect, self.idempotent], sort_keys=True)

    @property
    def metadata(self) -> dict[str, Any]:
        """The tool's `metadata`; an approval covers the server's place as it covers a tool's folder."""
        declared = declare(
            self.effect,
            idempotent=self.idempotent,
            timeout_s=self.timeout_s,
            trusted=self.trusted,
            free_args=self.free_args,
            attempts=self.attempts,
            backoff_s=self.backoff_s,
        )
        return {**declared, "place": self.place}
