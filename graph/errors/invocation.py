"""Errors that whoever starts, resumes or asks for a run meets."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from planner_executor.graph.errors.root import AgentError
from planner_executor.graph.words.name_list import listed


class InputError(AgentError, ValueError):
    """The input of a run is invalid."""

    def __init__(self, field: str, why: str) -> None:
        self.field = field
        super().__init__(f"{field}: {why}")


class UnknownRunError(InputError):
    """The ledger has no run of that name."""

    def __init__(self, run: str, database: str) -> None:
        self.run = run
        super().__init__("run", f"no run {run!r:.80} in {database}; `planner-executor runs` lists them")


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


class DecisionRefusedError(InputError):
    """A decision does not count, since its author may not decide; the request stays open."""

    def __init__(self, run: str, reason: str) -> None:
        self.run, self.reason = run, reason
        super().__init__("decision", f"{reason}; run {run} still waits")


class OtherTermsError(AgentError, ValueError):
    """The run was begun under terms that cannot be kept here; it is unchanged. `other` says which."""

    def __init__(self, run: str, other: str, command: str = "") -> None:
        """Create the error; `command` takes the run over where it is raised, if more than its name is needed there."""
        self.run, self.other = run, other
        before, after = self._around(run, command)
        super().__init__(f"{before}{other}{after}")

    @classmethod
    def told(cls, run: str, message: str) -> "OtherTermsError":
        """Return the error that another process raised, from its text."""
        before, after = cls._around(run)
        return cls(run, message.removeprefix(before).removesuffix(after))

    @property
    def sentence(self) -> str:
        """What differs and what to do, without the run."""
        return f"{self.other}{self._around(self.run)[1]}"

    @staticmethod
    def _around(run: str, command: str = "") -> tuple[str, str]:
        ways = f"go on where they hold, or take it over: `{command or f'planner-executor resume {run} --take-over'}`"
        return f"run {run} was begun under other terms: ", f"; {ways}"


class RunPausedError(AgentError, ValueError):
    """The run has paused: on request, or until a cap across runs allows its next call (`due_at`, in Unix seconds)."""

    def __init__(self, run: str, why: str = "", due_at: float | None = None) -> None:
        self.run, self.due_at = run, due_at
        at = "" if due_at is None else datetime.fromtimestamp(due_at, UTC).strftime(" after %Y-%m-%d %H:%M:%S UTC")
        next_move = "resume it when you like" if due_at is None else f"resume it{at}, or leave that to `work`"
        super().__init__(f"run {run} is paused{why and ': '}{why}; {next_move}")


class AgentClosedError(AgentError):
    """An agent is used after it was closed, or in an event loop or process that did not open it."""

    def __init__(self, database: str, why: str) -> None:
        self.database = database
        super().__init__(f"the agent of {database} cannot be used: {why}")
