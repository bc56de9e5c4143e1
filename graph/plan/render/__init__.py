"""Drawings of a plan: for terminals, as Mermaid and as SVG.

All three take a plan and, where it runs, step id -> status; a step that is not named there is pending.
"""

from graph.plan.render.mermaid import plan_mermaid
from graph.plan.render.svg import plan_svg
from graph.plan.render.text import plan_text

__all__ = ["plan_mermaid", "plan_svg", "plan_text"]
