"""Regular work on a ledger, beside its runs: reminders, expired requests, notices. Every worker does all of it.

Several workers may do the same chore at a time, so its changes have to be checked in the transaction that makes them.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner_executor.graph.errors import AgentError, LedgerUnavailableError
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.nodes.run.review_clock import sentence_of, settle
from planner_executor.graph.notices.addresses import Addresses, addresses_of
from planner_executor.graph.notices.posting import tell
from planner_executor.graph.runs import Runs

NOTICES_EVERY_S = 5.0
REVIEWS_EVERY_S = 5.0
PAGE = 50


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


async def look_after_reviews(runs: Runs) -> Sequence[str]:
    """Remind of open requests, escalate them, and close those that nobody decided in time."""
    done: list[str] = []
    left = 0  # rows that could not be settled now stay due: the next page begins after them
    while due := await runs.ledger.due(PAGE, left):
        for run in due:
            sentences = await _settled(runs, run)
            done += sentences
            left += not sentences
    return done


async def _settled(runs: Runs, run: RunKey) -> list[str]:
    """Write what is due for a run, and return a sentence for each event; none if the run cannot be written now."""
    try:
        written = await settle(runs.ledger, run)
    except LedgerUnavailableError:
        raise
    except AgentError:  # a damaged record must not stop the others; `doctor` and `verify` report it
        return []
    return [sentence for data in written if (sentence := sentence_of(run, data)) is not None]


def chores_of(config: str | Path | None = None) -> tuple[Chore, ...]:
    """Return the chores of a worker under a settings file.

    Raises:
        ConfigError: The file is invalid, or is not trusted with what it asks for.
    """
    addresses = addresses_of(config)
    return CHORES if addresses is None else (*CHORES, notices_chore(addresses))


CHORES: tuple[Chore, ...] = (Chore("reviews", REVIEWS_EVERY_S, look_after_reviews),)
