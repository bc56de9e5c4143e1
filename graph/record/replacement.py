"""Failed steps that a revision removes or changes, and the steps that replace them.

A step replaces a failed one if it has the same id, or names it in `replaces`. A failed step with effects is replaced
only by a step with effects and the same tools, or after a person approved a plan whose review states the replacement.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from pydantic import JsonValue

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.words.name_list import listed

if TYPE_CHECKING:
    from planner_executor.graph.plan.catalog import ToolSpec

ReplacementStatus = Literal["made_up", "asked", "open"]
"""`asked`: it is made up for as soon as a person approves the plan."""


class Replaced(NamedTuple):
    """A failed step, the tools with effects that it could call, its replacements, and their status."""

    step: str
    tools: tuple[str, ...]
    by: tuple[str, ...] = ()
    standing: ReplacementStatus = "open"

    @property
    def is_made_up_for(self) -> bool:
        """Whether the replacements make up for the failed step once they have succeeded."""
        return self.standing == "made_up"

    def to_json(self) -> dict[str, JsonValue]:
        """Return it as the ledger has it."""
        return {"step": self.step, "tools": list(self.tools), "by": list(self.by), "standing": self.standing}

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> "Replaced":
        """Parse the output of `to_json`; an unknown status, which a redaction may leave, counts as `open`."""
        standing: ReplacementStatus = (
            payload["standing"] if payload["standing"] in get_args(ReplacementStatus) else "open"
        )
        return cls(payload["step"], tuple(payload["tools"]), tuple(payload["by"]), standing)

    def approved(self) -> "Replaced":
        """Return the failed step after a person has approved the plan."""
        return Replaced(self.step, self.tools, self.by, "made_up") if self.standing == "asked" else self


def replaced_in(
    plan: Plan,
    before: Plan | None,
    results: Mapping[str, StepResult],
    earlier: Sequence[Replaced],
    tools: "Mapping[str, ToolSpec]",
) -> list[Replaced]:
    """Return the failed steps that a plan removes or changes, and those that earlier plans did.

    Args:
        plan: The new plan.
        before: The plan approved last, which is the one that ran.
        results: Step id -> its result.
        earlier: The replaced steps of `before`.
        tools: The current tools.
    """
    ran = before or Plan()
    failed = [step for step in ran.steps if step.id in results and results[step.id].status == "failed"]
    found: dict[tuple[str, tuple[str, ...]], Replaced] = {}
    for old in earlier:
        if old.is_made_up_for and all(_succeeded(name, results) for name in old.by):
            continue  # a succeeded step never leaves the plan
        steps = _in_place_of({old.step, *old.by}, plan)
        # What a person approved in place of the failed step holds for these steps as they were, and no others.
        same = tuple(step.id for step in steps) == old.by and all(
            step.same_as(ran.by_id.get(step.id)) for step in steps
        )
        found[old.step, old.tools] = old if same else _judged(old.step, old.tools, steps, tools)
    for step in failed:
        acting = _acting(step, tools)
        if not step.same_as(plan.by_id.get(step.id)) and (step.id, acting) not in found:
            found[step.id, acting] = _judged(step.id, acting, _in_place_of({step.id}, plan), tools)
    return list(found.values())


def replaces_issues(plan: Plan, planned: Collection[str], succeeded: Collection[str]) -> list[Issue]:
    """Return the issues with a plan's `replaces`; `planned` are the ids of all revisions."""
    issues = []
    for step in plan.steps:
        name = step.replaces
        if name is None:
            continue
        if name in plan.by_id and name in succeeded:
            issues.append(Issue(step.id, "replaces", f"{name} succeeded, so nothing replaces it; leave replaces out"))
        elif name in plan.by_id:
            issues.append(Issue(step.id, "replaces", f"{name} is still in the plan; drop it, or leave replaces out"))
        elif name not in planned:
            message = f"no earlier revision has a step {name!r}; replaces names a failed step, or is left out"
            issues.append(Issue(step.id, "replaces", message))
    return issues


def replaced_in_words(replaced: Iterable[Replaced], plan: Plan) -> list[str]:
    """Describe, for a review, the replacements of failed steps and the consequence of approving them."""
    return [_in_words(one, plan) for one in replaced]


def _in_words(one: Replaced, plan: Plan) -> str:
    failed = f"{one.step} ({', '.join(one.tools)})" if one.tools else one.step
    if one.standing == "open":
        return f"Nothing here makes up for the failed {failed}: the run cannot end as succeeded."
    steps = [plan.by_id[name] for name in one.by if name in plan.by_id]
    named = listed([f"{step.id} ({', '.join(step.tool_names)})" if step.tool_names else step.id for step in steps])
    line = f"{named} instead of the failed {failed}."
    return f"{line} If you approve the plan, this makes up for it." if one.standing == "asked" else line


def _judged(step: str, acting: tuple[str, ...], by: Sequence[Step], tools: "Mapping[str, ToolSpec]") -> Replaced:
    names = tuple(one.id for one in by)
    can = {name for one in by for name in _acting(one, tools)}
    if not by or (acting and not can):
        return Replaced(step, acting, names)
    return Replaced(step, acting, names, "made_up" if can.issuperset(acting) else "asked")


def _acting(step: Step, tools: "Mapping[str, ToolSpec]") -> tuple[str, ...]:
    """Return the tools with effects that a step may call; a step to be refined may call all, unless it names some."""
    names = step.tool_names or (tuple(tools) if kind_spec(step.kind).done_by == "planner" else ())
    return tuple(sorted(name for name in set(names) if name in tools and tools[name].acts))


def _in_place_of(names: Collection[str], plan: Plan) -> list[Step]:
    return [step for step in plan.steps if step.id in names or step.replaces in names]


def _succeeded(step: str, results: Mapping[str, StepResult]) -> bool:
    return step in results and results[step].status == "succeeded"
