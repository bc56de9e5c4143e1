"""The configuration of MCP servers: the usual `mcpServers` form, with settings for their tools."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner_executor.tools.declaration import Effect
from planner_executor.tools.errors import ConfigInvalid
from planner_executor.tools.mcp.variables import fill, hide

CALL_TIMEOUT_S = 60.0
OF_OTHER_PROGRAMS = {"alwaysAllow", "autoApprove", "description"}
"""Keys that other programs keep in such files; nothing here is ever approved by a server's entry."""

STREAMABLE_HTTP = ("http", "streamable-http", "streamable_http", "streamableHttp")


class Rules(BaseModel):
    """Settings for a tool; they take precedence over the server's hints. None: not set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    disabled: bool = False
    effect: Effect | None = None
    idempotent: bool | None = None
    trusted: bool | None = None
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    attempts: int | None = Field(default=None, ge=1, strict=True)
    backoff_s: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    free_args: tuple[str, ...] | None = None

    def refined(self, rules: "Rules | None") -> "Rules":
        """Return these rules, overridden by others."""
        said = rules.model_dump(exclude_none=True, exclude_unset=True) if rules is not None else {}
        own = {name: getattr(self, name) for name in Rules.model_fields}
        return Rules.model_construct(**{**own, **said})


class Server(Rules):
    """A server by its name, with rules for all of its tools, and in `tools` for single ones by their own names.

    `secrets` are values that must not get into results, errors and logs.
    """

    name: str = Field(min_length=1)
    tools: dict[str, Rules] = Field(default_factory=dict)
    secrets: frozenset[str] = Field(default=frozenset(), repr=False)

    def rules_for(self, tool: str) -> Rules:
        """Return the rules for one of the server's tools."""
        return self.refined(self.tools.get(tool))

    @property
    def place(self) -> str:
        """A digest of command, arguments, variables and address, secrets aside."""
        own = self.model_dump(mode="json", include={"command", "args", "env", "cwd", "url", "headers"})
        return hashlib.sha256(json.dumps(self.hide(own), sort_keys=True).encode()).hexdigest()

    def hide(self, value: Any) -> Any:
        """Return JSON without the server's secrets."""
        return hide(value, self.secrets)


class StdioServer(Server):
    """A program that is started, and talks over its standard input and output."""

    command: str = Field(min_length=1)
    args: tuple[str, ...] = Field(default=(), repr=False)
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: Path

    @property
    def places(self) -> list[Path]:
        """The folder that it is started in, and the files that its command and arguments name."""
        named = (self.cwd / word for word in (self.command, *self.args))
        return [self.cwd, *(file for file in named if _is_file(file))]

    @property
    def is_here(self) -> bool:
        """Whether it works on this machine."""
        return True


class HttpServer(Server):
    """A server that is reached by streamable HTTP."""

    url: str = Field(pattern=r"^https?://", repr=False)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)

    @property
    def is_here(self) -> bool:
        """Whether it works on this machine."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


def read_config(file: Path) -> list[StdioServer | HttpServer]:
    """Return the servers that a file lists, without those that are disabled.

    Raises:
        ConfigInvalid: The file cannot be read, or an entry is invalid.
    """
    source = f"MCP servers in {file}"
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigInvalid(source, f"cannot be read: {error.strerror}; name a file that can be read") from error
    except UnicodeDecodeError as error:
        raise ConfigInvalid(
            source, f"cannot be read: byte {error.start} is not UTF-8 text; save it as UTF-8"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigInvalid(source, f"is not JSON ({error})") from error
    if not isinstance(document, dict) or not isinstance(document.get("mcpServers"), dict):
        raise ConfigInvalid(source, 'has no object "mcpServers"')
    return servers_of(document["mcpServers"], source, file.absolute().parent)


def servers_of(entries: Mapping[str, Any], source: str, folder: Path) -> list[StdioServer | HttpServer]:
    """Return the servers of an `mcpServers` object.

    Args:
        entries: Server name -> its entry.
        source: The name of the object in errors.
        folder: The base of a relative `cwd`, and the `cwd` of a server that names none.

    Raises:
        ConfigInvalid: An entry is invalid, or needs environment variables that are not set; all are named.
    """
    filled = {name: fill(entry, os.environ) for name, entry in entries.items() if not _is_off(entry)}
    missing = {name: sorted(entry.missing) for name, entry in filled.items() if entry.missing}
    if missing:
        needs = "; ".join(f"server {name!r} needs {', '.join(variables)}" for name, variables in missing.items())
        raise ConfigInvalid(source, f"{needs}: set what is missing in the environment, or write ${{NAME:-default}}")
    return [_server(name, entry.value, entry.secrets, source, folder) for name, entry in filled.items()]


def _is_off(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("disabled") is True


def _server(name: str, entry: Any, secrets: frozenset[str], source: str, folder: Path) -> StdioServer | HttpServer:
    if not isinstance(entry, Mapping):
        raise ConfigInvalid(source, f"server {name!r} is not an object")
    given = {key: value for key, value in entry.items() if key not in OF_OTHER_PROGRAMS}
    kind = _kind(name, given, source)
    if kind is StdioServer:
        given["cwd"] = folder / str(given.get("cwd") or "")
    try:
        return kind.model_validate({**given, "name": name, "secrets": secrets})
    except ValidationError as error:
        # Without its cause, whose text contains the values.
        raise ConfigInvalid(source, hide(f"server {name!r}: {_words(error)}", secrets)) from None


def _kind(name: str, entry: dict[str, Any], source: str) -> type[StdioServer] | type[HttpServer]:
    """Return the kind of server of an entry; removes its redundant `type`."""
    declared = entry.pop("type", None) or entry.pop("transport", None)
    if ("command" in entry) == ("url" in entry):
        raise ConfigInvalid(source, f"server {name!r} needs either a command to start or a url to reach it by")
    kind, types = (HttpServer, STREAMABLE_HTTP) if "url" in entry else (StdioServer, ("stdio",))
    if declared is not None and declared not in types:
        raise ConfigInvalid(source, f"server {name!r} is of type {declared!r}; it can be {' or '.join(types)}")
    return kind


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # no path at all, such as a text of JSON
        return False


def _words(error: ValidationError) -> str:
    """Return the faults by field, without the values."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}" for fault in error.errors(include_input=False)
    )
