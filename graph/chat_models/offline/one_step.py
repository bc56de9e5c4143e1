"""Planning one step at a time: the next step of the full plan, or the answer when all steps are done."""

from typing import Any

from planner_executor.graph.chat_models.offline import prose
from planner_executor.graph.chat_models.offline.planning import plan_for
from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument


def next_step(prompt: PromptDocument) -> dict[str, Any] | str:
    """Return a plan with the next step, a plan with the answer only, or an explanation in prose."""
    if failed := prompt.document.get("failed"):
        return prose.explain_no_repair(failed, "one step at a time they mend nothing")
    plan = plan_for(prompt)
    if isinstance(plan, str):
        return plan
    # The same rules make the same plan each time, so that its ids are those of the steps that were done.
    results = prompt.document.get("results", {})
    remaining = [step for step in plan["steps"] if results.get(step["id"], {}).get("status") != "succeeded"]
    return {"steps": remaining[:1]} if remaining else {"steps": [], "answer": plan["answer"]}
