"""What must be reached, and what was measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A limit and what was measured beside it; both in words, `reached` says how they compare."""

    what: str
    must: str
    measured: str
    reached: bool


def at_most(what: str, limit: float, measured: float, unit: str = "", beside: str = "") -> Figure:
    """Return a figure that must not be above its limit.

    >>> at_most("chain", 2, 1.234, " ms", beside="ReAct 12 ms").measured
    '1.23 ms (ReAct 12 ms)'
    """
    words = f"{measured:.3g}{unit}" + (f" ({beside})" if beside else "")
    return Figure(what, f"at most {limit:g}{unit}", words, measured <= limit)
