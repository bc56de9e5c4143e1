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
├── AgentClosedError            an agent is used after it was closed   .database
├── ModelCallError              every chat model of a role failed   .model, .attempts
├── SignInError                 a visitor of the review desk could not be signed in
├── NoticeError                 a notice was not delivered; it is tried again
├── OtherTermsError             the run was begun under other terms than hold here   .run, .other
├── RunPausedError              the run is paused, and can be resumed   .run, .due_at
├── InputError                  the input of a run is invalid   .field
│   ├── UnknownRunError         .run
│   │   └── PrunedRunError          its thread was removed   .run, .by, .at
│   ├── MissingToolsError       .run, .tools
│   ├── NothingToDecideError    .run
│   └── DecisionRefusedError    its author may not decide   .run, .reason
├── UnresolvedReferenceError    a reference has no value   .reference
├── ExpressionError             an expression over a result is invalid, has no value, or takes too long
├── ResultError                 a tool's result cannot be stored as JSON   .path
└── LedgerError                 the records cannot be written or read   .database
    ├── LedgerUnavailableError
    ├── MissingRunError         the ledger has no such run   .run
    ├── LedgerCorruptError      .run, .seq
    ├── UnknownEventError       a newer release wrote an event   .seq
    ├── CapReachedError         a cap across runs allows the call only later   .cap, .words, .wait_s
    ├── StaleRunError           another decision came first   .run
    │   ├── StandingSpentError  a standing approval covers no further call   .run
    │   ├── CallElsewhereError  another run of the family began the same call   .run .other
    │   └── MessageWaitingError a message waits in the inbox of the run   .run
    ├── LedgerSealError         the run is sealed with another key, or not at all   .run
    ├── ExportError             an exported file has been changed   .line
    ├── RunOwnedError           another owner executes the run   .run
    └── LeaseLostError          another owner has taken the run over   .run

`ConfigError`, `InputError`, `OtherTermsError` and `RunPausedError` are `ValueError`s too: the LangGraph server passes
the text of a `ValueError` on to its client, and answers with "An internal error occurred" for any other error.

Refused plans, failed steps and unusable answers of models are data, not errors. The files of this package are divided
by who meets the error; import from `graph.errors`.
"""

from planner_executor.graph.errors.configuration import (
    ConfigError,
    LedgerKeyError,
    MissingPackageError,
    ModelConfigError,
    ModelKeyError,
    PolicyError,
    ResultsError,
    SuiteError,
    ToolConfigError,
    UnknownModelError,
    UnreachableModelError,
)
from planner_executor.graph.errors.invocation import (
    AgentClosedError,
    DecisionRefusedError,
    InputError,
    MissingToolsError,
    NothingToDecideError,
    OtherTermsError,
    PrunedRunError,
    RunPausedError,
    UnknownRunError,
)
from planner_executor.graph.errors.ledger import (
    CallElsewhereError,
    CapReachedError,
    ExportError,
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    LedgerSealError,
    LedgerUnavailableError,
    MessageWaitingError,
    MissingRunError,
    RunOwnedError,
    StaleRunError,
    StandingSpentError,
    UnknownEventError,
)
from planner_executor.graph.errors.root import AgentError
from planner_executor.graph.errors.step import ExpressionError, ModelCallError, ResultError, UnresolvedReferenceError
from planner_executor.graph.errors.surroundings import NoticeError, SignInError

__all__ = [
    "AgentClosedError",
    "AgentError",
    "CallElsewhereError",
    "CapReachedError",
    "ConfigError",
    "DecisionRefusedError",
    "ExportError",
    "ExpressionError",
    "InputError",
    "LeaseLostError",
    "LedgerCorruptError",
    "LedgerError",
    "LedgerKeyError",
    "LedgerSealError",
    "LedgerUnavailableError",
    "MessageWaitingError",
    "MissingPackageError",
    "MissingRunError",
    "MissingToolsError",
    "ModelCallError",
    "ModelConfigError",
    "ModelKeyError",
    "NothingToDecideError",
    "NoticeError",
    "OtherTermsError",
    "PolicyError",
    "PrunedRunError",
    "ResultError",
    "ResultsError",
    "RunOwnedError",
    "RunPausedError",
    "SignInError",
    "StaleRunError",
    "StandingSpentError",
    "SuiteError",
    "ToolConfigError",
    "UnknownEventError",
    "UnknownModelError",
    "UnknownRunError",
    "UnreachableModelError",
    "UnresolvedReferenceError",
]
