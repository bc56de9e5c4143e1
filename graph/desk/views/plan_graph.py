"""The plan as a layered graph for a page: styled by classes, so that it follows the theme and the live status."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from markupsafe import Markup

from planner_executor.graph.desk.views.plan_folds import Folds, waits_of
from planner_executor.graph.desk.views.step_marks import ALL, StepMarks
from planner_executor.graph.plain_text.columns import cut_middle
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schedule import levels
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.box import WIDTH, box_height, objective_lines
from planner_executor.graph.text.drawing.edges import far_lines, heads, lines
from planner_executor.graph.text.drawing.grid import in_grid
from planner_executor.graph.text.drawing.icons import ICONS
from planner_executor.graph.text.drawing.labels import waits_within
from planner_executor.graph.text.drawing.layout import laid_out
from planner_executor.graph.text.drawing.lettering import mono
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.drawing.step_words import doer
from planner_executor.graph.text.drawing.svg import is_long
from planner_executor.graph.text.drawing.wires import wire_heads, wires

TERSE_FROM, BARE_FROM = 60, 120
"""With so many nodes an objective has one line, and a step no icon: a browser paints all of them at each change."""
WORST = ("failed", "uncertain", "interrupted", "running", "blocked", "pending", "succeeded", "skipped")
"""The status of a fold is the first of these that one of its steps has."""
TEXT_X, PADDING = 44, 14
ROOM = WIDTH - TEXT_X - PADDING


@dataclass(frozen=True)
class Shown:
    """What of a run a drawing shows: statuses and marks by step, and which steps were looked for, None for all."""

    statuses: Mapping[str, str]
    marks: StepMarks = field(default_factory=dict)
    found: Collection[str] | None = None

    def status(self, step: str) -> str:
        """Return the status of a step; it is pending if it has none."""
        return self.statuses.get(step, "pending")

    def dim(self, steps: Sequence[str]) -> str:
        """Return the class of a node without a step that was looked for."""
        return "" if self.found is None or any(step in self.found for step in steps) else " dim"

    def badges(self, steps: Sequence[str]) -> str:
        """Return the marks of all these steps, on the upper edge of their node."""
        names = {mark for step in steps for mark in self.marks.get(step, ())}
        return "".join(
            f'<g class="mark-{mark.name}" transform="translate({WIDTH - 16 - 22 * place} 0)">'
            f'<circle class="back" r="10"/><path d="{mark.path}"/></g>'
            for place, mark in enumerate(mark for mark in reversed(ALL) if mark in names)
        )


@dataclass(frozen=True)
class NodeDrawing:
    """A step in a drawing: the markup around its classes, status, and the status's mark."""

    step: str
    before: str
    attributes: str
    between: str
    after: str

    def drawn(self, shown: Shown) -> str:
        """Return the markup of the step as it is."""
        status = shown.status(self.step)
        mark = LOOKS[status].mark if status in LOOKS else ""
        return (
            f'{self.before}{shown.dim([self.step])}" data-status="{escape(status)}"{self.attributes}'
            f"{self.between}{mark}{self.after}{shown.badges([self.step])}</g></a>"
        )


@dataclass(frozen=True)
class FoldDrawing:
    """Several steps in a drawing, as one node that leads to them."""

    steps: tuple[str, ...]
    href: str
    corner: tuple[int, int]
    height: int
    layers: str

    def drawn(self, shown: Shown) -> str:
        """Return the markup of the steps as they are: how many have which status."""
        counts = Counter(map(shown.status, self.steps))
        worst = next(filter(counts.__getitem__, WORST), "pending")
        told = "  ".join(f"{look.mark} {counts[word]}" for word, look in LOOKS.items() if counts[word])
        found = f", {sum(step in shown.found for step in self.steps)} match" if shown.found is not None else ""
        return (
            f'<a href="{escape(self.href)}" tabindex="-1">'
            f'<g class="node fold{shown.dim(self.steps)}" data-fold="{self.steps[0]}" data-status="{worst}" '
            f'transform="translate({self.corner[0]} {self.corner[1]})">'
            f'<rect class="box under" x="5" y="5" width="{WIDTH}" height="{self.height}" rx="8"/>'
            f'<rect class="box" width="{WIDTH}" height="{self.height}" rx="8"/>'
            f'<rect class="stripe" x="0" y="10" width="4" height="{self.height - 20}" rx="2"/>'
            f'<text class="id" x="{PADDING}" y="25">{len(self.steps)} steps</text>'
            f'<text class="doer" x="{PADDING}" y="42">{self.layers}{found}</text>'
            f'<text class="objective" x="{PADDING}" y="65">{told}</text>{shown.badges(self.steps)}</g></a>'
        )


@dataclass(frozen=True)
class PlanDrawing:
    """A plan laid out and drawn, except for what changes while it is executed."""

    before: str
    nodes: Sequence[NodeDrawing | FoldDrawing]
    after: str

    def drawn(self, shown: Shown) -> Markup:
        """Return the drawing as SVG. Screen readers have the list of steps."""
        return Markup("\n".join([self.before, *(node.drawn(shown) for node in self.nodes), self.after]))


@dataclass(frozen=True)
class Links:
    """Where nodes lead: `step` is completed by a step's id, `fold` by the id of the first step of a fold."""

    step: str
    fold: str


def drawn_plan(plan: Plan, links: Links, folds: Folds) -> PlanDrawing:
    """Return the drawing of a plan with steps, those of a fold as one node."""
    within = waits_within(plan)
    # Levels of the folds, not of the steps: a fold is one node.
    waits, level = waits_of(folds, within), levels(within)
    is_large = len(folds) >= TERSE_FROM
    objectives = {
        fold[0]: objective_lines(plan.by_id[fold[0]], 1 if is_large else 2) if len(fold) == 1 else [""]
        for fold in folds
    }
    heights = [box_height(len(objectives[fold[0]])) for fold in folds]
    icons = len(folds) < BARE_FROM

    def node(fold: tuple[str, ...], corner: tuple[int, int], height: int) -> NodeDrawing | FoldDrawing:
        if len(fold) == 1:
            return _box(plan.by_id[fold[0]], objectives[fold[0]], links.step, corner, height, icons)
        first, last = 1 + level[fold[0]], 1 + level[fold[-1]]
        layers = f"layer {first}" if first == last else f"layers {first} to {last}"
        return FoldDrawing(fold, links.fold + quote(fold[0]), corner, height, layers)

    # The same choice of layout as in the picture, so that both look alike.
    if is_long(waits):
        height = max(heights)
        grid = in_grid(waits, WIDTH, height)
        extent, edges, ends = grid.extent, list(wires(grid)), list(wire_heads(grid))
        nodes = [node(fold, grid.corner(fold[0]), height) for fold in folds]
    else:
        layout = laid_out(waits, WIDTH, heights)
        extent, edges, ends = layout.extent, [*lines(layout), *far_lines(layout)], list(heads(layout))
        nodes = [node(fold, layout.corner(place), layout.box(place)[1]) for place, fold in enumerate(folds)]
    width, height = extent
    head = (
        f'<svg class="plan-graph{" large" if is_large else ""}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" aria-hidden="true" focusable="false">'
    )
    # Edges below the boxes and arrowheads above them: SVG paints in the order of its text.
    before = "\n".join([head, '<g class="edges">', *edges, "</g>"])
    return PlanDrawing(before, nodes, "\n".join(['<g class="heads">', *ends, "</g>", "</svg>"]))


def _box(step: Step, objective: list[str], link: str, corner: tuple[int, int], height: int, icons: bool) -> NodeDrawing:
    look = kind_spec(step.kind).look(step)
    icon = f'<g class="icon" transform="translate(-1.5 -2) scale(.95)">{ICONS[look.icon].svg}</g>' if icons else ""
    text_x = TEXT_X if icons else PADDING
    texts = "".join(
        f'<text class="objective" x="{PADDING}" y="{65 + 16.5 * number:g}">{escape(line)}</text>'
        for number, line in enumerate(objective)
    )
    before = (
        f'<a href="{escape(link + quote(step.id))}" tabindex="-1"><g class="node{" open-work" if look.dashed else ""}'
    )
    # An id has letters, digits and underscores alone, so it needs no escape; every other text does.
    attributes = f' data-step="{step.id}" transform="translate({corner[0]} {corner[1]})">'
    between = (
        f'<rect class="box" width="{WIDTH}" height="{height}" rx="8"/>'
        f'<rect class="stripe" x="0" y="10" width="4" height="{height - 20}" rx="2"/>'
        f'{icon}<text class="id" x="{text_x}" y="25">{escape(cut_middle(step.id, ROOM - 24, mono(13)))}</text>'
        f'<text class="mark" x="{WIDTH - PADDING}" y="25" text-anchor="end">'
    )
    after = (
        f'</text><text class="doer" x="{text_x}" y="42">{escape(cut_middle(doer(step), ROOM, mono(11)))}</text>{texts}'
    )
    return NodeDrawing(step.id, before, attributes, between, after)
