"""Each guard is needed: with one of them switched off, an attack gets by that is stopped otherwise."""

import json
from pathlib import Path

import pytest
from attacks import ATTACKS
from guards_off import GUARDS, Guard, without
from warm_process import run_warm


@pytest.mark.slow
def test_without_any_one_guard_an_attack_gets_by() -> None:
    script = Path(__file__).with_name("guards_off.py")

    ended = run_warm([str(script)], cwd=script.parent, timeout=500)

    told = [json.loads(line) for line in ended.stdout.splitlines()]
    escapes = {guard.name: [f"{guard.attack}, {guard.mode}"] for guard in GUARDS}
    assert {entry["guard"]: entry["escapes"] for entry in told} == escapes, ended.stderr[-3000:]


def test_a_guard_that_is_not_where_it_was_is_told_of() -> None:
    gone = Guard("gone", "policy/grants.py", "a rule that is not there", "", next(iter(ATTACKS)))

    with pytest.raises(SystemExit, match="has 0 times the rule"):
        without(gone)
