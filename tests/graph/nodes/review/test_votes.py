"""Whose decision counts: what one answer comes to under the policy's rules on people."""

from dataclasses import replace
from typing import Any

import pytest
from run_in_memory import run_in_memory

from planner_executor.graph.caller import Caller, invoked_by
from planner_executor.graph.nodes.review.outcome import Outcome
from planner_executor.graph.nodes.review.votes import UNSEEN, Ballot, ballot_of, check_decider
from planner_executor.graph.nodes.run.context import RunContext
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.person import NOBODY, Approver
from planner_executor.graph.review.decision import Decision, InvalidResponse
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.verdict import NOTHING, ReviewVerdict

REQUEST = ReviewRequest("t.1", 1, "d", "b", (ReviewAction("raise_budget", {"limits": {}}, "o"),))
ADA, BOB, LEA = (Approver(name, "server", ("finance",)) for name in ("ada", "bob", "lea"))
YES = Decision("approve")
APPROVED = ReviewVerdict(plan=YES, calls=("k",), decisions=(YES,))
TWO, FOUR_EYES, ONE = (
    Approvers(ApproverRule(roles=("finance",), **more)) for more in ({"quorum": 2}, {"four_eyes": True}, {})
)
REJECTS = ReviewVerdict(stop=Decision("reject", final=True), decisions=(Decision("reject", final=True),))
WISHES = ReviewVerdict(feedback="cheaper", decisions=(Decision("reject", message="cheaper"),))
EDITED = Decision("edit", args={"plan": {}})
EDITS_PLAN = ReviewVerdict(plan=EDITED, standing={"k": {}}, calls=("k",), decisions=(EDITED,))
EDITS_CALL = ReviewVerdict(edits={"k": {"to": "x"}}, decisions=(EDITED,))
REFUSES_CALL = ReviewVerdict(rejected={"k": "no"}, calls=("l",), decisions=(YES, Decision("reject", message="no")))
BOSSES = ApproverRule(roles=("boss",))
BOTH = ADA._replace(roles=("finance", "boss"))


def reaching(verdict: ReviewVerdict, *tools: str) -> Outcome:
    """Return an answer with a value that calls of these tools rest on."""
    return Outcome(verdict, reaches=AtStake(tuple(ToolSpec(name, "", {}) for name in tools)))


def approved_but(*later: str, reason: str | None = None) -> ReviewVerdict:
    yes = Decision("approve", reason=reason, ask_later=later)
    return replace(APPROVED, plan=yes, decisions=(yes,))


async def ballots(
    approvers: Approvers, *answers: tuple[Approver, ReviewVerdict | Outcome], starter: str = "server:eve"
) -> list[Ballot]:
    """Return what each answer to one request comes to, with the votes of those before on record."""

    async with run_in_memory(policy=Policy(approvers=approvers)) as run:
        run.record.people.askers = (starter,)
        return [await _cast(run, by, said if isinstance(said, Outcome) else Outcome(said)) for by, said in answers]


async def _cast(run: RunContext, by: Approver, outcome: Outcome) -> Ballot:
    with invoked_by(Caller(run.key.thread, by=by)):
        check_decider(run, REQUEST, outcome.verdict)
        ballot = ballot_of(run, REQUEST, outcome)
    if ballot.vote is not None:
        run.record.people.voted(ballot.vote)
    return ballot


async def test_without_rules_anybody_decides_alone() -> None:
    (ballot,) = await ballots(Approvers(), (NOBODY, APPROVED))
    assert (ballot, ballot.is_proposal) == (Ballot(APPROVED, (NOBODY,)), False)
    assert (await ballots(Approvers(), (NOBODY, replace(APPROVED, unseen=True))))[0].voters == (NOBODY,)


@pytest.mark.parametrize(
    ("by", "verdict", "why"),
    [
        (ADA, replace(APPROVED, unseen=True), UNSEEN),
        (NOBODY, APPROVED, "nobody knows who answers"),
        (Approver("kim", "server"), APPROVED, "server:kim may not decide this"),
        (Approver("kim", "server"), REJECTS, "server:kim may not decide this"),
    ],
    ids=["unseen", "unverified", "without the role", "a rejection without the role"],
)
async def test_who_may_not_decide_is_refused(by: Approver, verdict: ReviewVerdict, why: str) -> None:
    with pytest.raises(InvalidResponse, match=why):
        await ballots(ONE, (by, verdict))


async def test_one_person_whom_the_rule_admits_decides_if_it_takes_one() -> None:
    assert await ballots(ONE, (ADA, APPROVED)) == [Ballot(APPROVED, (ADA,), met={})]


async def test_two_approvals_of_the_same_decide_and_each_person_counts_once() -> None:
    same = ADA._replace(name="Ada")
    first, again, second = await ballots(TWO, (ADA, APPROVED), (same, APPROVED), (BOB, APPROVED))

    for ballot, label in ((first, "server:ada"), (again, "server:Ada")):
        assert ballot.voters == () and ballot.vote is not None and ballot.vote.approver == label
        assert (ballot.vote.subject, ballot.vote.request, ballot.vote.roles) == (REQUEST.subject, 0, ("finance",))
        assert ballot.vote.missing.startswith("1 of 2 approvals") and ballot.vote.decisions == ({"type": "approve"},)
    assert second == Ballot(APPROVED, (same, BOB), met={})


async def test_approvals_of_different_things_do_not_add_up() -> None:
    other = replace(APPROVED, decisions=(YES, YES))

    assert [ballot.vote is None for ballot in await ballots(TWO, (ADA, APPROVED), (BOB, other), (LEA, APPROVED))] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("verdict", [REJECTS, WISHES], ids=["an end", "feedback"])
async def test_one_who_may_decide_rejects_alone(verdict: ReviewVerdict) -> None:
    assert await ballots(TWO, (ADA, verdict)) == [Ballot(verdict, (ADA,), met=None if verdict.stop else {})]


@pytest.mark.parametrize("approvers", [TWO, FOUR_EYES], ids=["a quorum", "four eyes"])
@pytest.mark.parametrize("verdict", [EDITS_PLAN, EDITS_CALL], ids=["of the plan", "of a call"])
async def test_an_edit_is_put_to_others_without_what_was_approved_beside_it(approvers: Approvers, verdict: Any) -> None:
    proposed = replace(verdict, calls=(), standing={})

    assert await ballots(approvers, (ADA, verdict)) == [Ballot(proposed, (ADA,), is_proposal=True, met={})]


@pytest.mark.parametrize("verdict", [EDITS_PLAN, EDITS_CALL], ids=["of the plan", "of a call"])
async def test_an_edit_is_carried_out_if_one_person_decides(verdict: ReviewVerdict) -> None:
    assert await ballots(ONE, (ADA, verdict)) == [Ballot(verdict, (ADA,), met={})]


async def test_whoever_asked_does_not_decide_under_four_eyes() -> None:
    with pytest.raises(InvalidResponse, match="asked for this"):
        await ballots(FOUR_EYES, (ADA, APPROVED), starter="server:ada")
    assert await ballots(FOUR_EYES, (BOB, APPROVED), starter="server:ada") == [Ballot(APPROVED, (BOB,), met={})]


async def test_one_rejection_of_a_call_decides_about_it_and_approves_nothing_beside_it() -> None:
    alone = replace(NOTHING, rejected={"k": "no"}, decisions=REFUSES_CALL.decisions)

    assert await ballots(TWO, (ADA, REFUSES_CALL)) == [Ballot(alone, (ADA,), met={})]
    assert await ballots(ONE, (ADA, REFUSES_CALL)) == [Ballot(REFUSES_CALL, (ADA,), met={})]


async def test_approvals_add_up_whatever_their_reasons_and_leave_out_what_one_of_them_does() -> None:
    other = replace(approved_but("c"), decisions=(Decision("approve", standing={}, ask_later=("c",)),))

    *votes, decided = await ballots(
        TWO, (LEA, other), (ADA, approved_but("a", reason="as in May")), (BOB, approved_but("b", "a"))
    )

    assert [ballot.vote is not None for ballot in votes] == [True, True] and decided.voters == (ADA, BOB)
    assert decided.verdict.plan is not None and decided.verdict.plan.ask_later == ("b", "a")


async def test_a_person_who_approves_again_takes_back_what_they_left_out() -> None:
    rules = Approvers(ONE.rule, costs=((5.0, BOSSES),))
    raises = [replace(approved_but(*later), budget=Budget(cost_usd=6.0)) for later in (("a",), ("b",), ())]

    *_, ballot = await ballots(rules, (ADA, raises[0]), (BOB, raises[1]), (BOTH, raises[2]))

    assert ballot.vote is None and ballot.verdict.plan == replace(YES, ask_later=("b",))


async def test_feedback_of_one_who_does_not_decide_alone_gives_nothing_beside_it() -> None:
    both = replace(WISHES, given={"q": "Oslo"})

    assert (await ballots(ONE, (ADA, both)))[0].verdict == both
    assert (await ballots(TWO, (ADA, both)))[0].verdict == WISHES


async def test_a_value_is_given_under_the_rules_on_the_calls_that_it_reaches_by_whom_they_all_admit() -> None:
    reached = Approvers(ONE.rule, tools={"pay": BOSSES, "mail": ApproverRule(roles=("finance",), quorum=2)})
    raises = replace(APPROVED, standing={"k": {}}, budget=Budget(steps=9))
    held = replace(raises, calls=(), standing={})

    for by, verdict, tools, ballot in (
        (ADA, APPROVED, ("pay", "mail"), Ballot(APPROVED, (ADA,))),
        (ADA, raises, ("pay", "mail"), Ballot(held, (ADA,))),
        (ADA, raises, (), Ballot(raises, (ADA,))),
        (BOTH, raises, ("pay",), Ballot(raises, (BOTH,))),
    ):
        (found,) = await ballots(reached, (by, reaching(verdict, *tools)))
        assert replace(found, met=None) == ballot
    (vote,) = await ballots(reached, (ADA, reaching(raises, "mail")))
    assert vote.vote is not None and vote.verdict == raises


async def test_a_raised_budget_is_decided_by_the_rule_on_what_it_may_cost() -> None:
    dear = Approvers(costs=((5.0, ApproverRule(roles=("finance",), quorum=2)),))
    raised = [replace(APPROVED, budget=Budget(cost_usd=cost)) for cost in (5.0, 6.0)]

    cheap, costly = [(await ballots(dear, (ADA, verdict)))[0] for verdict in raised]
    assert (cheap.vote, costly.vote is None) == (None, False)
