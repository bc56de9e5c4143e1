"""A pass over a plan: the span in which a failed call is not tried again."""

from typing import NamedTuple


class Pass(NamedTuple):
    """The revision of the plan, and how often the ended run was reopened before."""

    revision: int
    reopened: int = 0
