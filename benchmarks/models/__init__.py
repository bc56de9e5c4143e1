"""Forty goals of this repository against any model, checked by code: `python -m benchmarks.models --planner NAME`."""
