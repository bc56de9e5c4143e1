"""Run the tests of a module with another source, each time in a child of a warm process, within a limit of time."""

import ast
import gc
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).parents[2]
PATIENCE, SHORTEST_S, LONGEST_S, IDLE_S = 5, 4.0, 300.0, 8.0
"""How many times more processor time its tests may take with a mutation, the least that they are given, the most
without, and how long they may wait without using any: a machine with other work lets them take longer, not fail."""
READY = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
"""What a process does that only others keep from going on."""
PLUGINS = ("_hypothesis_pytestplugin", "pytest_timeout", "anyio.pytest_plugin")
"""The only plugins that tests here need; to load all that are installed takes longer than many tests."""
QUIET = (
    *("-x", "-q", "--assert=plain", "-m", "not slow and not e2e", "-p", "no:cacheprovider"),
    *(part for name in PLUGINS for part in ("-p", name)),
)
SAME_EXAMPLES = ("--hypothesis-seed=0", "--hypothesis-profile=mutants")
ALONE = "--noconftest"
settings.register_profile(
    "mutants",
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    database=None,
    phases=(Phase.explicit, Phase.generate),
)


@dataclass(frozen=True)
class Module:
    """A module that carries a promise, and the tests that are to hold it.

    `options` are those of pytest: tests that need nothing of `conftest.py` start faster without it.
    """

    name: str
    tests: tuple[str, ...]
    options: tuple[str, ...] = (ALONE,)

    @property
    def import_name(self) -> str:
        """The name that it is imported by; `name` is relative to the package."""
        return f"planner_executor.{self.name}"

    @property
    def path(self) -> Path:
        """Its source, by the path that it is imported from."""
        return ROOT / (self.import_name.replace(".", "/") + ".py")


@dataclass(frozen=True)
class Outcome:
    """What the tests say of a source: whether they passed, and after how much processor time they ended or `stopped`.

    They are stopped if they take too much, or wait for ever.
    """

    passed: bool
    processor_s: float
    stopped: bool = False


class Mutated(MetaPathFinder, Loader):
    """Gives a module with another source to whoever imports it."""

    def __init__(self, module: Module, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """Answer for the module alone."""
        if name != self.module.import_name:
            return None
        return importlib.util.spec_from_file_location(name, self.module.path, loader=self)

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source."""
        exec(compile(self.source, str(self.module.path), "exec"), module.__dict__)


class Missing(MetaPathFinder):
    """Refuses to import a module, and so whatever needs it."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def find_spec(self, name: str, _path: object, _target: object = None) -> None:
        """Refuse the module alone."""
        if name == self.module.import_name:
            raise ImportError(name)


def arguments(module: Module) -> list[str]:
    """Return the arguments of pytest for the module's tests."""
    return [*QUIET, *SAME_EXAMPLES, *module.options, *(str(ROOT / test) for test in module.tests)]


def silence() -> None:
    """Let this process print nothing."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)


def imported(module: Module, source: str, limit_s: float) -> Outcome:
    """Run the tests with this source in a child of this warm process, which imports it."""
    child = os.fork()
    if child == 0:
        os.setpgrp()  # a group to kill; in a session of its own it would not be as nice as whoever started this
        silence()
        sys.meta_path.insert(0, Mutated(module, source))
        code = 1
        try:
            code = int(pytest.main(arguments(module)))
        finally:
            os._exit(code)  # nothing of the parent is to be closed twice
    return watched(child, limit_s)


def watched(child: int, limit_s: float) -> Outcome:
    """Wait for a process until it ends, has used its time, or has used none for a while."""
    process, used_s, since = psutil.Process(child), 0.0, time.monotonic()
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return Outcome(os.waitstatus_to_exitcode(status) == 0, usage.ru_utime + usage.ru_stime)
        now_s = _processor_s(process)
        if now_s > used_s or process.status() in READY:
            used_s, since = now_s, time.monotonic()
        if used_s > limit_s or time.monotonic() - since > IDLE_S:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Outcome(passed=False, processor_s=used_s, stopped=True)
        time.sleep(0.02)


def _processor_s(process: psutil.Process) -> float:
    """Return the processor time of a process, in seconds, with that of children which have ended."""
    return sum(process.cpu_times()[:4])


def warm(module: Module) -> None:
    """Import what every child needs, as far as it does not need the module itself."""
    os.chdir(ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path.insert(0, str(ROOT))
    for plugin in PLUGINS:
        importlib.import_module(plugin)
    missing = Missing(module)
    sys.meta_path.insert(0, missing)
    needed = [module.path, *(ROOT / test for test in module.tests)]
    for path in needed if ALONE in module.options else [*needed, ROOT / "tests/conftest.py"]:
        for name in _imports(path):
            with suppress(ImportError):
                importlib.import_module(name)
    sys.meta_path.remove(missing)
    gc.collect()
    gc.freeze()  # pytest collects garbage at its end, which a child need not look for in what it found here


def _imports(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@contextmanager
def prepared(module: Module, workers: int) -> Iterator[tuple[Pool, Module, float]]:
    """Give warm processes, the module with the options that its tests need, and their time limit with a mutation.

    The tests must pass without one. The limit is in seconds of processor time.
    """
    for options in ((ALONE,), ()):
        chosen = replace(module, options=options)
        with get_context("fork").Pool(workers, warm, (chosen,)) as pool:
            outcome = pool.apply(imported, (chosen, module.path.read_text(), LONGEST_S))
            if outcome.passed:
                yield pool, chosen, max(SHORTEST_S, PATIENCE * outcome.processor_s)
                return
    raise SystemExit(f"the tests of {module.name} fail without a mutation: {', '.join(module.tests)}")
