"""Two people act on one run in the same instant, each in a process of their own: it is as if one came first."""

import json
import os
from functools import partial
from pathlib import Path

import pytest
from frozen_owner import Effects
from one_instant import ADA, BOB, EVE, act, begin, end
from owners import fork

from planner_executor import Person

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]
PAIRS: dict[str, tuple[int, tuple[Person, str], tuple[Person, str]]] = {
    "two approve": (1, (ADA, "approve"), (BOB, "approve")),
    "one approves and one rejects": (1, (ADA, "approve"), (BOB, "reject")),
    "two of a quorum approve": (2, (ADA, "approve"), (BOB, "approve")),
    "one approves and one edits who may not": (1, (ADA, "approve"), (EVE, "edit")),
    "two take over": (1, (ADA, "take over"), (BOB, "take over")),
    "two of a quorum take over": (2, (ADA, "take over"), (BOB, "take over")),
    "one approves and one takes over": (1, (ADA, "approve"), (BOB, "take over")),
    "one of a quorum approves and one takes over": (2, (ADA, "approve"), (BOB, "take over")),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_what_two_do_in_one_instant_holds_as_if_one_came_first(tmp_path: Path, database: str, pair: str) -> None:
    quorum, *both = PAIRS[pair]
    os.waitpid(fork(lambda: begin(tmp_path, database, quorum)), 0)

    processes = [fork(partial(act, tmp_path, database, quorum, str(n), *who)) for n, who in enumerate(both)]
    for process in processes:
        os.waitpid(process, 0)
    said = [(tmp_path / f"said-{n}").read_text() for n in range(2)]
    at_once = Effects(tmp_path).made
    os.waitpid(fork(lambda: end(tmp_path, database, quorum, both[1][1])), 0)

    record = json.loads((tmp_path / "record").read_text())
    kinds, made = record["kinds"], Effects(tmp_path).made
    assert record["is_whole"] and record["is_same"], record["replay"]
    assert made == ["9"] * (record["status"] == "succeeded"), said
    assert kinds.count("decided") - kinds.count("configured") <= 1
    if quorum == 2:
        assert at_once == [] or kinds.count("voted") >= 1
