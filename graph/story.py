"""The run that a node works on: found in the ledger, told apart from forks, and shown in the state."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from graph.calls.gate import CallGate, value_of
from graph.context import Services
from graph.errors import RunPausedError
from graph.ledger.protocol import Lease, Ledger, Message, RunKey
from graph.plan.revision import difference
from graph.plan.schema import Plan
from graph.run.ending import Ending
from graph.run.events import CANCELLED, Draft
from graph.run.goal import Goal
from graph.run.policy import binding_of
from graph.run.record import RunRecord, read_on, read_record
from graph.run.results import StepResult
from graph.run.values import Kept, keep
from graph.state import END, StateUpdate

ANSWER_BYTES = 1_000_000
"""Answers up to this size stand in the state as they are."""


@dataclass
class Story:
    """A run as a node sees it; `checkpoint` is the one the node runs at."""

    services: Services
    ledger: Ledger
    key: RunKey
    record: RunRecord
    checkpoint: str
    lease: Lease | None = None

    @property
    def here_before(self) -> bool:
        """Whether a node ran for this run at this checkpoint: the process died since, or an old answer was sent."""
        return self.checkpoint in self.record.checkpoints

    def is_fork(self, state: Mapping[str, Any]) -> bool:
        """Whether the state is from before a decision that is closed: such a state goes on as a run of its own."""
        seen = state["run"].get("seq") or 0
        return not self.here_before and self.record.last_decision_seq > seen

    @asynccontextmanager
    async def owned(self) -> AsyncIterator[None]:
        """Own the run for a while, as it is then; what others ask of it is done first.

        Raises:
            RunOwnedError: Somebody else works on it.
            RunPausedError: It was asked to pause.
        """
        async with self.ledger.owned(self.key) as lease:
            self.lease = lease
            try:
                await self.reload()
                await self.heed()
                yield
            finally:
                self.lease = None

    async def heed(self) -> None:
        """Do what the messages in the inbox ask for.

        Raises:
            RunPausedError: One of them asks to pause.
        """
        assert self.lease is not None
        messages = await self.ledger.take_messages(self.lease, self._answer)
        if messages and not self.record.ended:
            await self.reload()
            if "cancel" not in messages:
                raise RunPausedError(self.record.id)

    def _answer(self, messages: list[Message]) -> Sequence[Draft]:
        """Return the event that says what was done about messages."""
        if self.record.ended or not messages:
            return ()
        if "cancel" in messages:
            return [Draft("run_ended", {**CANCELLED, "checkpoint": self.checkpoint}, safe=False)]
        return [Draft("paused", {"reason": "asked to pause"})]

    def gate(self) -> CallGate:
        """Return the choke point for this run, which must be owned."""
        assert self.lease is not None
        return CallGate(self.ledger, self.lease, self.record, self.services.toolbox)

    async def write(self, *drafts: Draft, artifacts: Sequence[Kept] = ()) -> None:
        """Write events that rest on what was read, and read the run again."""
        placed = [Draft(d.kind, {**d.payload, "checkpoint": self.checkpoint}, d.step, d.safe) for d in drafts]
        control = self.record.control_seq
        if self.lease is not None:
            await self.ledger.append(self.lease, placed, artifacts=artifacts, control_seq=control)
        else:
            async with self.ledger.owned(self.key) as lease:
                await self.ledger.append(lease, placed, artifacts=artifacts, control_seq=control)
        await self.reload()

    async def reload(self) -> None:
        """Read what the ledger has of the run since it was last read."""
        read_on(self.record, await self.ledger.events(self.key, after=self.record.seq))

    async def revise(self, plan: Plan, author: str, reason: str, dropped: Sequence[str] = ()) -> None:
        """Record a plan as the run's next revision."""
        await self.write(self.revision(plan, author, reason, dropped))

    def revision(self, plan: Plan, author: str, reason: str, dropped: Sequence[str] = ()) -> Draft:
        """Return the event that makes `plan`, which was read with the tools as they are, the run's next revision."""
        payload = {
            "revision": self.record.revision + 1,
            "plan": plan.to_json(),
            "digest": plan.digest,
            "binding": binding_of(plan, self.services.toolbox.specs),
            "author": author,
            "reason": reason,
            "diff": difference(self.recorded_plan(), plan).to_json(),
            "dropped": list(dropped),
        }
        return Draft("plan_revised", payload, safe=False)

    async def end(self, ending: Ending, *before: Draft, **keys: Any) -> StateUpdate:
        """Record the end of the run, after other events, and return what the state shows of it."""
        kept = keep(ending.answer, ANSWER_BYTES)
        payload = {"status": ending.status, "reason": ending.reason, **kept.fields()}
        await self.write(*before, Draft("run_ended", payload, safe=False), artifacts=[kept])
        return self.ended(**keys)

    def ended(self, **keys: Any) -> StateUpdate:
        """Return what the state shows of a run that has ended."""
        end = self.record.ended
        assert end is not None
        answer = {"artifact": end["artifact"]} if "artifact" in end else end["value"]
        said = AIMessage(_last_words(end["status"], end["reason"], answer), id=f"{self.record.id}{END}")
        shown = {"status": end["status"], "reason": end["reason"], "answer": answer, "messages": [said]}
        return self.update(**{**shown, **keys})

    def show_plan(self, plan: Plan, status: str, **keys: Any) -> StateUpdate:
        """Return what the state shows of a run that goes on with `plan`."""
        shown = {"plan": plan.to_json(), "revision": self.record.revision, "digest": plan.digest}
        return self.update(**{**shown, "status": status, "reason": None, "issues": [], "answer": None, **keys})

    def recorded_plan(self) -> Plan | None:
        """Return the run's latest revision."""
        return Plan.model_validate(self.record.plan) if self.record.plan is not None else None

    def results_shown(self, plan: Plan, results: Mapping[str, StepResult] | None = None) -> dict[str, Any]:
        """Return the results of a plan's steps as the state shows them."""
        results = self.record.results if results is None else results
        pending = StepResult("pending")
        return {step.id: results.get(step.id, pending).to_json() for step in plan.steps}

    async def values(self, plan: Plan) -> dict[str, JsonValue]:
        """Return the whole value of each step of `plan` that succeeded."""
        succeeded = self.record.succeeded
        done = [step.id for step in plan.steps if step.id in succeeded]
        return {step: await value_of(self.ledger, self.record.results[step]) for step in done}

    def update(self, **keys: Any) -> StateUpdate:
        """Return a state update that names the run and what it has seen of the ledger."""
        record = self.record
        run = {"thread": record.thread, "n": record.n, "id": record.id, "seq": record.seq}
        return {"run": run, **keys}


async def open_story(services: Services, state: Mapping[str, Any], config: RunnableConfig) -> Story | None:
    """Return the run that the state belongs to, or None where it names none on this thread.

    A later run that has been at this checkpoint already comes first: a fork's first node began it.
    """
    ledger = await services.ledger()
    named = state.get("run")
    thread = thread_of(state, config)
    if not isinstance(named, dict) or named.get("thread") != thread or not isinstance(named.get("n"), int):
        return None
    last = await ledger.last_run(thread)
    if last is None or not 1 <= named["n"] <= last.n:
        return None
    for n in range(last.n, named["n"], -1):
        story = await load_story(services, ledger, RunKey(thread, n))
        if story.here_before:
            return story
    return await load_story(services, ledger, RunKey(thread, named["n"]))


async def load_story(services: Services, ledger: Ledger, key: RunKey) -> Story:
    """Return a run as the ledger has it now."""
    return Story(services, ledger, key, read_record(await ledger.events(key)), checkpoint_id())


async def start_story(services: Services, state: Mapping[str, Any], config: RunnableConfig, goal: Goal) -> Story:
    """Start the thread's next run; `setup` in the configuration is what its caller needs to resume it elsewhere."""
    ledger = await services.ledger()
    payload = {
        "goal": goal.goal,
        "constraints": list(goal.constraints),
        "setup": config.get("configurable", {}).get("setup") or {},
        "checkpoint": checkpoint_id(),
    }
    key = await ledger.open_run(thread_of(state, config), [Draft("run_started", payload)])
    return await load_story(services, ledger, key)


def checkpoint_id() -> str:
    """Return the id of the checkpoint that the current node runs at."""
    info = get_runtime().execution_info
    return info.checkpoint_id if info is not None else ""


def thread_of(state: Mapping[str, Any], config: RunnableConfig) -> str:
    """Return the thread's id; a graph without one gets a name that lasts for this invocation."""
    given = config.get("configurable", {}).get("thread_id")
    if given is not None:
        return str(given)
    named = state.get("run")
    return str(named["thread"]) if isinstance(named, dict) and "thread" in named else f"unnamed-{uuid4().hex[:12]}"


def _last_words(status: str, reason: str, answer: JsonValue) -> str:
    """Return the end of a run in words: the answer, with the reason where it is not a plain success."""
    told = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)
    if status == "succeeded":
        return told
    return f"{status}: {reason}" + ("" if answer is None else f"\n\n{told}")
