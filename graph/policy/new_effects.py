"""What a revision adds: calls with an effect that no approved revision had, planned after untrusted results were read.

Each is decided by itself, beside the plan, or refused, as `Policy.new_effects` says (decision 121).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.effect import effect_digest, effect_key
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.run_state import RunState

NewEffects = Mapping[str, tuple[str, ...]]
"""Step id -> the tools whose calls by this step are new."""

DENIED = (
    "the policy denies what a revision adds after untrusted results were read, and no approved plan has this call of "
    "{}; keep to the calls that were approved, as they are written there"
)


def new_effects(
    plan: Plan,
    approved: Iterable[Plan],
    tools: Mapping[str, ToolSpec],
    *,
    tainted: Collection[str],
    refused: Collection[str] = (),
) -> NewEffects:
    """Return the calls with an effect that are in a plan and in none that was approved; of a call twice, the second.

    Args:
        plan: The plan.
        approved: The plans that were approved before it.
        tools: The tools by name.
        tainted: Ids of its steps that a model wrote after it had read untrusted results; no other step counts.
        refused: Digests of what a person refused when a plan with it was approved, see `graph.plan.effect`.
    """
    known: Counter[str] = Counter()
    for other in approved:
        known |= Counter(digest for _, _, digest in _effects(other.steps, tools))
    known.subtract(digest for step, _, digest in _effects(plan.steps, tools) if step not in tainted)
    found: dict[str, tuple[str, ...]] = {}
    for step, tool, digest in _effects((step for step in plan.steps if step.id in tainted), tools):
        if digest in refused or known[digest] <= 0:
            found[step] = (*found.get(step, ()), tool)
        known[digest] -= 1
    return found


def denied(added: NewEffects) -> list[Issue]:
    """Return why a plan with these calls is refused if the policy denies them."""
    return [Issue(step, "tool", DENIED.format(tool)) for step, names in added.items() for tool in names]


def added_key(record: RunState, step: Step, tool: str) -> str | None:
    """Return the key under which a call of the revision in force is decided, None if an approved plan had it before."""
    return effect_key(step, tool) if tool in record.plan_state.new_effects.get(step.id, ()) else None


def is_undecided(record: RunState, step: Step, tool: str) -> bool:
    """Whether a call is new in the revision in force and nobody approved or rejected it under this revision."""
    review, key = record.review_state, added_key(record, step, tool)
    return key is not None and key not in review.seen and not review.rejection(key, record.plan_state.current_pass)


def _effects(steps: Iterable[Step], tools: Mapping[str, ToolSpec]) -> Iterator[tuple[str, str, str]]:
    """Yield (step, tool, digest) of each call with an effect; a tool that is there no longer counts as one."""
    for step in steps:
        for name in step.tool_names:
            if name not in tools or tools[name].acts:
                yield step.id, name, effect_digest(step, name)
