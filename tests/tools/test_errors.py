from langchain_core.tools import ToolException

from tools import NothingHappened, ToolError
from tools.errors import FileNotWritten, PathRefused


def test_every_error_of_the_tools_is_an_exception_of_langchain() -> None:
    assert issubclass(ToolError, ToolException)
    assert issubclass(NothingHappened, ToolError)


def test_a_refused_path_and_an_unwritten_file_say_that_nothing_happened() -> None:
    assert issubclass(PathRefused, NothingHappened)
    assert issubclass(FileNotWritten, NothingHappened)
