"""A tool as a server offers it, with what the user says of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tools.declaration import Effect, declare
from tools.mcp.config import CALL_TIMEOUT_S, HttpServer, StdioServer
from tools.mcp.hints import effect_of

if TYPE_CHECKING:
    from mcp.types import Tool

DESCRIPTION_CHARACTERS = 2_000


@dataclass(frozen=True)
class Offer:
    """What plans may know of a tool; `tool` is the server's own name for it."""

    tool: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect
    idempotent: bool
    timeout_s: float
    trusted: bool
    free_args: tuple[str, ...]
    place: str

    @classmethod
    def of(cls, tool: "Tool", server: StdioServer | HttpServer) -> "Offer | None":
        """Return a tool of a server, or None where the user does not want it.

        What the user says goes before the hints. A tool of a server on another machine is external: what it is given
        leaves this machine, whatever the hints say.
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
        )

    @cached_property
    def face(self) -> str:
        """What an approval covers of the tool: schema and effect."""
        return json.dumps([self.schema, self.effect, self.idempotent], sort_keys=True)

    @property
    def metadata(self) -> dict[str, Any]:
        """What the tool declares of itself; an approval covers the place it works at, as it does a tool's folder."""
        declared = declare(
            self.effect,
            idempotent=self.idempotent,
            timeout_s=self.timeout_s,
            trusted=self.trusted,
            free_args=self.free_args,
        )
        return {**declared, "place": self.place}
