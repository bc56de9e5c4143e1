"""Standing approvals: further calls of a tool, or runs of a playbook, that people approved ahead, within bounds.

See decisions 74 and 162.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_executor.graph.record.person import Approver

LONGEST_S = 90 * 86_400.0
"""How long a standing approval holds beyond its run at most, in seconds, unless the policy has another time."""
OF_PLAYBOOKS = ""
"""The tool of standing approvals of playbooks, which are of none."""
OPTIONAL = ("roles", "of_givers", "playbook")


class StandingApproval(NamedTuple):
    """Calls of `tool` with arguments that meet `args` (argument -> constraint as JSON), at most `at_most` of them.

    They hold in the run named `run`, or beyond it until `until` (Unix seconds): in runs that its givers ask for if
    `of_givers`, else in any. `fingerprint` is that of the tool's face and `policy` the digest of the policy when it was
    given; `given_by` are the labels of all who gave it, `roles` those of each by label, None on a record of before.

    One of a playbook is of no tool: `args` bound parameters, `at_most` is a number of runs, and `fingerprint` is that
    of all tools of its plan. `playbook` has its name, version and digest, and `plan`, that of the plan without values.
    """

    id: str
    tool: str
    args: Mapping[str, Mapping[str, Any]]
    at_most: int
    fingerprint: str
    policy: str
    given_by: tuple[str, ...]
    given_at: float
    run: str | None = None
    until: float | None = None
    roles: Mapping[str, tuple[str, ...]] | None = None
    of_givers: bool = False
    playbook: Mapping[str, Any] | None = None

    @property
    def about(self) -> str:
        """What it lets happen, in words: a tool, or a playbook with its version."""
        if self.playbook is None:
            return self.tool
        return f"playbook {self.playbook.get('name')} {self.playbook.get('version')}"

    @property
    def givers(self) -> tuple[Approver, ...]:
        """Those who gave it, with their roles as far as they are on record."""
        roles = self.roles or {}
        return tuple(Approver.of_label(label, roles.get(label, ())) for label in self.given_by)

    def to_json(self) -> dict[str, Any]:
        """Return it as the ledger keeps it."""
        known = {name: value for name, value in self._asdict().items() if name not in OPTIONAL}
        args = {name: _plain(constraint) for name, constraint in self.args.items()}
        roles = {} if self.roles is None else {"roles": {label: list(own) for label, own in self.roles.items()}}
        of_givers = {"of_givers": True} if self.of_givers else {}
        playbook = {} if self.playbook is None else {"playbook": dict(self.playbook)}
        return {**known, "args": args, "given_by": list(self.given_by), **roles, **of_givers, **playbook}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "StandingApproval":
        """Parse the output of `to_json`; one of which a bound was redacted covers nothing.

        Raises:
            KeyError: It is malformed.
        """
        until, at_most, args, by = raw.get("until"), raw["at_most"], raw["args"], raw["given_by"]
        roles = raw.get("roles")
        playbook = raw.get("playbook")
        is_whole = type(at_most) is int and isinstance(until, float | int | None) and isinstance(args, Mapping)
        return cls(
            id=str(raw["id"]),
            tool=raw["tool"],
            args=args if isinstance(args, Mapping) else {},
            at_most=at_most if is_whole else 0,
            fingerprint=raw["fingerprint"],
            policy=raw["policy"],
            given_by=tuple(by) if isinstance(by, list | tuple) else (str(by),),
            given_at=raw["given_at"],
            run=raw.get("run"),
            until=until if isinstance(until, float | int) else None,
            roles=None if roles is None else _roles(roles),
            of_givers=raw.get("of_givers") is not None,  # also if it was redacted
            playbook=playbook if isinstance(playbook, Mapping | None) else {},
        )


class StandingUse(NamedTuple):
    """A standing approval with the keys of the calls that it let through, and who revoked it, if anybody did.

    One of a playbook has the ids of runs among them, which alone are counted.

    `is_replayed`: it lets them through again, since that they were covered was decided when they were recorded.
    """

    approval: StandingApproval
    calls: frozenset[str] = frozenset()
    revoked_by: str | None = None
    is_replayed: bool = False

    @property
    def left(self) -> int:
        """How many further calls it lets through, time aside."""
        return 0 if self.revoked_by is not None else max(0, self.approval.at_most - len(self.calls))

    def holds(self, now: float) -> bool:
        """Whether it lets a further call through at this time, in Unix seconds."""
        return self.left > 0 and (self.approval.until is None or now < self.approval.until)

    def to_json(self) -> dict[str, Any]:
        """Return it as data for people and programs."""
        return {**self.approval.to_json(), "left": self.left, "revoked_by": self.revoked_by}


class StandingCall(NamedTuple):
    """The use of a standing approval, named `approval`, for the call with this key in this run, or for the run."""

    approval: str
    call: str
    run: str


@dataclass
class StandingApprovals:
    """The standing approvals of one run by id; changed by events only.

    A retry and a person's edit of the plan end them: they were given for what the person saw.
    """

    by_id: dict[str, StandingUse] = field(default_factory=dict)

    @property
    def used_here(self) -> tuple[StandingUse, ...]:
        """Those that let calls of this run through, with these calls."""
        return tuple(use for use in self.by_id.values() if use.calls)

    def given(self, approval: StandingApproval) -> None:
        """Add one."""
        self.by_id[approval.id] = StandingUse(approval)

    def revoked(self, name: str, by: str) -> None:
        """End one; one that holds elsewhere is not known here."""
        if name in self.by_id:
            self.by_id[name] = self.by_id[name]._replace(revoked_by=by)

    def used(self, name: str, call: str) -> None:
        """Count a call; a further attempt at the same call is no further use."""
        if name in self.by_id:
            known = self.by_id[name]
            self.by_id[name] = known._replace(calls=known.calls | {call})

    def end(self, why: str) -> None:
        """End all."""
        for name, use in self.by_id.items():
            self.by_id[name] = use._replace(revoked_by=use.revoked_by or why)


def _roles(raw: Any) -> dict[str, tuple[str, ...]]:
    """Return the roles by label; those that were redacted are left out."""
    found = raw.items() if isinstance(raw, Mapping) else ()
    return {label: tuple(map(str, own)) for label, own in found if isinstance(own, list | tuple)}


def _plain(constraint: Any) -> Any:
    return dict(constraint) if isinstance(constraint, Mapping) else constraint
