"""What a run waits for, and what it may spend, as the ledger has it."""

from collections.abc import Mapping
from typing import Any

from graph.cli.run_lookup import RecordedRun
from graph.record.budget import Budget, read_budget
from graph.record.events import ReviewRequested
from graph.record.values import to_text
from graph.review.response import describe_action
from graph.sanitize import escaped, one_line

VALUE_CHARACTERS = 500


def asked(found: RecordedRun) -> list[Mapping[str, Any]]:
    """Return what the open request asks about, as it was shown; of a plan its name only, since it stands above."""
    if found.record.request is None:
        return []
    shown = next(event.data for event in reversed(found.events) if isinstance(event.data, ReviewRequested))
    plan = [{"name": "run_plan", "args": {}}] if "run_plan" in shown.asked else []
    return [*plan, *shown.actions]


def asked_line(action: Mapping[str, Any]) -> str:
    """Return what is asked on one line, with the arguments of a call."""
    args = action["args"].get("args")
    return f"{escaped(describe_action(action))}{f' {one_line(to_text(args), VALUE_CHARACTERS)}' if args else ''}"


def bounds(found: RecordedRun) -> Budget:
    """Return what the run may spend: its budget within the hard limits of the policy it went on under last."""
    policy = found.record.configuration.settings.get("policy", {})
    return found.record.budget.within(read_budget(policy.get("limits", {}))[0])
