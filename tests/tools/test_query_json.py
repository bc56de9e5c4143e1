from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import InputRefused
from planner_executor.tools.files.root import Root
from planner_executor.tools.query_json import query_json

Ask = Callable[..., dict[str, Any]]
ORDERS = '{"orders": [{"id": 1, "total": 5}, {"id": 2, "total": 500}], "paid": null}'


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Write a file and ask about it."""

    def call(expression: str = "@", content: str | bytes = ORDERS, **args: Any) -> dict[str, Any]:
        (tmp_path / "a.json").write_bytes(content if isinstance(content, bytes) else content.encode())
        tool = query_json([Root(tmp_path, "workspace")], time_s=10)
        found: dict[str, Any] = tool.invoke({"path": "a.json", "expression": expression, **args})
        return found

    return call


@pytest.mark.parametrize(
    ("expression", "value", "total"),
    [
        ("orders[?total > `100`].id", [2], 1),
        ("sum(orders[].total)", 505, None),
        ("keys(@)", ["orders", "paid"], 2),
        ("orders[0]", {"id": 1, "total": 5}, None),
        ("orders[?total > `1000`]", [], 0),
        ("[paid]", [None], 1),
    ],
)
def test_an_expression_takes_a_part_out(ask: Ask, expression: str, value: Any, total: int | None) -> None:
    assert ask(expression) == {
        "path": "a.json", "folder": "workspace", "value": value, "total": total, "cut": False,
    }  # fmt: skip


def test_json_lines_are_a_list(ask: Ask) -> None:
    assert ask("[].a", '{"a": 1}\n\n{"a": 2}\n')["value"] == [1, 2]


def test_a_long_list_is_cut_and_marked(ask: Ask) -> None:
    found = ask("@", f'["{"x" * 400_000}", "{"y" * 400_000}", "{"z" * 400_000}"]')

    assert (len(found["value"]), found["total"], found["cut"]) == (2, 3, True)


@pytest.mark.parametrize(
    ("expression", "content", "reason"),
    [
        ("paid", ORDERS, "keys orders, paid"),
        ("orders[5]", ORDERS, "null or nothing"),
        ("orders[", ORDERS, "JMESPath"),
        ("no_such_function(@)", ORDERS, "JMESPath"),
        ("sum(@)", ORDERS, "JMESPath"),
        ("@", '{"a": ', "not JSON"),
        ("@", "", "not JSON"),
        ("@", b"\0", "not text"),
        ("@", "[" * 100_000, "nested"),
        ("@", "[1e999]", "larger"),
        ("@", f'{{"a": "{"x" * 1_100_000}"}}', "keys a"),
        ("@", f'["{"x" * 1_100_000}"]', "text of 1100000"),
    ],
)
def test_a_query_without_a_result_gives_the_reason(
    ask: Ask, expression: str, content: str | bytes, reason: str
) -> None:
    with pytest.raises(InputRefused) as refusal:
        ask(expression, content)

    assert reason in refusal.value.reason


def test_values_outside_json_become_text(ask: Ask) -> None:
    assert ask("@", '[NaN, -Infinity, "\\ud800"]')["value"] == ["NaN", "-Infinity", "?"]


def test_text_of_the_file_is_never_an_expression(ask: Ask) -> None:
    assert ask("a", '{"a": "{step_1_result} `1` ${x}"}')["value"] == "{step_1_result} `1` ${x}"
