"""`planner-executor serve`: the review desk, in a browser."""

import asyncio
import errno
import logging
import socket
import time
from typing import TYPE_CHECKING, Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.cli.serve_options import DeskOptions
from planner_executor.graph.errors import ConfigError, InputError

if TYPE_CHECKING:
    from planner_executor.graph.desk.settings import DeskSettings

PACKAGES = "the review desk needs packages: pip install '.[desk]' in the folder of planner-executor"
LOOPBACK = frozenset({"127.0.0.1", "::1"})
STOPS_S = 3
"""How long open pages keep the server from stopping."""


@on_screen
@with_option_groups
def serve(
    screen: Screen,
    *,
    given: RunOptions,
    desk: DeskOptions,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="Port; 0 picks a free one.")
    ] = 8765,
    db: options.Database = options.DATABASE,
) -> None:
    """Serve the review desk: see the runs of a database in a browser, and decide on them.

    The printed link opens one session. A run is carried on with the folders and models that it recorded, unless options
    override them. The desk is for this machine alone; for others, name a provider that signs people in, or put a proxy
    in front that does.
    """
    try:
        import uvicorn

        from planner_executor.graph.cli.desk_agents import DeskAgents
        from planner_executor.graph.cli.desk_policy import desk_policy
        from planner_executor.graph.desk.application import desk_application
        from planner_executor.graph.playbooks.folder import folder_of
        from planner_executor.graph.settings.settings_file import settings_file

        settings = desk.settings(given.config)
    except ImportError:
        raise ConfigError(PACKAGES) from None
    # Bound before the link is printed: a port that is taken is a fault of the command.
    listeners = listening(desk.address, port)
    port = listeners[0].getsockname()[1]
    address = origin(desk.address, port)

    def announce(token: str, _: int | None = None) -> None:
        if desk.address not in LOOPBACK:
            screen.say("open", whole=f"{address}/login?token={token}")
            return
        screen.say("open", whole=f"http://{settings.own_host.name}:{port}/login?token={token}")
        screen.say("or, if your browser does not find that,", whole=f"{address}/login?token={token}")

    agents = None if desk.read_only else DeskAgents(screen, db, given)
    app = desk_application(
        db,
        agents=agents,
        settings=settings,
        policy=desk_policy(given),
        announce=announce,
        playbooks=lambda: folder_of(settings_file(given.config)),
    )
    if settings.links:
        announce(app.state.desk.door.links.issue())
    else:
        screen.say(f"serving the review desk at {address}; {signs_in(settings)}")
    if desk.access_log:
        log_access()
    # the address of the connection tells who the proxy is: no header may replace it
    config = uvicorn.Config(
        app,
        log_level="error",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        timeout_graceful_shutdown=STOPS_S,
    )
    asyncio.run(uvicorn.Server(config).serve(listeners))


def log_access() -> None:
    """Write to standard error who looked at what, and when, in UTC."""
    handler, log = logging.StreamHandler(), logging.getLogger("planner_executor.desk.access")
    form = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    form.converter = time.gmtime
    handler.setFormatter(form)
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def origin(address: str, port: int) -> str:
    """Return the beginning of a link to an address.

    >>> origin("127.0.0.1", 80), origin("::1", 80)
    ('http://127.0.0.1:80', 'http://[::1]:80')
    """
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def signs_in(settings: "DeskSettings") -> str:
    """Return how people sign in, in words."""
    return f"people sign in at {settings.oidc.issuer}" if settings.oidc is not None else "a proxy signs people in"


def listening(address: str, port: int) -> list[socket.socket]:
    """Return sockets that are bound to an address; to both loopback addresses if it is one of them.

    Browsers may look for a name of this machine at either: nobody else may listen at the other one.

    Raises:
        InputError: The port cannot be had.
    """
    found = [_bound(address, port)]
    if address in LOOPBACK:
        (other,) = LOOPBACK - {address}
        try:
            found.append(_bound(other, found[0].getsockname()[1]))
        except InputError:
            found[0].close()
            raise
        except OSError:  # this machine has one of them alone
            return found
    return found


def _bound(address: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address.

    Raises:
        InputError: The port cannot be had.
        OSError: There is no such address here.
    """
    found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    # A desk that is started again need not wait until the connections of the last one have timed out.
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((address, port))
    except OSError as error:
        found.close()
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT) and address in LOOPBACK:
            raise
        why = f"{address}:{port} cannot be had ({error.strerror}); name another, or 0 for any"
        raise InputError("--port", why) from None
    return found
