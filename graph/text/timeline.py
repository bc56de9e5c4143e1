"""A timeline of a run as a drawing: one bar per step, in plan order."""

from collections.abc import Mapping, Sequence
from html import escape

from graph.record.results import StepResult
from graph.text.drawing.labels import plain
from graph.text.drawing.statuses import LOOKS

LEFT, WIDTH, ROW, TOP = 170, 620, 24, 34
MOST_ROWS = 200
INK, FAINT = "#0f172a", "#64748b"


def timeline_svg(steps: Sequence[str], results: Mapping[str, StepResult]) -> str:
    """Return an SVG of the steps' times, at most 200 rows; steps that never started have no bar.

    >>> timeline_svg(["a"], {}).startswith("<svg")
    True
    """
    shown = list(steps)[:MOST_ROWS]
    times = [(r.started_at, r.ended_at) for r in results.values() if r.started_at is not None]
    begin_s = min((start for start, _ in times if start is not None), default=0.0)
    end_s = max((end or start or 0.0 for start, end in times), default=begin_s)
    span_s = max(end_s - begin_s, 1e-6)
    rows = [_row(place, step, results.get(step), begin_s, span_s) for place, step in enumerate(shown)]
    height = TOP + ROW * len(shown) + 12
    cut = f" ({len(steps) - len(shown)} more steps are not drawn)" if len(steps) > len(shown) else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{LEFT + WIDTH + 90}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>Timeline of {len(steps)} steps</title>'
        f'<rect width="100%" height="100%" rx="10" fill="#fdfdfe"/>'
        f'<text x="{LEFT}" y="22" fill="{FAINT}">0 s</text>'
        f'<text x="{LEFT + WIDTH}" y="22" text-anchor="end" fill="{FAINT}">{span_s:.2f} s{cut}</text>'
        f"{''.join(rows)}</svg>"
    )


def _row(place: int, step: str, result: StepResult | None, begin_s: float, span_s: float) -> str:
    y = TOP + ROW * place
    word = result.status if result is not None else "pending"
    colour = LOOKS[word].strong
    name = f'<text x="14" y="{y + 15}" fill="{INK}">{escape(plain(step)[:24])}</text>'
    if result is None or result.started_at is None:
        return f'{name}<text x="{LEFT}" y="{y + 15}" fill="{colour}">{word}</text>'
    ended_at = result.ended_at if result.ended_at is not None else result.started_at
    x = LEFT + WIDTH * (result.started_at - begin_s) / span_s
    width = max(WIDTH * (ended_at - result.started_at) / span_s, 2.0)
    told = f"{step}: {word}, {ended_at - result.started_at:.3f} s" + (f", {result.error}" if result.error else "")
    return (
        f"{name}<g><title>{escape(plain(told))}</title>"
        f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="16" rx="3" fill="{colour}"/></g>'
        f'<text x="{min(x + width + 6, LEFT + WIDTH + 6):.1f}" y="{y + 15}" fill="{colour}">{word}</text>'
    )
