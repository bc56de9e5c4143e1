"""Whether payments were made by those who may, read from the events of a run alone."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

KNOWN = ("server:", "os:")


@dataclass(frozen=True)
class Rule:
    """A rule as the policy has it, and the labels of those whom it admits."""

    policy: Mapping[str, Any]
    people: frozenset[str]
    quorum: int = 1
    four_eyes: bool = False

    def is_met(self, voters: Collection[str], askers: Collection[str]) -> bool:
        count = {*voters} & self.people - ({*askers} if self.four_eyes else set())
        unknown = self.four_eyes and not all(asker.startswith(KNOWN) for asker in askers)
        return len(count) >= max(self.quorum, 2 if unknown else 1)


@dataclass(frozen=True)
class Rules:
    """What a policy says of payments: in plans, by themselves, and of runs that may cost more than a bound."""

    plans: Rule | None = None
    calls: Rule | None = None
    cost: Rule | None = None
    above_usd: float = 1.0

    @property
    def policy(self) -> dict[str, Any]:
        tables: dict[str, Any] = {}
        if self.plans is not None:
            tables["tools"] = {"pay": self.plans.policy}
        if self.calls is not None:
            tables["calls"] = {"tools": {"pay": self.calls.policy}}
        if self.cost is not None:
            tables["cost"] = [{"above_usd": self.above_usd, **self.cost.policy}]
        return tables

    def on_calls(self) -> Rule | None:
        return self.calls or self.plans

    def on_cost(self, cost_usd: float | None) -> Rule | None:
        return self.cost if cost_usd is None or cost_usd > self.above_usd else None


@dataclass(frozen=True)
class Given:
    """A value of a person: `step` is the one whose result it is, None for a limit; gates and limits ask for nothing."""

    voters: frozenset[str]
    seq: int
    asks: bool
    step: str | None = None


NOBODY: frozenset[str] = frozenset()


@dataclass
class Oracle:
    """Who asked for payments and who approved them, event by event; `cost_usd` is what the run may cost, at first.

    `are_asked`: the policy asks about each payment.
    """

    rules: Rules
    cost_usd: float | None = None
    askers: list[str] = field(default_factory=list)
    givers: dict[str, Given] = field(default_factory=dict)
    approval: tuple[frozenset[str], int, tuple[str, ...]] = (NOBODY, 0, ())
    seen: dict[str, tuple[frozenset[str], int]] = field(default_factory=dict)
    with_plan: dict[str, tuple[frozenset[str], int]] = field(default_factory=dict)
    standing: dict[str, frozenset[str]] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    are_asked: bool = False
    payments: int = 0

    def read(self, events: Iterable[Any]) -> None:
        for event in events:
            self._apply(event.seq, event.kind, event.step, event.payload)

    def _apply(self, seq: int, kind: str, at: str | None, said: Mapping[str, Any]) -> None:
        match kind:
            case "run_started":
                self.askers.append(said["started_by"])
            case "steered":
                self.askers.append(said["approver"])
            case "plan_revised":
                self.plan = said["plan"]
            case "result_supplied":
                self.givers[f"step {at}"] = Given(frozenset({said["approver"]}), seq, True, at)
            case "standing_given":
                self.standing[said["id"]] = frozenset(said["given_by"])
            case "decided" if said["by"] == "person":
                self._decided(seq, said)
            case "call_started" if said["tool"] == "pay":
                self._paid(seq, str(at), {said["key"], said.get("replaces") or said["key"]}, said.get("approval"))

    def _decided(self, seq: int, said: Mapping[str, Any]) -> None:
        voters = frozenset({*said.get("voters", ()), said["approver"]})
        if said["decision"] == "propose":
            self.askers.append(said["approver"])
            return
        if said["decision"] == "approve":
            self.approval = voters, seq, tuple(self.askers)
        if said.get("with_plan") is not None:
            self.with_plan = {one["key"]: (voters, seq) for one in said["with_plan"]}
        self.seen |= dict.fromkeys(said.get("steps", ()), (voters, seq))
        kinds = {step["id"]: "gate" in step for step in self.plan.get("steps", ())}
        for step in said.get("given", {}):
            self.givers[f"step {step}"] = Given(voters, seq, not kinds.get(step, False), step)
        for key in said.get("replaced", ()):
            self.givers[f"call {key}"] = Given(voters, seq, asks=False)
        for settled in said.get("settled", []):
            self._settled(voters, settled)
        if said.get("budget"):
            self.givers["limit"] = Given(voters, seq, asks=False)
            self.cost_usd = said["budget"].get("cost_usd", self.cost_usd)

    def _settled(self, voters: frozenset[str], settled: Mapping[str, Any]) -> None:
        """Check that whether a payment was made was said by those who decide about single payments."""
        for rule in (self.rules.on_calls(), self.rules.on_cost(self.cost_usd)):
            assert rule is None or rule.is_met(voters, self.askers), f"{settled} was settled by the wrong people"

    def _asked(self, step: str, until: int) -> list[str]:
        """Return who had asked for a step of the plan in force, those who gave it values among them."""
        above = self._above(step)
        gave = (one for one in self.givers.values() if one.asks and one.seq < until and one.step in above)
        return [*self.askers, *(voter for one in gave for voter in one.voters)]

    def _above(self, step: str) -> set[str]:
        """Return the steps that one depends on, itself among them."""
        found, steps = {step}, self.plan.get("steps", ())
        for _ in steps:
            for one in steps:
                if one["id"] in found:
                    found |= {*one.get("depends_on", ())}
                    found |= {other["id"] for other in steps if f"{other['id']}_result" in str(one.get("args"))}
        return found

    def _paid(self, seq: int, step: str, names: set[str], standing: str | None) -> None:
        """Check that a payment, or the plan and each value given after it, was approved by those who may."""
        self.payments += 1
        shown = [self.seen[name] for name in names if name in self.seen]
        shown = shown or [self.with_plan[name] for name in names if name in self.with_plan]
        assert shown or standing is not None or not self.are_asked, "a call was made that the policy asks about"
        own, since = max(shown, key=lambda one: one[1]) if shown else (NOBODY, seq)
        if standing is not None:
            own, shown = self.standing[standing], [(NOBODY, seq)]
        on_cost = self.rules.on_cost(self.cost_usd)
        if shown:
            for rule in (self.rules.on_calls(), on_cost):
                assert rule is None or rule.is_met(own, self._asked(step, since)), (
                    "a call was approved by the wrong people"
                )
        for rule in (self.rules.plans, on_cost):
            if rule is not None and not rule.is_met(own, self._asked(step, since)):
                self._covered(rule, step)

    def _covered(self, rule: Rule, step: str) -> None:
        """Check that a rule on plans was met by those who approved the plan, and who gave each value after that."""
        voters, since, asked = self.approval
        limit = self.givers.get("limit", Given(NOBODY, 0, asks=False))
        is_met = rule.is_met(voters, asked) or rule.is_met(limit.voters, asked)
        assert is_met, "a plan was approved by the wrong people"
        for name, value in self.givers.items():
            if value.seq > since and (value.step is None or value.step in self._above(step)):
                assert rule.is_met(value.voters, asked), f"{name} was given by the wrong people"
