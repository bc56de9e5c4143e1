"""Who decides about a request, who has, and until when."""

from collections.abc import Iterator, Sequence

from planner_executor.graph.policy.approver_rule import ApproverRule, have_to_approve
from planner_executor.graph.policy.at_stake import Reach
from planner_executor.graph.policy.decision_deadline import AFTERWARDS
from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.review.content import PeopleContent
from planner_executor.graph.text.review.frame import name, words
from planner_executor.graph.words.name_list import listed


def people_paragraph(people: PeopleContent | None, reason_for: Sequence[str] = ()) -> str:
    """Return the paragraph in Markdown, empty if anybody decides at any time; an approval says why for some tools."""
    told = [*_sentences(people)] if people is not None else []
    if reason_for:
        told.append(f"Policy: an approval has to give its reason, for {listed([name(tool) for tool in reason_for])}.")
    return " ".join(told)


def _sentences(people: PeopleContent) -> Iterator[str]:
    if people.rules:
        yield f"Policy: {have_to_approve(list(map(ApproverRule.from_json, people.rules)), words)}."
    # Who asked matters only to rules that take two people.
    if people.asked_by and any(rule.get("four_eyes") for rule in people.rules):
        yield f"Asked for by: {', '.join(map(words, people.asked_by))}."
    if people.takes_two:
        yield "It is not verified who asked, so two people have to."
    if people.nobody_left:
        names = listed([words(name) for name in people.nobody_left])
        yield (
            f"Nobody is left who may approve it, since {names} asked for it: name somebody else in the policy, which "
            "has the plan shown again, or reject it and have another person start the run."
        )
    if people.reach is not None:
        rules = tuple(map(ApproverRule.from_json, people.reach.rules))
        yield Reach(people.reach.tools, rules).in_words(name, words)
    if people.approved_by:
        yield f"Approved so far by: {', '.join(map(words, people.approved_by))}."
    if people.until is not None and people.on_expire is not None:
        yield f"Decide until {moment_in_words(people.until)}; after that {AFTERWARDS[people.on_expire]}."
    for one in people.escalations:
        # Names of people and roles are the operator's, but come through the record, which is escaped as a whole.
        others = " or ".join([*one.names, *(f"the role {role}" for role in one.roles)])
        yield f"From {moment_in_words(one.at)} on also: {words(others)}."
