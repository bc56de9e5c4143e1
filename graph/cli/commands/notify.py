"""`planner-executor notify`: send a test notice to an address of the settings file."""

import asyncio
import time
from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import ConfigError, InputError
from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.words.name_list import there_are


@on_screen
def notify(
    screen: Screen,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the address, as [notify.addresses] has it.")],
    config: options.ConfigFile = None,
) -> None:
    """Send a test notice to an address, to see that it arrives."""
    from planner_executor.graph.notices.addresses import addresses_of
    from planner_executor.graph.notices.posting import deliver

    addresses = addresses_of(config)
    if addresses is None:
        raise ConfigError("the settings file has no table [notify]; see docs/notices.md")
    if name not in addresses.by_name:
        raise InputError("NAME", f"there is no address {name!r}; {there_are(sorted(addresses.by_name))}")
    test = Delivery(RunKey("test", 1), "ended", time.time(), "succeeded", (), name)
    asyncio.run(deliver(addresses.by_name[name], addresses, test))
    screen.say(f"{name} took a test notice")
