"""The page on testing one's agent is followed: its file is a test that passes, and that fails if the policy is gone."""

import re
from pathlib import Path

import pytest
from warm_process import WARNINGS_AS_ERRORS, run_warm

import planner_executor.testing
from planner_executor import tool
from planner_executor.testing import (
    NewAgent,
    RecordingTools,
    assert_asked,
    assert_called,
    assert_not_called,
    plan,
    step,
)

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
(BLOCK,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
pytest_plugins = ["planner_executor.testing"]


@pytest.mark.slow
def test_the_test_of_the_page_judges_the_policy(tmp_path: Path) -> None:
    for bound in ("above", "below"):
        (tmp_path / f"test_{bound}.py").write_text(BLOCK.replace('"above"', f'"{bound}"'))
    done = run_warm(["-m", "pytest", "-q", "-rA", *WARNINGS_AS_ERRORS, "-p", "no:cacheprovider"], cwd=tmp_path)

    assert re.findall(r"^(PASSED|FAILED) test_(\w+)\.py", done.stdout, re.MULTILINE) == [
        ("PASSED", "above"),
        ("FAILED", "below"),
    ], done.stdout


def test_the_test_of_the_page_is_five_lines_and_the_page_names_all_there_is() -> None:
    body = BLOCK.split("def test_", 1)[1].splitlines()[1:]
    named = re.findall(r"`(\w+)[`(]", "\n".join(re.findall(r"^\| (.+?) \|", PAGE, re.MULTILINE)))

    assert len(body) == 5
    assert {*planner_executor.testing.__all__} - {"NewAgent"} <= set(named)


@tool("read")
def balance(account: str) -> float:
    """Return what is left on an account."""
    return 12.5


@tool("external")
def pay(amount: float) -> str:
    """Pay."""
    raise AssertionError("a test must not pay")


def test_what_reads_does_its_work_and_what_acts_returns_what_the_test_says(new_agent: NewAgent) -> None:
    tools = RecordingTools([balance, pay], pay=lambda amount: f"paid {amount}")
    two = plan(step("b", "balance", account="A"), step("p", "pay", amount="{b_result}"), answer="{p_result}")
    agent = new_agent(tools, two, approval="never")

    run = agent.start("Pay all that is left")

    assert (run.status, run.answer, tools.calls) == ("succeeded", "paid 12.5", [("pay", {"amount": 12.5})])
    assert_called(agent.log(run.id), "balance", account="A")


def test_an_error_named_as_a_result_is_raised_and_a_tool_without_one_returns_nothing(new_agent: NewAgent) -> None:
    one = plan(step("p", "pay", amount=1))
    failing = new_agent(RecordingTools([pay], pay=ConnectionError("gone")), one, approval="never", replan="never")
    silent = new_agent(RecordingTools([pay]), one, approval="never")

    assert failing.start("g").status == "failed"
    assert silent.start("g").status == "succeeded"


def test_a_plain_function_is_recorded_too() -> None:
    def note(text: str) -> str:
        """Keep a note."""
        raise AssertionError("a test must not write")

    tools = RecordingTools([note], note="noted")

    assert [made.invoke({"text": "x"}) for made in tools] == ["noted"] and tools.calls == [("note", {"text": "x"})]


def test_assertions_say_what_they_found(new_agent: NewAgent) -> None:
    agent = new_agent(RecordingTools([pay]), plan(step("p", "pay", amount=1)), approval="never")
    run = agent.start("g")
    log = agent.log(run.id)

    for wrong, words in (
        (lambda: assert_called(log, "pay", amount=2), r"no call of pay with \{'amount': 2\}; there are .*'amount': 1"),
        (lambda: assert_not_called(log, "pay"), r"pay was called with \[\{'amount': 1\}\]"),
        (lambda: assert_asked(run, "run_plan"), "is succeeded and asks for nothing"),
    ):
        with pytest.raises(AssertionError, match=words):
            wrong()


def test_a_result_for_no_tool_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^mail is none of the tools pay$"):
        RecordingTools([pay], mail="sent")
