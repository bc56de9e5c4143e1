"""A Python process of its own, forked from one that has imported already: 0.1 s of work instead of three.

It takes the words that would follow `python`: `-m MODULE ...`, `-c CODE ...` or `SCRIPT ...`. Like a new process it has
its own environment, folder, streams and signal handlers, and runs its program as `__main__` in the main thread. Some
tests start true processes besides, so that what only an import can break is seen too.
"""

import fcntl
import io
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from multiprocessing import forkserver, reduction
from pathlib import Path
from typing import Any

FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["pytest", "warm_imports"])
STREAMS = ("stdin", "stdout", "stderr")
WARNINGS_AS_ERRORS = ("-W", "error", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Options of pytest in such a process, in which some of its plugins have been imported before it could rewrite them."""


class PassedFile:
    """An open file that is handed to the new process."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __getstate__(self) -> Any:
        return reduction.DupFd(self.fd)

    def __setstate__(self, passed: Any) -> None:
        self.fd = passed.detach()


class WarmProcess:
    """A started process, with what the tests need of `Popen`; a missing environment or folder is that of the test."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        stdout: int,
        stdin: int | None = None,
        stderr: int | None = None,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        terminal: bool = False,
    ) -> None:
        """Start it with open files as its streams: no input unless told, errors go where its output goes."""
        _warm_up()
        with ExitStack() as opened:
            if stdin is None:
                stdin = opened.enter_context(Path(os.devnull).open("rb")).fileno()
            files = [PassedFile(fd) for fd in (stdin, stdout, stdout if stderr is None else stderr)]
            place, variables = str(cwd or Path.cwd()), dict(os.environ if env is None else env)
            self._process = FORKING.Process(
                target=_run, args=([str(word) for word in words], files, place, variables, terminal)
            )
            self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the signal that ended it as a negative number; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = 60) -> int:
        """Wait for its end and return its exit code; it is killed if it takes longer."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self.kill()
            raise TimeoutError(f"process {self.pid} did not end within {timeout} s")
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it for certain."""
        self._process.kill()
        self._process.join()


def run_warm(
    words: Sequence[str], *, cwd: str | Path | None = None, env: Mapping[str, str] | None = None, timeout: float = 60
) -> "subprocess.CompletedProcess[str]":
    """Run a process to its end and return what it wrote, like `subprocess.run(capture_output=True, text=True)`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = WarmProcess(words, stdout=out.fileno(), stderr=err.fileno(), cwd=cwd, env=env)
        code = process.wait(timeout)
        written = []
        for file in (out, err):
            file.seek(0)
            written.append(file.read().decode())
    return subprocess.CompletedProcess(list(words), code, *written)


def _warm_up() -> None:
    """Start the server that forks, if it does not run; it finds modules by its environment only."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        forkserver.ensure_running()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _run(words: list[str], files: list[PassedFile], cwd: str, env: dict[str, str], terminal: bool) -> None:
    """Be the process: take over its streams, folder and environment, and run its program."""
    if terminal:
        os.setsid()
    for number, (name, file) in enumerate(zip(STREAMS, files, strict=True)):
        os.dup2(file.fd, number)
        setattr(sys, name, _stream(number, "r" if number == 0 else "w", unbuffered="PYTHONUNBUFFERED" in env))
    for fd in {file.fd for file in files}:
        os.close(fd)
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    try:
        _program(words)
    except KeyboardInterrupt:  # which ends a Python program by the signal itself
        sys.stdout.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def _stream(fd: int, mode: str, *, unbuffered: bool) -> io.TextIOWrapper:
    """Return a stream as Python opens it at its start."""
    stream = open(fd, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  (a number, for as long as we live)
    stream.reconfigure(line_buffering=unbuffered or stream.isatty() or fd == 2)
    return stream


def _program(words: list[str]) -> None:
    match words:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        case [script, *rest]:
            sys.argv = [script, *rest]
            sys.path.insert(0, str(Path(script).parent))
            runpy.run_path(script, run_name="__main__")
