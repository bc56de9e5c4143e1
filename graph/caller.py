"""The caller of the graph: the facade's data on an invocation, passed on a channel closed to clients.

A client of a graph server, and whoever invokes the compiled graph, can write input, `configurable`, context, state and
metadata. None of these is read here: the facade sets a context variable around its own invocations.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.record.assignment import Assignment
from planner_executor.graph.record.events import BY_FACADE, Draft
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.values import Kept
from planner_executor.tools.context_value import set_within


@dataclass(frozen=True)
class RetryChanges:
    """Changes that come with a retry: `limits` of the budget by name, and `feedback` for the planner."""

    limits: Mapping[str, Any] = field(default_factory=dict)
    feedback: str | None = None

    def __bool__(self) -> bool:
        return bool(self.limits or self.feedback)


class Fork(NamedTuple):
    """What a fork begins with: the terms, goal and plan of its source, the events it inherits, and what they name.

    In a replay the record of the fork has the terms, and there is no `source`.
    """

    source: Assignment | None = None
    drafts: tuple[Draft, ...] = ()
    values: tuple[Kept, ...] = ()
    plan: Mapping[str, Any] | None = None

    @property
    def goal(self) -> Goal | None:
        """The goal of the source."""
        return self.source.goal if self.source is not None else None


NO_CHANGES = RetryChanges()
NO_FORK = Fork()
NO_SETUP: Mapping[str, Any] = {"setup": {}}
FACADE: Mapping[str, Any] = {"setup": {}, "origin": BY_FACADE}


@dataclass
class Receipt:
    """Whether the review has read the decision with which the facade resumes a run, and why its author may not."""

    is_read: bool = False
    refusal: str | None = None


@dataclass(frozen=True)
class Caller:
    """The known properties of the caller on one thread.

    `started` goes into the event `run_started` of a run that begins: its origin, the setup, who gave that, and
    the playbook. `unseen`
    says that a decision was given beforehand, with nobody looking. `changes` come with a retry, `fork` is what a
    fork begins with. `by` is who acts, as the facade found out; None leaves it to the node. `receipt` is for the
    decision with which the facade resumes the run.
    """

    thread: str
    started: Mapping[str, Any] = field(default_factory=lambda: NO_SETUP)
    unseen: bool = False
    changes: RetryChanges = NO_CHANGES
    fork: Fork = NO_FORK
    by: Approver | None = None
    receipt: Receipt | None = None

    @classmethod
    def facade(
        cls,
        thread: str,
        setup: Mapping[str, Any] | None = None,
        *,
        unseen: bool = False,
        by: Approver | None = None,
        playbook: Mapping[str, Any] | None = None,
    ) -> "Caller":
        """Return the facade as caller; `setup` contains the data needed to resume its runs elsewhere.

        Raises:
            InputError: `setup` is not JSON.
        """
        check_setup(setup)
        started = {**FACADE, "setup": dict(setup), "setup_by": BY_FACADE} if setup else FACADE
        started = {**started, "playbook": playbook} if playbook else started
        return cls(thread, started, unseen, by=by)

    def note_reading(self) -> None:
        """Note that the review has read the decision of this invocation."""
        if self.receipt is not None:
            self.receipt.is_read = True

    def note_refusal(self, why: str) -> None:
        """Note that whoever gave the decision of this invocation may not decide."""
        if self.receipt is not None:
            self.receipt.refusal = why


def check_setup(setup: Mapping[str, Any] | None) -> None:
    """Check that a record can hold what a caller needs to resume a run elsewhere.

    Raises:
        InputError: It is not JSON, or holds what no record can.
    """
    try:
        written = json.loads(json.dumps(setup, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "setup", f"it holds what JSON cannot hold ({error}); give texts, numbers and the like"
        ) from error
    for path, fault in json_faults(written):
        raise InputError(f"setup{path}", fault)


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def invoked_by(caller: Caller) -> AbstractContextManager[None]:
    """Invoke the graph as this caller for the block."""
    return set_within(_caller, caller)


def caller_on(thread: str) -> Caller:
    """Return who invokes the graph on a thread; a graph that a tool invokes on a thread of its own has no facade."""
    caller = _caller.get()
    return caller if caller is not None and caller.thread == thread else Caller(thread)
