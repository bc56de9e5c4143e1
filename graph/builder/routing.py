"""The conditional edges of the graph: pure functions of the state, and the node that each of their labels leads to.

A client may write any state after any node. A state that no node leaves behind goes to review, which reads the ledger
and shows the open decision or the ending of the run. The labels stand beside the edges in drawings of the graph.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END

from planner_executor.graph.large_work import done_aside
from planner_executor.graph.nodes.planner_input import steps_in
from planner_executor.graph.route import route_of
from planner_executor.graph.state import State, is_proven

Targets = Mapping[Hashable, str]
AFTER_PLANNER: Targets = {"a plan": "review", "a direct answer, or no valid plan": END}
AFTER_REVIEW: Targets = {
    "approved": "executor",
    "feedback, or a request to announce": "planner",
    "asked again": "review",
    "rejected, or stopped": END,
}
AFTER_EXECUTOR: Targets = {
    "a step failed, or the next step to plan": "replanner",
    "a person is needed": "review",
    "finished, or failed for good": END,
}
AFTER_REPLANNER: Targets = {"a revision": "review", "nothing left to do, or no valid revision": END}


def after_planner(state: State) -> str:
    """Return the label of the edge: a plan goes to review; a direct answer or a failure to plan is the end."""
    return "a direct answer, or no valid plan" if _is_end(state) else "a plan"


def after_review(state: State) -> str:
    """Return the label of the edge: an approved plan goes to the executor, feedback to the planner.

    The planner also states what is asked, so that it is the chat's last message.
    """
    route = route_of(state)
    if route == "execute":
        return "approved"
    if route in ("plan", "announce"):
        return "feedback, or a request to announce"
    return "rejected, or stopped" if _is_end(state) else "asked again"


def after_executor(state: State) -> str:
    """Return the label of the edge: what needs a person goes to review, what needs a revision to the replanner."""
    if route_of(state) in ("revise", "plan"):  # states of earlier versions have `plan` for both
        return "a step failed, or the next step to plan"
    return "finished, or failed for good" if _is_end(state) else "a person is needed"


def after_replanner(state: State) -> str:
    """Return the label of the edge: a revision goes to review; without one it is the end."""
    return "nothing left to do, or no valid revision" if _is_end(state) else "a revision"


def _is_end(state: State) -> bool:
    return route_of(state) == "end" and is_proven(state)


class Edge(Runnable[State, str]):
    """A conditional edge; LangGraph would take a plain function to another thread, for each step of each run.

    A replay also knows by this that a graph stands still if its event loop does.
    """

    def __init__(self, label_of: Callable[[State], str]) -> None:
        self._label_of, self.name = label_of, label_of.__name__

    async def ainvoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: ARG002  (LangChain's signature)
        """Return the label of the edge."""
        return await done_aside(steps_in(input.get("plan")), partial(self._label_of, input))

    def invoke(self, input: State, config: RunnableConfig | None = None, **_: Any) -> str:  # noqa: ARG002  (LangChain's signature)
        """Return the label of the edge in synchronous code."""
        return self._label_of(input)
