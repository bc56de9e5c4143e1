import re
from pathlib import Path

import pytest

from planner_executor.graph.errors import SuiteError
from planner_executor.graph.evaluation.assessment import case_faults
from planner_executor.graph.evaluation.suite_file import read_suite
from planner_executor.graph.record.budget import Budget, Price

SMALL = """
repetitions = 2
[budget]
tokens = 1000
[prices."gpt-5-mini"]
input = 0.25
output = 2.0
[[cases]]
id = "sum"
goal = "What is 2 + 3?"
checks = [{ matches = "^5$" }]
"""


def test_a_suite_is_read_with_its_cases(tmp_path: Path) -> None:
    file = tmp_path / "sums.toml"
    file.write_text(SMALL)

    suite = read_suite(file)

    assert (suite.name, suite.repetitions, suite.approval) == ("sums", 2, "side_effects")
    assert suite.budget == Budget(tokens=1000)
    assert suite.prices == {"gpt-5-mini": Price(0.25, 2.0)}
    assert [(case.id, case.goal, case.checks) for case in suite.cases] == [
        ("sum", "What is 2 + 3?", ({"matches": "^5$"},))
    ]


def test_the_suite_of_the_documentation_can_be_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "evaluation.md"
    shown = re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "notes").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "suite.toml").write_text(shown[0])

    suite = read_suite(tmp_path / "suite.toml")

    assert [fault for case in suite.cases for fault in case_faults(case, suite.tools or ())] == []


def test_cases_may_stand_in_a_file_of_json_lines(tmp_path: Path) -> None:
    (tmp_path / "goals.jsonl").write_text(
        '{"id": "a", "goal": "Add", "checks": [{"range": [5, 5]}], "answer": "json"}\n\n'
        '{"id": "b", "goal": "Subtract", "checks": [{"non_empty": true}]}\n'
    )
    (tmp_path / "many.toml").write_text('cases = "goals.jsonl"')

    suite = read_suite(tmp_path / "many.toml")

    assert [case.id for case in suite.cases] == ["a", "b"]


def test_paths_begin_where_the_suite_lies(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "suite.toml").write_text(
        'documents = "notes"\n'
        + SMALL
        + 'documents = "other"\n[[cases]]\nid = "b"\ngoal = "b"\nchecks = [{ cites = 1 }]\n'
    )

    suite = read_suite(tmp_path / "suite.toml")

    assert [suite.documents_of(case) for case in suite.cases] == [tmp_path / "other", tmp_path / "notes"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("repetitions = 0\n" + SMALL.replace("repetitions = 2", ""), "repetitions"),
        (SMALL.replace("tokens", "token"), "line 4: budget.token is not a limit"),
        (SMALL.replace("repetitions", "repetition"), "line 2: repetition is unknown; did you mean repetitions"),
        (SMALL.replace("tokens", "steps"), "steps cannot limit a whole evaluation"),
        (SMALL.replace("goal", "gaol"), r"case 1: gaol is unknown; did you mean goal\?"),
        (SMALL + '[[cases]]\nid = "sum"\ngoal = "b"\nchecks = [{ cites = 1 }]', "two cases have the id sum"),
        (SMALL + 'documents = "nowhere"', "nowhere is not a folder"),
        (SMALL.replace('[{ matches = "^5$" }]', "[]"), "case 1: checks must"),
        ('replanning = { approval = "never" }\n' + SMALL, "approval cannot be set here"),
        ('cases = "lines.jsonl"', "line 2 is not JSON"),
        ('cases = "nothing.jsonl"', "cannot be read"),
        ("= 1", "cannot be read"),
    ],
)
def test_what_is_not_understood_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "lines.jsonl").write_text('{"id": "a", "goal": "Add", "checks": [{"range": [5, 5]}]}\n{"id":\n')
    (tmp_path / "suite.toml").write_text(text)

    with pytest.raises(SuiteError, match=told):
        read_suite(tmp_path / "suite.toml")
