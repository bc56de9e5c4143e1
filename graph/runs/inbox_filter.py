"""What is looked for in an inbox, and what comes first there."""

from collections.abc import Callable, Mapping
from typing import Literal

from planner_executor.graph.data_class import dataclass
from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.run_store import Waiting
from planner_executor.graph.policy.approvers import ApproverRule, approver_refusal, people_rules
from planner_executor.graph.record.open_review import OpenReview
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.text.inbox import ASKED, STOPPED
from planner_executor.graph.words.name_list import right_name

NEVER = 1e12
"""The place of a request without a deadline among those that have one, in Unix seconds."""
InboxOrder = Literal["age", "deadline", "cost"]
ORDERS: Mapping[InboxOrder, Callable[[RunSummary], float]] = {
    "age": lambda run: run.waiting_since or 0.0,
    "deadline": lambda run: run.review.deadline.until if run.review and run.review.deadline else NEVER,
    "cost": lambda run: -run.cost_usd,
}
"""What comes first, by its value: the longest wait, the next deadline, or what has cost most so far."""
ASKS = (*ASKED, *STOPPED)


@dataclass(frozen=True, kw_only=True)
class InboxFilter:
    """Conditions that all rows of an inbox meet; unset ones are ignored.

    `person`: only what this person may decide and has not approved yet. `text`: words in goal, name, tags, effects or
    the label of who started the run. `asks`: what is asked, such as `run_plan`, or how a run stopped, such as `died`.
    """

    person: Approver | None = None
    text: str = ""
    asks: tuple[str, ...] = ()
    order: InboxOrder = "age"

    def __post_init__(self) -> None:
        """Check the filter.

        Raises:
            InputError: Nothing is asked or ordered so.
        """
        for wrong in (one for one in self.asks if one not in ASKS):
            raise InputError("asks", f"nothing in an inbox is {wrong!r}; {right_name(wrong, ASKS)}")
        if self.order not in ORDERS:
            raise InputError("order", f"there is no order {self.order!r}; {right_name(self.order, tuple(ORDERS))}")

    @property
    def is_all(self) -> bool:
        """Whether it is the whole inbox, as the index of runs has it."""
        return self == EVERYTHING

    @property
    def asks_people(self) -> bool:
        """Whether open requests may meet it."""
        return not self.asks or any(one in ASKED for one in self.asks)

    @property
    def stops(self) -> bool:
        """Whether runs that stopped may meet it."""
        return not self.asks or any(one in STOPPED for one in self.asks)

    def has(self, run: RunSummary) -> bool:
        """Whether an open request meets it."""
        is_asked = not self.asks or not {*self.asks}.isdisjoint(run.asks)
        return is_asked and self._is_told(run) and (self.person is None or may_decide(self.person, run))

    def has_stopped(self, how: str, run: RunSummary) -> bool:
        """Whether a run that stopped so meets it; anybody may look after it."""
        return (not self.asks or how in self.asks) and self._is_told(run)

    def place(self, run: RunSummary) -> Waiting:
        """Return the place of a run in the order."""
        return Waiting(ORDERS[self.order](run), run.thread, run.n)

    def _is_told(self, run: RunSummary) -> bool:
        effects = run.review.effects if run.review is not None else ()
        told = " ".join((run.goal, run.id, *run.tags, run.started_by, *(one.words for one in effects))).casefold()
        return all(word in told for word in self.text.casefold().split())


EVERYTHING = InboxFilter()


def may_decide(person: Approver, run: RunSummary) -> bool:
    """Whether the rules that a request was shown under let a person decide it, who has not approved it yet."""
    review = run.review or OpenReview(0)
    rules = people_rules(map(ApproverRule.from_json, review.rules), review.escalated_s)
    voted = {Approver.of_label(label).person for label in review.voters}
    return person.person not in voted and (not rules or approver_refusal(rules, person, review.askers) is None)
