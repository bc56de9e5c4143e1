"""What a revision adds: calls with an effect that no approved revision had, planned after untrusted results were read.

Each is decided by itself, beside the plan, or refused, as `Policy.new_effects` says (decision 121).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import compress
from typing import NamedTuple

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.effect import effect_digest, origins_of, reads, sources
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schedule import blocked_by
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.run_state import RunState

NewEffects = Mapping[str, tuple[str, ...]]
"""Step id -> the tools whose calls by this step are new."""

SEEN = "the policy denies what an effect has from an untrusted look alone; refer to a result, or use the user's words"
DENIED = (
    "the policy denies what a revision adds after untrusted results were read, and no approved plan has this call of "
    "{}; keep to the calls that were approved, as they are written there, and to what the results they get are made of"
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
    known: Counter[tuple[str, str]] = Counter()
    for other in approved:
        # The most that one plan had, not the sum: a call that each of two revisions has is one call.
        known |= Counter((one.digest, one.rests_on) for one in _effects(other, tools, ()))
    effects, written = list(_effects(plan, tools, tainted)), {says for says, _ in known}
    # An approved call that gets the result of a tainted step may be a new one; what else is not tainted is a person's.
    counts = [one.step in tainted or (one.is_tainted and one.digest in written) for one in effects]
    known.subtract((one.digest, one.rests_on) for one, does in zip(effects, counts, strict=True) if not does)
    found: dict[str, tuple[str, ...]] = {}
    for one in compress(effects, counts):
        if one.digest in refused or known[one.digest, one.rests_on] <= 0:
            found[one.step] = (*found.get(one.step, ()), one.tool)
        known[one.digest, one.rests_on] -= 1
    return found


def stained_by(plan: Plan, tainted: Collection[str]) -> set[str]:
    """Return the steps that are tainted or that results of tainted steps determine."""
    return {*tainted, *blocked_by({step.id: tuple(reads(step)) for step in plan.steps}, tainted)}


def denied(added: NewEffects) -> list[Issue]:
    """Return why a plan with these calls is refused if the policy denies them."""
    return [Issue(step, "tool", DENIED.format(tool), by_policy=True) for step, names in added.items() for tool in names]


def added_key(record: RunState, step: Step, tool: str) -> str | None:
    """Return the key under which a call of the revision in force is decided, None if an approved plan had it before."""
    found = record.plan_state.effects_of([step.id])
    return next((one.key for one in found if one.tool == tool), None)


def is_undecided(record: RunState, step: Step, tool: str) -> bool:
    """Whether a call is new in the revision in force and nobody approved or rejected it under this revision."""
    review, key = record.review_state, added_key(record, step, tool)
    return key is not None and key not in review.seen and not review.rejection(key, record.plan_state.current_pass)


class _Effect(NamedTuple):
    """A call with an effect: the digest of what it does, and that of what the results it gets are made of."""

    step: str
    tool: str
    digest: str
    rests_on: str
    is_tainted: bool


def _effects(plan: Plan, tools: Mapping[str, ToolSpec], tainted: Collection[str]) -> Iterator[_Effect]:
    """Yield each call with an effect; a tool that is there no longer counts as one."""
    origins, stained = origins_of(plan.steps), stained_by(plan, tainted)
    for step in plan.steps:
        for name in step.tool_names:
            if name not in tools or tools[name].acts:
                free = tools[name].free_args if name in tools else ()
                rests_on = sources(step, origins, free)
                is_tainted = not stained.isdisjoint(rests_on)
                yield _Effect(step.id, name, effect_digest(step, name), digest(rests_on), is_tainted)
