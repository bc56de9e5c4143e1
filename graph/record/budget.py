"""Budgets of runs and their usage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from pydantic import AfterValidator, Field, Strict

from planner_executor.graph.words.tables import Number, Says, Shape, fault, read

UNIT: Mapping[str, str] = {
    "model_calls": "model calls",
    "tokens": "tokens",
    "cost_usd": "US dollars",
    "tool_calls": "tool calls",
    "steps": "steps",
    "replans": "replans",
    "wall_s": "seconds of work",
    "elapsed_s": "seconds of elapsed time",
}

UNIT_OF_ONE: Mapping[str, str] = {"wall_s": "second of work", "elapsed_s": "second of elapsed time"}
"""Singular forms that are not the plural without its last letter."""

TIMES = ("wall_s", "elapsed_s")
"""Limits that no call asks for: they are reached as time passes."""
ROUNDING = 1e-9
"""What a sum of amounts may be wrong by; a thousandth of what a token costs."""
MOST = 2**63 - 1


def _fits(limit: Any) -> Any:
    if isinstance(limit, int) and limit > MOST:
        raise fault("is beyond 64 bits; leave it out for no limit")
    return limit


Whole = Annotated[int, Strict(), Field(ge=0), Says("must be an integer >= 0"), AfterValidator(_fits)]
Amount = Annotated[Number, Field(ge=0), Says("must be a number >= 0"), AfterValidator(_fits)]


@dataclass(frozen=True)
class Budget:
    """Limits of a run; None means no limit. `calls` limits single tools by name.

    `tokens` counts prompts and answers, `wall_s` the working time of the run in seconds. `elapsed_s` is its deadline:
    seconds since its start, pauses and the time that people take included.
    """

    model_calls: Whole | None = None
    tokens: Whole | None = None
    cost_usd: Amount | None = None
    tool_calls: Whole | None = None
    steps: Whole | None = None
    replans: Whole | None = None
    wall_s: Amount | None = None
    elapsed_s: Amount | None = None
    calls: Annotated[Mapping[str, Whole], Shape("must be an object: tool -> most calls")] = field(default_factory=dict)

    def of(self, name: str) -> float | None:
        """Return one limit: a field's name, or `calls.<tool>`."""
        found: float | None = self.calls.get(name[6:]) if name.startswith("calls.") else getattr(self, name)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The limits that are set."""
        plain = [name for name in UNIT if getattr(self, name) is not None]
        return (*plain, *(f"calls.{tool}" for tool in self.calls))

    def within(self, other: "Budget") -> "Budget":
        """Return the lower of two budgets, limit by limit."""
        plain = {name: _lower(getattr(self, name), getattr(other, name)) for name in UNIT}
        tools = (*self.calls, *other.calls)
        return Budget(**plain, calls={tool: _lower(self.calls.get(tool), other.calls.get(tool)) for tool in tools})

    def beyond(self, hard: "Budget") -> list[str]:
        """Return the limits that exceed a hard limit, or are unset although the hard limit is set."""
        given = {name: self.of(name) for name in hard.names}
        return [name for name, limit in given.items() if limit is None or limit > (hard.of(name) or 0)]

    @classmethod
    def from_json(cls, raw: Any) -> "Budget":
        """Return the budget on a record; one with faults, as a redaction may leave it, limits nothing."""
        return read_budget(raw)[0]

    def to_json(self) -> dict[str, Any]:
        """Return the limits that are set."""
        plain = {name: getattr(self, name) for name in UNIT if getattr(self, name) is not None}
        return {**plain, **({"calls": dict(self.calls)} if self.calls else {})}


NO_BUDGET = Budget()
NO_LIMIT = "is not a limit of a budget; the limits are {names}"
BudgetTable = Annotated[Budget, Shape("must be an object with some of {names}", NO_LIMIT, is_nullable=True)]


Dollars = Annotated[Number, Field(ge=0), Says("is not a price; write US dollars per million tokens")]


@dataclass(frozen=True)
class Price:
    """The price of a model, in US dollars per million tokens."""

    input: Dollars
    output: Dollars

    def cost_usd(self, input_tokens: int, output_tokens: int) -> float:
        """Return the price of one call."""
        return (self.input * input_tokens + self.output * output_tokens) / 1_000_000

    def to_json(self) -> dict[str, float]:
        """Return the price as the policy file has it."""
        return {"input": self.input, "output": self.output}


@dataclass(frozen=True)
class Usage:
    """Usage of a run, including reservations for calls in progress."""

    model_calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    tool_calls: int = 0
    steps: int = 0
    replans: int = 0
    wall_s: float = 0.0
    elapsed_s: float = 0.0
    calls: Mapping[str, int] = field(default_factory=dict)

    def of(self, name: str) -> float:
        """Return the usage that one limit counts: a field's name, or `calls.<tool>`."""
        found: float = self.calls.get(name[6:], 0) if name.startswith("calls.") else getattr(self, name)
        return found

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "Usage":
        """Parse the output of `to_json`; a number that a redaction changed counts as 0."""
        plain = {name: raw[name] for name in UNIT if isinstance(raw.get(name), int | float)}
        return cls(**plain, calls=dict(raw.get("calls", {})))

    def plus(self, *, calls: Mapping[str, int] | None = None, **more: float) -> "Usage":
        """Return the sum of two usages."""
        changed = dict(vars(self))
        for name, amount in more.items():
            changed[name] += amount
        if calls:
            changed["calls"] = counted = dict(self.calls)
            for tool, count in calls.items():
                counted[tool] = counted.get(tool, 0) + count
        return Usage(**changed)

    def to_json(self) -> dict[str, Any]:
        """Return all non-zero fields."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: dict(value) if name == "calls" else value for name, value in found.items() if value}


NO_USAGE = Usage()


def read_budget(raw: Any) -> tuple[Budget, list[tuple[str, str]]]:
    """Parse a budget from plain data; return it with (field, error) for each fault. A budget with faults is invalid."""
    budget, faults = read(BudgetTable, raw)
    return NO_BUDGET if faults else budget, [(".".join(path) or "budget", why) for path, why in faults]


def limits_of_a_run(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the limits that a policy, as data, sets for each run, without those of a day."""
    return {name: limit for name, limit in policy.get("limits", {}).items() if name != "per_day"}


def exceeds(used: float, more: float, limit: float) -> bool:
    """Whether `more` on top of `used` is beyond a limit; sums of amounts in decimals are not exact.

    >>> 0.1 + 0.1 + 0.1 > 0.3, exceeds(0.1 + 0.1, 0.1, 0.3), exceeds(0.2, 0.100001, 0.3)
    (True, False, True)
    """
    return used + more > limit + ROUNDING


def reached(budget: Budget, usage: Usage, more: Usage) -> str | None:
    """Return the first limit that spending `more` would exceed, or None."""
    for name in budget.names:
        limit, asked = budget.of(name), more.of(name)
        used = usage.of(name)
        # What a call asks nothing of is not in its way, even if more is used by now than a lowered limit allows.
        if limit is not None and (exceeds(used, asked, limit) if asked else name in TIMES and used >= limit):
            return name
    return None


def limit_in_words(name: str, budget: Budget, usage: Usage, aside: Usage = NO_USAGE) -> str:
    """Return the usage of a limit, for a sentence, and what is set aside beside it.

    >>> limit_in_words("calls.send", Budget(calls={"send": 2}), Usage(calls={"send": 2}))
    '2 of 2 calls of send'
    >>> limit_in_words("tokens", Budget(tokens=5_000), Usage(tokens=700), Usage(tokens=1_200))
    '700 of 5000 tokens and 1200 set aside for a model without an answer'
    """
    reserved = f" and {_plain(aside.of(name))} set aside for a model without an answer" if aside.of(name) > 0 else ""
    return f"{_plain(usage.of(name))} of {unit_in_words(name, budget.of(name) or 0)}{reserved}"


def spent_in_words(budget: Budget, usage: Usage, aside: Usage = NO_USAGE) -> str:
    """Return all usage and limits, for a sentence; what is set aside is told beside the limit that counts it.

    >>> spent_in_words(Budget(tool_calls=5), Usage(tool_calls=2, tokens=700, calls={"send": 2}))
    '700 tokens, 2 of 5 tool calls'
    """
    names = [name for name in UNIT if usage.of(name) or name in budget.names]
    names += [name for name in budget.names if name not in UNIT]
    return ", ".join(
        limit_in_words(name, budget, usage, aside) if name in budget.names else unit_in_words(name, usage.of(name))
        for name in names
    )


def unit_in_words(name: str, amount: float) -> str:
    """Return an amount with its unit.

    >>> unit_in_words("cost_usd", 0.25), unit_in_words("calls.send", 2), unit_in_words("steps", 1)
    ('0.25 US dollars', '2 calls of send', '1 step')
    """
    if name.startswith("calls."):
        return f"{_plain(amount)} {'call' if amount == 1 else 'calls'} of {name[6:]}"
    return f"{_plain(amount)} {UNIT[name] if amount != 1 else UNIT_OF_ONE.get(name, UNIT[name][:-1])}"


def _plain(number: float) -> str:
    return f"{number:.4f}".rstrip("0").rstrip(".") if isinstance(number, float) else str(number)


def _lower(one: Any, other: Any) -> Any:
    return min((limit for limit in (one, other) if limit is not None), default=None)
