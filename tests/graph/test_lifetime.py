"""What is opened on first use is closed by its owner, with its event loop, or when it is dropped."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from planner_executor.graph.errors import AgentClosedError
from planner_executor.graph.lifetime import LoopThread, OpenOnUse


class Door:
    """Counts how often it was opened and closed, and by which task."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.opened, self.closed = list[object](), list[object]()
        self._fault = fault
        self.shut = threading.Event()

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[str]:
        self.opened.append(asyncio.current_task())
        if self._fault is not None:
            raise self._fault
        try:
            yield "open"
        finally:
            await asyncio.sleep(0)
            self.closed.append(asyncio.current_task())
            self.shut.set()

    def on_use(self) -> OpenOnUse[str]:
        return OpenOnUse("runs.db", self.enter)


async def test_it_is_opened_once_and_closed_by_the_task_that_opened_it() -> None:
    door = Door()

    on_use = door.on_use()
    found = await asyncio.gather(*(on_use.get() for _ in range(5)))
    await on_use.close()
    assert found == ["open"] * 5
    assert len(door.opened) == 1 and door.opened == door.closed


async def test_what_was_never_used_is_never_opened() -> None:
    door = Door()
    await door.on_use().close()

    assert not door.opened


async def test_what_cannot_be_opened_says_so_to_everybody_and_is_tried_again() -> None:
    door = Door(fault=AgentClosedError("x", "no"))

    on_use = door.on_use()
    found = await asyncio.gather(on_use.get(), on_use.get(), return_exceptions=True)
    assert [type(one) for one in found] == [AgentClosedError] * 2
    with pytest.raises(AgentClosedError):
        await on_use.get()
    assert len(door.opened) == 2


async def test_what_is_closed_is_not_opened_again() -> None:
    on_use = Door().on_use()

    await on_use.get()
    await on_use.close()
    await on_use.close()
    with pytest.raises(AgentClosedError, match=r"runs\.db"):
        await on_use.get()


async def test_what_is_dropped_is_closed() -> None:
    door = Door()

    on_use = door.on_use()
    await on_use.get()
    del on_use
    gc.collect()
    while not door.closed:
        await asyncio.sleep(0)
    assert door.opened == door.closed


def test_the_end_of_its_event_loop_closes_it_and_another_loop_opens_it_again() -> None:
    door = Door()
    on_use = door.on_use()

    assert [asyncio.run(on_use.get()), asyncio.run(on_use.get())] == ["open", "open"]
    assert len(door.opened) == len(door.closed) == 2


async def test_it_is_refused_on_another_loop_while_its_own_runs() -> None:
    on_use, loop = Door().on_use(), LoopThread()
    loop.begin(on_use.get()).result()

    with pytest.raises(AgentClosedError, match="another event loop"):
        await on_use.get()
    loop.stop()


def test_a_loop_on_a_thread_ends_when_it_is_stopped_and_when_it_is_dropped() -> None:
    doors = [Door(), Door()]
    for number, door in enumerate(doors):
        on_use, loop = door.on_use(), LoopThread()
        assert loop.begin(on_use.get()).result() == "open"
        if number:
            loop.stop()
        del loop
        gc.collect()
        assert door.shut.wait(30)


LEFT_OPEN = """
import asyncio
from contextlib import asynccontextmanager
from planner_executor.graph.lifetime import LoopThread, OpenOnUse

@asynccontextmanager
async def enter():
    try:
        yield "open"
    finally:
        await asyncio.to_thread(print, "closed")

on_use, loop = OpenOnUse("runs.db", enter), LoopThread()
print(loop.begin(on_use.get()).result())
"""


def test_what_a_script_leaves_open_is_closed_at_its_end_while_threads_still_work() -> None:
    ran = subprocess.run([sys.executable, "-c", LEFT_OPEN], capture_output=True, text=True, check=True)

    assert (ran.stdout, ran.stderr) == ("open\nclosed\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_is_told_what_is_not_its_own() -> None:
    on_use, loop = Door().on_use(), LoopThread()
    loop.begin(on_use.get()).result()

    child = os.fork()
    if child == 0:
        try:
            on_use.check()
        except AgentClosedError:
            loop.stop()  # waits for nothing: the thread is not here
            os._exit(0)
        os._exit(1)

    assert os.waitpid(child, 0)[1] == 0
    loop.stop()
