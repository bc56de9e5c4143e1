"""Of the whole runs that are tried on either database, a third is tried on PostgreSQL, others in each session.

What a ledger promises is tested on each driver in `tests/ledger_contract`; these tests are about rules, and a fault
between the two breaks many of them. `ON_POSTGRES=1` tries all.
"""

import os
import random
from collections.abc import Sequence

import pytest

SHARE = float(os.environ.get("ON_POSTGRES", "0.33"))
FEW = 60
"""So many are tried without a draw: somebody asks for them."""
SEED = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(random.SystemRandom().random())
"""The same in all processes of a session, which have to collect the same tests."""


def left_out(items: Sequence[pytest.Item], share: float = SHARE, seed: str = SEED) -> list[pytest.Item]:
    """Return the tests that are not tried in this session."""
    drawn = [item for item in items if _database(item) == "postgres" and "faults" not in item.path.parts]
    draw = random.Random(seed)
    return [item for item in drawn if draw.random() >= share] if len(drawn) > FEW else []


def _database(item: pytest.Item) -> object:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("database") if callspec is not None else None
