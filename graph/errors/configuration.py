"""Errors that whoever sets an agent up meets: nothing has been started."""

from planner_executor.graph.errors.root import AgentError


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
        super().__init__(f"tool {tool!a}: {why}")


class PolicyError(ConfigError):
    """A policy cannot be read, or is invalid; nothing starts under it. `line` is set for a fault in a file."""

    def __init__(self, policy: str, why: str, line: int | None = None) -> None:
        self.line = line
        where = f"{policy}, line {line}" if line else policy
        super().__init__(f"{where}: {why}")


class SuiteError(ConfigError):
    """A suite of cases cannot be read, or is invalid; none of its cases is run. `line` is set if the file names it."""

    def __init__(self, suite: str, why: str, line: int | None = None) -> None:
        self.suite, self.line = suite, line
        super().__init__(f"{suite}, line {line}: {why}" if line else f"{suite}: {why}")


class ResultsError(ConfigError):
    """An evaluation cannot continue from these results, which are left unchanged."""

    def __init__(self, results: str, why: str) -> None:
        self.results = results
        super().__init__(f"{results}: {why}")


class LedgerKeyError(ConfigError):
    """The key that seals runs cannot be used; nothing is written without it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"ledger key: {why}")
