"""Standing approvals as a page shows them: bounds, calls left, and the people who gave them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.record.standing_approval import StandingUse

BOUNDS: Mapping[str, str] = {
    "one_of": "one of {}",
    "domains": "at {}",
    "within": "in {}",
    "minimum": "{} or more",
    "maximum": "{} or less",
    "above": "more than {}",
    "below": "less than {}",
    "pattern": "text that matches {}",
    "untrusted_from": "also untrusted, from {}",
}


@dataclass(frozen=True)
class StandingRow:
    """One standing approval; `state` is `holds`, `used up`, `over` or `revoked`."""

    use: StandingUse
    bounds: Sequence[tuple[str, str]]
    state: str


def standing_row(use: StandingUse, now: float) -> StandingRow:
    """Return a standing approval as it stands at a time, in Unix seconds."""
    bounds = [(name, bound_in_words(constraint)) for name, constraint in use.approval.args.items()]
    return StandingRow(use, bounds, _state(use, now))


def bound_in_words(constraint: Mapping[str, Any]) -> str:
    """Return the values that an argument may have.

    >>> bound_in_words({"one_of": ["ann"]}), bound_in_words({"minimum": 1, "maximum": 9}), bound_in_words({})
    ('ann', '1 or more, 9 or less', 'anything')
    """
    return ", ".join(_words(constraint)) or "anything"


def _words(constraint: Mapping[str, Any]) -> Iterator[str]:
    for name, bound in constraint.items():
        parts = [one if isinstance(one, str) else visible_json(one) for one in _listed(bound)]
        text = " or ".join(parts)
        is_alone = name == "one_of" and len(parts) == 1
        yield text if is_alone else BOUNDS.get(name, f"{name} {{}}").replace("{}", text)


def _listed(bound: Any) -> Sequence[Any]:
    return bound if isinstance(bound, list | tuple) else [bound]


def _state(use: StandingUse, now: float) -> str:
    if use.revoked_by is not None:
        return "revoked"
    if not use.left:
        return "used up"
    return "holds" if use.holds(now) else "over"
