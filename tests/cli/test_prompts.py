"""A person at a real terminal."""

import getpass
import json
import os
import pty
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import Result
from warm_process import WarmProcess

Cli = Callable[..., Result]
QUESTION = "replan with this feedback: "

pytestmark = pytest.mark.slow


@dataclass
class Terminal:
    """A command that runs in a terminal."""

    process: WarmProcess
    file: int
    read: Callable[..., str]

    @property
    def pid(self) -> int:
        return self.process.pid

    def says(self, words: str) -> str:
        return self.read(self.file, words)

    def type(self, keys: str) -> None:
        os.write(self.file, keys.encode())

    def ends(self) -> tuple[str, int]:
        said = self.read(self.file, "\0 never said")
        os.close(self.file)
        return said, self.process.wait()


@pytest.fixture
def terminal(read_until: Callable[..., str]) -> Callable[..., Terminal]:
    def start(*args: str) -> Terminal:
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        file, its_end = pty.openpty()
        process = WarmProcess(
            ["-m", "planner_executor", *args], stdin=its_end, stdout=its_end, env=environment, terminal=True
        )
        os.close(its_end)
        return Terminal(process, file, read_until)

    return start


def test_a_person_is_shown_the_plan_and_approves(terminal: Callable[..., Terminal]) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    assert "write_report (write)" in at.says(QUESTION)

    at.type("y\n")

    said, code = at.ends()
    assert code == 0
    assert "it is 42" in said


@pytest.mark.parametrize("words", ["aproove", "Yes!", "?"])
def test_words_that_are_nearly_a_decision_are_asked_again_and_decide_nothing(
    terminal: Callable[..., Terminal], folder: Path, cli: Cli, latest: Callable[[], str], words: str
) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type(f"{words}\n")
    assert "is neither y nor n" in at.says(QUESTION)
    at.type("\x04")

    assert at.ends()[1] == 3
    assert not (folder / "workspace").exists()
    assert json.loads(cli("show", latest(), "--json").stdout)["decisions"] == []


@pytest.fixture
def editor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Return how to have an editor that runs Python code on `text`, and keeps what it was shown."""

    def write(code: str) -> Path:
        program = folder / "editor.py"
        program.write_text(
            "import pathlib, stat, sys\n"
            "file = pathlib.Path(sys.argv[1])\n"
            "text = file.read_text()\n"
            "assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700\n"
            f"pathlib.Path({str(folder)!r}, 'shown.yaml').write_text(text)\n"
            f"pathlib.Path({str(folder)!r}, 'place').write_text(str(file))\n"
            f"{code}\nfile.write_text(text)\n"
        )
        monkeypatch.setenv("EDITOR", f"{sys.executable} {program}")
        monkeypatch.delenv("VISUAL", raising=False)
        return folder / "shown.yaml"

    return write


def test_e_opens_the_plan_in_the_editor_and_runs_it_as_edited_once_that_is_confirmed(
    terminal: Callable[..., Terminal], editor: Callable[[str], Path], folder: Path
) -> None:
    shown = editor("text = text.replace('40 + 2', '40 + 3')")
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("e\n")
    told = at.says("Run the plan as you edited it? y: run, e: edit it again")
    assert "changed: sum." in told and 'now "40 + 3"' in told
    assert not (folder / "workspace").exists()
    at.type("y\n")

    said, code = at.ends()
    assert code == 0 and "it is 43" in said
    assert "# Goal: add" in shown.read_text() and "      expression: 40 + 2" in shown.read_text()
    assert not Path((folder / "place").read_text()).parent.exists()


def test_a_fault_of_an_edited_plan_is_said_and_stands_in_place_at_the_next_edit(
    terminal: Callable[..., Terminal], editor: Callable[[str], Path], folder: Path
) -> None:
    shown = editor("text = text.replace('tool: calculator', 'tool: calculater')")
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("e\n")
    at.says("Run the plan as you edited it?")
    at.type("y\n")
    assert "Asked again: `the edited plan cannot run: sum.tool" in at.says(QUESTION)
    assert not (folder / "workspace").exists()

    editor("text = text.replace('tool: calculater', 'tool: calculator').replace('40 + 2', '40 + 4')")
    at.type("e\n")
    at.says("Run the plan as you edited it?")
    at.type("y\n")

    assert "it is 44" in at.ends()[0]
    lines = shown.read_text().splitlines()
    assert "# FAULT: sum.tool: " in lines[lines.index("    tool: calculater") - 1]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("", "the plan is unchanged; nothing is decided"),
        ("text = ''", "the file is empty; nothing is decided"),
        ("text = text.replace('    tool: calculator', '    tool: [calculator')", "of the edited plan: "),
        ("sys.exit(3)", "ended with code 3"),
        ("file.write_bytes(b'\\xff'); sys.exit()", "cannot be read"),
    ],
)
def test_an_edit_that_comes_to_nothing_says_why_and_decides_nothing(
    terminal: Callable[..., Terminal], editor: Callable[[str], Path], folder: Path, code: str, words: str
) -> None:
    editor(code)
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("e\n")
    assert words in at.says(QUESTION)
    at.type("\x04")

    assert at.ends()[1] == 3
    assert not (folder / "workspace").exists()


def test_ctrl_c_in_an_editor_that_does_not_keep_it_for_itself_leaves_the_question_open(
    terminal: Callable[..., Terminal], editor: Callable[[str], Path], folder: Path
) -> None:
    editor("import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.killpg(0, signal.SIGINT)")
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("e\n")

    said, code = at.ends()
    assert code == 130 and "it waits for your decision; continue with" in said
    assert not Path((folder / "place").read_text()).parent.exists()


def test_an_edited_plan_that_is_not_confirmed_waits_for_the_next_edit(
    terminal: Callable[..., Terminal], editor: Callable[[str], Path], folder: Path
) -> None:
    shown = editor("text = text.replace('40 + 2', '40 + 5')")
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("e\n")
    at.says("Run the plan as you edited it?")
    at.type("yep\n")
    at.says(QUESTION)
    assert not (folder / "workspace").exists()
    at.type("e\n")
    at.says("Run the plan as you edited it?")
    at.type("y\n")

    assert "it is 45" in at.ends()[0]
    assert "40 + 5" in shown.read_text()


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
    assert "Asked again: `the plan stays as it was" in at.says(QUESTION)
    at.type("\x04")
    assert at.ends()[1] == 3

    assert f"feedback by a person, os:{getpass.getuser()}, revision 1" in cli("show", latest()).stdout
    assert ": multiply them" in cli("show", latest()).stdout


def test_comments_on_steps_are_collected_and_sent_together(
    terminal: Callable[..., Terminal], cli: Cli, latest: Callable[[], str]
) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("c smu in cents\n")
    assert "the plan has no step smu; did you mean sum?" in at.says(QUESTION)
    at.type("c sum in cents\n")
    at.says("s: send 1 comment for a new plan")
    at.type("c write: shorter\n")
    at.says("s: send 2 comments for a new plan")
    at.type("s\n")
    at.says(QUESTION)
    at.type("\x04")
    assert at.ends()[1] == 3

    assert ": on sum: in cents; on write: shorter" in cli("show", latest()).stdout


def test_collected_comments_can_be_dropped(
    terminal: Callable[..., Terminal], cli: Cli, latest: Callable[[], str]
) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.says(QUESTION)
    at.type("c sum in cents\n")
    at.says("s: send 1 comment for a new plan")
    at.type("d\n")
    at.says(QUESTION)
    at.type("y\n")

    assert at.ends()[1] == 0 and "in cents" not in cli("show", latest()).stdout


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
    assert f"it waits for your decision; continue with: planner-executor resume {latest()}" in said


def test_keys_pressed_before_the_plan_was_shown_approve_nothing(terminal: Callable[..., Terminal], cli: Cli) -> None:
    at = terminal("run", "add", "--plan", "plan.json")
    at.type("y\n")
    at.says(QUESTION)
    at.type("\x04")

    said, code = at.ends()
    assert code == 3
    assert "waits for your decision" in said


@pytest.fixture
def asks(folder: Path) -> None:
    """Have a plan with a question, a gate, and a call with an untrusted argument."""
    (folder / "workspace").mkdir()
    (folder / "workspace/note.txt").write_text("there.txt")
    path = {"path": "{read_result.text}", "content": "{name_result}"}
    steps = [
        {"id": "name", "objective": "Know the name", "ask": "Under which name?"},
        {"id": "read", "objective": "Read the note", "tool": "read_file", "args": {"path": "note.txt"}},
        {"id": "look", "objective": "See it", "gate": "Is this the note?", "depends_on": ["read"]},
        {"id": "copy", "objective": "Keep it", "tool": "write_file", "args": path, "depends_on": ["look"]},
    ]
    (folder / "plan.json").write_text(json.dumps({"steps": steps}))


def test_a_person_answers_a_question_passes_a_gate_and_lets_a_call_be_made(
    terminal: Callable[..., Terminal], asks: None, folder: Path, cli: Cli, latest: Callable[[], str]
) -> None:
    at = terminal("run", "copy", "--plan", "plan.json")
    assert "name asks: `Under which name?`" in at.says(QUESTION)
    at.type("y\n")
    at.says("Your answer to name (:end: end the run, :again WORDS: replan, Ctrl-D: later): ")
    at.type("\nAda\n")
    assert "Is this the note?" in at.says("Continue after look? y: continue, n: end the run")
    at.type("y\n")
    assert "- path, from read_file" in at.says("Let copy call write_file with these arguments? y: call")
    assert not (folder / "workspace/there.txt").exists()
    at.type("y\n")

    assert at.ends()[1] == 0
    assert (folder / "workspace/there.txt").read_text() == "Ada"
    made = json.loads(cli("show", latest(), "--json").stdout)["decisions"]
    assert {(one["by"], one["approver"]) for one in made} == {("person", f"os:{getpass.getuser()}")}


def test_a_person_may_end_the_run_where_a_call_is_asked_about_and_is_asked_nothing_more(
    terminal: Callable[..., Terminal], asks: None, folder: Path
) -> None:
    at = terminal("run", "copy", "--plan", "plan.json", "--yes")
    at.says(QUESTION)
    at.type("y\nAda\n")
    at.says("Continue after look?")
    at.type("stop\n")

    assert at.ends()[1] == 1
    assert not (folder / "workspace/there.txt").exists()


def test_a_person_raises_a_budget_so_far_as_it_is_understood(terminal: Callable[..., Terminal], folder: Path) -> None:
    at = terminal("run", "add", "--plan", "plan.json", "--budget", "tool_calls=1", "--yes")
    at.says("More budget? NAME=VALUE: raise to, f: finish with the results so far")
    at.type("tool_calls=more\n")
    assert "'more' is not a number" in at.says("More budget? ")
    at.type("tool_calls=2\n")

    assert at.ends()[1] == 0
    assert (folder / "workspace/report.md").exists()
