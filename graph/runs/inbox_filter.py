"""What is looked for in an inbox, and what comes first there."""

from dataclasses import dataclass

from planner_executor.graph.errors import InputError
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.policy.approver_rule import ApproverRule, approver_refusal, people_rules
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.waiting_filter import VALUES, WaitingFilter
from planner_executor.graph.text.inbox import ASKED
from planner_executor.graph.text.stopped import STOPPED
from planner_executor.graph.words.name_list import right_name

ORDERS = tuple(VALUES)
ASKS = (*ASKED, *STOPPED)


@dataclass(frozen=True, kw_only=True)
class InboxFilter(WaitingFilter):
    """Conditions that all rows of an inbox meet; unset ones are ignored.

    `person`: only what this person may decide and has not approved yet. `asks` may say how a run stopped too, such as
    `died`.
    """

    person: Approver | None = None

    def __post_init__(self) -> None:
        """Check the filter.

        Raises:
            InputError: The text is one that no record holds, or nothing is asked or ordered so.
        """
        check_texts("text", self.text)
        for wrong in (one for one in self.asks if one not in ASKS):
            raise InputError("asks", f"nothing in an inbox is {wrong!r}; {right_name(wrong, ASKS)}")
        if self.order not in ORDERS:
            raise InputError("order", f"there is no order {self.order!r}; {right_name(self.order, ORDERS)}")

    @property
    def asks_people(self) -> bool:
        """Whether open requests may meet it."""
        return not self.asks or any(one in ASKED for one in self.asks)

    @property
    def stops(self) -> bool:
        """Whether runs that stopped may meet it."""
        return not self.asks or any(one in STOPPED for one in self.asks)

    def is_decided_by(self, run: RunSummary) -> bool:
        """Whether an open request is for the person, if one is named."""
        return self.person is None or may_decide(self.person, run)

    def has_stopped(self, how: str, run: RunSummary) -> bool:
        """Whether a run that stopped so meets it; anybody may look after it."""
        return (not self.asks or how in self.asks) and self.tells(run)


EVERYTHING = InboxFilter()


def may_decide(person: Approver, run: RunSummary) -> bool:
    """Whether the rules that a request was shown under let a person decide it, who has not approved it yet."""
    review = run.review or OpenReview(0)
    rules = people_rules(map(ApproverRule.from_json, review.rules), review.escalated_s)
    voted = {Approver.of_label(label).person for label in review.voters}
    return person.person not in voted and (not rules or approver_refusal(rules, person, review.askers) is None)
