"""The icons of the boxes in the SVG drawing, each with its colours."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner_executor.graph.plan.kinds.spec import Icon


@dataclass(frozen=True)
class IconDrawing:
    """An icon within the box, at its top left: SVG elements, their colour, and the tint behind them."""

    colour: str
    tint: str
    svg: str


ICONS: Mapping[Icon, IconDrawing] = {
    "gear": IconDrawing(
        "#0f766e",
        "#ccfbf1",
        '<circle cx="26" cy="27" r="7" fill="none" stroke="#0f766e" stroke-width="3" stroke-dasharray="2.75 2.75"/>'
        '<circle cx="26" cy="27" r="4.4" fill="none" stroke="#0f766e" stroke-width="2.6"/>',
    ),
    "spark": IconDrawing(
        "#6d28d9",
        "#ede9fe",
        '<path d="M25 18q1.4 7.6 9 9q-7.6 1.4-9 9q-1.4-7.6-9-9q7.6-1.4 9-9z" fill="#6d28d9"/>'
        '<path d="M33 16q.5 2.5 3 3q-2.5.5-3 3q-.5-2.5-3-3q2.5-.5 3-3z" fill="#6d28d9"/>',
    ),
    "thought": IconDrawing(
        "#475569",
        "#e2e8f0",
        '<ellipse cx="26.5" cy="24.5" rx="8.5" ry="6" fill="none" stroke="#475569" stroke-width="2"/>'
        '<circle cx="20.5" cy="33.5" r="2" fill="#475569"/><circle cx="17" cy="37" r="1.2" fill="#475569"/>',
    ),
    "question": IconDrawing(
        "#b45309",
        "#fef3c7",
        '<path d="M17 18.5h18a2 2 0 0 1 2 2v9.5a2 2 0 0 1-2 2h-8l-5 4.5v-4.5h-5a2 2 0 0 1-2-2v-9.5a2 2 0 0 1 2-2z" '
        'fill="none" stroke="#b45309" stroke-width="2"/>'
        '<path d="M24 23.4q0-2 2.1-2t2.1 1.9q0 1.3-2.1 2.3v1.2" fill="none" stroke="#b45309" stroke-width="1.7"/>'
        '<circle cx="26.1" cy="29.2" r="1.1" fill="#b45309"/>',
    ),
    "barrier": IconDrawing(
        "#b45309",
        "#fef3c7",
        '<path d="M17.5 36v-17M17.5 22h17.5M17.5 27.5h17.5" fill="none" stroke="#b45309" stroke-width="2.4"/>'
        '<path d="M22 22l-3 5.5M28 22l-3 5.5M34 22l-3 5.5" stroke="#b45309" stroke-width="1.8"/>',
    ),
    "branches": IconDrawing(
        "#1d4ed8",
        "#dbeafe",
        '<path d="M20 27h5M25 19.5v15M25 19.5h5M25 27h5M25 34.5h5" fill="none" stroke="#1d4ed8" stroke-width="1.8"/>'
        '<circle cx="18" cy="27" r="3" fill="#1d4ed8"/><circle cx="33" cy="19.5" r="2.4" fill="#1d4ed8"/>'
        '<circle cx="33" cy="27" r="2.4" fill="#1d4ed8"/><circle cx="33" cy="34.5" r="2.4" fill="#1d4ed8"/>',
    ),
    "junction": IconDrawing(
        "#475569",
        "#e2e8f0",
        '<path d="M22 19.5h4v15h-4M22 27h11" fill="none" stroke="#475569" stroke-width="1.8"/>'
        '<circle cx="19" cy="19.5" r="2.4" fill="#475569"/><circle cx="19" cy="27" r="2.4" fill="#475569"/>'
        '<circle cx="19" cy="34.5" r="2.4" fill="#475569"/><path d="M31 23l4.5 4-4.5 4z" fill="#475569"/>',
    ),
}
