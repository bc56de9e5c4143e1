"""The rules one step at a time: of the plan for the whole goal the next step, or the answer once all are done."""

from typing import Any

from graph.chat_models.offline import prose
from graph.chat_models.offline.planning import plan_for
from graph.chat_models.offline.prompt_document import Asked


def next_step(asked: Asked) -> dict[str, Any] | str:
    """Return a plan of one step, of none where the goal is reached, or what the rules have to say instead."""
    if failed := asked.document.get("failed"):
        return prose.gives_up(failed, "one step at a time they mend nothing")
    plan = plan_for(asked)
    if isinstance(plan, str):
        return plan
    results = asked.document.get("results", {})
    left = [step for step in plan["steps"] if results.get(step["id"], {}).get("status") != "succeeded"]
    return {"steps": left[:1]} if left else {"steps": [], "answer": plan["answer"]}
