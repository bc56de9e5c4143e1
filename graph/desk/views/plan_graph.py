"""The plan as a layered graph for a page: styled by classes, so that it follows the theme and the live status."""

from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from urllib.parse import quote

from markupsafe import Markup

from graph.plan.kinds.table import kind_spec
from graph.plan.schedule import Waits, levels
from graph.plan.schema import Plan, Step
from graph.text.drawing.box import WIDTH, box_height, objective_lines
from graph.text.drawing.edges import far_lines, heads, lines
from graph.text.drawing.grid import in_grid
from graph.text.drawing.icons import ICONS
from graph.text.drawing.labels import cut_middle, waits_within
from graph.text.drawing.layout import estimated_extent, laid_out
from graph.text.drawing.lettering import mono
from graph.text.drawing.statuses import LOOKS
from graph.text.drawing.step_words import doer
from graph.text.drawing.svg import LONG, LONGEST

TERSE_FROM = 60
"""With so many steps an objective has one line."""
TEXT_X, PADDING = 44, 14
ROOM = WIDTH - TEXT_X - PADDING


def plan_graph(plan: Plan, statuses: Mapping[str, str], link: str) -> Markup:
    """Return the graph as SVG; a step leads to `link` and its id. Screen readers have the list of steps instead."""
    if not plan.steps:
        return Markup("")
    waits = waits_within(plan)
    terse = len(plan.steps) >= TERSE_FROM
    objectives = {step.id: objective_lines(step, 1 if terse else 2) for step in plan.steps}
    extent, parts = (_folded if _is_long(waits) else _layered)(plan, waits, objectives, statuses, link)
    width, height = extent
    head = (
        f'<svg class="plan-graph" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'aria-hidden="true" focusable="false">'
    )
    return Markup("\n".join([head, *parts, "</svg>"]))


Drawn = tuple[tuple[int, int], Iterator[str]]


def _is_long(waits: Waits) -> bool:
    width, height = estimated_extent(list(Counter(levels(waits).values()).values()), WIDTH)
    return max(width, height) > LONGEST or (max(width, height) > LONG and max(width, height) > 3.5 * min(width, height))


def _layered(
    plan: Plan, waits: Waits, objectives: Mapping[str, list[str]], statuses: Mapping[str, str], link: str
) -> Drawn:
    layout = laid_out(waits, WIDTH, [box_height(len(objectives[step.id])) for step in plan.steps])

    def parts() -> Iterator[str]:
        yield '<g class="edges">'
        yield from lines(layout)
        yield from far_lines(layout)
        yield "</g>"
        for node, step in enumerate(plan.steps):
            yield _box(step, objectives[step.id], statuses, link, layout.corner(node), layout.box(node)[1])
        yield '<g class="heads">'
        yield from heads(layout)
        yield "</g>"

    return layout.extent, parts()


def _folded(
    plan: Plan, waits: Waits, objectives: Mapping[str, list[str]], statuses: Mapping[str, str], link: str
) -> Drawn:
    from graph.text.drawing.wires import wire_heads, wires

    height = max(box_height(len(lines)) for lines in objectives.values())
    grid = in_grid(waits, WIDTH, height)

    def parts() -> Iterator[str]:
        yield '<g class="edges">'
        yield from wires(grid)
        yield "</g>"
        for step in plan.steps:
            yield _box(step, objectives[step.id], statuses, link, grid.corner(step.id), height)
        yield '<g class="heads">'
        yield from wire_heads(grid)
        yield "</g>"

    return grid.extent, parts()


def _box(
    step: Step,
    objective: list[str],
    statuses: Mapping[str, str],
    link: str,
    corner: tuple[int, int],
    height: int,
) -> str:
    look, status = kind_spec(step.kind).look(step), statuses.get(step.id, "pending")
    texts = "".join(
        f'<text class="objective" x="{PADDING}" y="{65 + 16.5 * number:g}">{escape(line)}</text>'
        for number, line in enumerate(objective)
    )
    mark = LOOKS[status].mark if status in LOOKS else ""
    return (
        f'<a href="{escape(link + quote(step.id))}" tabindex="-1">'
        f'<g class="node{" open-work" if look.dashed else ""}" data-step="{step.id}" data-status="{escape(status)}" '
        f'transform="translate({corner[0]} {corner[1]})">'
        f'<rect class="box" width="{WIDTH}" height="{height}" rx="8"/>'
        f'<rect class="stripe" x="0" y="10" width="4" height="{height - 20}" rx="2"/>'
        f'<g class="icon" transform="translate(-1.5 -2) scale(.95)">{ICONS[look.icon].svg}</g>'
        f'<text class="id" x="{TEXT_X}" y="25">{escape(cut_middle(step.id, ROOM - 24, mono(13)))}</text>'
        f'<text class="mark" x="{WIDTH - PADDING}" y="25" text-anchor="end">{mark}</text>'
        f'<text class="doer" x="{TEXT_X}" y="42">{escape(cut_middle(doer(step), ROOM, mono(11)))}</text>'
        f"{texts}</g></a>"
    )
