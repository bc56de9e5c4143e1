"""A user's own `tools.py` or `graph.py` that is found first is met with a sentence that names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["tools.py", "graph.py"])
def test_the_command_names_the_file_and_does_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")

    done = python(tmp_path, "-m", "planner_executor", "runs")

    assert done.returncode == 2 and str(tmp_path / name) in done.stderr and "Traceback" not in done.stderr


def test_python_names_the_file_in_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("")

    done = python(tmp_path, "-c", "import graph; graph.build_graph()")

    assert "ShadowedPackageError" in done.stderr and str(tmp_path / "tools.py") in done.stderr
