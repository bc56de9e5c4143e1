"""The state of a thread, as LangGraph keeps it: plain JSON, so that Studio, the HTTP API and checkpoints agree."""

import hmac
import json
from collections.abc import Mapping, Sequence
from secrets import token_bytes
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage, BaseMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12 pydantic, and so Studio, reads no schema of typing's own

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.record.goal import Goal
from planner_executor.graph.route import Route


def latest(_before: Any, after: Any) -> Any:
    """Keep the later value, if two nodes in one superstep write a key."""
    return after


def furthest(before: Any, after: Any) -> Any:
    """Keep the run that is further in the ledger, if two nodes in one superstep name runs of one thread.

    The input of an operation names its run by id, which is kept as `asked` beside the run that the state belongs to.
    A node replaces the run that it has seen (`saw` has its `n` and `seq`): a client may have written a `seq` that the
    ledger has not reached.
    """
    if isinstance(after, str):
        return {**(before if isinstance(before, dict) else {}), "asked": after}
    if not isinstance(after, dict):
        return after
    named = {key: value for key, value in after.items() if key != "saw"}
    if not isinstance(before, dict) or before.get("thread") != named.get("thread"):
        return named
    if after.get("saw") == [before.get("n"), before.get("seq")]:
        return named  # otherwise a forged `seq` would stay for ever
    return max(before, named, key=lambda run: (int_or_zero(run.get("n")), int_or_zero(run.get("seq"))))


def int_or_zero(value: Any) -> int:
    """Return an integer from untrusted data, 0 for anything else."""
    return value if type(value) is int else 0


class Input(TypedDict, total=False):
    """The input that starts a run: a goal with constraints, or a chat. `plan` is used in place of the planner's.

    Or the input that continues a run: an `operation`, and the id of the `run`. LangGraph forgets the operation after
    one step, so that it never applies to a later input.
    """

    goal: Annotated[str, Field(description="The goal, in plain words."), latest]
    constraints: Annotated[list[str], Field(description="Constraints on the plan, one text each."), latest]
    tags: Annotated[list[str], Field(description="Tags to filter lists of runs by, such as nightly."), latest]
    plan: Annotated[
        Any, Field(description="A plan of your own, used in place of the planner's. Usually left out."), latest
    ]
    operation: Annotated[
        Literal["continue", "retry"],
        Field(description="Instead of a goal: continue the thread's unfinished run, or retry the one that has ended."),
        EphemeralValue(str, guard=False),
    ]
    fork_from: Annotated[
        dict[str, Any],
        Field(description='Take results over from a run of this thread: {"run": "thread.1", "step": "step_3"}.'),
        EphemeralValue(dict, guard=False),
    ]
    run: Annotated[
        Any, Field(description="With an operation: the id of the run, such as thread.1; usually left out."), furthest
    ]
    messages: Annotated[
        list[AnyMessage],
        Field(description="Instead of a goal: a chat; your last message is the goal."),
        add_messages,
    ]


class State(Input, total=False):
    """The state of a thread. Keys keep the last value, `messages` are appended.

    `run` names the run in the ledger, and its `seq` is the last event that this state is based on. `brought` is set if
    the caller gave the plan. `doubts` are the keys of calls that may have taken effect. `proof` proves that a node
    wrote the end of the run. `changes` is what a client writes to skip steps or to give their results, for one step of
    the graph. `route` is the next node; `status`, `reason` and `todos` are for people.
    """

    route: Annotated[Route, latest]
    changes: Annotated[
        dict[str, Any],
        Field(description='Changes of a run that stands still: {"skip": {"step_3": "why"}, "supply": {"step_4": 9}}.'),
        EphemeralValue(dict, guard=False),
    ]
    doubts: Annotated[list[str], latest]
    proof: Annotated[str, latest]
    brought: Annotated[str, latest]
    revision: Annotated[int, latest]
    digest: Annotated[str | None, latest]
    status: Annotated[str, latest]
    reason: Annotated[str | None, latest]
    issues: Annotated[list[dict[str, Any]], latest]
    answer: Annotated[Any, latest]
    results: Annotated[dict[str, Any], latest]
    todos: Annotated[list[dict[str, str]], latest]


StateUpdate = dict[str, Any]
TAGS = 20
TAG_CHARACTERS = 64
PROVEN = ("goal", "constraints", "status", "reason", "answer", "plan", "digest", "revision", "results", "issues")
"""Keys that the proof of an end covers, besides the run."""
_SECRET = token_bytes(32)
REVIEW = "review"
"""Name of the messages that show a review request."""
CALL = "review_"
"""Prefix of the ids of tool calls that carry a review request."""
END = "-end"
"""Suffix of the ids of messages that state how a run ended."""


def proof_of(state: Mapping[str, Any]) -> str:
    """Return the proof that a node of this process wrote the end of a run in the state.

    A client can write any key of the state, but cannot make a proof. No proof outlives its process; a state without one
    goes to the review, which reads the ledger.
    """
    run = state.get("run")
    named = [run.get("thread"), run.get("n")] if isinstance(run, dict) else None
    # A client may have written anything there: it has to give a proof that does not match, not an exception.
    content = json.dumps([named, [state.get(key) for key in PROVEN]], sort_keys=True, default=repr)
    return hmac.digest(_SECRET, content.encode(), "sha256").hex()


def is_proven(state: Mapping[str, Any]) -> bool:
    """Whether a node of this process wrote this state at the end of a run."""
    proof = state.get("proof")
    return isinstance(proof, str) and proof.isascii() and hmac.compare_digest(proof, proof_of(state))


def stated_goal(state: Mapping[str, Any]) -> Goal:
    """Return the goal in the state, without anything that is not text; it is empty if a client removed it."""
    goal, constraints = state.get("goal"), state.get("constraints")
    kept = [each for each in constraints if isinstance(each, str)] if isinstance(constraints, list) else []
    return Goal(goal.strip() if isinstance(goal, str) else "", tuple(kept))


def goal_of(state: Mapping[str, Any]) -> Goal:
    """Return the goal of the input; in a chat it is the user's last message.

    Raises:
        InputError: The goal is missing, or the goal or a constraint is not text.
    """
    # A message wins over a goal: on a thread in a chat the goal of an earlier run may still stand in the state.
    message = last_words(state.get("messages") or ())
    goal = message if message is not None else state.get("goal")
    if not isinstance(goal, str) or not goal.strip():
        raise InputError("goal", 'give a goal: {"goal": "..."} or {"messages": [...]} that end with the user\'s words')
    constraints = state.get("constraints") or []
    if not isinstance(constraints, list) or not all(isinstance(item, str) for item in constraints):
        raise InputError("constraints", "constraints is a list of texts")
    # Here and not at the checkpoint: that would fail after the run had begun.
    check_texts("goal", goal)
    check_texts("constraints", *constraints)
    return Goal(goal.strip(), tuple(constraints))


def tags_of(state: Mapping[str, Any]) -> list[str]:
    """Return the tags of the input, without repetitions.

    Raises:
        InputError: There are more than `TAGS` of them, or a tag is not a short printable text.
    """
    tags = state.get("tags") or []
    if not isinstance(tags, list) or len(tags) > TAGS or not all(_is_tag(tag) for tag in tags):
        why = f"tags is a list of at most {TAGS} texts of 1 to {TAG_CHARACTERS} visible characters"
        raise InputError("tags", why)
    return list(dict.fromkeys(tags))


def _is_tag(tag: Any) -> bool:
    return isinstance(tag, str) and 0 < len(tag.strip()) <= len(tag) <= TAG_CHARACTERS and tag.isprintable()


def last_words(messages: Sequence[BaseMessage]) -> str | None:
    """Return the text of the last message if the user wrote it, else None."""
    if not messages or messages[-1].type != "human":
        return None
    return str(messages[-1].text).strip()


def said_before(messages: Sequence[BaseMessage], goal: str) -> list[BaseMessage]:
    """Return the chat before the message that became the goal, back to the end of the run before.

    Review requests are left out: plans, digests and questions do not help to understand the goal.
    """
    place = place_of_goal(messages, goal)
    return [earlier for earlier in messages[:place] if not _is_of_review(earlier)] if place is not None else []


def with_goal_last(messages: Sequence[BaseMessage], goal: str) -> Sequence[BaseMessage]:
    """Return the chat up to the message with the goal, all of it if there is none."""
    place = place_of_goal(messages, goal)
    return messages if place is None else messages[: place + 1]


def place_of_goal(messages: Sequence[BaseMessage], goal: str) -> int | None:
    """Return the index of the user's message with the goal, None if there is none since the end of the last run."""
    for place in reversed(range(len(messages))):
        message = messages[place]
        if message.type == "human" and str(message.text).strip() == goal:
            return place
        if message.type == "ai" and str(message.id).endswith(END):
            return None
    return None


def _is_of_review(message: BaseMessage) -> bool:
    """Whether a message shows a request, or is what a client made up as the result of its tool call."""
    return message.name == REVIEW or str(getattr(message, "tool_call_id", "")).startswith(CALL)
