"""Change one line of a module at a time and run its tests: whatever passes shows a promise that no test holds.

    python tests/mutants/mutate.py [--module graph.calls.gate] [--sample 100] [--workers 2]

`modules.toml` names the modules that carry a promise, with the tests of each. `equivalent.toml` lists survivors that
change nothing anybody could see, with the reason. The process ends with 1 if any other mutant survives, or if an entry
of that list names none.
"""

import argparse
import ast
import gc
import importlib.util
import os
import random
import signal
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import Phase, settings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), *(str(ROOT / folder) for folder in ("tests/graph/calls", "tests/scenarios", "tests/faults"))]

from mutations import Mutation, mutations  # noqa: E402

PATIENCE, SHORTEST_S, LONGEST_S = 8, 8.0, 600.0
"""How many times longer its tests may take with a mutation, the least that they are given, and the most without."""
PLUGINS = ("_hypothesis_pytestplugin", "pytest_timeout")
"""The only plugins that tests here need; to load all that are installed takes longer than many tests."""
QUIET = (
    *("-x", "-q", "--assert=plain", "-m", "not slow", "-p", "no:cacheprovider"),
    *(part for name in PLUGINS for part in ("-p", name)),
)
SAME_EXAMPLES = ("--hypothesis-seed=0", "--hypothesis-profile=mutants")
ALONE = "--noconftest"
settings.register_profile(
    "mutants", max_examples=30, deadline=None, database=None, phases=(Phase.explicit, Phase.generate)
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
    def path(self) -> Path:
        """Its source."""
        return ROOT / (self.name.replace(".", "/") + ".py")


@dataclass(frozen=True)
class Survivor:
    """A mutation that no test noticed."""

    module: str
    mutation: Mutation

    def __str__(self) -> str:
        return f"{self.module}:{self.mutation.line}: {self.mutation.name}"


class Mutated(MetaPathFinder, Loader):
    """Gives a module with another source to whoever imports it."""

    def __init__(self, module: Module, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """Answer for the module alone."""
        if name != self.module.name:
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
        if name == self.module.name:
            raise ImportError(name)


def modules() -> list[Module]:
    """Return the modules that carry a promise."""
    named = tomllib.loads((HERE / "modules.toml").read_text())
    mirrored = [Module(name, (_mirror(name),)) for name in named["mirrored"]]
    return mirrored + [Module(name, tuple(tests)) for name, tests in named["tests"].items()]


def _mirror(name: str) -> str:
    *room, last = name.split(".")
    return "/".join(["tests", *room, f"test_{last}.py"])


def equivalent() -> set[tuple[str, str]]:
    """Return (module, mutation) of the survivors that change nothing."""
    listed = tomllib.loads((HERE / "equivalent.toml").read_text())
    return {(module, entry["mutation"]) for module, entries in listed.items() for entry in entries}


def outdated(module: Module, known: set[tuple[str, str]]) -> list[str]:
    """Return the mutations that are listed as equivalent for a module that has no such mutation, or no more."""
    names = {mutation.name for mutation in mutations(module.path.read_text())}
    return [mutation for listed, mutation in sorted(known) if listed == module.name and mutation not in names]


def passes(module: Module, source: str, limit_s: float) -> bool:
    """Whether the module's tests pass with this source, run in a child of this warm process; too slow means no."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        sys.meta_path.insert(0, Mutated(module, source))
        tests = (str(ROOT / test) for test in module.tests)
        code = 1
        try:
            code = int(pytest.main([*QUIET, *SAME_EXAMPLES, *module.options, *tests]))
        finally:
            os._exit(code)  # nothing of the parent is to be closed twice
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


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

    The tests must pass without one. The limit is in seconds: a mutation may make them wait for ever.
    """
    for options in ((ALONE,), ()):
        tested = replace(module, options=options)
        with get_context("fork").Pool(workers, warm, (tested,)) as pool:
            took_s = pool.apply(timed, (tested,))
            if took_s is not None:
                yield pool, tested, max(SHORTEST_S, PATIENCE * took_s)
                return
    raise SystemExit(f"the tests of {module.name} fail without a mutation: {', '.join(module.tests)}")


def timed(module: Module) -> float | None:
    """Return how long the module's tests take as it is, in seconds, or None if they fail."""
    begun = time.monotonic()
    return time.monotonic() - begun if passes(module, module.path.read_text(), LONGEST_S) else None


def mutants(module: Module, sample: int, seed: int) -> list[Mutation]:
    """Return the mutations of a module, or so many of them, drawn by the seed."""
    found = list(mutations(module.path.read_text()))
    return random.Random(seed).sample(found, sample) if 0 < sample < len(found) else found


def tried(job: tuple[Module, Mutation, float]) -> Survivor | None:
    """Return the survivor, or None if a test noticed the mutation."""
    module, mutation, limit = job
    return Survivor(module.name, mutation) if passes(module, mutation.source, limit) else None


def reported(module: Module, outcomes: Iterable[Survivor | None], known: set[tuple[str, str]]) -> tuple[int, int]:
    """Print each survivor that is not listed as it comes, then the figures of the module; return (mutants, left)."""
    begun, count, listed, left = time.monotonic(), 0, 0, 0
    for survivor in outcomes:
        count += 1
        if survivor is not None and (module.name, survivor.mutation.name) in known:
            listed += 1
        elif survivor is not None:
            left += 1
            print(f"  survived: {survivor}", flush=True)
    noticed, took_s = count - listed - left, time.monotonic() - begun
    print(f"{module.name}: {count} mutants, {noticed} noticed, {listed} equivalent, {took_s:.0f} s", flush=True)
    return count, left


def main(args: Sequence[str]) -> int:
    """Try the mutations of some modules or all, and print what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", action="append", default=[], help="only this one; may be given several times")
    parser.add_argument("--sample", type=int, default=0, help="at most so many mutations of each module")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(args)
    wanted = [module for module in modules() if not asked.module or module.name in asked.module]
    if unknown := set(asked.module) - {module.name for module in wanted}:
        parser.error(f"modules.toml does not list {', '.join(sorted(unknown))}")
    begun, known, total, left = time.monotonic(), equivalent(), 0, 0
    for module in wanted:
        with prepared(module, asked.workers) as (pool, tested, limit_s):
            jobs = [(tested, mutation, limit_s) for mutation in mutants(module, asked.sample, asked.seed)]
            counted = reported(module, pool.imap(tried, jobs), known)
        for mutation in (entries := outdated(module, known)):
            print(f"  listed, but no mutation: {module.name}: {mutation}")
        total, left = total + counted[0], left + counted[1] + len(entries)
    print(f"{total} mutants, {left} survived, {time.monotonic() - begun:.0f} s")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
