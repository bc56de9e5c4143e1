"""Drawings of a plan: for terminals, as Mermaid and as SVG.

All three take a plan and, where it runs, step id -> status; a step that is not named there is pending.
"""

from graph.text.drawing.mermaid import plan_mermaid
from graph.text.drawing.svg import plan_svg
from graph.text.drawing.text import plan_text

__all__ = ["plan_mermaid", "plan_svg", "plan_text"]
