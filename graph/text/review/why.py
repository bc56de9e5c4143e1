"""Why a plan is asked about: what brought the revision, and which rule has it shown."""

from collections.abc import Iterator

from planner_executor.graph.review.content import Why
from planner_executor.graph.text.review.frame import Block, Prose, name, words
from planner_executor.graph.text.review.layout import ITEM
from planner_executor.graph.words.name_list import listed

MAX_FAILURES = 10
STALLED = "No progress: "


def why_blocks(revision: int, why: Why) -> Iterator[Block]:
    """Yield why there is this revision, and why a person is asked."""
    is_after_failure = why.author == "replanner" and why.cause == "failure"
    failed = list(why.failed.items())
    origin = _origin(revision, why)
    told = f"Revision {revision}, after a failure: {origin}" if is_after_failure else origin
    if told:
        yield Prose(told.rstrip())
    if is_after_failure:
        yield from (Prose(f"{ITEM}{name(step)} failed: {words(error)}") for step, error in failed[:MAX_FAILURES])
        if len(failed) > MAX_FAILURES:
            yield Prose(f"{ITEM}and {len(failed) - MAX_FAILURES} more failed")
    if why.stalled is not None:
        prefix = STALLED if why.stalled.startswith(STALLED) else ""  # the embedded rules' own sentence has none
        yield Prose(f"{prefix}{words(why.stalled.removeprefix(STALLED))}")


def _origin(revision: int, why: Why) -> str:
    told = words(why.reason)
    if why.author == "replanner" and why.cause == "failure":
        return "" if why.failed else told
    if why.cause == "refined":
        return "Steps that were left open are planned in detail now."
    if why.author == "replanner":
        return f"The plan was revised: {told}"
    if why.author == "caller":
        return f"The caller supplied it. {_rule(why)}"
    if why.author == "state":
        return "Somebody changed the plan in the state of the thread."
    if why.author == "person":
        return "A person edited it."
    # The node that plans again writes the feedback of a person behind this word into its reason.
    if revision > 1 and why.reason.startswith("feedback: "):
        return f"The previous plan was rejected: {words(why.reason.removeprefix('feedback: '))}"
    return f"It was planned again: {told}" if revision > 1 else _rule(why)


def _rule(why: Why) -> str:
    tools = listed([name(tool) for tool in why.tools])
    match why.rule:
        case "always":
            return "Every plan is shown before it runs."
        case "policy":
            return f"The policy requires a review of plans with {tools}."
        case "effects":
            return f"It is shown because of the effects of {tools}."
        case None:
            return ""
