"""The people of a run: who asked for what is decided, what they gave, and who has voted on the open request."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import Decided, RunForked, Voted
from planner_executor.graph.record.given_value import GivenValue
from planner_executor.graph.record.person import NOBODY, Approver


@dataclass
class People:
    """Who asked, what they gave, and the votes on the open request; changed by events only.

    `askers` are the labels of all who started, steered or retried the run, or wrote a plan or a call of it; who gave a
    value asked for the calls that it reaches, see `askers_of`. `acted` are those who answered or steered. `values` has
    the last value of each name, such as that of a step. `votes` has the last vote of each person on the request with
    this subject.
    """

    askers: tuple[str, ...] = ()
    acted: dict[str, None] = field(default_factory=dict)
    values: dict[str, GivenValue] = field(default_factory=dict)
    votes: dict[str, dict[str, Voted]] = field(default_factory=dict)

    @property
    def starter(self) -> str:
        """The label of who started the run."""
        return self.askers[0] if self.askers else str(NOBODY)

    def asked(self, label: str | None) -> None:
        """Add somebody who asked; a record of an earlier release does not say who."""
        self.askers = tuple(dict.fromkeys((*self.askers, label or str(NOBODY))))

    def has_acted(self, label: str) -> None:
        """Note who answered or steered."""
        if label:
            self.acted[label] = None

    def askers_of(self, plan: Plan, steps: Collection[str]) -> tuple[str, ...]:
        """Return the labels of all who asked for the calls of these steps of a plan."""
        gave = (one for one in self.values.values() if not one.asked_for(plan).isdisjoint(steps))
        return tuple(dict.fromkeys([*self.askers, *(label for one in gave for label in one.by)]))

    def gave(self, name: str, value: GivenValue) -> None:
        """Keep a value in place of the one of this name before."""
        self.values[name] = value

    def forked(self, seq: int, data: RunForked) -> None:
        """Take over who asked for the run that is forked, and what they gave it (decision 136)."""
        for label in data.askers:
            self.asked(label)
        self.values |= {name: GivenValue.from_json(value, seq) for name, value in data.values.items()}

    def voted(self, data: Voted) -> None:
        """Count a vote in place of the person's one before."""
        # By the person, not by the label: two spellings of a name are one vote.
        self.votes.setdefault(data.subject, {})[Approver.of_label(data.approver, data.roles).person] = data

    def decided(self, data: Decided) -> None:
        """Close the vote; the author of a proposal counts as one who asked for the run."""
        if data.decision == "propose":
            self.asked(data.approver)
        self.votes.clear()

    def closed(self) -> None:
        """Close the vote without a decision: who votes on a later request has to have seen that one."""
        self.votes.clear()

    def voters(self, subject: str, says: str) -> Mapping[str, Approver]:
        """Return who voted for the same on the request with this subject, by person."""
        votes = self.votes.get(subject, {}).items()
        return {person: Approver.of_label(vote.approver, vote.roles) for person, vote in votes if vote.says == says}
