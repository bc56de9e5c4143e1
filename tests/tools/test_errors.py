import pytest
from langchain_core.tools import ToolException

from planner_executor import NothingHappened, ToolError
from planner_executor.tools.errors import (
    FileNotWritten,
    McpConnectionLost,
    McpUnreachable,
    NotConnected,
    PathRefused,
    Transient,
)
from planner_executor.tools.web.statuses import refused


def test_every_error_of_the_tools_is_an_exception_of_langchain() -> None:
    assert issubclass(ToolError, ToolException)
    assert issubclass(NothingHappened, ToolError)


def test_a_refused_path_and_an_unwritten_file_say_that_nothing_happened() -> None:
    assert issubclass(PathRefused, NothingHappened)
    assert issubclass(FileNotWritten, NothingHappened)


@pytest.mark.parametrize(
    ("status", "passes"), [(404, False), (401, False), (408, True), (429, True), (500, True), (503, True)]
)
def test_a_busy_server_may_be_asked_again(status: int, passes: bool) -> None:
    assert isinstance(refused("https://example.org", status, "busy"), Transient) is passes


@pytest.mark.parametrize("lost", [NotConnected, McpUnreachable, McpConnectionLost])
def test_a_lost_connection_may_be_there_again(lost: type) -> None:
    assert issubclass(lost, Transient)
    assert issubclass(lost, NothingHappened) is (lost is not McpConnectionLost)
