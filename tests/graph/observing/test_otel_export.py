"""Export of spans, switched by the environment."""

import subprocess
import sys
from pathlib import Path

import pytest

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.observing.json_lines import JsonLines
from planner_executor.graph.observing.otel import OtelObserver
from planner_executor.graph.observing.otel_export import with_exported_spans


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave this process without a provider."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")


@pytest.mark.parametrize("value", ["", "0", "off", "False"])
def test_nothing_is_exported_unless_it_is_switched_on(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_OTEL", value)

    assert with_exported_spans(()) == ()


def test_one_variable_adds_the_observer_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_OTEL", "1")
    lines = JsonLines(sys.stdout)

    first, second = with_exported_spans([lines])

    assert first is lines and isinstance(second, OtelObserver)


def test_an_observer_of_the_programs_own_is_not_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_OTEL", "on")
    own = OtelObserver()

    assert with_exported_spans([own]) == [own]


def test_a_value_that_is_neither_on_nor_off_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_OTEL", "maybe")

    with pytest.raises(ConfigError, match="set it to 1 or 0"):
        with_exported_spans(())


def test_without_the_packages_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_OTEL", "1")
    monkeypatch.setitem(sys.modules, "planner_executor.graph.observing.otel", None)

    with pytest.raises(ConfigError, match=r"pip install .\.\[otel\]"):
        with_exported_spans(())


@pytest.mark.e2e
def test_the_spans_of_a_command_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_OTEL", "1")
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
    command = [sys.executable, "-m", "planner_executor", "run", "What is 12 * 4 + 5?", "--yes"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    assert '"name": "invoke_agent planner-executor"' in done.stderr and "invoke_agent" not in done.stdout
    assert '"service.name": "planner-executor"' in done.stderr
