"""Options of `serve`: who reaches the desk, and who decides."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.serving.hosts import is_loopback_address, parse_hosts

if TYPE_CHECKING:
    from planner_executor.graph.desk.settings import DeskSettings


@dataclass(frozen=True)
class DeskOptions:
    """Who reaches a desk, and who decides there."""

    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="ADDRESS",
            help="Address to listen on. Another than this machine's needs a way to sign in.",
        ),
    ] = "127.0.0.1"
    host_name: Annotated[
        list[str] | None,
        typer.Option("--host-name", metavar="NAME", help="A name under which the desk is reached; may be repeated."),
    ] = None
    user_header: Annotated[
        str | None, typer.Option("--user-header", metavar="NAME", help="The header in which a proxy names the user.")
    ] = None
    proxy: Annotated[
        list[str] | None,
        typer.Option("--proxy", metavar="ADDRESS", help="Address or network of that proxy; may be repeated."),
    ] = None
    reviewer: Annotated[
        list[str] | None,
        typer.Option(
            "--reviewer", metavar="USER", help="A user who decides; then all others only look. May be repeated."
        ),
    ] = None
    read_only: Annotated[bool, typer.Option("--read-only", help="Show runs, decide nothing.")] = False
    access_log: Annotated[bool, typer.Option("--access-log", help="Write to standard error who looked at what.")] = (
        False
    )

    def settings(self, config: Path | None) -> "DeskSettings":
        """Return the settings of the desk, by these options and by `[desk]` in the settings file.

        Raises:
            ConfigError: An option is invalid, or others could reach the desk without signing in.
        """
        from planner_executor.graph.desk.desk_table import with_table
        from planner_executor.graph.desk.security.people import People, Permissions
        from planner_executor.graph.desk.settings import DeskSettings, secret_from_environment

        hosts = parse_hosts(" ".join(self.host_name or []), "--host-name")
        base = DeskSettings(hosts, secret_from_environment(), read_only=self.read_only)
        if self.user_header is None and (self.proxy or self.reviewer):
            raise ConfigError("--proxy and --reviewer need --user-header")
        if self.reviewer:
            base = replace(base, permissions=Permissions(People.of(self.reviewer)))
        settings = with_table(base, config)
        if self.user_header is not None:
            settings = self._behind_proxy(settings, self.user_header)
        # A printed link opens a session for whoever has it, and others on the network would see it pass.
        if settings.links and not is_loopback_address(self.address):
            raise ConfigError(
                f"--address {self.address} lets others in; name the header of a proxy with --user-header, "
                "or a provider with [desk.oidc] in the settings file"
            )
        return settings

    def _behind_proxy(self, settings: "DeskSettings", header: str) -> "DeskSettings":
        from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies

        if not settings.links:
            raise ConfigError("--user-header and [desk] in the settings file both say how people sign in; keep one")
        proxies = trusted_proxies(self.proxy or [], "--proxy")
        identity = proxy_identity(header, proxies, "--proxy")
        return replace(settings, identity=identity, proxies=proxies, links=False, secure=True)
