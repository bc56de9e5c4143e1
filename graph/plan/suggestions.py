"""What an author meant who named something that is not there."""

import difflib
from collections.abc import Collection, Sequence
from functools import cached_property

from graph.errors import listed
from graph.plan.schema import ITEM

MOST_HINTS = 20
MOST_NAMES = 200
LONGEST_NAME = 100
"""To find a close name takes time: so many are looked for in a plan, each among the nearest so many, none longer."""


class Known:
    """The ids that may be named, in the order of the plan; finished steps come before all others."""

    def __init__(self, ids: Sequence[str], finished: Collection[str] = ()) -> None:
        self._order = list(dict.fromkeys([*finished, *ids]))
        self._place = {name: place for place, name in enumerate(self._order)}
        self._hints = 0
        self.ids = frozenset(self._order)

    @cached_property
    def ids_and_item(self) -> frozenset[str]:
        """The ids, and what a step with `for_each` calls its item."""
        return self.ids | {ITEM}

    @cached_property
    def words(self) -> str:
        """What may be named."""
        return f"the steps are {listed(sorted(self.ids))}"

    def instead_of_itself(self, step: str, form: str) -> str:
        """Say what a step may name that names itself: authors who count from 0 mean the one before.

        Args:
            step: The step that names itself.
            form: How a step is named there, such as `{%s_result}`.
        """
        place = self._place[step]
        if place == 0:
            return "it is the first step, so there is no earlier one to name"
        return f"name an earlier step; did you mean {form % self._order[place - 1]}?"

    def instead_of(self, name: str, step: str | None = None) -> str:
        """Say what may be named in place of a step that is not there, in a step or in the answer."""
        self._hints += 1
        if self._hints > MOST_HINTS:
            return self.words
        end = self._place.get(step or "", len(self._order))
        before = self._order[max(0, end - MOST_NAMES) : end]
        return f"{did_you_mean(name, before) or did_you_mean(name, self._order[:MOST_NAMES])}{self.words}"


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the closest known name as a question, or nothing.

    >>> did_you_mean("serch", ["search", "write"])
    'did you mean search? '
    """
    short = [other for other in known if len(other) <= LONGEST_NAME]
    close = difflib.get_close_matches(name, short, 1) if len(name) <= LONGEST_NAME else []
    return f"did you mean {close[0]}? " if close else ""
