"""Try mutations in a process that has collected the tests already, where the code of the changed function is swapped.

That is the same as to import the changed source, as long as nothing has called the function before the first test. What
cannot be tried so (a constant, a default, a function that a test module calls when it is imported) is imported, see
`trial`.
"""

import gc
import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from mutations import Mutation
from trial import Module, Outcome, arguments, silence, watched

Place = tuple[str, int]
"""The qualified name of a function and its first line."""
OPTIMIZED = 1
"""The flag of code that is a function's, and not a module's or a class's."""
Job = tuple[Module, Sequence[Mutation], float]


def in_place(job: Job) -> list[Outcome | None]:
    """Return what the tests say of each mutation, None if it has to be imported."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _collect(Trials(*job, writing))
    os.close(writing)
    outcomes = _told(reading)
    os.waitpid(child, 0)
    return outcomes or [None] * len(job[1])


def _collect(trials: "Trials") -> None:
    """Collect the tests and try the mutations; each child of this process comes here too, with its own result."""
    code = 1
    try:
        silence()
        with calls_noted(trials.module, trials.called) as trials.noted:
            code = int(pytest.main(["--capture=no", *arguments(trials.module)], plugins=[trials]))
        if trials.pipe is not None:
            with os.fdopen(trials.pipe, "wb") as told:
                pickle.dump(trials.result, told)
    finally:
        os._exit(code)


def _told(reading: int) -> Any:
    with os.fdopen(reading, "rb") as told:
        found = told.read()
    return pickle.loads(found) if found else None


@contextmanager
def calls_noted(module: Module, called: set[Place]) -> Iterator[None]:
    """Add the functions of a module that are called meanwhile."""
    path = str(module.path)

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename == path:
            called.add((frame.f_code.co_qualname, frame.f_code.co_firstlineno))

    sys.setprofile(note)
    threading.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@dataclass
class Trials:
    """A plugin of pytest: once the tests are collected, a child runs them for each mutation.

    `pipe` takes the `result`: in this process the outcomes, in the child that runs the tests as they are what each has
    called in what time. `called` are the functions called before the first test.
    """

    module: Module
    mutations: Sequence[Mutation]
    limit_s: float
    pipe: int | None
    result: Any = None
    called: set[Place] = field(default_factory=set)
    seen: dict[str, tuple[float, set[Place]]] = field(default_factory=dict)
    is_watched: bool = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Try all mutations; a child goes on with the tests."""
        sys.setprofile(None)
        threading.setprofile(None)
        if self._begins_watch(session):
            return None
        self.result, swaps = [], Swaps(self.module)
        gc.collect()
        gc.freeze()  # what children share with this process they need not look through
        for mutation in self.mutations:
            swap = swaps.of(mutation)
            if swap is None or swap.place in self.called:
                self.result.append(None)
                continue
            child = os.fork()
            if child == 0:
                self._begin(session, swap)
                return None
            self.result.append(watched(child, self.limit_s))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the trial of a mutation at the first failure."""
        if self.pipe is None and report.failed:
            os._exit(1)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note what a test calls and how long it takes."""
        if not self.is_watched:
            return (yield)
        called, begun = set[Place](), time.process_time()
        with calls_noted(self.module, called):
            found = yield
        self.result[item.nodeid] = (time.process_time() - begun, called)
        return found

    def _begins_watch(self, session: pytest.Session) -> bool:
        """Run the tests in reverse order in a child, and learn what they call; return True in the child.

        Tests that fail in another order are not put into another.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self.pipe, self.is_watched, self.result = writing, True, {}
            session.items.reverse()
            return True
        os.close(writing)
        seen = _told(reading)
        _, status = os.waitpid(child, 0)
        self.seen = seen if seen and status == 0 else {}
        return False

    def _begin(self, session: pytest.Session, swap: "Swap") -> None:
        """Put the changed code in place; the tests that call the function come first, the fastest of them first."""
        os.setpgrp()
        self.pipe = None
        for function in swap.functions:
            function.__code__ = swap.code
        seen = {item: self.seen.get(item.nodeid, (0.0, set[Place]())) for item in session.items}
        session.items.sort(key=lambda item: (swap.place not in seen[item][1], seen[item][0]))


@dataclass(frozen=True)
class Swap:
    """The functions at a place, and the code that they get."""

    place: Place
    functions: Sequence[FunctionType]
    code: CodeType


class Swaps:
    """The functions of an imported module, by their place, and their code in another source."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._original = self._compiled(module.path.read_text())
        self._live: dict[Place, list[FunctionType]] = {}
        gc.unfreeze()  # frozen objects are not listed
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename == str(module.path):
                self._live.setdefault((one.__code__.co_qualname, one.__code__.co_firstlineno), []).append(one)

    def of(self, mutation: Mutation) -> Swap | None:
        """Return what a mutation changes, None if that is not one function."""
        changed = self._compiled(mutation.source)
        if _skeleton(self._original) != _skeleton(changed):
            return None
        pairs = zip(_functions(self._original), _functions(changed), strict=True)
        different = [(old, new) for old, new in pairs if _whole(old) != _whole(new)]
        if len(different) != 1:
            return None
        old, new = different[0]
        place = (old.co_qualname, old.co_firstlineno)
        functions = self._live.get(place, [])
        fits = functions and all(one.__code__.co_freevars == new.co_freevars for one in functions)
        return Swap(place, functions, new) if fits else None

    def _compiled(self, source: str) -> CodeType:
        return compile(source, str(self._module.path), "exec")


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Yield the functions of a module and of its classes, but none within another."""
    for one in code.co_consts:
        if isinstance(one, CodeType) and one.co_flags & OPTIMIZED:
            yield one
        elif isinstance(one, CodeType):
            yield from _functions(one)


def _skeleton(code: CodeType) -> Any:
    """Return what a module or a class is without its functions."""
    consts = [
        repr(one) if not isinstance(one, CodeType) else None if one.co_flags & OPTIMIZED else _skeleton(one)
        for one in code.co_consts
    ]
    return code.co_qualname, code.co_code, code.co_names, consts


def _whole(code: CodeType) -> Any:
    """Return what a function does, whatever lines it stands on."""
    consts = [_whole(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_qualname, code.co_code, code.co_flags, code.co_argcount, code.co_exceptiontable, names, consts
