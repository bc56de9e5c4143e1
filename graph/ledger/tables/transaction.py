"""What the tables need of a driver: transactions, and the database that runs them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from planner_executor.graph.ledger.chain import Row
from planner_executor.graph.ledger.tables.reader import Reader
from planner_executor.graph.record.sample import Sample, Samples

Result = TypeVar("Result")

PATIENCE = "SET LOCAL idle_in_transaction_session_timeout = '5min'"
"""For work that computes for long between two statements, for `Transaction.on_server`."""


class Transaction(Reader, Protocol):
    """A transaction that is open; statements are written as `graph.ledger.tables.dialect` has them."""

    def tell(self, statement: str, *values: Any) -> int | None:
        """Execute a statement, at the latest with the commit; return how many rows it changed if that is known now."""

    def tell_rows(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for many rows, or not at all for none; its `{}` stands for their values."""

    def script(self, statements: str) -> None:
        """Execute several statements, each with a semicolon behind it."""

    def on_server(self, statement: str, *values: Any) -> None:
        """Execute a statement that takes a lock or time, before the next one; a file has one writer and needs none."""

    def many(self, values: Iterable[object]) -> object:
        """Return several values as one, to compare with `AMONG`."""

    def now(self) -> float:
        """Return the time of the database's clock, in Unix seconds."""

    def stored_payload(self, kind: str, text: str) -> object:
        """Return the payload of an event as the database stores it."""

    def read_rows(self, found: Iterable[Sequence[Any]]) -> Iterator[Row]:
        """Yield stored rows of events as they were written."""

    def share(self, run_id: int) -> tuple[int, ...]:
        """Return the share of a count that a run adds to: on a server, runs that end at once add to different rows."""

    def add_samples(self, run_id: int, samples: Samples) -> None:
        """Add what the steps of a run took that has ended."""

    def samples(self, likenesses: Sequence[str]) -> dict[str, list[Sample]]:
        """Return what steps of these likenesses took, the latest first; those without any are left out."""

    def wrote(self, run_id: int) -> None:
        """Take note that events of a run are written."""


class Database(Protocol):
    """A database that others use too; errors of it are raised as errors of the ledger."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    async def look(self, do: Callable[[Transaction], Result], thread: str | None = None) -> Result:
        """Run a read-only function in a transaction, which sees one moment."""

    async def do(
        self, do: Callable[[Transaction], Result], thread: str | None = None, *, full: bool = False, writes: bool = True
    ) -> Result:
        """Run a function in an atomic transaction and return its result; `full` waits for the disk.

        Work on a thread of runs is done in the order of the calls.
        """

    async def do_behind_all(self, do: Callable[[Transaction], object]) -> None:
        """Run a function in a transaction behind all the work that was begun before, on whatever thread."""

    async def close(self) -> None:
        """Let go of the database; a later call opens it again."""
