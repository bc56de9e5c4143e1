"""One step's box in the SVG drawing: icon, id, who does it, objective, status."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from graph.plan.checks import check_in_words
from graph.plan.schema import Step
from graph.text.drawing.labels import cut, plain
from graph.text.drawing.lettering import MONO, mono, sans, wrapped
from graph.text.drawing.statuses import LOOKS
from graph.text.drawing.step_kind import ROLES, Kind, checks, doer, kind_of, material

WIDTH = 244
INK, FAINT = "#0f172a", "#475569"
_PADDING = 14
_TEXT_X = 51
_LINES_Y, _LINE = 65, 16.5
_PART = 120
"""Room for the name of the step that this one is a part of."""

_COLOURS: Mapping[Kind, tuple[str, str]] = {
    "tool": ("#0f766e", "#ccfbf1"),
    "model": ("#6d28d9", "#ede9fe"),
    "reasoning": ("#475569", "#e2e8f0"),
    "ask": ("#b45309", "#fef3c7"),
    "gate": ("#b45309", "#fef3c7"),
    "refine": ("#1d4ed8", "#dbeafe"),
    "gather": ("#475569", "#e2e8f0"),
}

_ICONS: Mapping[Kind, str] = {
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
    "ask": (
        '<path d="M17 18.5h18a2 2 0 0 1 2 2v9.5a2 2 0 0 1-2 2h-8l-5 4.5v-4.5h-5a2 2 0 0 1-2-2v-9.5a2 2 0 0 1 2-2z" '
        'fill="none" stroke="#b45309" stroke-width="2"/>'
        '<path d="M24 23.4q0-2 2.1-2t2.1 1.9q0 1.3-2.1 2.3v1.2" fill="none" stroke="#b45309" stroke-width="1.7"/>'
        '<circle cx="26.1" cy="29.2" r="1.1" fill="#b45309"/>'
    ),
    "gate": (
        '<path d="M17.5 36v-17M17.5 22h17.5M17.5 27.5h17.5" fill="none" stroke="#b45309" stroke-width="2.4"/>'
        '<path d="M22 22l-3 5.5M28 22l-3 5.5M34 22l-3 5.5" stroke="#b45309" stroke-width="1.8"/>'
    ),
    "refine": (
        '<path d="M20 27h5M25 19.5v15M25 19.5h5M25 27h5M25 34.5h5" fill="none" stroke="#1d4ed8" stroke-width="1.8"/>'
        '<circle cx="18" cy="27" r="3" fill="#1d4ed8"/><circle cx="33" cy="19.5" r="2.4" fill="#1d4ed8"/>'
        '<circle cx="33" cy="27" r="2.4" fill="#1d4ed8"/><circle cx="33" cy="34.5" r="2.4" fill="#1d4ed8"/>'
    ),
    "gather": (
        '<path d="M22 19.5h4v15h-4M22 27h11" fill="none" stroke="#475569" stroke-width="1.8"/>'
        '<circle cx="19" cy="19.5" r="2.4" fill="#475569"/><circle cx="19" cy="27" r="2.4" fill="#475569"/>'
        '<circle cx="19" cy="34.5" r="2.4" fill="#475569"/><path d="M31 23l4.5 4-4.5 4z" fill="#475569"/>'
    ),
}
"""A gear, a spark, a thought; a question, a barrier; one that becomes several, and several that become one."""


def objective_lines(step: Step) -> list[str]:
    """Return the objective as it stands in the box."""
    return wrapped(plain(step.objective), WIDTH - 2 * _PADDING, 3, sans(12.5))


def box_height(lines: int) -> int:
    """Return the height of boxes whose objectives take so many lines; even, so that its middle is a whole pixel."""
    return 2 * round((_LINES_Y + _LINE * (lines - 1) + 14) / 2)


@dataclass(frozen=True)
class Face:
    """What a box shows: the step, its objective in lines, its status, what it waits for, and whether it is a part."""

    step: Step
    lines: list[str]
    word: str | None
    waits: tuple[str, ...]
    is_part: bool = False


def box(face: Face, corner: tuple[int, int], height: int) -> str:
    """Return the box as an SVG group."""
    step, kind = face.step, kind_of(face.step)
    colour, tint = _COLOURS[kind]
    room, checked = WIDTH - _TEXT_X - _PADDING, checks(step)
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
        f"{escape(cut(step.id, room - sans(10.5)(checked), mono(13)))}</text>{_corner(checked)}"
        f'<text x="{_TEXT_X}" y="41" font-family="{MONO}" font-size="11" fill="{colour}">'
        f"{escape(cut(doer(step), room, mono(11)))}</text>"
        f"{lines}{_badge(face.word) if face.word else ''}{_part(str(step.parent)) if face.is_part else ''}</g>"
    )


def _corner(words: str) -> str:
    end = WIDTH - _PADDING
    return f'<text x="{end}" y="25" font-size="10.5" text-anchor="end" fill="{FAINT}">{words}</text>' if words else ""


def _frame(kind: Kind, word: str | None) -> str:
    dashes = ' stroke-dasharray="5 4"' if kind in ("reasoning", "refine") else ""
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
        f"{ROLES[kind_of(step)]}: {doer(step)}",
        f"with: {cut(material(step), 400)}" if material(step) else "",
        f"waits for: {cut(', '.join(face.waits), 400)}" if face.waits else "",
        f"succeeds if: {plain(step.success_criteria)}" if step.success_criteria else "",
        *(f"is checked: {cut(plain(check_in_words(check)), 200)}" for check in step.checks),
        f"part of: {step.parent}" if face.is_part else "",
    ]
    return "\n".join(line for line in lines if line)
