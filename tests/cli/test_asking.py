"""A person at a real terminal."""

import os
import pty
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import Result

Cli = Callable[..., Result]
QUESTION = "plan again with them: "

pytestmark = pytest.mark.slow


@dataclass
class Terminal:
    """A command that runs in a terminal."""

    pid: int
    file: int
    read: Callable[..., str]

    def says(self, words: str) -> str:
        return self.read(self.file, words)

    def type(self, keys: str) -> None:
        os.write(self.file, keys.encode())

    def ends(self) -> tuple[str, int]:
        said = self.read(self.file, "\0 never said")
        os.close(self.file)
        return said, os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal(command: Callable[..., list[str]], read_until: Callable[..., str]) -> Callable[..., Terminal]:
    def start(*args: str) -> Terminal:
        words = command(*args)
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        pid, file = pty.fork()
        if pid == 0:
            os.execve(words[0], words, environment)
        return Terminal(pid, file, read_until)

    return start


def test_a_person_is_shown_the_plan_learns_how_to_edit_it_and_approves(terminal: Callable[..., Terminal]) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    assert "write_report (write)" in at.says(QUESTION)

    at.type("e\n")
    assert "-o plan.json" in at.says(QUESTION)
    at.type("y\n")

    said, code = at.ends()
    assert code == 0
    assert "it is 42" in said


def test_a_person_ends_the_run(terminal: Callable[..., Terminal], folder: Path) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("\n")
    at.says(QUESTION)
    at.type("n\n")

    said, code = at.ends()
    assert code == 1
    assert "rejected" in said
    assert not (folder / "workspace").exists()


def test_other_words_are_feedback(terminal: Callable[..., Terminal], cli: Cli, latest: Callable[[], str]) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("multiply them\n")
    at.ends()

    assert "feedback by a person, revision 1" in cli("show", latest()).stdout
    assert ": multiply them" in cli("show", latest()).stdout


def test_a_person_may_leave_the_question_open_and_answer_it_later(
    terminal: Callable[..., Terminal], cli: Cli, latest: Callable[[], str]
) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("\x04")
    said, code = at.ends()
    assert code == 3
    assert f"planner-executor resume {latest()} --approve" in said

    at = terminal("resume", latest())
    at.says(QUESTION)
    at.type("y\n")
    assert at.ends()[1] == 0


@pytest.mark.parametrize("stop", [lambda at: at.type("\x03"), lambda at: os.kill(at.pid, signal.SIGTERM)])
def test_interrupting_the_question_leaves_it_open(
    terminal: Callable[..., Terminal], stop: Callable[[Terminal], None], latest: Callable[[], str]
) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    stop(at)

    said, code = at.ends()
    assert code == 130
    assert f"it waits for your decision; go on with: planner-executor resume {latest()}" in said


def test_keys_pressed_before_the_plan_was_shown_approve_nothing(terminal: Callable[..., Terminal], cli: Cli) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.type("y\n")
    at.says(QUESTION)
    at.type("\x04")

    said, code = at.ends()
    assert code == 3
    assert "waits for your decision" in said
