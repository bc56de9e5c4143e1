"""Options of `serve`: who reaches the desk, and who decides."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import ConfigError
from graph.serving.hosts import is_loopback_address, parse_hosts

if TYPE_CHECKING:
    from graph.desk.settings import DeskSettings

Address = Annotated[
    str,
    typer.Option(
        "--address", metavar="ADDRESS", help="Address to listen on. Another than this machine's needs --user-header."
    ),
]
HostNames = Annotated[
    list[str] | None,
    typer.Option("--host-name", metavar="NAME", help="A name under which the desk is reached; may be repeated."),
]
UserHeader = Annotated[
    str | None, typer.Option("--user-header", metavar="NAME", help="The header in which a proxy names the user.")
]
Proxies = Annotated[
    list[str] | None,
    typer.Option("--proxy", metavar="ADDRESS", help="Address or network of that proxy; may be repeated."),
]
Reviewers = Annotated[
    list[str] | None,
    typer.Option("--reviewer", metavar="USER", help="A user who decides; then all others only look. May be repeated."),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Show runs, decide nothing.")]
AccessLog = Annotated[bool, typer.Option("--access-log", help="Write to standard error who looked at what.")]


@dataclass(frozen=True)
class DeskOptions:
    """Who reaches a desk, and who decides there."""

    address: Address = "127.0.0.1"
    host_name: HostNames = None
    user_header: UserHeader = None
    proxy: Proxies = None
    reviewer: Reviewers = None
    read_only: ReadOnly = False
    access_log: AccessLog = False

    def settings(self) -> "DeskSettings":
        """Return the settings of the desk.

        Raises:
            ConfigError: An option is invalid, or others could reach the desk without signing in.
        """
        from graph.desk.security.identity import proxy_identity
        from graph.desk.settings import DeskSettings, secret_from_environment

        if self.user_header is None and not is_loopback_address(self.address):
            raise ConfigError(f"--address {self.address} lets others in; name the header of a proxy with --user-header")
        if self.user_header is None and (self.proxy or self.reviewer):
            raise ConfigError("--proxy and --reviewer need --user-header")
        proxy = None
        if self.user_header is not None:
            proxy = proxy_identity(self.user_header, self.proxy or [], self.reviewer or [])
        hosts = parse_hosts(" ".join(self.host_name or []), "--host-name")
        return DeskSettings(hosts, secret_from_environment(), proxy, self.read_only, secure=proxy is not None)
