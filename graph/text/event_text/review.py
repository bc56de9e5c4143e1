"""The text of the events of a review: requests and decisions."""

from planner_executor.graph.record.events import Decided, ResponseGiven, ReviewRequested, Voted
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import (
    content,
    issue_lines,
    limits_text,
    short_digest,
    truncated,
    value_text,
)
from planner_executor.graph.text.review.frame import plain_description
from planner_executor.graph.words.name_list import counted, listed

DECIDED = {
    "approve": "approved",
    "reject": "rejected",
    "finish": "finished with what there is",
    "feedback": "sent back",
    "settle": "settled",
    "propose": "edited, for others to approve,",
}


def review_requested(data: ReviewRequested) -> Words:
    """Say who is asked what."""
    again = " again" if data.error else ""
    yield f"request {data.request} was shown{again}: {', '.join(data.asked)}, about digest {short_digest(data.digest)}"
    if data.answer is not None:
        yield f"the previous response: {content(data.answer)}"
    if data.error:
        yield f"not accepted{f', from {data.approver}' if data.approver else ''}: {data.error}"
    yield from issue_lines(data.issues)
    # A long request keeps its words as an artifact, of which the beginning stands here.
    if data.shown.artifact is not None:
        yield f"shown: {content(data.shown)}"
    texts = data.shown.value or ()
    yield from (f"shown: {line}" for words in texts for line in truncated(plain_description(words)).split("\n"))


def decided(data: Decided) -> Words:
    """Say who decided what, and on what."""
    who = data.approver
    ahead = f"the standing approval {data.standing} of {who}"
    # `by` is a word of the record: one of a newer release is told as it stands.
    by = {"person": f"a person ({who})", "unseen": f"{who}, unseen", "standing": ahead}.get(data.by, f"the {data.by}")
    about = f"digest {short_digest(data.digest)}" if data.digest else "no valid plan"
    words = f": {data.message}" if data.message and data.message != data.decision else ""
    yield f"{DECIDED.get(data.decision, data.decision)} by {by}, about {about}{words}"
    if data.voters:
        yield f"approved by {', '.join(data.voters)}"
    for made in data.decisions:
        # The bare words approve and reject are told above; what else a decision has is not.
        more = ", ".join(f"{name} {value_text(value)}" for name, value in made.items() if name != "type" and value)
        if more:
            yield f"{made['type']}: {more}"
    for call in data.settled:
        happened = f"happened, with {value_text(call.result)}" if call.happened else "did not happen"
        where = f" of run {call.run}" if call.run else ""
        yield f"the call {short_digest(call.key)}{where} {happened}"
    if data.steps:
        yield f"{counted(len(data.steps), 'call')} may be made with the arguments that were shown"
    if data.with_plan:
        told = listed([f"{one.place} ({one.tool}, {short_digest(one.key)})" for one in data.with_plan])
        yield f"approved with the plan, which the policy asks about: {told}"
    for key, args in data.replaced.items():
        yield f"the call {short_digest(key)} is replaced by one with {value_text(args)}"
    yield from (f"the call {short_digest(key)} is rejected: {why}" for key, why in data.rejected.items())
    if data.budget is not None and data.budget.names:
        yield f"the budget is now {limits_text(data.budget)}"


def response_given(data: ResponseGiven) -> Words:
    """Say who responded to which request."""
    yield f"{data.approver} responded to request {data.request}; whoever carries the run on takes it up"
    yield f"the response: {content(data.response)}"


def voted(data: Voted) -> Words:
    """Say who approved, and how many more it takes."""
    yield f"{data.approver} approved; still missing: {data.missing}"
