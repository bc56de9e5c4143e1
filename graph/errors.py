"""Every error this package raises on purpose.

AgentError
├── ConfigError                 the configuration cannot work
│   ├── ModelConfigError        .model
│   │   ├── MissingPackageError     the provider's package is not installed
│   │   ├── ModelKeyError           no key, or one that the server refuses
│   │   ├── UnknownModelError       the server has no such model
│   │   └── UnreachableModelError   no server answers at the address
│   ├── ToolConfigError         .tool
│   ├── PolicyError             .line
│   ├── SuiteError              .suite
│   ├── ResultsError            .results
│   ├── LedgerKeyError          the key that seals runs cannot be used
│   └── ShadowedPackageError    .path
├── AgentClosedError            an agent is used after its end   .database
├── ModelCallError              no chat model of a role gave an answer   .model, .attempts
├── RunPausedError              the run was asked to pause; it can be resumed   .run
├── InputError                  the input of a run cannot work   .field
│   ├── UnknownRunError         .run
│   ├── MissingToolsError       .run, .tools
│   └── NothingToDecideError    .run
├── UnresolvedReferenceError    a reference has no value   .reference
├── ExpressionError             an expression over a result gives no value, or would take too long
├── ResultError                 a tool's result cannot be kept as JSON   .path
└── LedgerError                 the records cannot be written or read   .database
    ├── LedgerUnavailableError
    ├── LedgerCorruptError      .run, .seq
    ├── UnknownEventError       a newer release wrote an event   .seq
    ├── StaleRunError           another decision came first   .run
    │   └── MessageWaitingError somebody asks the run to pause or to end   .run
    ├── LedgerSealError         the run is sealed with another key, or with none   .run
    ├── ExportError             an exported file has been changed   .line
    ├── RunOwnedError           somebody else works on the run   .run
    └── LeaseLostError          somebody else has taken the run over   .run

A plan that is refused, a step that fails and a model that answers nonsense are data, not errors.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


class AgentError(Exception):
    """Base class: catch this to catch every deliberate error of the agent."""


class ConfigError(AgentError):
    """The configuration cannot work; nothing has been started."""


class ModelConfigError(ConfigError):
    """A role's chat model cannot be made."""

    def __init__(self, model: str, why: str) -> None:
        self.model = model
        super().__init__(f"model {model!r}: {why}")


class MissingPackageError(ModelConfigError):
    """The LangChain package of the model's provider is not installed."""


class ModelKeyError(ModelConfigError):
    """There is no key for the model's server, or the server refuses it."""


class UnknownModelError(ModelConfigError):
    """The server has no model of that name."""


class UnreachableModelError(ModelConfigError):
    """No server answers at the address of the model."""


class ToolConfigError(ConfigError):
    """A tool cannot be offered to plans."""

    def __init__(self, tool: str, why: str) -> None:
        self.tool = tool
        super().__init__(f"tool {tool!r}: {why}")


class PolicyError(ConfigError):
    """A policy cannot be read, or contains an unknown setting; nothing starts under it."""

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
    """The results of an evaluation cannot be gone on with; nothing is tried, and they stay as they are."""

    def __init__(self, results: str, why: str) -> None:
        self.results = results
        super().__init__(f"{results}: {why}")


class LedgerKeyError(ConfigError):
    """The key that seals runs cannot be used; nothing is written without it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"ledger key: {why}")


class ShadowedPackageError(ConfigError):
    """A file of the user's own is imported in place of one of our packages."""

    def __init__(self, package: str, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} hides the package {package!r} of planner-executor; rename that file or run from another folder"
        )


class InputError(AgentError):
    """The input of a run is unusable."""

    def __init__(self, field: str, why: str) -> None:
        self.field = field
        super().__init__(f"{field}: {why}")


class UnknownRunError(InputError):
    """No run of that name is in the ledger."""

    def __init__(self, run: str, database: str) -> None:
        self.run = run
        super().__init__("run", f"no run {run!r} in {database}; `planner-executor runs` lists them")


class MissingToolsError(InputError):
    """A run's plan names tools that are not at hand; nothing was done with the run."""

    def __init__(self, run: str, tools: Sequence[str], extras: Mapping[str, str] | None = None) -> None:
        """Create the error; `extras` are tools that only lack an extra: name -> what it needs."""
        self.run, self.tools = run, tuple(tools)
        uninstalled = [f"{name} is not installed; {(extras or {})[name]}" for name in tools if name in (extras or {})]
        others = [name for name in tools if name not in (extras or {})]
        given = [f"name {listed(others)} with --tools, in Python with tools=[...]"] if others else []
        super().__init__("run", f"{run} needs {listed(self.tools)}: {'; '.join((*uninstalled, *given))}")


class NothingToDecideError(InputError):
    """The run does not wait for a decision."""

    def __init__(self, run: str, status: str) -> None:
        self.run = run
        super().__init__("decision", f"run {run} is {status} and waits for no decision")


class UnresolvedReferenceError(AgentError):
    """A reference has no value in the results it points into; the step that holds it fails."""

    def __init__(self, reference: str, why: str) -> None:
        self.reference = reference
        super().__init__(f"reference {reference}: {why}")


class ExpressionError(AgentError):
    """A JMESPath cannot be used, does not fit what it is about, or would take too long; its text ends a sentence."""


class ResultError(AgentError):
    """A result cannot be kept as JSON without changing it; the step that gave it fails."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        super().__init__(f"result{path}: {why}")


class LedgerError(AgentError):
    """The records cannot be written or read; nothing executes unrecorded."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(f"ledger {database}: {why}")


class LedgerUnavailableError(LedgerError):
    """The database cannot be opened, read or written now; the run goes on once it can."""


class LedgerCorruptError(LedgerError):
    """A recorded event differs from the event written."""

    def __init__(self, database: str, run: str, seq: int, why: str) -> None:
        self.run = run
        self.seq = seq
        super().__init__(database, f"event {seq} of run {run} {why}; restore the file from a backup")


class UnknownEventError(LedgerError):
    """An event is of a kind, or of a version of its kind, that this release cannot work with."""

    def __init__(self, seq: int, what: str) -> None:
        self.seq = seq
        self.database = ""
        AgentError.__init__(
            self, f"event {seq} {what}, which this release does not know; go on with the release that wrote the run"
        )


class LedgerSealError(LedgerError):
    """The run cannot be written on with this key, or without one."""

    def __init__(self, database: str, run: str, why: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} {why}")


class ExportError(LedgerError):
    """An exported run cannot be read: a line of the file has been changed."""

    def __init__(self, file: str, line: int, why: str) -> None:
        self.line = line
        super().__init__(file, f"line {line} {why}")


class StaleRunError(LedgerError):
    """Another decision or plan reached the ledger first; look at the run again."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} was changed by someone else; look at it again before going on")


class MessageWaitingError(StaleRunError):
    """A message for the run is in its inbox; nothing new starts before it is read."""


class RunOwnedError(LedgerError):
    """Another process, or another thread, works on the run."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} is being worked on elsewhere; pause it there, or wait until it is done")


class LeaseLostError(LedgerError):
    """The run was taken over while its owner showed no sign of life; nothing more was written."""

    def __init__(self, database: str, run: str) -> None:
        self.run = run
        super().__init__(database, f"run {run} was taken over by somebody else; look at it again")


class AgentClosedError(AgentError):
    """An agent is used after it was closed, or on an event loop or in a process that did not open it."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(f"the agent of {database} cannot be used: {why}")


class ModelCallError(AgentError):
    """No chat model of a role gave an answer; the run receives the message."""

    def __init__(self, model: str, attempts: Sequence[Mapping[str, Any]]) -> None:
        self.model = model
        self.attempts = tuple(attempts)
        counts = Counter(attempt["model"] for attempt in attempts)
        last = {attempt["model"]: attempt["error"] for attempt in attempts}
        said = [
            f"{name} failed{f' {counts[name]} times' if counts[name] > 1 else ''}: {error}"
            for name, error in last.items()
        ]
        super().__init__("; ".join(said) or f"{model} was not asked")


class RunPausedError(AgentError):
    """The run was asked to pause, and has."""

    def __init__(self, run: str) -> None:
        self.run = run
        super().__init__(f"run {run} is paused; resume it when you like")


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the names for a sentence, cut after `most`.

    >>> listed(["a", "b"])
    'a, b'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
