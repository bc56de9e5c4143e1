"""One step's box in the SVG drawing: icon, id, doer, objective, status."""

from dataclasses import dataclass
from html import escape

from planner_executor.graph.plain_text.columns import cut, cut_middle
from planner_executor.graph.plan.check import describe_check
from planner_executor.graph.plan.kinds.spec import StepStyle
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Step
from planner_executor.graph.text.drawing.icons import ICONS
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.drawing.lettering import MONO, mono, sans, wrapped
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.drawing.step_words import checks, doer, material

WIDTH = 244
INK, FAINT = "#0f172a", "#475569"
_PADDING = 14
_TEXT_X = 51
_LINES_Y, _LINE = 65, 16.5
_PART = 120
"""Height of the line with the name of the parent step."""


def objective_lines(step: Step, most: int) -> list[str]:
    """Return the objective in the box, in at most so many lines."""
    return wrapped(plain(step.objective), WIDTH - 2 * _PADDING, most, sans(12.5))


def box_height(lines: int) -> int:
    """Return the height of a box with this many lines; even, so that its middle is a whole pixel."""
    return 2 * round((_LINES_Y + _LINE * (lines - 1) + 14) / 2)


@dataclass(frozen=True)
class Face:
    """The content of a box: step, lines of the objective, status, dependencies, and whether it has a parent."""

    step: Step
    lines: list[str]
    word: str | None
    waits: tuple[str, ...]
    is_part: bool = False


def box(face: Face, corner: tuple[int, int], height: int) -> str:
    """Return the box as an SVG group."""
    step, look = face.step, kind_spec(face.step.kind).look(face.step)
    picture = ICONS[look.icon]
    sign = STOP if face.word == "blocked" else ""
    room, checked = WIDTH - _TEXT_X - _PADDING, checks(step)
    lines = "".join(
        f'<text x="{_PADDING}" y="{_LINES_Y + _LINE * number:g}" font-size="12.5" fill="#334155">{escape(line)}</text>'
        for number, line in enumerate(face.lines)
    )
    return (
        f'<g data-step="{step.id}" data-kind="{look.name}" transform="translate({corner[0]} {corner[1]})">'
        f"<title>{escape(_tooltip(face))}</title>"
        f'<rect width="{WIDTH}" height="{height}" rx="10" {_frame(look, face.word)}/>'
        f'<rect x="12" y="13" width="28" height="28" rx="7" fill="{picture.tint}"/>{picture.svg}'
        f'<text x="{_TEXT_X}" y="25" font-family="{MONO}" font-size="13" font-weight="700" fill="{INK}">'
        f"{escape(cut_middle(step.id, room - sans(10.5)(checked), mono(13)))}</text>{_corner(checked)}"
        f'<text x="{_TEXT_X}" y="41" font-family="{MONO}" font-size="11" fill="{picture.colour}">'
        f"{escape(cut_middle(doer(step), room, mono(11)))}</text>"
        f"{lines}{sign}{_badge(face.word) if face.word else ''}{_part(str(step.parent)) if face.is_part else ''}</g>"
    )


def _corner(words: str) -> str:
    end = WIDTH - _PADDING
    return f'<text x="{end}" y="25" font-size="10.5" text-anchor="end" fill="{FAINT}">{words}</text>' if words else ""


STOP = (
    f'<circle cx="26" cy="27" r="13" fill="{LOOKS["blocked"].pale}" stroke="{LOOKS["blocked"].strong}" '
    f'stroke-width="3"/><path d="M17 36L35 18" stroke="{LOOKS["blocked"].strong}" stroke-width="3"/>'
)
"""A sign in place of the icon: this step cannot start."""


def _frame(look: StepStyle, word: str | None) -> str:
    dashes = ' stroke-dasharray="5 4"' if look.dashed else ""
    if word is None:
        return f'fill="#ffffff" stroke="#94a3b8" stroke-width="1.25"{dashes}'
    status = LOOKS[word]
    return f'fill="{status.pale}" stroke="{status.strong}" stroke-width="1.5"{dashes}'


def _badge(word: str) -> str:
    strong = LOOKS[word].strong
    back, ink = ("#ffffff", strong) if word == "pending" else (strong, "#ffffff")
    width = round(sans(10.5)(word) + 18)
    left = WIDTH - 12 - width
    return (
        f'<rect x="{left}" y="-9" width="{width}" height="18" rx="9" fill="{back}" stroke="{strong}"/>'
        f'<text x="{left + width / 2:g}" y="3.7" font-size="10.5" font-weight="700" text-anchor="middle" fill="{ink}">'
        f"{word}</text>"
    )


def _part(parent: str) -> str:
    name = cut(f"part of {parent}", _PART, sans(10.5))
    width = round(sans(10.5)(name) + 14)
    return (
        f'<rect x="12" y="-8" width="{width}" height="16" rx="8" fill="#f1f5f9" stroke="#94a3b8"/>'
        f'<text x="19" y="3.7" font-size="10.5" fill="{FAINT}">{escape(name)}</text>'
    )


def _tooltip(face: Face) -> str:
    step = face.step
    lines = [
        step.id + (f": {face.word}" if face.word else ""),
        plain(step.objective),
        f"{kind_spec(step.kind).look(step).role}: {doer(step)}",
        f"with: {cut(material(step), 400)}" if material(step) else "",
        f"waits for: {cut(', '.join(face.waits), 400)}" if face.waits else "",
        f"succeeds if: {plain(step.success_criteria)}" if step.success_criteria else "",
        *(f"is checked: {cut(plain(describe_check(check)), 200)}" for check in step.checks),
        f"part of: {step.parent}" if face.is_part else "",
    ]
    return "\n".join(line for line in lines if line)
