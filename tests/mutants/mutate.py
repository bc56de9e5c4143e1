"""Change one line of a module at a time and run its tests: whatever passes shows a promise that no test holds.

    python tests/mutants/mutate.py [--module graph.calls.gate] [--sample 100] [--workers 2]

`modules.toml` names the modules that carry a promise, with the tests of each. `equivalent.toml` lists survivors that
change nothing anybody could see, with the reason. The process ends with 1 if any other mutant survives, or if an entry
of that list names none.
"""

import argparse
import os
import random
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), *(str(ROOT / folder) for folder in ("tests/graph/calls", "tests/scenarios", "tests/faults"))]

from in_place import Job, in_place  # noqa: E402
from mutations import Mutation, mutations  # noqa: E402
from trial import Module, Outcome, imported, prepared  # noqa: E402


@dataclass(frozen=True)
class Tried:
    """A mutation of a module, and what the tests say of it."""

    module: str
    mutation: Mutation
    outcome: Outcome

    def __str__(self) -> str:
        return f"{self.module}:{self.mutation.line}: {self.mutation.name}"


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


def mutants(module: Module, sample: int, seed: int) -> list[Mutation]:
    """Return the mutations of a module, or so many of them, drawn by the seed."""
    found = list(mutations(module.path.read_text()))
    return random.Random(seed).sample(found, sample) if 0 < sample < len(found) else found


def tried(job: Job) -> list[Tried]:
    """Run the tests of a module with each of some mutations."""
    module, some, limit_s = job
    outcomes = zip(some, in_place(job), strict=True)
    return [
        Tried(module.name, mutation, outcome or imported(module, mutation.source, limit_s))
        for mutation, outcome in outcomes
    ]


def reported(module: Module, results: Iterable[Tried], known: set[tuple[str, str]]) -> tuple[int, int]:
    """Print each survivor that is not listed as it comes, then the figures of the module; return (mutants, left)."""
    done, left = [], 0
    for result in results:
        done.append(result)
        if result.outcome.passed and (module.name, result.mutation.name) not in known:
            left += 1
            print(f"  survived: {result}", flush=True)
    listed = sum(result.outcome.passed for result in done) - left
    stopped = sum(result.outcome.stopped for result in done)
    processor_s = sum(result.outcome.processor_s for result in done)
    figures = f"{len(done) - listed - left} noticed ({stopped} stopped), {listed} equivalent"
    print(f"{module.name}: {len(done)} mutants, {figures}, {processor_s:.0f} s of processor time", flush=True)
    return len(done), left


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
        with prepared(module, asked.workers) as (pool, chosen, limit_s):
            found = mutants(module, asked.sample, asked.seed)
            jobs = [(chosen, found[place :: asked.workers], limit_s) for place in range(asked.workers)]
            counted = reported(module, (one for some in pool.imap_unordered(tried, jobs) for one in some), known)
        for mutation in (entries := outdated(module, known)):
            print(f"  listed, but no mutation: {module.name}: {mutation}")
        total, left = total + counted[0], left + counted[1] + len(entries)
    print(f"{total} mutants, {left} survived, {time.monotonic() - begun:.0f} s")
    return int(left > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
