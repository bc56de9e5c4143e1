"""A user's editor knows every argument: two strict type checkers over a user's file and over the pages' blocks."""

import re
import subprocess
import sys
from collections.abc import Callable
from inspect import getdoc, signature
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, AsyncAgent, build_graph
from planner_executor.graph.cli.commands.new import write_project
from planner_executor.graph.errors import AgentError, ConfigError, InputError
from planner_executor.graph.runs.run import Run

ROOT = Path(__file__).parents[2]
USER = Path(__file__).parent / "user_of_the_package.py"
CACHE = ROOT / ".mypy_cache" / "of_a_user"
"""What mypy found in the packages: it reads anew what has changed since, and else takes 8 s of work each time."""
UNSEEN = (
    "IPython",
    "cryptography",
    "httpcore",
    "httpcore2",
    "langsmith",
    "mcp",
    "numpy",
    "opentelemetry",
    "rich",
    "tornado",
)
"""Packages that no signature of ours names: half of the work of mypy is to read them."""
PUBLIC = [name for name, value in vars(Agent).items() if name in vars(AsyncAgent) and not name.startswith("_")]


def found(tool: str, folder: Path) -> dict[str, set[int]]:
    """Return file -> lines, of the errors that a type checker finds in a folder."""
    (folder / "mypy.ini").write_text(
        f"[mypy]\n[mypy-{','.join(f'{name}.*' for name in UNSEEN)}]\nfollow_imports = skip\n"
    )
    mypy, pyright = ["--strict", "--cache-dir", CACHE], ["--pythonpath", sys.executable, "--level", "error"]
    files = sorted(file.relative_to(folder) for file in folder.rglob("*.py"))
    program = Path(sys.executable).parent / tool
    arguments = [program, *(mypy if tool == "mypy" else pyright), *files]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    lines: dict[str, set[int]] = {}
    for name, line in re.findall(r"(\w+\.py):(\d+):.* error", done.stdout):
        lines.setdefault(name, set()).add(int(line))
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["mypy", "basedpyright"])
def test_a_type_checker_finds_a_users_mistakes_and_none_in_a_page_or_a_new_project(tool: str, tmp_path: Path) -> None:
    write_project(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    for n, block in enumerate(blocks):
        (tmp_path / f"block_{n}.py").write_text(block)
    (tmp_path / "user.py").write_text(USER.read_text())
    mistakes = {n for n, line in enumerate(USER.read_text().splitlines(), 1) if line.endswith("# error")}

    assert found(tool, tmp_path) == {"user.py": mistakes}
    assert len(mistakes) == 5
    assert blocks


@pytest.mark.parametrize("name", PUBLIC)
def test_a_method_has_the_signature_and_docstring_of_the_asynchronous_one(name: str) -> None:
    ours, theirs = getattr(Agent, name), getattr(AsyncAgent, name)

    assert str(signature(ours)) == str(signature(theirs))
    assert getdoc(ours) == getdoc(theirs)
    assert getdoc(ours)


WRONG: list[tuple[Callable[[Agent, Run], Any], str]] = [
    (lambda agent, _: agent.list(status="wating"), "status: no run is 'wating'; did you mean waiting?"),  # type: ignore[arg-type]
    (lambda agent, _: agent.list(stat="waiting"), "stat: unknown argument; did you mean status?"),  # type: ignore[call-arg]
    (lambda agent, _: agent.start("x", constraint=[]), "constraint: unknown argument; did you mean constraints?"),  # type: ignore[call-arg]
    (lambda _, run: run.decide(aprove=True), "aprove: unknown argument; did you mean approve?"),  # type: ignore[call-arg]
    (lambda *_: build_graph(aproval="never"), "aproval: unknown argument; did you mean approval?"),  # type: ignore[call-arg]
    (lambda *_: build_graph(planer="rules"), "planer: unknown argument; did you mean planner?"),  # type: ignore[call-arg]
]


@pytest.mark.parametrize(("wrong", "why"), WRONG)
def test_a_wrong_argument_is_refused_by_name_with_the_right_one(
    wrong: Callable[[Agent, Run], Any], why: str, tmp_path: Path
) -> None:
    with Agent(tmp_path / "runs.db") as agent:
        run = agent.start("What is 6 * 7?")
        with pytest.raises(AgentError) as refused:
            wrong(agent, run)

    assert isinstance(refused.value, InputError | ConfigError)
    assert str(refused.value) == why


def test_a_wrong_option_of_an_agent_is_refused_by_name_with_the_right_one(tmp_path: Path) -> None:
    agent: Any = Agent
    with pytest.raises(ConfigError, match=r"^planer: unknown argument; did you mean planner\?$"):
        agent(tmp_path / "runs.db", planer="rules").start("x")
