"""Opening the run named in a state, and starting a thread's next run."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.runtime import get_runtime

from planner_executor.graph.caller import NO_FORK, Fork, caller_on
from planner_executor.graph.context import Services
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.ledger.known_runs import KnownRun, opened
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_states import projected
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.terms import held_to_terms, services_of_fork
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.prompts.pictures import fact, pictures_of
from planner_executor.graph.prompts.planner import history_shown
from planner_executor.graph.record.assignment import lowered
from planner_executor.graph.record.events import ON_SERVER, WORDING, Content, Draft, Event, RunStarted
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.values import Kept, keep_constant, normalise
from planner_executor.graph.settings.identity import acting
from planner_executor.graph.state import int_or_zero, said_before, tags_of, with_goal_last


async def open_run(services: Services, state: Mapping[str, Any], config: RunnableConfig) -> RunContext | None:
    """Return the run that the state belongs to, or None if it names no run of this thread.

    A later run that has been at this checkpoint takes precedence: the first node of a fork began it
    (docs/decisions/0003-fork-or-crash.md).

    Raises:
        OtherTermsError: It has not ended, and was begun under other terms than hold here.
    """
    ledger = await services.ledger()
    named = state.get("run")
    thread = thread_of(state, config)
    if not isinstance(named, dict) or named.get("thread") != thread:
        return None
    n, latest = int_or_zero(named.get("n")), await services.known_runs.latest(ledger, thread)
    # Before anything is refused: a state is taken up once, also by a node that turns back.
    goes_on = services.known_runs.goes_on(RunKey(thread, n), int_or_zero(named.get("seq")))
    # The state is the client's, which may name any number.
    if latest is None or not 1 <= n <= latest.key.n:
        return None
    while latest.key.n > n:  # from the latest run down: the newest fork at this checkpoint wins
        run = await _run_context(services, ledger, latest, named)
        if run.here_before:
            return _under_its_terms(run)
        latest = await _known(ledger, RunKey(thread, latest.key.n - 1))
    return _under_its_terms(await _run_context(services, ledger, latest, named, state.get("plan"), goes_on=goes_on))


async def latest_run(services: Services, thread: str, named: Any) -> RunContext | None:
    """Return the thread's latest run in the ledger; `named` is the run named in the state."""
    ledger = await services.ledger()
    found = await services.known_runs.latest(ledger, thread)
    return None if found is None else await _run_context(services, ledger, found, named)


@asynccontextmanager
async def begin_run(
    services: Services,
    state: Mapping[str, Any],
    config: RunnableConfig,
    goal: Goal,
    fork: Fork = NO_FORK,
) -> AsyncIterator[RunWriter]:
    """Start the thread's next run and own it within the block.

    A fork begins with the events that it inherits, under the terms of its source as far as they are stricter.

    Raises:
        OtherTermsError: The forked run was begun under other terms than hold here.
    """
    ledger, thread = await services.ledger(), thread_of(state, config)
    held = services if fork.source is None else await services_of_fork(services, ledger, fork.source)
    started, kept = _started(held, state, config, goal)
    async with ledger.begun(thread, [started, *fork.drafts], [*kept, *fork.values]) as owned:
        found = await _projected(owned.lease.run, owned.news.events)
        run = await _run_context(services, ledger, found, state.get("run"))
        writer = RunWriter(run, owned.lease)
        async with writer.pausing():
            yield writer


async def start_run(services: Services, state: Mapping[str, Any], config: RunnableConfig, goal: Goal) -> RunContext:
    """Start the thread's next run."""
    ledger, thread = await services.ledger(), thread_of(state, config)
    started, kept = _started(services, state, config, goal)
    key = await ledger.open_run(thread, [started], kept)
    return await _run_context(services, ledger, await _known(ledger, key), state.get("run"))


async def _known(ledger: Ledger, key: RunKey) -> KnownRun:
    return await _projected(key, await ledger.events(key))


async def _projected(key: RunKey, events: Sequence[Event]) -> KnownRun:
    return opened(key, await projected(events))


def _under_its_terms(run: RunContext) -> RunContext:
    """Return a run that a node goes on with.

    Raises:
        OtherTermsError: It has not ended, and was begun under other terms than hold here.
    """
    if run.record.ended is None:
        run.require_terms()
    return run


async def _run_context(
    services: Services, ledger: Ledger, run: KnownRun, named: Any, shown: Any = None, *, goes_on: bool = False
) -> RunContext:
    key, record, invocation = run.key, run.record, invocation_of(get_config())
    held, terms = await held_to_terms(services, ledger, record.assignment)
    at, kept = checkpoint_id(), (run.plans, run.request)
    found = RunContext(held, ledger, key, record, at, shown, named, invocation, goes_on, terms, *kept)
    await done_aside(record.size, found.recorded_plan)  # it is kept, and each node asks for it on the event loop
    return found


def _started(
    services: Services, state: Mapping[str, Any], config: RunnableConfig, goal: Goal
) -> tuple[Draft, list[Kept]]:
    """Return the first event of a run, with the configuration needed to resume it, and what to store with it."""
    thread, (configured, stored) = thread_of(state, config), services.configuration
    messages = state.get("messages") or ()
    tags, pictures = tags_of(state), [one.to_json() for one in pictures_of(with_goal_last(messages, goal.goal))]
    attached = [keep_constant(normalise(pictures))] if pictures else []
    started = RunStarted(
        goal=goal.goal,
        constraints=goal.constraints,
        tags=tuple(tags),
        wording=WORDING,
        history=tuple(history_shown(said_before(messages, goal.goal))),
        pictures=tuple(map(fact, pictures)),
        attached=Content.of(attached[0]) if attached else None,
        configured=configured,
        budget=lowered(services.settings.budget, caller_on(thread).started.get("playbook") or {}),
        invocation=invocation_of(config),
        checkpoint=checkpoint_id(),
        started_by=str(caller_on(thread).by or acting(services.identity)),
        keeps_names=True,
        # A facade knows better where its run comes from.
        **{"origin": _origin(), **caller_on(thread).started},
    )
    return Draft(started), [*stored, *attached]


def _origin() -> str | None:
    """Return the origin of a run that no facade starts."""
    return ON_SERVER if get_runtime().server_info is not None else None


def checkpoint_id() -> str:
    """Return the id of the checkpoint that the current node runs at."""
    info = get_runtime().execution_info
    return info.checkpoint_id if info is not None else ""


def invocation_of(config: RunnableConfig) -> str | None:
    """Return the id that a graph server gave this invocation, None without a server.

    It is the same if the server executes the invocation again after a crash; a server overwrites what a client sent.
    """
    given = config.get("configurable", {}).get("run_id")
    return str(given) if isinstance(given, str | UUID) and str(given) else None


def thread_of(state: Mapping[str, Any], config: RunnableConfig) -> str:
    """Return the thread's id; a graph without one gets a name that lasts for this invocation."""
    given = config.get("configurable", {}).get("thread_id")
    if given is not None:
        return str(given)
    named = state.get("run")
    return str(named["thread"]) if isinstance(named, dict) and "thread" in named else f"unnamed-{uuid4().hex[:12]}"
