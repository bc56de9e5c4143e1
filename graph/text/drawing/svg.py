"""A plan as an SVG picture, for pages, notebooks and READMEs.

The picture carries no ids, styles or scripts, so that many of them can stand in one page.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from graph.plan.schedule import Waits
from graph.plan.schema import Plan
from graph.text.drawing.box import FAINT, WIDTH, Face, box, box_height, objective_lines
from graph.text.drawing.labels import answer_text, cut, plain, waits_within
from graph.text.drawing.layout import SWING, Layout, Point, laid_out
from graph.text.drawing.lettering import SANS, sans, wrapped
from graph.text.drawing.statuses import LOOKS, status_of
from graph.text.drawing.step_words import checks, depths, doer

_LINE, _HEAD = "#8492a6", "#64748b"
_HEAD_LENGTH = 9
_SHRINKS_BELOW = 2000
"""Wider pictures keep their size in a page and scroll; their text would be too small to read."""

_DESCRIBED = 50
"""Steps in the description that screen readers speak."""


def plan_svg(plan: Plan, status: Mapping[str, str] | None = None) -> str:
    """Return a layered drawing: each step below, or to the right of, its dependencies.

    The same plan gives the same text. If steps have very many dependencies, edges implied by longer chains are left
    out, and the description states this.
    """
    words = {step.id: status_of(step.id, status) for step in plan.steps}
    if not plan.steps:
        return _without_steps(plan)
    waits = waits_within(plan)
    objectives = [objective_lines(step) for step in plan.steps]
    layout = laid_out(waits, WIDTH, [box_height(len(lines)) for lines in objectives])
    depth = depths(plan)
    boxes = (
        box(
            Face(step, lines, words[step.id], waits[step.id], depth[step.id] > 0),
            layout.corner(node),
            layout.box(node)[1],
        )
        for node, (step, lines) in enumerate(zip(plan.steps, objectives, strict=True))
    )
    parts = [*_lines(layout), *_far_lines(layout), *boxes, *_heads(layout)]
    return _picture(layout.extent, _name(words), _description(plan, waits, layout.layers.implied), parts)


def _picture(extent: Point, name: str, description: str, parts: list[str]) -> str:
    width, height = extent
    shrinks = ' style="max-width:100%;height:auto"' if width < _SHRINKS_BELOW else ""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(name)}" font-family="{SANS}"{shrinks}>'
    )
    card = f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="14" fill="#fdfdfe" stroke="#e2e8f0"/>'
    return "\n".join(
        [head, f"<title>{escape(name)}</title>", f"<desc>{escape(description)}</desc>", card, *parts, "</svg>\n"]
    )


def _lines(layout: Layout) -> Iterator[str]:
    """Yield one path per step: all edges that leave it, bends included."""
    layers = layout.layers
    pieces: dict[str, list[str]] = {}
    for node, belows in enumerate(layers.below):
        if belows:
            path = pieces.setdefault(layers.owner.get(node) or layers.steps[node], [])
            if layers.is_bend(node):
                path.append(_straight(layout.entry(node), layout.exit(node)))
            path.extend(_curve(layout, node, below) for below in belows)
    for step, path in pieces.items():
        yield f'<path data-from="{step}" d="{"".join(path)}" fill="none" stroke="{_LINE}" stroke-width="1.6"/>'


def _straight(start: Point, end: Point) -> str:
    return f"M{start[0]} {start[1]}L{end[0]} {end[1]}"


def _curve(layout: Layout, upper: int, lower: int) -> str:
    (x1, y1), (x2, y2) = layout.exit(upper), layout.entry(lower)
    short = 0 if layout.layers.is_bend(lower) else _HEAD_LENGTH - 1
    if layout.rightwards:
        middle = (x1 + x2) // 2
        return f"M{x1} {y1}C{middle} {y1} {middle - short} {y2} {x2 - short} {y2}"
    middle = (y1 + y2) // 2
    return f"M{x1} {y1}C{x1} {middle} {x2} {middle - short} {x2} {y2 - short}"


def _far_lines(layout: Layout) -> Iterator[str]:
    """Yield edges that pass too many layers for bends: each one swings out sideways in one curve."""
    number = {step: node for node, step in enumerate(layout.layers.steps)}
    for before, after in layout.layers.far:
        (x1, y1), (x2, y2) = layout.exit(number[before]), layout.entry(number[after])
        if layout.rightwards:
            x2 -= _HEAD_LENGTH - 1
            handles = f"{x1 + SWING} {y1 + SWING} {x2 - SWING} {y2 + SWING}"
        else:
            y2 -= _HEAD_LENGTH - 1
            handles = f"{x1 + SWING} {y1 + SWING} {x2 + SWING} {y2 - SWING}"
        yield (
            f'<path data-from="{before}" d="M{x1} {y1}C{handles} {x2} {y2}" fill="none" '
            f'stroke="{_LINE}" stroke-width="1.2" stroke-dasharray="2 4"/>'
        )


def _heads(layout: Layout) -> Iterator[str]:
    """Yield one arrowhead per step that waits for another."""
    layers = layout.layers
    far = {after for _, after in layers.far}
    for node, step in enumerate(layers.steps):
        if layers.above[node] or step in far:
            x, y = layout.entry(node)
            wings = (
                f"{x - _HEAD_LENGTH} {y - 5}L{x - _HEAD_LENGTH} {y + 5}"
                if layout.rightwards
                else f"{x - 5} {y - _HEAD_LENGTH}L{x + 5} {y - _HEAD_LENGTH}"
            )
            yield f'<path d="M{x} {y}L{wings}z" fill="{_HEAD}"/>'


def _name(words: Mapping[str, str | None]) -> str:
    name = f"Plan of {len(words)} step{'s' * (len(words) != 1)}"
    counts = Counter(word for word in words.values() if word)
    told = ", ".join(f"{counts[word]} {word}" for word in LOOKS if counts[word])
    return f"{name}: {told}" if told else name


def _description(plan: Plan, waits: Waits, implied: int) -> str:
    told, depth = [], depths(plan)
    for step in plan.steps[:_DESCRIBED]:
        after = f", after {cut(', '.join(waits[step.id]), 200)}" if waits[step.id] else ""
        part = f", part of {step.parent}" if depth[step.id] else ""
        checked = f", {checks(step)}" if step.checks else ""
        told.append(f"{step.id} ({doer(step)}{checked}{part}{after}): {cut(plain(step.objective), 200)}")
    if len(plan.steps) > _DESCRIBED:
        told.append(f"And {len(plan.steps) - _DESCRIBED} more steps.")
    if implied:
        told.append(f"{implied} edges that follow from longer chains are not drawn.")
    return "\n".join(told)


def _without_steps(plan: Plan) -> str:
    answer = f"Answer: {answer_text(plan)}"
    lines = ["No steps.", *wrapped(answer, 400, 3, sans(13))]
    texts = [
        f'<text x="24" y="{40 + 20 * number}" font-size="13" fill="{FAINT}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    ]
    return _picture((448, 40 + 20 * len(lines)), "Plan without steps", answer, texts)
