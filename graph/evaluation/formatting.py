"""Formatting of measured values, shared by tables and the chart."""

from planner_executor.graph.evaluation.intervals import Interval


def format_value(measure: str, value: float) -> str:
    """Return a value as text, in the unit and precision of its measure.

    >>> [format_value("tokens", value) for value in (12345.6, 12.0, 1.25, 0.0123, -0.0)]
    ['12,346', '12', '1.2', '0.012', '0']
    >>> format_value("success", 0.5), format_value("cost_usd", 1.234)
    ('50 %', '1.23')
    """
    if measure == "success":
        return f"{100 * value:.0f} %"
    if abs(value) < 1:
        return f"{value + 0.0:.2g}"  # adding 0.0 turns -0.0 into 0.0
    if measure == "cost_usd":
        return f"{value:.2f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}".removesuffix(".0")


def format_interval(measure: str, interval: Interval, *, signed: bool = False) -> str:
    """Return a value and its bounds as text.

    >>> format_interval("tokens", Interval(120.0, 100.0, 140.0))
    '120 (100 to 140)'
    >>> format_interval("success", Interval(0.25, -0.05, 0.5), signed=True)
    '+25 % (-5 % to +50 %)'
    """

    def signed_value(value: float) -> str:
        return ("+" if signed and value > 0 else "") + format_value(measure, value)

    if interval.low is None or interval.high is None:
        return signed_value(interval.value)
    return f"{signed_value(interval.value)} ({signed_value(interval.low)} to {signed_value(interval.high)})"
