"""A sample of `make faults`: every boundary of a run is counted, and every n-th disturbed, from a random one on."""

import os
import random
import threading
from pathlib import Path

import pytest
from disturbances import Frozen
from postgres_server import VARIABLE, server
from warm_process import run_warm

SCRIPT = Path(__file__).with_name("boundaries.py")
pytestmark = pytest.mark.slow


def disturbed(folder: Path, every: int, *options: str) -> list[str]:
    """Disturb a run at every n-th of its boundaries and return the names of all of them; fails where one goes wrong."""
    first = random.SystemRandom().randint(1, every)
    command = [str(SCRIPT), str(folder / "runs"), "--every", str(every), "--from", str(first), *options]

    named = {VARIABLE: server()} if "--postgres" in options else {}
    done = run_warm(command, timeout=300, env={**os.environ, **named})

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 runs at fault" in done.stdout
    return (folder / "runs" / "boundaries").read_text().splitlines()


@pytest.mark.parametrize(("durability", "every"), [("sync", 120), ("async", 160)])
def test_a_run_survives_a_kill_at_sampled_boundaries(tmp_path: Path, durability: str, every: int) -> None:
    names = disturbed(tmp_path, every, "--durability", durability)

    assert len(names) > 200
    effects = {"after pay first", "after pay inner", "after put file", "after ask shop", "before broken bad"}
    models = {"after model planner 0", "after model replanner 0", "after model do think 0", "after model do buy 1"}
    records = {
        "before ledger",
        "after ledger",
        "before checkpoint",
        "after checkpoint",
        "before writes",
        "after writes",
    }
    assert effects | models | records <= set(names)


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_run_that_is_skipped_tried_again_retried_and_forked_survives_a_kill(tmp_path: Path, durability: str) -> None:
    names = disturbed(tmp_path, 120, "--run", "reopened", "--durability", durability)

    changed = {"after skip", "after supply", "before service one", "after pay second asked one given"}
    assert changed | {"after tried weak", "after tried weak letter", "after pay weak letter"} <= set(names)


def test_a_retried_fan_out_that_is_killed_makes_only_the_calls_that_failed(tmp_path: Path) -> None:
    names = disturbed(tmp_path, 90, "--run", "mailed")

    assert {"after tried bo", "after tried di", *(f"after mail {name}" for name in ("ada", "bo", "cy", "di"))} <= set(
        names
    )


def test_a_run_that_waits_and_its_fork_survive_a_kill_and_pay_again_only_if_a_person_says_so(tmp_path: Path) -> None:
    names = disturbed(tmp_path, 120, "--run", "forked")

    assert names.count("before pay rent") == names.count("after pay fee") == 2


def test_a_playbook_that_is_approved_ahead_and_killed_repeats_no_effect(tmp_path: Path) -> None:
    names = disturbed(tmp_path, 90, "--run", "approved")

    assert {"before bill rent ben", "after bill fee ben", "after mail call ben", "before ledger"} <= set(names)


@pytest.mark.e2e
def test_a_run_survives_a_second_kill_while_it_is_taken_up(tmp_path: Path) -> None:
    disturbed(tmp_path, 240, "--then", "40")


@pytest.mark.e2e
@pytest.mark.parametrize(("run", "every"), [("whole", 80), ("reopened", 160), ("mailed", 60), ("forked", 80)])
def test_a_run_on_postgresql_survives_a_kill_at_sampled_boundaries(tmp_path: Path, run: str, every: int) -> None:
    names = disturbed(tmp_path, every, "--postgres", "--run", run)

    assert {"before ledger", "after ledger", "before checkpoint", "after writes"} <= set(names)


def test_a_run_that_finds_its_database_locked_says_so_after_one_wait_of_each_connection_and_goes_on_later(
    tmp_path: Path,
) -> None:
    disturbed(tmp_path, 160, "--lock")


def test_a_run_whose_task_is_cancelled_goes_on_in_the_same_process(tmp_path: Path) -> None:
    disturbed(tmp_path, 160, "--cancel")


def test_a_stop_that_would_hit_the_inside_of_an_effect_waits_for_a_boundary_outside(tmp_path: Path) -> None:
    class Noted(Frozen):
        def strike(self) -> None:
            struck.append(self.names[-1])

    struck: list[str] = []
    boundary = Noted(1, tmp_path / "awake", ("pay",))
    beside = threading.Thread(target=boundary, args=("before model planner 0",))
    beside.start()
    beside.join()
    for name in ("before pay fee", "after pay fee"):
        boundary(name)

    assert struck == ["after pay fee"]


@pytest.mark.parametrize(("run", "every"), [("whole", 80), ("reopened", 90), ("mailed", 60), ("forked", 80)])
def test_a_run_whose_owner_is_frozen_and_replaced_has_each_effect_once(tmp_path: Path, run: str, every: int) -> None:
    disturbed(tmp_path, every, "--freeze", "--run", run)


@pytest.mark.e2e
@pytest.mark.parametrize(("run", "every"), [("whole", 80), ("reopened", 90), ("mailed", 60), ("forked", 80)])
def test_a_run_on_postgresql_whose_owner_is_frozen_and_replaced_has_each_effect_once(
    tmp_path: Path, run: str, every: int
) -> None:
    disturbed(tmp_path, every, "--freeze", "--postgres", "--run", run)


def test_a_freeze_that_struck_nowhere_is_no_pass(tmp_path: Path) -> None:
    command = [str(SCRIPT), str(tmp_path / "runs"), "--freeze", "--run", "mailed", "--from", "9000"]

    done = run_warm(command, timeout=300, env=dict(os.environ))

    assert done.returncode == 1 and " 0 runs disturbed" in done.stdout
