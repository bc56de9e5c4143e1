"""A plan as an SVG picture, for pages, notebooks and READMEs.

The picture has no ids and no scripts, so that many pictures fit in one page.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from planner_executor.graph.plain_text.columns import cut
from planner_executor.graph.plan.schedule import Waits, levels
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.drawing.box import FAINT, WIDTH, Face, box, box_height, objective_lines
from planner_executor.graph.text.drawing.edges import far_lines, heads, lines
from planner_executor.graph.text.drawing.frame import framed
from planner_executor.graph.text.drawing.grid import in_grid
from planner_executor.graph.text.drawing.labels import answer_text, plain, waits_within
from planner_executor.graph.text.drawing.layout import estimated_extent, laid_out
from planner_executor.graph.text.drawing.lettering import SANS, sans, wrapped
from planner_executor.graph.text.drawing.statuses import LOOKS, status_of
from planner_executor.graph.text.drawing.step_words import checks, depths, doer
from planner_executor.graph.text.drawing.wires import wire_heads, wires
from planner_executor.graph.words.name_list import counted

LONG, LONGEST = 2400, 4000
"""Pixels: longer drawings are folded into rows and columns if they are much longer than broad, or at any rate."""
_ELONGATED = 3.5

_TERSE_FROM = 100
"""With so many steps an objective has one line; its whole text is in the tooltip."""

_DESCRIBED = 50
"""Steps in the description that screen readers speak."""


def plan_svg(plan: Plan, statuses: Mapping[str, str] | None = None) -> str:
    """Return a drawing in layers: each step below, or to the right of, its dependencies.

    A very long drawing is folded: wide levels take several rows, and levels that do not fit below continue at the top,
    to the right. The same plan gives the same text. If steps have very many dependencies, edges implied by longer
    chains are omitted; the description states their number.
    """
    if not plan.steps:
        return _without_steps(plan)
    words = {step.id: status_of(step.id, statuses) for step in plan.steps}
    waits, depth = waits_within(plan), depths(plan)
    objectives = [objective_lines(step, 1 if len(plan.steps) >= _TERSE_FROM else 3) for step in plan.steps]
    faces = [
        Face(step, objective, words[step.id], waits[step.id], depth[step.id] > 0)
        for step, objective in zip(plan.steps, objectives, strict=True)
    ]
    extent, implied, parts = (_folded if is_long(waits) else _layered)(waits, faces)
    return framed(extent, _name(words), _description(plan, waits, implied), SANS, parts)


def is_long(waits: Waits) -> bool:
    """Whether a drawing in layers would be so long that it is folded."""
    # From the sizes of the levels alone: a layout that is then thrown away would cost as much as the drawing.
    shorter, longer = sorted(estimated_extent(list(Counter(levels(waits).values()).values()), WIDTH))
    return longer > LONGEST or (longer > LONG and longer > _ELONGATED * shorter)


def _layered(waits: Waits, faces: Sequence[Face]) -> tuple[tuple[int, int], int, Iterator[str]]:
    """Return size, the number of edges left out, and the parts of a drawing in layers."""
    layout = laid_out(waits, WIDTH, [box_height(len(face.lines)) for face in faces])

    def parts() -> Iterator[str]:
        yield from lines(layout)
        yield from far_lines(layout)
        for node, face in enumerate(faces):
            yield box(face, layout.corner(node), layout.box(node)[1])
        yield from heads(layout)

    return layout.extent, layout.layers.implied, parts()


def _folded(waits: Waits, faces: Sequence[Face]) -> tuple[tuple[int, int], int, Iterator[str]]:
    """Return size, the number of edges left out, and the parts of a drawing in rows and columns."""
    height = max(box_height(len(face.lines)) for face in faces)
    grid = in_grid(waits, WIDTH, height)

    def parts() -> Iterator[str]:
        yield from wires(grid)
        for face in faces:
            yield box(face, grid.corner(face.step.id), height)
        yield from wire_heads(grid)

    return grid.extent, grid.implied, parts()


def _name(words: Mapping[str, str | None]) -> str:
    name = f"Plan of {len(words)} step{'s' * (len(words) != 1)}"
    counts = Counter(word for word in words.values() if word)
    counted = ", ".join(f"{counts[word]} {word}" for word in LOOKS if counts[word])
    return f"{name}: {counted}" if counted else name


def _description(plan: Plan, waits: Waits, implied: int) -> str:
    lines, depth = [], depths(plan)
    for step in plan.steps[:_DESCRIBED]:
        after = f", after {cut(', '.join(waits[step.id]), 200)}" if waits[step.id] else ""
        part = f", part of {step.parent}" if depth[step.id] else ""
        checked = f", {checks(step)}" if step.checks else ""
        lines.append(f"{step.id} ({doer(step)}{checked}{part}{after}): {cut(plain(step.objective), 200)}")
    if len(plan.steps) > _DESCRIBED:
        lines.append(f"And {counted(len(plan.steps) - _DESCRIBED, 'more step')}.")
    if implied:
        lines.append(f"Not drawn: {counted(implied, 'edge')} implied by longer chains.")
    return "\n".join(lines)


def _without_steps(plan: Plan) -> str:
    answer = f"Answer: {answer_text(plan)}"
    lines = ["No steps.", *wrapped(answer, 400, 3, sans(13))]
    texts = [
        f'<text x="24" y="{40 + 20 * number}" font-size="13" fill="{FAINT}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    ]
    return framed((448, 40 + 20 * len(lines)), "Plan without steps", answer, SANS, texts)
