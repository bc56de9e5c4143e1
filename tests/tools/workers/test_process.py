import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import WorkStopped
from planner_executor.tools.workers.fault import Fault
from planner_executor.tools.workers.process import Bounds, in_child

BOUNDS = Bounds(time_s=20, memory_bytes=500_000_000)
SOURCE = """
import os, socket, subprocess, sys
from planner_executor.tools.workers.fault import Fault

def echo(**given): return given
def complain(): raise Fault("give less")
def fill(): return [bytes(10**8) for _ in range(100)] and None
def hang():
    while True: pass
def leave(): os._exit(3)
def crash(): raise ZeroDivisionError("1/0")
def chatter():
    print("words on standard output")
    return 1
def environment(): return dict(os.environ)
def write(path): open(path, "w").write("x")
def make(path): os.mkdir(path)
def remove(path): os.remove(path)
def start(): subprocess.run(["true"])
def fork(): os.fork()
def connect(): socket.create_connection(("127.0.0.1", 9))
def resolve(): socket.getaddrinfo("localhost", 80)
def contents(handle): return os.read(handle, 100).decode()
def odd(): return "half \\ud800 a pair"
def where(module): return __import__(module).__file__
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Do one of the works above in a child."""
    (tmp_path / "hostile_work.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])

    def call(name: str, bounds: Bounds = BOUNDS, handles: tuple[int, ...] = (), **request: Any) -> Any:
        return in_child(f"hostile_work:{name}", request, bounds, handles)

    return call


def test_the_result_of_the_work_is_returned(run: Callable[..., Any]) -> None:
    given = {"a": [1, 2.5, None, True, "é \0 {x}"], "b": {}}

    assert run("echo", **given) == given
    assert run("chatter") == 1


def test_a_fault_keeps_its_words(run: Callable[..., Any]) -> None:
    with pytest.raises(Fault) as fault:
        run("complain")

    assert fault.value.reason == "give less"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("fill", "needs more than 500 MB of memory"),
        ("leave", "code 3"),
        ("crash", "ZeroDivisionError: 1/0"),
        ("start", "not allowed"),
        ("fork", "not allowed"),
        ("connect", "not allowed"),
        ("resolve", "not allowed"),
    ],
)
def test_failing_work_is_one_error_with_the_reason(run: Callable[..., Any], name: str, reason: str) -> None:
    with pytest.raises(WorkStopped) as stopped:
        run(name)

    assert reason in stopped.value.reason


def test_work_that_takes_too_long_is_ended(run: Callable[..., Any]) -> None:
    with pytest.raises(WorkStopped) as stopped:
        run("hang", Bounds(time_s=1, memory_bytes=500_000_000))

    assert "longer than 1 s" in stopped.value.reason


def test_nothing_is_written_made_or_removed(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")

    for name, path in (("write", "new"), ("write", "kept"), ("make", "folder"), ("remove", "kept")):
        with pytest.raises(WorkStopped):
            run(name, path=str(tmp_path / path))

    assert sorted(file.name for file in tmp_path.iterdir()) == ["hostile_work.py", "kept"]
    assert (tmp_path / "kept").read_text() == "x"


def test_the_child_knows_no_secrets_of_the_environment(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    assert "sk-secret" not in run("environment").values()


def test_an_open_file_is_handed_over(run: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("inside")
    with (tmp_path / "a.txt").open("rb") as stream:
        assert run("contents", handles=(stream.fileno(),), handle=stream.fileno()) == "inside"


def test_half_a_surrogate_pair_does_not_get_out(run: Callable[..., Any]) -> None:
    assert run("odd") == "half ? a pair"


def test_a_file_named_like_a_module_is_not_loaded_in_its_place(run: Callable[..., Any], tmp_path: Path) -> None:
    for name in ("json", "csv", "tools"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")

    assert not run("where", module="csv").startswith(str(tmp_path))


def test_nothing_is_loaded_from_the_current_folder_nor_from_the_scripts(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("current", "script"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "planted.py").write_text("")
    monkeypatch.chdir(tmp_path / "current")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "script" / "run.py"), raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "script"), "", str(tmp_path / "current"), *sys.path])

    with pytest.raises(WorkStopped) as stopped:
        run("where", module="planted")

    assert "ModuleNotFoundError" in stopped.value.reason


def children() -> int:
    """Count the processes that this one has started, the one that counts them among them."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid="], capture_output=True, text=True, check=True).stdout
    return listed.split().count(str(os.getpid()))


def test_no_process_and_no_handle_is_left(run: Callable[..., Any]) -> None:
    before = len(list(Path("/dev/fd").iterdir())), children()

    for name in ("echo", "crash", "complain"):
        try:
            run(name)
        except (Fault, WorkStopped):
            continue

    assert (len(list(Path("/dev/fd").iterdir())), children()) == before
