"""Every error this package raises on purpose.

AgentError
├── ConfigError                 what the caller configured cannot work
│   ├── ModelConfigError        .model
│   ├── ToolConfigError         .tool
│   └── ShadowedPackageError    .path
├── RunPausedError              the run was asked to pause; it can be resumed   .run
├── InputError                  what the caller gave to a run cannot work   .field
│   ├── UnknownRunError         .run
│   └── NothingToDecideError    .run
├── UnresolvedReferenceError    a reference has no value   .reference
├── ResultError                 a tool's result cannot be kept as JSON   .path
└── LedgerError                 the records cannot be written or read   .database
    ├── LedgerUnavailableError
    ├── LedgerCorruptError      .run, .seq
    ├── StaleRunError           another decision came first   .run
    │   └── MessageWaitingError somebody asks the run to pause or to end   .run
    ├── RunOwnedError           somebody else works on the run   .run
    └── LeaseLostError          somebody else has taken the run over   .run

A plan that is refused, a step that fails and a model that answers nonsense are data, not errors.
"""

from collections.abc import Sequence


class AgentError(Exception):
    """Base class: catch this to catch every deliberate error of the agent."""


class ConfigError(AgentError):
    """What the caller configured cannot work; nothing has been started."""


class ModelConfigError(ConfigError):
    """A role's chat model cannot be made."""

    def __init__(self, model: str, why: str) -> None:
        self.model = model
        super().__init__(f"model {model!r}: {why}")


class ToolConfigError(ConfigError):
    """A tool cannot be offered to plans."""

    def __init__(self, tool: str, why: str) -> None:
        self.tool = tool
        super().__init__(f"tool {tool!r}: {why}")


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
    """A recorded event is not what was written."""

    def __init__(self, database: str, run: str, seq: int, why: str) -> None:
        self.run = run
        self.seq = seq
        super().__init__(database, f"event {seq} of run {run} {why}; restore the file from a backup")


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
