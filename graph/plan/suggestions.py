"""Suggestions for names that do not exist."""

from collections.abc import Collection, Sequence
from functools import cached_property

from planner_executor.graph.plan.schema import ITEM
from planner_executor.graph.words.name_list import did_you_mean, listed

MAX_HINTS = 20
MAX_NAMES = 200
MAX_UNNAMED = 5
"""Bounds on the search for close names: searches per plan, and candidates per search."""


class KnownSteps:
    """The step ids that may be named, in plan order; finished steps come first. `unnamed` are places without an id."""

    def __init__(self, ids: Sequence[str], finished: Collection[str] = (), unnamed: Sequence[str] = ()) -> None:
        self._unnamed = unnamed
        self._order = list(dict.fromkeys([*finished, *ids]))
        self._place = {name: place for place, name in enumerate(self._order)}
        self._hints = 0
        self.ids = frozenset(self._order)

    @cached_property
    def ids_and_item(self) -> frozenset[str]:
        """The ids, and the name of the item in a step with `for_each`."""
        return self.ids | {ITEM}

    @cached_property
    def listing(self) -> str:
        """The list of ids, as a sentence."""
        known = f"the steps are {listed(sorted(self.ids))}" if self.ids else ""
        without = f"{listed(self._unnamed, MAX_UNNAMED)} without an id" if self._unnamed else ""
        return "; ".join(filter(None, (known, without))) or "the plan has no steps"

    def hint_for_itself(self, step: str, form: str) -> str:
        """Return the hint for a step that names itself: authors who count from 0 mean the step before.

        Args:
            step: The step that names itself.
            form: The notation of the id, such as `{%s_result}`.
        """
        place = self._place[step]
        if place == 0:
            return "it is the first step, so there is no earlier one to name"
        return f"name an earlier step; did you mean {form % self._order[place - 1]}?"

    def hint_for(self, name: str, step: str | None = None) -> str:
        """Return the hint for an unknown id in a step, or in the answer if `step` is None."""
        self._hints += 1
        if self._hints > MAX_HINTS:
            return self.listing
        end = self._place.get(step or "", len(self._order))
        before = self._order[max(0, end - MAX_NAMES) : end]
        meant = did_you_mean(name, before) or did_you_mean(name, self._order[:MAX_NAMES])
        return f"{meant} {self.listing}" if meant else self.listing
