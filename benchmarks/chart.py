"""The comparison as a bar chart: an SVG that reads on light and on dark pages."""

from collections.abc import Sequence
from html import escape

from benchmarks.comparison import SYSTEMS, Compared

LEFT, RIGHT, BAR, GAP, TOP = 330, 70, 14, 22, 96
WIDTH = 860
LIGHT = ("#0969da", "#8250df", "#1a7f37", "#9a6700", "#cf222e")
DARK = ("#58a6ff", "#bc8cff", "#3fb950", "#d29922", "#ff7b72")
MOST_STEPS = 100  # beyond, most systems are not run
NAMES = [system.name for system in SYSTEMS]


def chart_svg(compared: Sequence[Compared]) -> str:
    """Return how many times longer than the shortest possible each system takes, workload by workload."""
    compared = [one for one in compared if len(one.workload.pieces) <= MOST_STEPS]
    most = max(_slowness(one, name) for one in compared for name in one.costs)
    body, y = [], TOP
    for one in compared:
        body.append(_text(LEFT - 10, y + BAR * len(one.costs) / 2 + 4, one.workload.name, "end"))
        for name in NAMES:
            if name in one.costs:
                body.append(_bar(y, name, _slowness(one, name), most))
                y += BAR
        y += GAP
    head = [_text(16, 24, "Time over the shortest possible: planning once and the critical path", "start", "title")]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" role="img">',
            "<title>Time over the shortest possible, by workload and system; shorter is better</title>",
            f"<style>{_style()}</style>",
            *head,
            *_legend(),
            *body,
            "</svg>\n",
        ]
    )


def _slowness(one: Compared, name: str) -> float:
    return one.costs[name].wall_s / one.shortest_s


def _bar(y: float, name: str, slowness: float, most: float) -> str:
    long = max(2.0, (WIDTH - LEFT - RIGHT) * slowness / most)
    mark = f'<rect class="s{NAMES.index(name)}" x="{LEFT}" y="{y}" width="{long:.1f}" height="{BAR - 2}" rx="2"/>'
    return mark + _text(LEFT + long + 6, y + BAR - 4, f"{slowness:.2f}", "start", "value")


def _legend() -> list[str]:
    parts, x, y = [], 16, 40
    for number, name in enumerate(NAMES):
        if x + 8 * len(name) > WIDTH - 20:
            x, y = 16, y + 20
        parts.append(f'<rect class="s{number}" x="{x}" y="{y}" width="12" height="12" rx="2"/>')
        parts.append(_text(x + 18, y + 10, name))
        x += 40 + 7 * len(name)
    return parts


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "name") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _style() -> str:
    font = (
        "text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}.value{font-size:11px}"
    )
    light = "".join(f".s{number}{{fill:{colour}}}" for number, colour in enumerate(LIGHT))
    dark = "".join(f".s{number}{{fill:{colour}}}" for number, colour in enumerate(DARK))
    return f"{font}{light}@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}{dark}}}"
