"""Two processes in two forks of one run, both approved: they come to the same payment at the same moment."""

import os
from functools import partial
from pathlib import Path

import pytest
from frozen_owner import Effects
from owners import fork
from two_forks import THREADS, approve, begin, settle

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]


@pytest.mark.parametrize("_again", range(3))
def test_of_two_processes_in_two_forks_one_pays_and_the_other_asks(tmp_path: Path, database: str, _again: int) -> None:
    os.waitpid(fork(lambda: begin(tmp_path, database)), 0)

    processes = [fork(partial(approve, tmp_path, database, thread)) for thread in THREADS]
    for process in processes:
        os.waitpid(process, 0)

    said = {(tmp_path / thread).read_text(): thread for thread in THREADS}
    assert sorted(said) == ["settle_effect", "succeeded"] and Effects(tmp_path).made == ["980"]

    held = said["settle_effect"]
    os.waitpid(fork(lambda: settle(tmp_path, database, held)), 0)
    assert "The same call happened in" in (tmp_path / held).read_text() and Effects(tmp_path).made == ["980"]
