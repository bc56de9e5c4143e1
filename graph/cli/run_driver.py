"""Drives a run: start or resume, decide, resume, until it ends or waits."""

import asyncio
import json as json_text
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.decision_source import DecisionSource
from planner_executor.graph.cli.interruption import report_interruption
from planner_executor.graph.cli.json_stream import json_observers, write_open_request
from planner_executor.graph.cli.outcome import show_outcome
from planner_executor.graph.cli.progress import Progress
from planner_executor.graph.cli.recorded_run import recorded_run
from planner_executor.graph.cli.reply import Reply
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.signals import interrupt, on_sigterm
from planner_executor.graph.errors import NothingToDecideError, OtherTermsError
from planner_executor.graph.nodes.run.review_clock import refuse_late
from planner_executor.graph.notices.notifier import answering
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.runs.run import Run
from planner_executor.graph.settings.identity import named

if TYPE_CHECKING:
    from planner_executor.graph.agent import AsyncAgent

Build = Callable[[], AbstractContextManager[Mapping[str, Any]]]
Stage = Callable[["AsyncAgent", Progress], Awaitable[Run]]


class RunDriver:
    """Runs one run on an event loop of its own; the database is closed while a person decides.

    Its methods raise KeyboardInterrupt on Ctrl-C or SIGTERM; the run is then paused.
    """

    def __init__(self, runner: asyncio.Runner, options: Mapping[str, Any], decisions: DecisionSource) -> None:
        self._runner, self._decisions = runner, decisions
        self._screen, self._by = decisions.screen, decisions.by
        self._options = {name: value for name, value in options.items() if name != "setup"}
        self._setup = options.get("setup")

    def start(self, thread: str, **asked: Any) -> Run:
        """Start a run with arguments of `AsyncAgent.start`; return it when it has ended or waits."""

        async def begin(agent: "AsyncAgent", progress: Progress) -> Run:
            if (playbook := asked.get("playbook")) is not None:
                from planner_executor.graph.runs.playbooks import named_in
                from planner_executor.graph.text.event_text.values import changed_playbook

                self._screen.say_each(changed_playbook(await named_in(agent.runs, playbook)))
            return await agent.start(**asked, thread=thread, by=self._by, on_progress=progress)

        if asked.get("plan") is None and "playbook" not in asked and not self._screen.is_live:
            self._screen.say("planning …")
        return self._drive(begin, "planning")

    def resume(self, run: str, *, take_over: bool = False) -> Run:
        """Continue a run; return it when it has ended or waits."""

        async def continue_run(agent: "AsyncAgent", progress: Progress) -> Run:
            if not take_over and (found := await agent.compare_terms(run)) is not None and found.sentence:
                self._screen.say(found.sentence)
            return await agent.resume(run, take_over=take_over, setup=self._setup, by=self._by, on_progress=progress)

        return self._drive(continue_run)

    def edit(self, run: str, plan: Any) -> Run:
        """Propose another plan for what is left of a run; return it when it has ended or waits."""
        return self._drive(lambda agent, progress: agent.edit(run, plan, by=self._by, on_progress=progress))

    def retry(self, run: str, **changes: Any) -> Run:
        """Reopen an ended run, with arguments of `AsyncAgent.retry`; return it when it has ended again or waits."""
        return self._drive(
            lambda agent, progress: agent.retry(run, **changes, setup=self._setup, by=self._by, on_progress=progress)
        )

    def fork(self, run: str, step: str, thread: str, **how: Any) -> Run:
        """Fork a run, with arguments of `AsyncAgent.fork`; return the fork when it has ended or waits."""
        return self._drive(
            lambda agent, progress: agent.fork(
                run, step, **how, thread=thread, setup=self._setup, by=self._by, on_progress=progress
            )
        )

    def _drive(self, stage: Stage, activity: str = "working") -> Run:
        run = self._run(stage, activity)
        while run.request is not None and (reply := self._decisions(run)) is not None:
            run = self._resume_with(run, reply)
        return run

    def _resume_with(self, run: Run, reply: Reply) -> Run:
        return self._run(
            lambda agent, progress: agent.resume(
                run.id, reply.decisions, unseen=reply.unseen, by=self._by, on_progress=progress
            ),
            "working",
        )

    def _run(self, stage: Stage, activity: str) -> Run:
        try:
            return self._runner.run(self._run_stage(stage, activity))
        except asyncio.CancelledError:  # SIGTERM cancelled the task; for Ctrl-C the runner raises by itself
            raise KeyboardInterrupt from None

    async def _run_stage(self, stage: Stage, activity: str) -> Run:
        from planner_executor.graph.agent import AsyncAgent

        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        # A signal may come while the loop sleeps in a system call: only this way to cancel wakes it.
        with on_sigterm(lambda: loop.call_soon_threadsafe(task.cancel)):
            async with AsyncAgent.open(self._decisions.database, **self._options) as agent:
                with Progress(self._screen, activity) as progress:
                    return await stage(agent, progress)


def start(decisions: DecisionSource, built: Mapping[str, Any], asked: Mapping[str, Any], json: bool = False) -> Run:
    """Start a run; return it when it has ended or waits.

    Args:
        decisions: Decides review requests, at its screen and in its database.
        built: Options of `graph.build_graph`.
        asked: Arguments of `AsyncAgent.start`.
        json: Whether to write events to standard output as JSON lines.
    """
    thread = secrets.token_hex(4)  # chosen here, so that an interruption can name the run
    return _take_up(decisions, thread, lambda: nullcontext(built), json, lambda driver: driver.start(thread, **asked))


def continue_run(decisions: DecisionSource, run: Run, build: Build, json: bool = False, take_over: bool = False) -> Run:
    """Continue a run; return it when it has ended or waits. A plan for a paused run is proposed, and then reviewed.

    Args:
        decisions: Decides review requests, at its screen and in its database.
        run: The run as recorded in the ledger.
        build: Opens the options of `graph.build_graph`; called for an ended run only if an answer comes late.
        json: Whether to write events to standard output as JSON lines.
        take_over: Whether to put the run under the terms here.

    Raises:
        NothingToDecideError: A decision was given, but the run is not waiting for one.
    """
    # A paused run asks nothing that a plan could answer: it is proposed, and then reviewed.
    if run.status == "paused" and (plan := decisions.proposal()) is not None:
        return _take_up(decisions, run.id, build, json, lambda driver: driver.edit(run.id, plan))
    if decisions.has_response and run.status != "waiting":
        raise NothingToDecideError(run.id, run.status, _refused_late(decisions, run, build))
    if run.ended:
        show_outcome(decisions.screen, run, decisions.database)
        return run
    taken = {"take_over": take_over}
    with _names_the_way("resume", run, decisions.database):
        return _take_up(decisions, run.id, build, json, lambda driver: driver.resume(run.id, **taken))


def _refused_late(decisions: DecisionSource, run: Run, build: Build) -> str:
    """Record the answer if the run's request has expired, and return why it counts no more; else nothing.

    The adapter that verifies people is the one of a decision in time.
    """
    if recorded_run(decisions.database, run.id).record.review_state.last_expired is None:
        return ""
    from planner_executor.graph.builder.options import identity_adapter  # heavy

    with build() as built:
        by = named(decisions.by, identity_adapter(built.get("config"), built["tools"]))
    said = {name: value for name, value in vars(decisions.response).items() if value}
    key = RunKey(run.thread, run.n)
    return with_runs(decisions.database, lambda runs: refuse_late(runs.ledger, key, said, by)) or ""


def retry_run(decisions: DecisionSource, run: Run, build: Build, json: bool, **changes: Any) -> Run:
    """Reopen an ended run, with arguments of `AsyncAgent.retry`; the other arguments are those of `continue_run`."""
    with _names_the_way("retry", run, decisions.database):
        return _take_up(decisions, run.id, build, json, lambda driver: driver.retry(run.id, **changes))


def fork_run(decisions: DecisionSource, run: Run, build: Build, json: bool, step: str, **how: Any) -> Run:
    """Fork a run; the other arguments are those of `continue_run` and `AsyncAgent.fork`."""
    thread = secrets.token_hex(4)
    values = [quote(f"{name}={json_text.dumps(value)}") for name, value in how.get("values", {}).items()]
    with _names_the_way(" --set ".join([f"fork --from {quote(step)}", *values]), run, decisions.database):
        return _take_up(decisions, thread, build, json, lambda driver: driver.fork(run.id, step, thread, **how))


@contextmanager
def _names_the_way(words: str, run: Run, database: str | Path) -> Iterator[None]:
    """Have a run of other terms name this command as the one that takes it over; `words` are as `command` has them."""
    try:
        yield
    except OtherTermsError as error:
        taking = command(f"{words} --take-over", run.id, database, run.setup)
        raise OtherTermsError(error.run, error.other, taking) from None


def _take_up(decisions: DecisionSource, name: str, build: Build, json: bool, drive: Callable[[RunDriver], Run]) -> Run:
    """Drive a run until it ends or waits, and show its outcome."""
    with (
        build() as built,
        answering(decisions.answers),
        report_interruption(decisions.screen, decisions.database, name),
        asyncio.Runner() as runner,
        on_sigterm(interrupt),
    ):
        run = drive(RunDriver(runner, {**built, **json_observers(json)}, decisions))
    show_outcome(decisions.screen, run, decisions.database)
    write_open_request(run, json)
    return run
