import pytest

from planner_executor.tools.files.difference import MOST_BYTES, MOST_LINES, difference


def test_a_new_file_is_all_added() -> None:
    assert difference("a.txt", None, b"one\ntwo\n") == "--- /dev/null\n+++ a.txt\n@@ -0,0 +1,2 @@\n+one\n+two"


def test_a_line_break_at_the_end_is_a_difference() -> None:
    assert "-one  (no line break at the end)\n+one" in difference("a.txt", b"one", b"one\n")


def test_a_file_that_stays_says_so() -> None:
    assert difference("a.txt", b"one", b"one") == "a.txt stays as it is"
    assert difference("a.txt", None, b"") == "a.txt is new and empty"


@pytest.mark.parametrize("content", [b"\xff", b"a\0b", b"x" * (MOST_BYTES + 1), b"\n" * (MOST_LINES + 1)])
def test_what_is_no_text_or_too_long_is_told_by_its_length(content: bytes) -> None:
    assert difference("a.bin", b"old", content) == f"a.bin had 3 bytes, and would have {len(content):,} bytes"
    assert difference("a.bin", None, content) == f"a.bin is new, and would have {len(content):,} bytes"
