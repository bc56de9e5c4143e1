"""One step's box in the SVG drawing: icon, id, who does it, objective, status."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from graph.plan.render.labels import arguments, cut, doer, kind_of, plain
from graph.plan.render.lettering import MONO, mono, sans, wrapped
from graph.plan.render.statuses import LOOKS
from graph.plan.schema import Step

WIDTH = 244
INK, FAINT = "#0f172a", "#475569"
_PADDING = 14
_TEXT_X = 51
_LINES_Y, _LINE = 65, 16.5

_COLOURS = {"tool": ("#0f766e", "#ccfbf1"), "model": ("#6d28d9", "#ede9fe"), "reasoning": ("#475569", "#e2e8f0")}

_ICONS: Mapping[str, str] = {
    "tool": (
        '<circle cx="26" cy="27" r="7" fill="none" stroke="#0f766e" stroke-width="3" stroke-dasharray="2.75 2.75"/>'
        '<circle cx="26" cy="27" r="4.4" fill="none" stroke="#0f766e" stroke-width="2.6"/>'
    ),
    "model": (
        '<path d="M25 18q1.4 7.6 9 9q-7.6 1.4-9 9q-1.4-7.6-9-9q7.6-1.4 9-9z" fill="#6d28d9"/>'
        '<path d="M33 16q.5 2.5 3 3q-2.5.5-3 3q-.5-2.5-3-3q2.5-.5 3-3z" fill="#6d28d9"/>'
    ),
    "reasoning": (
        '<ellipse cx="26.5" cy="24.5" rx="8.5" ry="6" fill="none" stroke="#475569" stroke-width="2"/>'
        '<circle cx="20.5" cy="33.5" r="2" fill="#475569"/><circle cx="17" cy="37" r="1.2" fill="#475569"/>'
    ),
}
"""A gear for a tool call, a spark for a model with tools, a thought for a model without."""

_ROLES = {"tool": "tool call", "model": "model with tools", "reasoning": "model without tools"}


def objective_lines(step: Step) -> list[str]:
    """Return the objective as it stands in the box."""
    return wrapped(plain(step.objective), WIDTH - 2 * _PADDING, 3, sans(12.5))


def box_height(lines: int) -> int:
    """Return the height of boxes whose objectives take so many lines; even, so that its middle is a whole pixel."""
    return 2 * round((_LINES_Y + _LINE * (lines - 1) + 14) / 2)


@dataclass(frozen=True)
class Face:
    """What a box shows: the step, its objective in lines, its status and what it waits for."""

    step: Step
    lines: list[str]
    word: str | None
    waits: tuple[str, ...]


def box(face: Face, corner: tuple[int, int], height: int) -> str:
    """Return the box as an SVG group."""
    step, kind = face.step, kind_of(face.step)
    colour, tint = _COLOURS[kind]
    room = WIDTH - _TEXT_X - _PADDING
    lines = "".join(
        f'<text x="{_PADDING}" y="{_LINES_Y + _LINE * number:g}" font-size="12.5" fill="#334155">{escape(line)}</text>'
        for number, line in enumerate(face.lines)
    )
    return (
        f'<g data-step="{step.id}" data-kind="{kind}" transform="translate({corner[0]} {corner[1]})">'
        f"<title>{escape(_tooltip(face))}</title>"
        f'<rect width="{WIDTH}" height="{height}" rx="10" {_frame(kind, face.word)}/>'
        f'<rect x="12" y="13" width="28" height="28" rx="7" fill="{tint}"/>{_ICONS[kind]}'
        f'<text x="{_TEXT_X}" y="25" font-family="{MONO}" font-size="13" font-weight="700" fill="{INK}">'
        f"{escape(cut(step.id, room, mono(13)))}</text>"
        f'<text x="{_TEXT_X}" y="41" font-family="{MONO}" font-size="11" fill="{colour}">'
        f"{escape(cut(doer(step), room, mono(11)))}</text>"
        f"{lines}{_badge(face.word) if face.word else ''}</g>"
    )


def _frame(kind: str, word: str | None) -> str:
    dashes = ' stroke-dasharray="5 4"' if kind == "reasoning" else ""
    if word is None:
        return f'fill="#ffffff" stroke="#94a3b8" stroke-width="1.25"{dashes}'
    look = LOOKS[word]
    return f'fill="{look.pale}" stroke="{look.strong}" stroke-width="1.5"{dashes}'


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


def _tooltip(face: Face) -> str:
    step = face.step
    lines = [
        step.id + (f": {face.word}" if face.word else ""),
        plain(step.objective),
        f"{_ROLES[kind_of(step)]}: {doer(step)}",
        f"arguments: {cut(arguments(step.args), 400)}" if step.args else "",
        f"waits for: {cut(', '.join(face.waits), 400)}" if face.waits else "",
        f"succeeds if: {plain(step.success_criteria)}" if step.success_criteria else "",
    ]
    return "\n".join(line for line in lines if line)
