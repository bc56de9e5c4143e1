"""Drawings of a plan: for terminals, as Mermaid and as SVG.

All three take a plan and, if it runs, step id -> status; a step without a status is pending.
"""

from planner_executor.graph.text.drawing.mermaid import plan_mermaid
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text

__all__ = ["plan_mermaid", "plan_svg", "plan_text"]
