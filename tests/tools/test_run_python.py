import re
import sys
from typing import Any

import pytest

from planner_executor.tools.errors import InputRefused
from planner_executor.tools.run_python import run_python


def run(code: str, **inputs: Any) -> dict[str, Any]:
    done: dict[str, Any] = run_python(time_s=1).invoke({"code": code, "inputs": inputs})
    return done


def test_the_last_expression_is_the_value_and_prints_are_kept() -> None:
    done = run("print('rows:', len(rows))\nsum(row['a'] for row in rows)", rows=[{"a": 1}, {"a": 2}])

    assert done == {"value": 3, "printed": "rows: 2\n", "cut": False}


def test_inputs_are_values_and_never_code() -> None:
    assert run("text", text="1 + 1'); open('/etc/passwd')")["value"] == "1 + 1'); open('/etc/passwd')"


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("(1, [2.5, None, True])", [1, [2.5, None, True]]),
        ("{'b', 'a'}", ["a", "b"]),
        ("{1: 'x'}", {"1": "x"}),
        ("import datetime\ndatetime.date(2026, 1, 2)", "2026-01-02"),
        ("import decimal\ndecimal.Decimal('0.1') + decimal.Decimal('0.2')", "0.3"),
        ("10 ** 30", 10**30),
        ("x = 1", None),
    ],
)
def test_values_are_what_json_has(code: str, value: Any) -> None:
    assert run(code)["value"] == value


@pytest.mark.parametrize(
    "code", ["float('nan')", "b'a'", "print", "{(1, 2): 3}", "class A: pass\nA()", "'x' * 2_000_000", "10 ** 100_000"]
)
def test_a_value_that_json_does_not_have_is_an_error_with_a_way_out(code: str) -> None:
    with pytest.raises(InputRefused) as failure:
        run(code)

    assert "return" in failure.value.reason


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/passwd').read()",
        "open('out.txt', 'w').write('x')",
        "import pathlib\npathlib.Path('/etc/hostname').read_text()",
        "import os\nos.listdir('/')",
        "import os\nos.environ",
        "import os\nos.getenv('PATH')",
        "import os\nos.system('true')",
        "import socket",
        "import subprocess",
        "import urllib.request",
        "import ctypes",
        "import importlib",
        "__import__('os').system('true')",
        "().__class__.__base__.__subclasses__()",
        "(lambda: 0).__globals__",
        "import sys\nsys.modules['os']",
        "raise SystemExit",
        "raise KeyboardInterrupt",
    ],
)
def test_there_is_no_way_out_of_the_sandbox(code: str) -> None:
    with pytest.raises(InputRefused):
        run(code)


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("while True: pass", "TimeoutError"),
        ("while True: print('x' * 1000)", "TimeoutError"),
        ("10 ** 10 ** 8", "time"),
        ("[0] * 10 ** 10", "MemoryError"),
        ("x = 'a'\nwhile True: x += x", "Error|memory or time"),  # of time on a busy machine
        ("x = []\nwhile True: x.append(x * 2)", "Error|memory or time"),
        ("def f(n): return f(n + 1)\nf(0)", "RecursionError"),
        ("[" * 5000 + "]" * 5000, "SyntaxError"),
    ],
)
def test_time_memory_and_depth_are_bounded(code: str, names: str) -> None:
    with pytest.raises(InputRefused) as failure:
        run(code)

    assert re.search(names, failure.value.reason) and len(failure.value.reason) < 3000


def test_an_error_shows_where_it_came_from_and_the_next_move() -> None:
    with pytest.raises(InputRefused) as division:
        run("rows = [1]\nrows[0] / 0")
    with pytest.raises(InputRefused) as module:
        run("import numpy")

    assert "line 2" in division.value.reason and "ZeroDivisionError" in division.value.reason
    assert "do without it" in module.value.reason


def test_sleeping_takes_no_time_and_what_is_printed_is_bounded() -> None:
    assert run("import time\ntime.sleep(1000)\n1")["value"] == 1
    printed = run("print('x' * 30_000)")
    assert (len(printed["printed"]), printed["cut"]) == (20_000, True)


def test_a_name_that_can_be_no_variable_is_refused() -> None:
    with pytest.raises(InputRefused) as failure:
        run("1", **{"a b": 1})

    assert "'a b'" in failure.value.reason


def test_one_call_leaves_nothing_for_the_next() -> None:
    run("kept = 1")

    with pytest.raises(InputRefused):
        run("kept")


def test_without_the_package_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)

    tool = run_python()

    with pytest.raises(InputRefused) as failure:
        tool.invoke({"code": "1"})
    assert "pip install '.[sandbox]' in the folder of planner-executor" in failure.value.reason
