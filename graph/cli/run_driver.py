"""Driving a run: start or resume it, decide what it asks, resume it, until it ends or waits."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from graph.cli.decision_source import DecisionSource
from graph.cli.interruption import tell_interruption
from graph.cli.json_stream import json_observers, write_open_request
from graph.cli.outcome import show_outcome
from graph.cli.progress import Progress
from graph.cli.reply import Reply
from graph.cli.screen import Screen
from graph.cli.signals import interrupt, on_sigterm
from graph.errors import NothingToDecideError
from graph.runs import Run

if TYPE_CHECKING:
    from graph.agent import AsyncAgent

Decide = Callable[[Run], Reply | None]
Build = Callable[[], AbstractContextManager[Mapping[str, Any]]]
Stage = Callable[["AsyncAgent", Progress], Awaitable[Run]]


def new_thread() -> str:
    """Return a name for a run that is about to start; it is known before the run is, so that a pause can name it."""
    return secrets.token_hex(4)


class RunDriver:
    """One event loop for one run; the database is open only while the run goes on, never while a person thinks.

    Its methods raise KeyboardInterrupt where Ctrl-C or SIGTERM came; the run is paused then.
    """

    def __init__(self, screen: Screen, database: Path, options: Mapping[str, Any], decide: Decide) -> None:
        self._screen, self._database, self._options, self._decide = screen, database, options, decide
        self._open = ExitStack()

    def __enter__(self) -> "RunDriver":
        self._runner = self._open.enter_context(asyncio.Runner())
        self._open.enter_context(on_sigterm(interrupt))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def start(self, thread: str, **asked: Any) -> Run:
        """Start a run, with arguments of `AsyncAgent.start`, and return it at its end, or waiting."""

        async def begin(agent: "AsyncAgent", progress: Progress) -> Run:
            return await agent.start(**asked, thread=thread, on_progress=progress)

        if asked["plan"] is None and not self._screen.is_live:
            self._screen.say("planning …")
        return self._on(self._stage(begin, "planning"))

    def resume(self, run: str) -> Run:
        """Go on with a run and return it at its end, or waiting."""

        async def go_on(agent: "AsyncAgent", progress: Progress) -> Run:
            return await agent.resume(run, on_progress=progress)

        return self._on(self._stage(go_on, "working"))

    def _on(self, run: Run) -> Run:
        while run.request is not None and (answer := self._decide(run)) is not None:
            run = self._answered(run, answer)
        return run

    def _answered(self, run: Run, answer: Reply) -> Run:
        async def decided(agent: "AsyncAgent", progress: Progress) -> Run:
            return await agent.resume(run.id, answer.decisions, unseen=answer.unseen, on_progress=progress)

        return self._stage(decided, "working")

    def _stage(self, stage: Stage, words: str) -> Run:
        try:
            return self._runner.run(self._opened(stage, words))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    async def _opened(self, stage: Stage, words: str) -> Run:
        from graph.agent import AsyncAgent

        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        with on_sigterm(lambda: loop.call_soon_threadsafe(task.cancel)):
            async with AsyncAgent.open(self._database, **self._options) as agent:
                with Progress(self._screen, words) as progress:
                    return await stage(agent, progress)


def start(
    screen: Screen, database: Path, deciding: DecisionSource, built: Mapping[str, Any], asked: Mapping[str, Any]
) -> Run:
    """Start a run with these models and tools, and return it at its end, or waiting.

    Args:
        screen: Where it is told.
        database: The file it is kept in.
        deciding: Answers what the run asks.
        built: Options of `graph.build_graph`.
        asked: `goal`, `constraints`, `tags`, `plan` and `setup`, as `graph.agent.AsyncAgent.start` takes them.
    """
    thread = new_thread()
    with tell_interruption(screen, database, thread), RunDriver(screen, database, built, deciding) as driver:
        ended = driver.start(thread, **asked)
    show_outcome(screen, ended, database)
    return ended


def go_on(screen: Screen, database: Path, deciding: DecisionSource, run: Run, build: Build, json: bool = False) -> Run:
    """Go on with a run and return it at its end, or waiting.

    Args:
        screen: Where it is told.
        database: The file it is kept in.
        deciding: Answers what the run asks.
        run: The run as the ledger has it.
        build: Opens the options of `graph.build_graph`; a run that has ended needs none.
        json: Whether events are written to standard output as lines of JSON.

    Raises:
        NothingToDecideError: There is a decision, and the run does not wait for one.
    """
    if deciding.has_answer and run.status != "waiting":
        raise NothingToDecideError(run.id, run.status)
    if not run.ended:
        with build() as built, tell_interruption(screen, database, run.id):
            run = _driven(RunDriver(screen, database, {**built, **json_observers(json)}, deciding), run)
    show_outcome(screen, run, database)
    write_open_request(run, json)
    return run


def _driven(driver: RunDriver, run: Run) -> Run:
    with driver:
        return driver.resume(run.id)
