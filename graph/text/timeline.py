"""A timeline of a run as a drawing: one bar per step, in plan order."""

from collections.abc import Mapping
from html import escape

from planner_executor.graph.plain_text.columns import cut_middle
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.text.drawing.frame import framed
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.drawing.lettering import sans
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.words.name_list import counted

LEFT, WIDTH, RIGHT, ROW, TOP = 210, 620, 90, 24, 34
MOST_ROWS = 200
INK, FAINT = "#0f172a", "#64748b"


def timeline_svg(statuses: Mapping[str, str], results: Mapping[str, StepResult]) -> str:
    """Return an SVG of the steps' times; steps that never began have a row without a bar, rows beyond 200 are cut.

    Args:
        statuses: Step id -> status, for every step of the plan, in its order.
        results: Step id -> result, for steps that have begun.

    >>> timeline_svg({"a": "pending"}, {}).startswith("<svg")
    True
    """
    shown = list(statuses.items())[:MOST_ROWS]
    times = [(r.started_at, r.ended_at) for r in results.values() if r.started_at is not None]
    begin_s = min((start for start, _ in times if start is not None), default=0.0)
    end_s = max((end or start or 0.0 for start, end in times), default=begin_s)
    # Times may all be equal; nothing is divided by zero.
    span_s = max(end_s - begin_s, 1e-6)
    rows = [_row(place, step, word, results.get(step), begin_s, span_s) for place, (step, word) in enumerate(shown)]
    rows += [
        f'<text x="{LEFT}" y="22" fill="{FAINT}" font-size="12">0 s</text>',
        f'<text x="{LEFT + WIDTH}" y="22" text-anchor="end" fill="{FAINT}" font-size="12">{span_s:.2f} s</text>',
    ]
    height = TOP + ROW * len(shown) + 12
    if len(statuses) > len(shown):
        rows.append(
            f'<text x="14" y="{height}" fill="{FAINT}" font-size="12">{len(statuses) - len(shown)} more steps</text>'
        )
        height += ROW
    extent = (LEFT + WIDTH + RIGHT, height)
    return framed(extent, f"Timeline of {counted(len(statuses), 'step')}", "", "system-ui, sans-serif", rows)


def _row(place: int, step: str, word: str, result: StepResult | None, begin_s: float, span_s: float) -> str:
    y = TOP + ROW * place
    colour = LOOKS[word].strong
    name = (
        f'<text x="14" y="{y + 15}" font-size="12" fill="{INK}">{escape(cut_middle(plain(step), LEFT - 24, sans(12)))}'
        f"<title>{escape(plain(step))}</title></text>"
    )
    status = f'y="{y + 15}" font-size="12" fill="{colour}">{word}</text>'
    if result is None or result.started_at is None:
        return f'{name}<text x="{LEFT}" {status}'
    ended_at = result.ended_at if result.ended_at is not None else result.started_at
    x = LEFT + WIDTH * (result.started_at - begin_s) / span_s
    # A step of a millisecond is still seen.
    width = max(WIDTH * (ended_at - result.started_at) / span_s, 2.0)
    title = f"{step}: {word}, {ended_at - result.started_at:.3f} s" + (f", {result.error}" if result.error else "")
    return (
        f"{name}<g><title>{escape(plain(title))}</title>"
        f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="16" rx="3" fill="{colour}"/></g>'
        f'<text x="{min(x + width + 6, LEFT + WIDTH + 6):.1f}" {status}'
    )
