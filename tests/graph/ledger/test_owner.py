"""Who is known to be gone, and who may be alive."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.ledger import owner as owners
from planner_executor.graph.ledger.owner import is_gone, may_live, named_owner, new_owner, retire, this_process

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="start times are read from /proc")


def departed() -> str:
    """Return the name of an owner that is no more: this process's number, given to another before."""
    return altered(start="0")


def altered(**parts: str) -> str:
    host, boot, pid, start, name = new_owner().split("|")
    return "|".join({"host": host, "boot": boot, "pid": pid, "start": start, "name": name, **parts}.values())


def test_every_holder_has_a_name_of_its_own() -> None:
    assert len({new_owner() for _ in range(100)}) == 100


def test_a_process_that_lives_is_not_gone() -> None:
    assert not is_gone(new_owner())


@pytest.fixture
def child() -> Iterator[Any]:
    """Start a process that tells its owner's name and waits to be killed; what it runs first can be given."""
    started: list[subprocess.Popen[str]] = []

    def start(first: str = "") -> tuple[subprocess.Popen[str], str]:
        imported = "from planner_executor.graph.ledger.owner import new_owner"
        code = f"{first}\n{imported}\nprint(new_owner(), flush=True)\ninput()"
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
        )
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


@needs_proc
def test_another_process_is_gone_once_it_was_killed_be_it_a_zombie_still_or_not(child: Any) -> None:
    process, owner = child()
    assert not is_gone(owner)

    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{process.pid}/stat").exists() and is_gone(owner)

    process.wait()
    assert is_gone(owner)


@needs_proc
def test_an_owner_of_this_process_is_gone_once_it_is_done() -> None:
    owner, other = new_owner(), new_owner()

    retire(owner)

    assert is_gone(owner) and not is_gone(other)
    assert [may_live(one) for one in (owner, other, "", None)] == [False, True, False, False]


@needs_proc
def test_a_number_that_another_process_has_by_now_is_gone() -> None:
    assert is_gone(departed())


@needs_proc
@pytest.mark.parametrize("name", ["a) R 1 (b", "two words", "x\\n", "caf\\xc3", "\\xff|"])
def test_a_process_may_call_itself_anything(child: Any, name: str) -> None:
    process, owner = child(f"open('/proc/self/comm', 'wb').write(b'{name}')")

    assert owner.count("|") == 4 and owner.split("|")[3].isdigit()
    assert not is_gone(owner)
    process.kill()
    process.wait()
    assert is_gone(owner)


@pytest.mark.parametrize("part", [{"host": "elsewhere"}, {"boot": "before"}, {"boot": ""}, {"start": ""}, {"pid": "x"}])
@pytest.mark.parametrize("pid", [str(os.getpid()), "4194305"], ids=["taken", "free"])
def test_an_owner_about_which_nothing_is_known_for_sure_is_not_gone(part: dict[str, str], pid: str) -> None:
    assert not is_gone(altered(**{"start": "0", "pid": pid, **part}))


async def test_on_an_event_loop_the_files_of_a_process_are_read_on_a_thread_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readers: list[threading.Thread] = []

    def started(_pid: int) -> None:
        readers.append(threading.current_thread())

    this_process.cache_clear()
    monkeypatch.setattr(owners, "_process_read", None)
    monkeypatch.setattr(owners, "_started", started)
    names = [await named_owner() for _ in range(2)]
    this_process.cache_clear()

    (reader,) = readers
    assert reader is not threading.current_thread()
    assert [name.split("|")[3] for name in names] == ["", ""], "it is not known when the process started"
