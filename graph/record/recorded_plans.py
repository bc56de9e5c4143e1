"""Recorded plans as models, so that a plan is validated once, not by each node and each question."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from planner_executor.graph.plan.schema import Plan

MOST = 4
"""So many are kept: the plan in force, the approved one, and what a person saw of others."""


class RecordedPlans:
    """Plans of one run's record, by the identity of their JSON there, which nobody changes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[Mapping[str, Any], Plan]] = OrderedDict()

    def plan_of(self, raw: Mapping[str, Any]) -> Plan:
        """Return a recorded plan as a model."""
        found = self._kept.get(id(raw))
        if found is None:
            return self.keep(raw, Plan.model_validate(raw))
        self._kept.move_to_end(id(raw))
        return found[1]

    def keep(self, raw: Mapping[str, Any], plan: Plan) -> Plan:
        """Keep a plan as the model of what was recorded, and return it."""
        self._kept[id(raw)] = raw, plan  # with `raw`, so that its id stays its own
        if len(self._kept) > MOST:
            self._kept.popitem(last=False)
        return plan
