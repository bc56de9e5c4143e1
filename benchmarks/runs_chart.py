"""What looking at runs costs, by how many there are, as a bar chart."""

from html import escape

from benchmarks.chart import DARK, LIGHT
from benchmarks.many_runs import LIMIT_MS, Looked

LEFT, WIDTH, BAR, GAP, TOP = 250, 860, 13, 14, 66
LONGEST = WIDTH - LEFT - 90


def runs_chart_svg(looked: Looked) -> str:
    """Return a group of bars for each look; the longest bar there may be stands for the limit."""
    counts = list(next(iter(looked.looks_ms.values())))
    body, y = _legend(counts), TOP
    for what, by_count in looked.looks_ms.items():
        body.append(_text(LEFT - 10, y + BAR * len(counts) / 2 + 4, what, "end"))
        for number, ms in enumerate(by_count.values()):
            long = max(1.0, LONGEST * ms / LIMIT_MS)
            body.append(
                f'<rect class="s{number}" x="{LEFT}" y="{y}" width="{long:.1f}" height="{BAR - 2}" rx="2"/>'
                + _text(LEFT + long + 6, y + BAR - 3, f"{ms:.2g} ms")
            )
            y += BAR
        y += GAP
    limit = LEFT + LONGEST
    body.append(
        f'<path class="limit" d="M{limit} {TOP - 8}V{y - GAP + 4}"/>' + _text(limit, TOP - 12, "50 ms", "middle")
    )
    title = "Processor time of a look, by the number of runs in the database"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}">',
            f"<title>{title}; shorter is better</title>",
            f"<style>{_style()}</style>",
            _text(16, 24, title, kind="title"),
            *body,
            "</svg>\n",
        ]
    )


def _legend(counts: list[int]) -> list[str]:
    found = []
    for number, count in enumerate(counts):
        x = 16 + 130 * number
        found.append(f'<rect class="s{number}" x="{x}" y="36" width="12" height="12" rx="2"/>')
        found.append(_text(x + 18, 46, f"{count:,} runs"))
    return found


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "name") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _style() -> str:
    bars = [
        "".join(f".s{number}{{fill:{colour}}}" for number, colour in enumerate(colours)) for colours in (LIGHT, DARK)
    ]
    words = "text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}"
    line = ".limit{stroke:#8c959f;stroke-dasharray:4 3}"
    return f"{words}{line}{bars[0]}@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}{bars[1]}}}"
