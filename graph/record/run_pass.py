"""A pass over a plan: the span in which a failed call is not tried again."""

from functools import lru_cache
from typing import NamedTuple


class Pass(NamedTuple):
    """The revision of the plan, and how often the ended run was reopened before."""

    revision: int
    reopened: int = 0


shared_pass = lru_cache(maxsize=256)(Pass)
"""A pass, as one value for all the calls of it."""
