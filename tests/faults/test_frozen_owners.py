"""An owner that is frozen before a payment, and wakes up after another process has taken its run over."""

import os
import signal
from pathlib import Path

import pytest
from frozen_owner import KINDS, Effects, own, take_over
from owners import fork

from planner_executor.graph.ledger.lease import PACE

STILL = "Set happened to false only if its process is dead"
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_owner_that_was_frozen_before_a_payment_pays_nothing_once_another_owns_the_run(
    tmp_path: Path, database: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in {"lease_s": 1.0, "beat_s": 0.2, "look_s": 0.1}.items():
        monkeypatch.setitem(vars(PACE), name, seconds)  # how long it is by default: test_lease.py
    owner = fork(lambda: own(tmp_path, database, kind))
    _, status = os.waitpid(owner, os.WUNTRACED)
    assert os.WIFSTOPPED(status) and Effects(tmp_path).made == []

    os.waitpid(fork(lambda: take_over(tmp_path, database, kind)), 0)
    (tmp_path / "awake").touch()
    os.kill(owner, signal.SIGCONT)
    os.waitpid(owner, 0)

    asked = (tmp_path / "asked").read_text()
    assert f"process {owner} on " in asked and "is not known to be dead" in asked and STILL in asked
    assert (tmp_path / "heir").read_text() == "succeeded"
    assert (tmp_path / "owner").read_text() == "LeaseLostError"
    assert Effects(tmp_path).made == ["980"]


def test_of_an_owner_that_was_killed_before_a_payment_the_request_says_that_it_is_dead(
    tmp_path: Path, database: str
) -> None:
    owner = fork(lambda: own(tmp_path, database, "tool"))
    os.waitpid(owner, os.WUNTRACED)
    os.kill(owner, signal.SIGKILL)
    os.waitpid(owner, 0)

    os.waitpid(fork(lambda: take_over(tmp_path, database, "tool")), 0)

    asked = (tmp_path / "asked").read_text()
    assert f"process {owner} on " in asked and "ended in the middle of it" in asked and STILL not in asked
    assert (tmp_path / "heir").read_text() == "succeeded" and Effects(tmp_path).made == ["980"]
    assert "every decision came out the same" in (tmp_path / "replay").read_text()
