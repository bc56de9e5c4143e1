"""A review request as the ledger has it: what was shown can be shown and decided without its checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner_executor.graph.record.events import ReviewRequested
from planner_executor.graph.review.request_json import GATE, RequestJson, allowed_for, config


def request_on_record(
    run: str, shown: ReviewRequested, plan: Mapping[str, Any], texts: Sequence[str], content: Any, asked_before: int = 0
) -> RequestJson:
    """Return a request in the shape of `graph.review.request.ReviewRequest.to_json`, without estimate and difference.

    Args:
        run: The run's id.
        shown: The event of the request.
        plan: The plan of its revision, which the event leaves out.
        texts: The description of each action, which the event may keep as an artifact.
        content: What was shown as data, None if an earlier release asked.
        asked_before: The number of earlier requests of the run that asked for the same about the same plan.
    """
    found = [dict(action) for action in shown.actions]
    if "run_plan" in shown.asked and not any(action["name"] == "run_plan" for action in found):
        # The plan first, where it stood in the request: `texts` are in that order.
        found.insert(0, {"name": "run_plan", "args": {"plan": dict(plan)}})
    return {
        "action_requests": [{**action, "description": text} for action, text in zip(found, texts, strict=True)],
        "review_configs": [
            config(name := action["name"], allowed_for(name, is_gate=action["args"].get("tool") == GATE))
            for action in found
        ],
        "run": run,
        "revision": shown.revision or 0,
        "digest": shown.digest,
        "issues": [issue.to_json() for issue in shown.issues],
        "error": shown.error,
        **({"review": content} if content is not None else {}),
        **({"asked_before": asked_before} if asked_before else {}),
    }
