"""Calls of a plan that the policy asks about, and which of them the plan's approval settles (decision 146)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from planner_executor.graph.policy.approver_rule import ApproverRule

Later = Literal["unknown", "untrusted", "new", "uncertain", "long"]
"""Why a call is asked about when it is due: its arguments are not known, or too long to be shown in full, a model wrote
it after untrusted data was read, no approved plan had it, or one of its tool may have happened."""


@dataclass(frozen=True)
class PlannedCall:
    """The calls of a step with one of its tools that the policy asks about, and `why`.

    `places` maps the key of each to its step, with the index of the item; it is empty if they are asked about `later`,
    and so is `args`, the arguments by place. `rules` are those on the people who decide about such a call by itself and
    that the rules on the plan do not contain: whoever approves the plan has to meet them too, or it is not settled.
    """

    step: str
    tool: str
    why: str
    later: Later | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    args: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict)
    rules: tuple[ApproverRule, ...] = ()
