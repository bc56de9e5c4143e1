"""Each guard is needed: with one of them switched off, an attack gets by that is stopped otherwise."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from attacks import ATTACKS
from guards_off import GUARDS, Guard, without

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def escapes() -> dict[str, list[str]]:
    script = Path(__file__).with_name("guards_off.py")
    ended = subprocess.run([sys.executable, script], cwd=script.parent, capture_output=True, text=True, check=False)
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    assert {entry["guard"] for entry in told} == {guard.name for guard in GUARDS}, ended.stderr[-3000:]
    return {entry["guard"]: entry["escapes"] for entry in told}


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_without_this_guard_an_attack_gets_by(guard: Guard, escapes: dict[str, list[str]]) -> None:
    assert escapes[guard.name] == [f"{guard.attack}, {guard.mode}"]


def test_a_guard_that_is_not_where_it_was_is_told_of() -> None:
    gone = Guard("gone", "policy/grants.py", "a rule that is not there", "", next(iter(ATTACKS)))

    with pytest.raises(SystemExit, match="has 0 times the rule"):
        without(gone)
