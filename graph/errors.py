"""Every error this package raises on purpose.

AgentError
├── ConfigError                 the configuration is invalid
│   ├── ModelConfigError        .model
│   │   ├── MissingPackageError     the provider's package is not installed
│   │   ├── ModelKeyError           the key is missing, or the server refuses it
│   │   ├── UnknownModelError       the server has no such model
│   │   └── UnreachableModelError   no server answers at the address
│   ├── ToolConfigError         .tool
│   ├── PolicyError             .line
│   ├── SuiteError              .suite
│   ├── ResultsError            .results
│   ├── LedgerKeyError          the key that seals runs cannot be used
│   └── ShadowedPackageError    .path
├── AgentClosedError            an agent is used after it was closed   .database
├── ModelCallError              every chat model of a role failed   .model, .attempts
├── SignInError                 a visitor of the review desk could not be signed in
├── NoticeError                 a notice was not delivered; it is tried again
├── RunPausedError              the run is paused, and can be resumed   .run, .due_at
├── InputError                  the input of a run is invalid   .field
│   ├── UnknownRunError         .run
│   │   └── PrunedRunError          its thread was removed   .run, .by, .at
│   ├── MissingToolsError       .run, .tools
│   └── NothingToDecideError    .run
├── UnresolvedReferenceError    a reference has no value   .reference
├── ExpressionError             an expression over a result is invalid, has no value, or takes too long
├── ResultError                 a tool's result cannot be stored as JSON   .path
└── LedgerError                 the records cannot be written or read   .database
    ├── LedgerUnavailableError
    ├── LedgerCorruptError      .run, .seq
    ├── UnknownEventError       a newer release wrote an event   .seq
    ├── CapReachedError         a cap across runs allows the call only later   .cap, .words, .wait_s
    ├── StaleRunError           another decision came first   .run
    │   ├── StandingSpentError  a standing approval covers no further call   .run
    │   └── MessageWaitingError a message waits in the inbox of the run   .run
    ├── LedgerSealError         the run is sealed with another key, or not at all   .run
    ├── ExportError             an exported file has been changed   .line
    ├── RunOwnedError           another owner executes the run   .run
    └── LeaseLostError          another owner has taken the run over   .run

`ConfigError`, `InputError` and `RunPausedError` are `ValueError`s too: the LangGraph server passes the text of a
`ValueError` on to its client, and answers with "An internal error occurred" for any other error.

Refused plans, failed steps and unusable answers of models are data, not errors.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any


class AgentError(Exception):
    """Base class of all deliberate errors of the agent."""


class ConfigError(AgentError, ValueError):
    """The configuration is invalid; nothing has been started."""


class ModelConfigError(ConfigError):
    """The configuration of a role's chat model is invalid."""

    def __init__(self, model: str, why: str) -> None:
        self.model = model
        super().__init__(f"model {model!r}: {why}")


class MissingPackageError(ModelConfigError):
    """The LangChain package of the model's provider is not installed."""


class ModelKeyError(ModelConfigError):
    """The key for the model's server is missing, or the server refuses it."""


class UnknownModelError(ModelConfigError):
    """The server has no model of that name."""


class UnreachableModelError(ModelConfigError):
    """The server of the model cannot be reached."""


class ToolConfigError(ConfigError):
    """A tool cannot be offered to planners."""

    def __init__(self, tool: str, why: str) -> None:
        self.tool = tool
        super().__init__(f"tool {tool!r}: {why}")


class PolicyError(ConfigError):
    """A policy cannot be read, or is invalid; nothing starts under it. `line` is set for a fault in a file."""

    def __init__(self, policy: str, why: str, line: int | None = None) -> None:
        self.line = line
        where = f"{policy}, line {line}" if line else policy
        super().__init__(f"{where}: {why}")


class SuiteError(ConfigError):
    """A suite of cases cannot be read, or is invalid; none of its cases is run."""

    def __init__(self, suite: str, why: str) -> None:
        self.suite = suite
        super().__init__(f"{suite}: {why}")


class ResultsError(ConfigError):
    """An evaluation cannot continue from these results, which are left unchanged."""

    def __init__(self, results: str, why: str) -> None:
        self.results = results
        super().__init__(f"{results}: {why}")


class LedgerKeyError(ConfigError):
    """The key that seals runs cannot be used; nothing is written without it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"ledger key: {why}")


class ShadowedPackageError(ConfigError):
    """A file of the user hides one of the packages."""

    def __init__(self, package: str, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} hides the package {package!r} of planner-executor; rename that file or run from another folder"
        )


class InputError(AgentError, ValueError):
    """The input of a run is invalid."""

    def __init__(self, field: str, why: str) -> None:
        self.field = field
        super().__init__(f"{field}: {why}")


class UnknownRunError(InputError):
    """The ledger has no run of that name."""

    def __init__(self, run: str, database: str) -> None:
        self.run = run
        super().__init__("run", f"no run {run!r} in {database}; `planner-executor runs` lists them")


class PrunedRunError(UnknownRunError):
    """The run was removed with its thread; `at` is in Unix seconds."""

    def __init__(self, run: str, by: str, at: float) -> None:
        self.run, self.by, self.at = run, by, at
        day = datetime.fromtimestamp(at, UTC).date().isoformat()
        why = f"{run} was pruned on {day} by {by}; only an export made before has its record"
        InputError.__init__(self, "run", why)


class MissingToolsError(InputError):
    """Tools of a run's plan are not available; the run is unchanged."""

    def __init__(self, run: str, tools: Sequence[str], extras: Mapping[str, str] | None = None) -> None:
        """Create the error; `extras` are tools that only lack an extra: name -> what it needs."""
        self.run, self.tools = run, tuple(tools)
        uninstalled = [f"{name} is not installed; {(extras or {})[name]}" for name in tools if name in (extras or {})]
        others = [name for name in tools if name not in (extras or {})]
        which = listed(others) if uninstalled else "them"
        given = [f"name {which} with --tools, in Python with tools=[...]"] if others else []
        super().__init__("run", f"{run} needs {listed(self.tools)}: {'; '.join((*uninstalled, *given))}")


class NothingToDecideError(InputError):
    """The run does not wait for a decision."""

    def __init__(self, run: str, status: str, decided: str = "") -> None:
        self.run = run
        why = f"waits for no decision: {decided}" if decided else f"is {status} and waits for no decision"
        super().__init__("decision", f"run {run} {why}")


class UnresolvedReferenceError(AgentError):
    """A reference has no value in the results; its step fails."""

    def __init__(self, reference: str, why: str) -> None:
        self.reference = reference
        super().__init__(f"reference {reference}: {why}")


class ExpressionError(AgentError):
    """A JMESPath is invalid, does not fit its value, or takes too long; the message completes a sentence."""


class ResultError(AgentError):
    """A result cannot be stored as JSON without a change; its step fails."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"result{path}: {why}")


class LedgerError(AgentError):
    """The records cannot be written or read; nothing executes unrecorded."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(f"ledger {database}: {why}")


class LedgerUnavailableError(LedgerError):
    """The database cannot be opened, read or written now; the run can be resumed later."""


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


class CapReachedError(LedgerError):
    """A cap across runs allows a call only later, in `wait_s` seconds; nothing was written.

    `cap` is its name, such as `calls.send_mail`, and `words` says what it allows. `is_rate`: it is a rate, not a limit
    of a day.
    """

    def __init__(self, database: str, cap: str, words: str, wait_s: float, *, is_rate: bool = False) -> None:
        self.cap, self.words, self.wait_s, self.is_rate = cap, words, wait_s, is_rate
        super().__init__(database, f"{words}: this is used up; the next call is possible in {wait_s:.0f} s")


class MessageWaitingError(StaleRunError):
    """A message waits in the inbox of the run; nothing new starts before it is read."""


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


class AgentClosedError(AgentError):
    """An agent is used after it was closed, or in an event loop or process that did not open it."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(f"the agent of {database} cannot be used: {why}")


class ModelCallError(AgentError):
    """Every chat model of a role failed; the run receives the message."""

    def __init__(self, model: str, attempts: Sequence[Mapping[str, Any]]) -> None:
        self.model = model
        self.attempts = tuple(attempts)
        counts = Counter(attempt["model"] for attempt in attempts)
        last = {attempt["model"]: attempt["error"] for attempt in attempts}
        failures = [
            f"{name} failed{f' {counts[name]} times' if counts[name] > 1 else ''}: {error}"
            for name, error in last.items()
        ]
        super().__init__("; ".join(failures) or f"{model} was not asked")


class SignInError(AgentError):
    """A visitor of the review desk could not be signed in."""


class NoticeError(AgentError):
    """A notice was not delivered; the message names neither address nor secret."""


class RunPausedError(AgentError, ValueError):
    """The run has paused: on request, or until a cap across runs allows its next call (`due_at`, in Unix seconds)."""

    def __init__(self, run: str, why: str = "", due_at: float | None = None) -> None:
        self.run, self.due_at = run, due_at
        at = "" if due_at is None else datetime.fromtimestamp(due_at, UTC).strftime(" after %Y-%m-%d %H:%M:%S UTC")
        next_move = "resume it when you like" if due_at is None else f"resume it{at}, or leave that to `work`"
        super().__init__(f"run {run} is paused{why and ': '}{why}; {next_move}")


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the names for a sentence, cut after `most`.

    >>> listed(["a", "b"])
    'a, b'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
