"""Drawings of a plan: for terminals, as Mermaid and as SVG.

All three take a plan and, if it runs, step id -> status; a step without a status is pending.
"""
