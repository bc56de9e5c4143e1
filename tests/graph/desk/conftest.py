"""A desk over a file of its own, with a run that waits for the approval of its plan."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from desk_server import PLAN, DeskServer, Visit, served


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what visits a desk over runs of its own: `make check` is about rules."""
    for item in items:
        if not item.nodeid.startswith("tests/graph/desk/") or not isinstance(item, pytest.Function):
            continue
        if "server" in item.fixturenames or hasattr(item.module, "served"):
            item.add_marker("slow")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DeskServer]:
    with served(tmp_path / "runs.db") as running:
        yield running


@pytest.fixture
def visit(server: DeskServer) -> Iterator[Visit]:
    with server.visit() as visitor:
        yield visitor


@pytest.fixture
def waiting(server: DeskServer) -> str:
    """A run that another owner has started."""
    with server.agent() as agent:
        return agent.start("send the news", plan=PLAN, thread="news").id
