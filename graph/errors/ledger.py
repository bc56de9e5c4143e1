"""Errors of the records: nothing executes that cannot be recorded."""

from planner_executor.graph.errors.root import AgentError


class LedgerError(AgentError):
    """The records cannot be written or read; nothing executes unrecorded."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(f"ledger {database}: {why}")


class LedgerUnavailableError(LedgerError):
    """The database cannot be opened, read or written now; the run can be resumed later."""


class MissingRunError(LedgerError):
    """The ledger has no such run; if it was listed before, somebody has removed it since."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} is not in the ledger; `planner-executor runs` lists what is")


class LedgerCorruptError(LedgerError):
    """A recorded event differs from the event written."""

    def __init__(self, database: str, run: str, seq: int, why: str) -> None:
        self.run = run
        self.seq = seq
        super().__init__(database, f"event {seq} of run {run} {why}; restore the file from a backup")


class UnknownEventError(LedgerError):
    """This release does not know the kind of an event, or the version of its kind."""

    def __init__(self, seq: int, what: str) -> None:
        self.seq = seq
        self.database = ""
        AgentError.__init__(
            self, f"event {seq} {what}, which this release does not know; go on with the release that wrote the run"
        )


class LedgerSealError(LedgerError):
    """The run cannot be continued with this key, or without a key."""

    def __init__(self, database: str, run: str, why: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} {why}")


class ExportError(LedgerError):
    """An exported run cannot be read: a line of the file was changed."""

    def __init__(self, file: str, line: int, why: str) -> None:
        self.line = line
        super().__init__(file, f"line {line} {why}")


class StaleRunError(LedgerError):
    """Another decision or plan was recorded first; read the run again."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} was changed by someone else; look at it again before going on")


class StandingSpentError(StaleRunError):
    """A standing approval let a call through that is spent, revoked or past its time; nothing was written."""


class CallElsewhereError(StaleRunError):
    """Another run of the family, `other`, has begun the same call meanwhile; nothing was written."""

    def __init__(self, database: str, run: str, other: str) -> None:
        self.other = other
        super().__init__(database, run)


class MessageWaitingError(StaleRunError):
    """A message waits in the inbox of the run; nothing new starts before it is read."""


class CapReachedError(LedgerError):
    """A cap across runs allows a call only later, in `wait_s` seconds; nothing was written.

    `cap` is its name, such as `calls.send_mail`, and `words` says what it allows. `is_rate`: it is a rate, not a limit
    of a day.
    """

    def __init__(self, database: str, cap: str, words: str, wait_s: float, *, is_rate: bool = False) -> None:
        self.cap, self.words, self.wait_s, self.is_rate = cap, words, wait_s, is_rate
        super().__init__(database, f"{words}: this is used up; the next call is possible in {wait_s:.0f} s")


class RunOwnedError(LedgerError):
    """Another process, or another thread, executes the run."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} is being worked on elsewhere; pause it there, or wait until it is done")


class LeaseLostError(LedgerError):
    """Another owner took the run over because the lease had expired; nothing more was written."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} was taken over by somebody else; look at it again")
