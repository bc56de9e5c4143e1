"""Which run an input of the planner node is about: the thread's unfinished or ended run, or none, for a new one."""

from langchain_core.runnables import RunnableConfig

from planner_executor.graph.context import Services
from planner_executor.graph.errors import InputError
from planner_executor.graph.large_work import done_aside
from planner_executor.graph.nodes.planner_input import (
    Operation,
    brought_plan,
    check_named,
    is_same_input,
    operation_of,
    steering,
    steps_in,
    wants_to_go_on,
    wants_to_retry,
)
from planner_executor.graph.nodes.review.chat_comments import comments_in_words
from planner_executor.graph.nodes.review.step_changes import change_in_words
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.nodes.run.current_run import latest_run, open_run, thread_of
from planner_executor.graph.nodes.run.fork_detection import is_fork
from planner_executor.graph.record.events import RunReopened
from planner_executor.graph.record.reopening import is_retryable, retry_fault
from planner_executor.graph.record.run_status import ENDS
from planner_executor.graph.route import route_of
from planner_executor.graph.state import State, goal_of, last_words, stated_goal


async def run_to_continue(services: Services, state: State, config: RunnableConfig) -> RunContext | None:
    """Return the run to continue: begun here before a crash, sent back with feedback, or to be resumed."""
    latest = await latest_run(services, thread_of(state, config), state.get("run"))
    # From what is certain to what is guessed: a node that runs again, an operation, an input that can only be about the
    # latest run, and last the run that the state names, which a client may have written.
    if latest is not None and was_here(latest, state):
        return latest
    if (wanted := operation_of(state)) is not None:
        return _operated_on(latest, wanted, state)
    if latest is not None and (await _is_begun(latest, state) or _is_meant_by_words(latest, state)):
        return latest
    named = await open_run(services, state, config)
    if named is not None and _is_sent_back(named, state):
        return named
    unfinished = next((run for run in (named, latest) if run is not None and not run.record.ended), None)
    is_commented = unfinished is not None and unfinished.record.review_state.waits and comments_in_words(state)
    is_meant = wants_to_go_on(state) or steering(state) or change_in_words(state) or is_commented
    return unfinished if is_meant else None


async def waiting_in_chat(services: Services, state: State, config: RunnableConfig) -> RunContext | None:
    """Return the thread's run that waits for a person, if the input is a message of a chat; else None."""
    if last_words(state.get("messages") or ()) is None or state.get("operation"):
        return None
    latest = await latest_run(services, thread_of(state, config), state.get("run"))
    return latest if latest is not None and latest.record.review_state.waits else None


def was_here(run: RunContext, state: State) -> bool:
    """Whether this node has worked on just this input before: at this checkpoint, or in this invocation of a server."""
    return run.here_before or (run.is_repeated and is_same_input(state, run.record))


def _operated_on(run: RunContext | None, wanted: Operation, state: State) -> RunContext:
    """Return the thread's latest run, which an operation in the input takes up.

    Raises:
        InputError: The thread has no run, its run is not the one named, or it is to be continued and has visibly ended.
    """
    if run is None:
        raise InputError("operation", f"there is no run to {wanted} on this thread; give a goal")
    check_named(state, run.record.id, run.key.thread)
    if wanted == "continue" and run.record.ended is not None and tells_end(run, state):
        next_move = "retry it instead" if is_retryable(run.record) else "start a new run"
        raise InputError("operation", f"{run.record.id} has ended as {run.record.ended.status}; {next_move}")
    is_reopened = run.record.last_kind == RunReopened.kind  # by a process that died before the checkpoint was kept
    if wanted == "retry" and run.record.ended is None and not is_reopened:
        raise InputError("operation", f"{run.record.id} {retry_fault(run.record, changed=False)}")
    return run


def _is_meant_by_words(run: RunContext, state: State) -> bool:
    """Whether `retry`, `continue` or `resume` in a chat is about this run, and so no goal."""
    if run.record.ended is None:
        return wants_to_retry(state)
    if wants_to_go_on(state) and not tells_end(run, state):
        return True
    return is_retryable(run.record) and (wants_to_retry(state) or wants_to_go_on(state))


def tells_end(run: RunContext, state: State) -> bool:
    """Whether the thread tells how this run ended: a process may die between the ledger's end and the checkpoint."""
    return _names(state, run) and state.get("status") in ENDS


async def _is_begun(run: RunContext, state: State) -> bool:
    """Whether the run was begun for just this input, by a process that died before the checkpoint was kept.

    Once something of it was asked or decided, the same input is a fork, or the wish to begin anew.
    """
    record = run.record
    if record.ended or record.review_state.requests or record.review_state.last_decision_seq:
        return False
    try:
        goal = goal_of(state)
    # An input without a goal belongs to no run that it could have begun.
    except InputError:
        return False
    if (goal.goal, goal.constraints) != (record.assignment.started.goal, record.assignment.constraints):
        return False
    recorded, brought = run.recorded_plan(), brought_plan(state, goal)
    if recorded is None or brought is None:
        return True
    # By digest, once both are read: spellings of the caller are normalised in the record.
    plan = (await done_aside(steps_in(brought), lambda: run.read(brought))).plan
    return plan is not None and plan.digest == recorded.digest


def _is_sent_back(run: RunContext, state: State) -> bool:
    """Whether review sent the run here: after a decision that wants a plan, or on its way round to itself.

    It may have been cancelled by another process since, and is then shown as it ended.
    """
    if route_of(state) not in ("plan", "revise", "announce") or last_words(state.get("messages") or ()) is not None:
        return False
    told = bool(run.record.plan_state.steered) or (
        run.record.review_state.last_decision_seq > 0 and run.record.plan_state.awaits_plan
    )
    return (
        stated_goal(state).goal in ("", run.record.assignment.started.goal)
        and not is_fork(run, state)
        and (told or is_announced(run, state))
    )


def is_announced(run: RunContext, state: State) -> bool:
    """Whether review routed here only to announce its request in the chat (see `graph.nodes.review.message`)."""
    return _names(state, run) and route_of(state) == "announce"


def _names(state: State, run: RunContext) -> bool:
    """Whether the state belongs to this run."""
    named = state.get("run")
    return isinstance(named, dict) and (named.get("thread"), named.get("n")) == (run.key.thread, run.key.n)
