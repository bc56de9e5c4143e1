from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.documents.library import Library
from planner_executor.tools.errors import PathRefused, SourceNotReadable
from planner_executor.tools.list_documents import list_documents
from planner_executor.tools.read_document import read_document
from planner_executor.tools.search_documents import search_documents


def read(folder: Path, **args: Any) -> dict[str, Any]:
    result: dict[str, Any] = read_document(Library(folder)).invoke(args)
    return result


def test_a_part_has_its_lines_and_the_next_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\ntwo\nthree\nfour\n")

    assert read(tmp_path, path="a.md", start_line=2, max_lines=2) == {
        "source": "a.md",
        "line": 2,
        "end_line": 3,
        "total_lines": 4,
        "next_line": 4,
        "text": "two\nthree",
    }


def test_lines_are_numbered_as_they_are_in_the_file_if_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\ntwo\n\nfour\n")

    found = read(tmp_path, path="a.md", start_line=2, max_lines=3, number_lines=True)

    assert found["text"] == "2: two\n3: \n4: four" and found["line"] == 2


def test_the_last_part_has_no_next_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\ntwo")

    assert read(tmp_path, path="a.md")["next_line"] is None


def test_a_line_behind_the_end_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")

    with pytest.raises(SourceNotReadable) as error:
        read(tmp_path, path="a.md", start_line=2)
    assert error.value.source == "a.md"


def test_lines_of_a_page_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html>\n<p>One\ntwo</p>\n<script>no</script>\n<p>three</p>")

    assert read(tmp_path, path="a.html")["text"].split("\n") == ["", "One", "two", "", "three"]


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "link.md", "sub/../../secret.md"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "secret.md")

    with pytest.raises(PathRefused):
        read(tmp_path / "docs", path=path)


def test_a_pdf_is_listed_found_and_read_by_page(tmp_path: Path, pdf: Callable[..., bytes]) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("First words about wind.", "Second words about solar power."))
    library = Library(tmp_path)

    listed = list_documents(library).invoke({})
    (found,) = search_documents(library).invoke({"query": "solar"})["passages"]
    page = read_document(library).invoke({"path": "a.pdf", "start_line": 2})

    document = {"source": "a.pdf", "kind": "pdf", "pages": 2, "title": "First words about wind."}
    assert listed == {"documents": [document], "skipped": [], "skipped_count": 0}
    assert (found["page"], found["line"], found["text"]) == (2, None, "Second words about solar power.")
    assert page == {
        "source": "a.pdf",
        "page": 2,
        "total_pages": 2,
        "next_page": None,
        "text": "Second words about solar power.",
    }


def test_listing_names_kind_size_and_title_and_what_was_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A title\n\nWords.\n")
    (tmp_path / "b.txt").write_bytes(b"\0")

    assert list_documents(Library(tmp_path)).invoke({}) == {
        "documents": [{"source": "a.md", "kind": "markdown", "lines": 3, "title": "A title"}],
        "skipped": [{"source": "b.txt", "reason": "not a text file: it holds NUL bytes"}],
        "skipped_count": 1,
    }
