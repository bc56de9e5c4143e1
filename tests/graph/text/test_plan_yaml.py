"""A plan as YAML says what its JSON says, and a fault stands above its line."""

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.text.plan_yaml import YamlFault, plan_from_yaml, plan_to_yaml, with_faults, without_faults

PLAN = {
    "steps": [
        {"id": "a", "objective": "no", "tool": "send", "args": {"at": "12:30", "text": "one\n  two\n# three\n"}},
        {"id": "b", "objective": "wörld", "tools": [], "depends_on": ["a"], "checks": [{"range": [0, None]}]},
    ],
    "answer": "{a_result}",
}
KEYS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
WORDS = st.sampled_from(["yes", "no", "on", "null", "~", "0o17", "1_000", "1e3", ".5", "2024-01-01", "=", "<<", "- a"])
VALUES = st.recursive(SCALARS | WORDS, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=8)


def shown(plan: Any = PLAN, **statuses: str) -> str:
    return plan_to_yaml(plan, "run.1", 2, "a goal\nof two lines", statuses)


@given(VALUES)
def test_every_value_of_json_comes_back_as_it_was(value: Any) -> None:
    plan = {"steps": [{"id": "a", "args": {"x": value}}]}

    read = plan_from_yaml(shown(plan)).plan

    assert read == plan and repr(read) == repr(plan)


def test_a_plan_reads_as_yaml_with_its_goal_and_what_has_run_as_comments() -> None:
    lines = shown(a="succeeded", b="failed").split("\n")

    assert lines[0] == "# Plan of run run.1, revision 2."
    assert lines[1] == "# Goal: a goal of two lines" or "\\u{a}" in lines[1]
    at = lines.index("  - id: a")
    assert lines[at - 1] == "  # has succeeded and cannot change"
    assert lines[at + 1 : at + 3] == ["    objective: no", "    tool: send"]
    assert "      text: |" in lines and "    objective: wörld" in lines


def test_the_text_of_a_plan_is_read_once_however_many_steps_have_run() -> None:
    steps = [{"id": f"s{number}", "objective": "x"} for number in range(20)]
    read: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is plan_from_yaml.__code__:
            read.append("read")

    sys.setprofile(note)
    try:
        text = shown({"steps": steps}, **{step["id"]: "succeeded" for step in steps})
    finally:
        sys.setprofile(None)

    assert len(read) == 1 and text.count("# has succeeded and cannot change") == 20


def test_what_cannot_be_seen_is_written_as_an_escape() -> None:
    plan = {"steps": [{"id": "a", "objective": "pay ann\u202emoc.live\u200d"}]}

    assert 'objective: "pay ann\\u202Emoc.live\\u200D"' in shown(plan)
    assert plan_from_yaml(shown(plan)).plan == plan


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("steps: [1", 0, "expected"),
        ("a: 1\nb: 2\na: 3", 2, "'a' occurs twice"),
        ("a: 1\n1: x", 1, "the key 1 is no text"),
        ("a:\n  - &x 1", 1, "quote it"),
        ("a: *x", 0, "quote it"),
        ("a: !!python/object/apply:os.system [true]", 0, "quote it"),
        ("a: \x01", 0, "special characters"),
        ("a: " + "[" * 5000, 0, "nested too deeply"),
        ("a: 1\nb: " + "9" * 5000, 1, "too many digits"),
    ],
)
def test_a_text_that_is_no_plan_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlFault, match=words) as fault:
        plan_from_yaml(text)

    assert fault.value.line == line


@pytest.mark.parametrize(
    ("issue", "line"),
    [
        (Issue("a", "args.at", "bad"), '      at: "12:30"'),
        (Issue("b", "checks[0].range", "bad"), "      - range:"),
        (Issue("b", "tool", "missing"), "  - id: b"),
        (Issue("other", "id", "unknown"), "steps:"),
        (Issue(None, "answer", "bad"), 'answer: "{a_result}"'),
    ],
)
def test_a_fault_stands_above_the_line_that_it_is_about_and_goes_with_the_next_edit(issue: Issue, line: str) -> None:
    text = shown()

    faulty = with_faults(text, [(plan_from_yaml(text).line_of(issue), str(issue))])

    lines = faulty.split("\n")
    (at,) = [number for number, each in enumerate(lines) if each.strip() == f"# FAULT: {issue}"]
    assert lines[at + 1].replace("'", '"') in (line, line.replace('"12:30"', "12:30"))
    assert without_faults(faulty, faulty) == text and plan_from_yaml(faulty).plan == PLAN
