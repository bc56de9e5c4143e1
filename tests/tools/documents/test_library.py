import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from planner_executor.tools.documents.library import LARGEST_FILE_BYTES, Library
from planner_executor.tools.errors import NothingFound, PathRefused, SourceNotReadable
from planner_executor.tools.files.root import Root
from planner_executor.tools.read_document import read_document
from planner_executor.tools.read_file import read_text
from planner_executor.tools.workers.process import Bounds


def sources(library: Library) -> list[str]:
    return [document.source for document in library.catalogue().documents]


def test_documents_of_subfolders_are_named_by_their_relative_path(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.txt").write_text("words")
    (tmp_path / "a.md").write_text("words")
    (tmp_path / "c.py").write_text("words")

    assert sources(Library(tmp_path)) == ["a.md", "sub/b.txt"]


def test_hidden_and_foreign_folders_are_not_read(tmp_path: Path) -> None:
    for folder in (".git", ".venv", "node_modules", "docs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text("words")

    library = Library(tmp_path)

    assert sources(library) == ["docs/a.md"]
    with pytest.raises(PathRefused):
        library.file(".git/a.md")


def test_a_link_out_of_the_folder_is_listed_as_skipped(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("words")
    (tmp_path / "docs" / "b.md").symlink_to(tmp_path / "secret.md")

    catalogue = Library(tmp_path / "docs").catalogue()

    assert [document.source for document in catalogue.documents] == ["a.md"]
    assert "link" in catalogue.skipped["b.md"]


def test_large_files_binary_files_and_pipes_are_listed_as_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("words")
    (tmp_path / "large.md").write_bytes(b"x" * (LARGEST_FILE_BYTES + 1))
    (tmp_path / "binary.txt").write_bytes(b"a\0b")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 no")
    os.mkfifo(tmp_path / "pipe.md")

    assert set(Library(tmp_path).catalogue().skipped) == {"large.md", "binary.txt", "broken.pdf", "pipe.md"}


def test_a_missing_folder_and_an_empty_one_are_errors_that_name_it(tmp_path: Path) -> None:
    for folder in (tmp_path / "missing", tmp_path):
        with pytest.raises(NothingFound) as error:
            Library(folder).catalogue()
        assert repr(str(folder)) in str(error.value)
        assert str(folder) in str(error.value) and ".pdf" in str(error.value)


def test_an_empty_folder_is_called_empty_and_one_without_documents_is_not(tmp_path: Path) -> None:
    with pytest.raises(NothingFound, match="is empty"):
        Library(tmp_path).catalogue()

    (tmp_path / "a.docx").write_bytes(b"PK")

    with pytest.raises(NothingFound, match=r"holds no readable document.*skipped 1: a\.docx"):
        Library(tmp_path).catalogue()


def test_a_document_without_text_is_not_one_that_was_looked_through(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("words")
    (tmp_path / "b.md").write_text("\n")

    catalogue = Library(tmp_path).catalogue()

    assert len(catalogue.documents) == 1 and catalogue.skipped == {"b.md": "there is no text in it"}


def test_files_of_other_kinds_are_skipped_with_the_tool_that_reads_them(tmp_path: Path) -> None:
    for name in ("a.md", "b.docx", "c.csv", ".hidden"):
        (tmp_path / name).write_text("words")

    catalogue = Library(tmp_path).catalogue()

    assert sorted(catalogue.skipped) == ["b.docx", "c.csv"]
    assert "convert_document" in catalogue.skipped["b.docx"] and "convert" not in catalogue.skipped["c.csv"]
    assert (catalogue.coverage()["searched"], catalogue.coverage()["skipped_count"]) == (1, 2)


@pytest.mark.parametrize(
    "content",
    [
        "\ufeff# Café\r\n\r\nLes éoliennes.\r\n".encode(),
        "# Café\n\nLes éoliennes.\n".encode("latin-1"),
        "# Café\n\nLes éoliennes.\n".encode("cp1252"),
        "# Café\r\n\r\nLes éoliennes.\r\n".encode("utf-16"),
    ],
    ids=["utf-8 with a mark", "latin-1", "windows-1252", "utf-16"],
)
def test_a_document_is_decoded_as_files_of_the_workspace_are(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.md").write_bytes(content)
    library = Library(tmp_path)

    (document,) = library.catalogue().documents

    assert (document.title, document.size) == ("Café", 3)
    assert [(p.line, p.text) for p in document.passages] == [(3, "Les éoliennes.")]
    read = read_document(library).invoke({"path": "a.md"})["text"]
    assert read == "\n".join(read_text(Root(tmp_path, "workspace"), "a.md").lines())


def test_only_a_changed_file_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "b.md").write_text("two")
    library = Library(tmp_path)
    before = library.catalogue().documents

    (tmp_path / "b.md").write_text("three")
    after = library.catalogue().documents

    assert after[0] is before[0]
    assert after[1].passages[0].text == "three"


def test_a_name_that_is_not_a_document_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    library = Library(tmp_path)

    for name in ("a.py", "missing.md"):
        with pytest.raises(SourceNotReadable) as error:
            library.file(name)
        assert error.value.source == name


def test_without_pypdf_other_documents_are_read_and_the_pdf_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (tmp_path / "a.md").write_text("words")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4")

    catalogue = Library(tmp_path).catalogue()

    assert [document.source for document in catalogue.documents] == ["a.md"]
    assert "pip install '.[documents]' in the folder of planner-executor" in catalogue.skipped["b.pdf"]


def test_a_pdf_that_takes_longer_than_its_bound_is_skipped_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("words")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4")
    library = Library(tmp_path, pdf_bounds=Bounds(time_s=0.001, memory_bytes=1_000_000_000))

    catalogue = library.catalogue()

    assert [document.source for document in catalogue.documents] == ["a.md"]
    assert catalogue.skipped["b.pdf"] == "its reading was stopped: it took longer than 0.001 s"


def test_a_pdf_that_needs_too_much_memory_is_skipped(tmp_path: Path, pdf: Callable[..., bytes]) -> None:
    (tmp_path / "a.md").write_text("words")
    (tmp_path / "b.pdf").write_bytes(pdf("words"))
    library = Library(tmp_path, pdf_bounds=Bounds(time_s=20, memory_bytes=30_000_000))

    assert "b.pdf" in library.catalogue().skipped
