import asyncio
import signal
import threading

import pytest

from graph.builder import on_a_loop


async def failing(error: BaseException) -> dict:
    raise error


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), asyncio.CancelledError("stopped")], ids=repr)
def test_a_node_raises_the_same_inside_a_running_loop_and_outside(error: BaseException) -> None:
    async def notebook_cell() -> None:
        on_a_loop(failing(error))

    with pytest.raises(type(error)):
        on_a_loop(failing(error))
    with pytest.raises(type(error)):
        asyncio.run(notebook_cell())


def test_an_interrupted_node_inside_a_running_loop_leaves_no_work_behind() -> None:
    caller, ended = threading.get_ident(), threading.Event()

    async def node() -> dict:
        try:
            signal.pthread_kill(caller, signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    async def notebook_cell() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a notebook's kernel
        with pytest.raises(KeyboardInterrupt):
            on_a_loop(node())

    asyncio.run(notebook_cell())
    assert ended.is_set()
