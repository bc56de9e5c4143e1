"""The plan as a layered graph for a page: styled by classes, so that it follows the theme and the live status."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from markupsafe import Markup

from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schedule import Waits, levels
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.box import WIDTH, box_height, objective_lines
from planner_executor.graph.text.drawing.edges import far_lines, heads, lines
from planner_executor.graph.text.drawing.grid import in_grid
from planner_executor.graph.text.drawing.icons import ICONS
from planner_executor.graph.text.drawing.labels import cut_middle, waits_within
from planner_executor.graph.text.drawing.layout import estimated_extent, laid_out
from planner_executor.graph.text.drawing.lettering import mono
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.drawing.step_words import doer
from planner_executor.graph.text.drawing.svg import LONG, LONGEST

TERSE_FROM, BARE_FROM = 60, 300
"""With so many steps an objective has one line, and a step no icon: a browser paints all of them at each change."""
TEXT_X, PADDING = 44, 14
ROOM = WIDTH - TEXT_X - PADDING


@dataclass(frozen=True)
class NodeDrawing:
    """A step in a drawing: the markup before its status, between that and the status's mark, and after the mark."""

    step: str
    before: str
    between: str
    after: str

    def with_status(self, status: str) -> str:
        """Return the markup of the step in a status."""
        mark = LOOKS[status].mark if status in LOOKS else ""
        return f"{self.before}{escape(status)}{self.between}{mark}{self.after}"


@dataclass(frozen=True)
class PlanDrawing:
    """A plan laid out and drawn, except for the statuses of its steps."""

    before: str
    nodes: Sequence[NodeDrawing]
    after: str

    def with_statuses(self, statuses: Mapping[str, str]) -> Markup:
        """Return the drawing as SVG; a step without a status is pending. Screen readers have the list of steps."""
        nodes = (node.with_status(statuses.get(node.step, "pending")) for node in self.nodes)
        return Markup("\n".join([self.before, *nodes, self.after]))


def drawn_plan(plan: Plan, link: str) -> PlanDrawing:
    """Return the drawing of a plan with steps; a step leads to `link` and its id."""
    waits = waits_within(plan)
    is_large = len(plan.steps) >= TERSE_FROM
    objectives = {step.id: objective_lines(step, 1 if is_large else 2) for step in plan.steps}
    (width, height), edges, nodes, heads = (_folded if _is_long(waits) else _layered)(plan, waits, objectives, link)
    head = (
        f'<svg class="plan-graph{" large" if is_large else ""}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" aria-hidden="true" focusable="false">'
    )
    before = "\n".join([head, '<g class="edges">', *edges, "</g>"])
    return PlanDrawing(before, list(nodes), "\n".join(['<g class="heads">', *heads, "</g>", "</svg>"]))


Drawn = tuple[tuple[int, int], Iterable[str], Iterable[NodeDrawing], Iterable[str]]
"""Width and height, lines, steps, and the heads of the lines."""


def _is_long(waits: Waits) -> bool:
    width, height = estimated_extent(list(Counter(levels(waits).values()).values()), WIDTH)
    return max(width, height) > LONGEST or (max(width, height) > LONG and max(width, height) > 3.5 * min(width, height))


def _layered(plan: Plan, waits: Waits, objectives: Mapping[str, list[str]], link: str) -> Drawn:
    layout = laid_out(waits, WIDTH, [box_height(len(objectives[step.id])) for step in plan.steps])
    icons = len(plan.steps) < BARE_FROM
    nodes = (
        _box(step, objectives[step.id], link, layout.corner(node), layout.box(node)[1], icons)
        for node, step in enumerate(plan.steps)
    )
    return layout.extent, (*lines(layout), *far_lines(layout)), nodes, heads(layout)


def _folded(plan: Plan, waits: Waits, objectives: Mapping[str, list[str]], link: str) -> Drawn:
    from planner_executor.graph.text.drawing.wires import wire_heads, wires

    height = max(box_height(len(lines)) for lines in objectives.values())
    grid = in_grid(waits, WIDTH, height)
    icons = len(plan.steps) < BARE_FROM
    nodes = (_box(step, objectives[step.id], link, grid.corner(step.id), height, icons) for step in plan.steps)
    return grid.extent, wires(grid), nodes, wire_heads(grid)


def _box(step: Step, objective: list[str], link: str, corner: tuple[int, int], height: int, icons: bool) -> NodeDrawing:
    look = kind_spec(step.kind).look(step)
    icon = f'<g class="icon" transform="translate(-1.5 -2) scale(.95)">{ICONS[look.icon].svg}</g>' if icons else ""
    text_x = TEXT_X if icons else PADDING
    texts = "".join(
        f'<text class="objective" x="{PADDING}" y="{65 + 16.5 * number:g}">{escape(line)}</text>'
        for number, line in enumerate(objective)
    )
    before = (
        f'<a href="{escape(link + quote(step.id))}" tabindex="-1">'
        f'<g class="node{" open-work" if look.dashed else ""}" data-step="{step.id}" data-status="'
    )
    between = (
        f'" transform="translate({corner[0]} {corner[1]})">'
        f'<rect class="box" width="{WIDTH}" height="{height}" rx="8"/>'
        f'<rect class="stripe" x="0" y="10" width="4" height="{height - 20}" rx="2"/>'
        f'{icon}<text class="id" x="{text_x}" y="25">{escape(cut_middle(step.id, ROOM - 24, mono(13)))}</text>'
        f'<text class="mark" x="{WIDTH - PADDING}" y="25" text-anchor="end">'
    )
    after = (
        f'</text><text class="doer" x="{text_x}" y="42">{escape(cut_middle(doer(step), ROOM, mono(11)))}</text>'
        f"{texts}</g></a>"
    )
    return NodeDrawing(step.id, before, between, after)
