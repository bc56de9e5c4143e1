"""What was decided about a request, and by whom, as a message that follows it."""

from collections.abc import Iterator, Mapping

from planner_executor.graph.record.budget import unit_in_words
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.record.events import Decided, ReviewExpired
from planner_executor.graph.record.values import to_text
from planner_executor.graph.text.review.frame import Prose, limit_name, name, sentence, to_markdown, words
from planner_executor.graph.text.review.layout import ITEM
from planner_executor.graph.words.name_list import listed


def decision_text(decided: Decided, revision: int, calls: Mapping[str, Call]) -> str:
    """Return the decision in Markdown; words from outside are code.

    Args:
        decided: The decision.
        revision: The number of the plan in force.
        calls: Key -> settled call.
    """
    return to_markdown(
        [Prose(_sentence(decided, revision)), *(Prose(ITEM + told) for told in _details(decided, calls))]
    )


def expired_text(expired: ReviewExpired) -> str:
    """Return that nobody decided in time, and what follows, as a sentence."""
    began = f"Nobody decided until {moment_in_words(expired.expired_at)}:"
    if expired.ends:
        return f"{began} the request is closed as rejected, and the run ends."
    count = len(expired.rejected)
    return f"{began} {count} held call{'s count' if count != 1 else ' counts'} as rejected, and the run goes on."


def refused_text(why: str) -> str:
    """Return that words of a chat changed nothing, as a sentence before the request that is still open.

    >>> refused_text("step: the plan has no step 'fax'")
    "Nothing has changed: step: the plan has no step 'fax'. The request is still open."
    """
    return f"Nothing has changed: {sentence(why)}. The request is still open."


def _sentence(decided: Decided, revision: int) -> str:
    by = f"by {', '.join(map(words, decided.voters or (decided.approver,)))}"
    why = f": {words(decided.message)}" if decided.message else ""
    match decided.decision:
        # Recorded when a caller decides before there is a request
        # (`unseen=True`); the chat must not claim that it was read.
        case "approve" if decided.by == "unseen":
            return f"Approved {by}, before it was shown: revision {revision} of the plan."
        case "approve":
            edited = ", as edited" if decided.message == "edit" else ""
            return f"Approved {by}: revision {revision} of the plan{edited}."
        case "propose":
            return f"Edited {by}. The policy has others approve it."
        case "feedback":
            return f"Sent back {by}, to be planned again{why or '.'}"
        case "reject":
            return f"Rejected {by}, and the run ends{why or '.'}"
        case "finish":
            return f"Not raised {by}: the run ends with what there is."
    return f"Answered {by}, and the run goes on."


def _details(decided: Decided, calls: Mapping[str, Call]) -> Iterator[str]:
    for said in decided.settled:
        call = calls.get(said.key)
        called = f"The call of {name(call.tool)} in {name(call.step)}" if call is not None else "The uncertain call"
        result = f", with {words(to_text(said.result))}" if said.happened and said.result is not None else ""
        yield f"{called} {'happened' if said.happened else 'did not happen'}{result}."
    for step, value in decided.given.items():
        yield f"{name(step)}: {words(value if isinstance(value, str) else to_text(value))}"
    # A call with other arguments is among the approved ones too, and is told below.
    if count := len(set(decided.steps) - set(decided.replaced)):
        yield f"{count} held call{'s' * (count != 1)} may be made as shown."
    if decided.with_plan:
        calls_of = listed([name(one.place) for one in decided.with_plan])
        yield f"Approved with it, as the policy asks about each: {calls_of}."
    for args in decided.replaced.values():
        yield f"A held call is made with other arguments: {words(to_text(dict(args)))}."
    yield from (f"A held call is rejected: {words(why)}." for why in decided.rejected.values())
    if decided.budget is not None and (budget := decided.budget).names:
        limits = ", ".join(limit_name(unit_in_words(one, budget.of(one) or 0)) for one in budget.names)
        yield f"The budget is now {limits}."
