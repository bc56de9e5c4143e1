"""The page about what the agent is worth: its parts at tiny sizes, its form, and never its figures."""

import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks import worth
from benchmarks.sizes import QUICK


async def test_a_plan_is_asked_once_at_any_size_and_the_size_below_which_a_direct_agent_is_cheaper_is_said() -> None:
    told = await worth.growing((1, 10))

    assert [line.split("|")[2].split(":")[0].strip() for line in told.splitlines()[2:4]] == ["1", "1"]
    assert "Beside one by one, a plan takes fewer characters from 10 calls on; below that it takes more." in told


async def test_an_order_is_asked_about_alone_and_refused_if_new_effects_are_denied() -> None:
    _, _, asked, denied, *_ = (await worth.obeying(replace(QUICK, every_task=30))).splitlines()

    assert asked.count("(100.0 %)") == 2 and "| 0 of " in denied


@pytest.mark.slow
def test_a_direct_agent_that_is_killed_after_a_payment_pays_again() -> None:
    ended = subprocess.run([sys.executable, "-m", "benchmarks.killed_agent"], capture_output=True, text=True)

    assert "12 runs killed: 3 paid twice, 0 missed a payment" in ended.stdout, ended.stderr


def test_the_page_begins_with_its_limits_and_ends_with_hypotheses() -> None:
    heads = [line for line in worth.page("make worth", *["counted"] * 4).splitlines() if line.startswith("#")]

    assert heads[:2] == ["# What it is worth", "## Limits"] and heads[-1] == "## Hypotheses"
