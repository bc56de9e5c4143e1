"""Regular work on a ledger, beside its runs: what is due for a clock, and notices. Every worker does all of it.

Several workers may do the same chore at a time, so its changes have to be checked in the transaction that makes them.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner_executor.graph.notices.addresses import Addresses, addresses_of
from planner_executor.graph.notices.posting import tell
from planner_executor.graph.playbooks.schedule import SCHEDULES
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.work.due import Begin, DueWork, look_after_reviews

NOTICES_EVERY_S = 5.0
DUE_EVERY_S = 5.0


@dataclass(frozen=True)
class Chore:
    """Work that is done every `every_s` seconds; `do` returns a sentence for each change.

    It may take long, as for a receiver that does not answer: the worker goes on with its runs meanwhile.
    """

    name: str
    every_s: float
    do: Callable[[Runs], Coroutine[Any, Any, Sequence[str]]]


def notices_chore(addresses: Addresses) -> Chore:
    """Return the chore that sends notices, also those of processes that died before they could."""

    async def send(runs: Runs) -> Sequence[str]:
        sentences: list[str] = []
        await tell(runs.ledger, addresses, sentences.append)
        return sentences

    return Chore("notices", NOTICES_EVERY_S, send)


def chores_of(config: str | Path | None = None, begin: Begin | None = None) -> tuple[Chore, ...]:
    """Return the chores of a worker under a settings file; `begin` begins the runs of its schedules.

    Raises:
        ConfigError: The file is invalid, or is not trusted with what it asks for.
    """
    settings, addresses = settings_file(config), addresses_of(config)
    due = DueWork(settings, SCHEDULES.value_in(settings) or (), begin)
    return (Chore("due", DUE_EVERY_S, due), *(() if addresses is None else (notices_chore(addresses),)))


CHORES: tuple[Chore, ...] = (Chore("due", DUE_EVERY_S, look_after_reviews),)
