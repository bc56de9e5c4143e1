"""The people of a run: who asked for what is decided, and who has voted on the open request."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.record.events import Decided, Voted
from graph.record.person import NOBODY, Approver


@dataclass
class People:
    """Who asked, and the votes on the open request; changed by events only.

    `askers` are the labels of all who started, steered or retried the run, or wrote a plan or a call of it. `votes` has
    the last vote of each person on the request with this subject.
    """

    askers: tuple[str, ...] = ()
    votes: dict[str, dict[str, Voted]] = field(default_factory=dict)

    @property
    def starter(self) -> str:
        """The label of who started the run."""
        return self.askers[0] if self.askers else str(NOBODY)

    def asked(self, label: str | None) -> None:
        """Add somebody who asked; a record of an earlier release does not say who."""
        self.askers = tuple(dict.fromkeys((*self.askers, label or str(NOBODY))))

    def voted(self, data: Voted) -> None:
        """Count a vote in place of the person's one before."""
        person = Approver.of_label(data.approver, data.roles).person
        self.votes.setdefault(data.subject, {})[person] = data

    def decided(self, data: Decided) -> None:
        """Close the vote; the author of a proposal counts as one who asked, who rejects with words does not.

        See decision 99.
        """
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
