import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.convert_document import convert_document
from planner_executor.tools.errors import NoSuchFile, PathRefused, SourceNotReadable, WorkStopped
from planner_executor.tools.files.root import Root

PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORDS = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{OFFICE}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
)
KIND = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
PICTURE = (
    '<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:link="r9"/>'
    "</pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
)


def docx(body: str, doctype: str = "", relations: str = "", times: int = 1) -> bytes:
    """Return a Word document with this body so many times."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6 if times == 1 else 1) as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.'
            f'openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="{KIND}"/>'
            "</Types>",
        )
        link = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
        file.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{link}</Relationships>')
        file.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
        )
        part = body.encode()
        with file.open("word/document.xml", "w", force_zip64=True) as document:
            document.write(f"{doctype}<w:document {WORDS}><w:body>".encode())
            for _ in range(times):
                document.write(part)
            document.write(b"</w:body></w:document>")
    return stream.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


@pytest.fixture
def convert(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Write a file and convert it."""

    def call(name: str, content: bytes, time_s: int = 30, **args: Any) -> dict[str, Any]:
        (tmp_path / name).write_bytes(content)
        tool = convert_document([Root(tmp_path, "workspace")], time_s)
        made: dict[str, Any] = tool.invoke({"path": name, **args})
        return made

    return call


Convert = Callable[..., dict[str, Any]]


def test_a_word_document_keeps_its_tables(convert: Convert) -> None:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('A')}</w:tc><w:tc>{paragraph('B')}</w:tc></w:tr></w:tbl>"

    made = convert("a.docx", docx(paragraph("Wörds") + table))

    assert made == {
        "path": "a.docx",
        "folder": "workspace",
        "title": None,
        "start": 0,
        "next_start": None,
        "total": 38,
        "text": "Wörds\n\n|  |  |\n| --- | --- |\n| A | B |",
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.docx", b"no zip"),
        ("a.txt", b"words"),
        ("a.exe", b"MZ"),
        ("a", b"x"),
    ],
)
def test_an_inconvertible_file_is_an_error(convert: Convert, name: str, content: bytes) -> None:
    with pytest.raises(SourceNotReadable) as failure:
        convert(name, content)

    assert failure.value.source == name


def test_no_file_and_no_address_that_a_document_names_is_fetched(convert: Convert, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret")
    entity = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{secret}">]>'
    picture = f'<Relationship Id="r9" Type="{OFFICE}/image" Target="file://{secret}" TargetMode="External"/>'

    with pytest.raises(SourceNotReadable):
        convert("entity.docx", docx(paragraph("[&x;]"), entity))
    linked = convert("picture.docx", docx(PICTURE + paragraph("words"), relations=picture))

    assert linked["text"] == "words"


def test_entities_that_multiply_are_refused(convert: Convert) -> None:
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))

    with pytest.raises((SourceNotReadable, WorkStopped)):
        convert("a.docx", docx(paragraph("&e9;"), f'<!DOCTYPE d [<!ENTITY e0 "x">{entities}]>'))


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_gigabytes_is_stopped(convert: Convert) -> None:
    content = docx(paragraph("x" * 10**6), times=1000)
    assert len(content) < 10_000_000

    with pytest.raises(WorkStopped) as stopped:
        convert("a.docx", content)

    assert "memory" in stopped.value.reason


def test_a_document_that_takes_too_long_is_stopped(convert: Convert) -> None:
    rows = "".join(f"<tr><td>{n}</td></tr>" for n in range(300_000))

    with pytest.raises(WorkStopped) as stopped:
        convert("a.html", f"<table>{rows}</table>".encode(), time_s=1)

    assert "longer than 1 s" in stopped.value.reason


@pytest.mark.parametrize("path", ["../a.docx", "link.docx", ".a.docx", "/tmp/a.docx"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "a.docx").write_bytes(docx(paragraph("secret")))
    (tmp_path / "work" / "link.docx").symlink_to("../a.docx")

    with pytest.raises(PathRefused):
        convert_document([Root(tmp_path / "work", "workspace")]).invoke({"path": path})
    with pytest.raises(NoSuchFile):
        convert_document([Root(tmp_path / "work", "workspace")]).invoke({"path": "b.docx"})


def test_without_the_package_the_error_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "markitdown", None)

    tool = convert_document([Root(tmp_path, "workspace")])

    with pytest.raises(SourceNotReadable) as failure:
        tool.invoke({"path": "a.docx"})
    assert "pip install '.[office]' in the folder of planner-executor" in failure.value.reason
