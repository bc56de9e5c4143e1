"""Figures as people read them, the same in tables and in the picture."""

from graph.evaluation.intervals import Interval


def figure(measure: str, value: float) -> str:
    """Return a figure.

    >>> [figure("tokens", value) for value in (12345.6, 12.0, 1.25, 0.0123, -0.0)]
    ['12,346', '12', '1.2', '0.012', '0']
    >>> figure("success", 0.5), figure("cost_usd", 1.234)
    ('50 %', '1.23')
    """
    if measure == "success":
        return f"{100 * value:.0f} %"
    if abs(value) < 1:
        return f"{value + 0.0:.2g}"  # the sum has no sign where it is zero
    if measure == "cost_usd":
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}".removesuffix(".0")


def shown(measure: str, interval: Interval, *, signed: bool = False) -> str:
    """Return a figure and its bounds.

    >>> shown("tokens", Interval(120.0, 100.0, 140.0)), shown("success", Interval(0.25, -0.05, 0.5), signed=True)
    ('120 (100 to 140)', '+25 % (-5 % to +50 %)')
    """

    def told(value: float) -> str:
        return ("+" if signed and value > 0 else "") + figure(measure, value)

    if interval.low is None or interval.high is None:
        return told(interval.value)
    return f"{told(interval.value)} ({told(interval.low)} to {told(interval.high)})"
