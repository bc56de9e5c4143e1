"""A warm process behaves like a new one."""

import os
import signal
import sys
from pathlib import Path

import pytest
from warm_process import WarmProcess, run_warm


def test_it_has_its_own_folder_environment_streams_and_words(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(os.getcwd(), dict(os.environ), sys.argv[1:]); print('odd', file=sys.stderr); sys.exit(3)"
    )

    done = run_warm(["-c", code, "a"], cwd=tmp_path, env={"ONLY": "this"})

    assert done.stdout == f"{tmp_path} {{'ONLY': 'this'}} ['a']\n"
    assert (done.stderr, done.returncode) == ("odd\n", 3)
    assert Path.cwd() != tmp_path and "ONLY" not in os.environ


def test_it_has_imported_what_others_wait_for() -> None:
    assert (
        run_warm(["-c", "import sys; print('planner_executor.graph.builder.graph_builder' in sys.modules)"]).stdout
        == "True\n"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_ends_by_a_signal_like_any_program(number: int) -> None:
    reader, writer = os.pipe()
    code = "import sys, threading; print('up', flush=True); threading.Event().wait()"
    process = WarmProcess(["-c", code], stdout=writer)
    os.close(writer)

    assert os.read(reader, 10) == b"up\n"
    process.send_signal(number)

    assert process.wait() == -number
    os.close(reader)


def test_an_error_that_nobody_catches_ends_it_with_its_traceback() -> None:
    done = run_warm(["-c", "raise ValueError('no')"])

    assert done.returncode == 1 and "ValueError: no" in done.stderr


def test_it_runs_no_other_python() -> None:
    assert run_warm(["-c", "import sys; print(sys.version)"]).stdout == f"{sys.version}\n"
