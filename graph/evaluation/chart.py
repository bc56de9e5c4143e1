"""SVG chart that compares the arms, one panel per measure, for light and dark pages."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from planner_executor.graph.evaluation.formatting import format_interval, format_value
from planner_executor.graph.evaluation.intervals import Interval
from planner_executor.graph.evaluation.summary import MEASURES, Summary
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.words.name_list import counted

WIDTH, PANEL, COLUMNS, TOP, FOOT = 900, 290, 3, 84, 30
LABEL, PLOT, ROW, HEAD = 86, 128, 26, 56
LEGEND = "Dots: means over the cases; lines: 95 % confidence intervals. Lower is better, except for success."
LIGHT = ("#9a6700", "#8250df", "#0969da", "#1a7f37", "#bf3989", "#57606a")
DARK = ("#d29922", "#bc8cff", "#58a6ff", "#3fb950", "#f778ba", "#8b949e")
"""Colours of the arms in their order; a seventh arm has that of the first."""


def chart_svg(about: Mapping[str, Any], summary: Summary) -> str:
    """Return the chart: a dot for each arm's value, and a line for its confidence interval."""
    arms = [arm.arm for arm in summary.arms]
    figures = [("success", {arm.arm: arm.success for arm in summary.arms})]
    figures += [(name, {arm.arm: arm.means[name] for arm in summary.arms if name in arm.means}) for name in MEASURES]
    panel = HEAD + ROW * max(len(arms), 1)
    panels = [
        _panel(20 + PANEL * (place % COLUMNS), TOP + panel * (place // COLUMNS), name, found, arms)
        for place, (name, found) in enumerate(figures)
    ]
    title = f"{about['suite']}: {', '.join(arms)}"
    height = TOP + panel * -(-len(figures) // COLUMNS) + FOOT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
            f"<title>{_shown(title)}</title><style>{_style()}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="10"/>',
            _text(20, 30, about["suite"], "title"),
            _text(20, 52, _below_title(about, summary), "faint"),
            *panels,
            _text(20, height - 14, LEGEND, "faint"),
            "</svg>\n",
        ]
    )


def _below_title(about: Mapping[str, Any], summary: Summary) -> str:
    trials = ", ".join(f"{arm.arm} {arm.trials}" for arm in summary.arms)
    models = ", ".join(dict.fromkeys(str(model["model"]) for model in about["models"].values()))
    return f"{counted(len(about['cases']), 'case')} · trials: {trials or 'none'} · {models}"


def _panel(left: float, top: float, name: str, figures: Mapping[str, Interval], arms: Sequence[str]) -> str:
    words = MEASURES.get(name, "success")
    highest = max((max(one.value, one.high or 0.0) for one in figures.values()), default=0.0)
    most = 1.0 if name == "success" else highest or 1.0
    drawn = [_row(left, top + 32 + ROW * row, (row, arm), name, figures.get(arm), most) for row, arm in enumerate(arms)]
    return "\n".join([_text(left, top + 10, words, "name"), *drawn])


def _row(left: float, y: float, row: tuple[int, str], name: str, interval: Interval | None, most: float) -> str:
    place, arm = row
    colour = f"arm{place % len(LIGHT)}"
    label = _text(left, y + 4, arm, "faint")
    start = left + LABEL
    axis = f'<line class="axis" x1="{start}" x2="{start + PLOT}" y1="{y}" y2="{y}"/>'
    if interval is None:
        return label + _text(start, y + 4, "unknown", "faint")

    def x(value: float) -> float:
        return start + PLOT * min(max(value / most, 0.0), 1.0)

    low, high = interval.low, interval.high
    whisker = ""
    if low is not None and high is not None:
        whisker = f'<line class="{colour} line" x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}"/>'
    dot = f'<circle class="{colour}" cx="{x(interval.value):.1f}" cy="{y}" r="4.5"/>'
    hint = f"<title>{_shown(f'{arm}: {format_interval(name, interval)}')}</title>"
    value = _text(start + PLOT + 10, y + 4, format_value(name, interval.value), "value")
    return f"<g>{hint}{label}{axis}{whisker}{dot}{value}</g>"


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{_shown(words)}</text>'


def _shown(words: str) -> str:
    return escape(plain(words))


def _style() -> str:
    letters = (
        "text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}.name{font-weight:600}"
        ".faint{fill:#656d76}.page{fill:#ffffff}.axis{stroke:#d0d7de;stroke-width:1}.line{stroke-width:3}"
    )
    dark = "text{fill:#e6edf3}.faint{fill:#9198a1}.page{fill:#0d1117}.axis{stroke:#3d444d}"
    return f"{letters}{_colours(LIGHT)}@media(prefers-color-scheme:dark){{{dark}{_colours(DARK)}}}"


def _colours(colours: Sequence[str]) -> str:
    return "".join(f".arm{place}{{fill:{colour};stroke:{colour}}}" for place, colour in enumerate(colours))
