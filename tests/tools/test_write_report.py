import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.errors import FileNotWritten, PathRefused
from planner_executor.tools.files.root import Root
from planner_executor.tools.report.own_files import NAME, PATHS, OwnFiles
from planner_executor.tools.write_report import write_report

STATEMENTS: list[dict[str, Any]] = [
    {"text": "Wind is cheap.", "source": "a.md", "line": 12, "end_line": 12, "page": None, "query": "wind cost"},
    {"text": "Sea wind is not.", "source": "a.md", "line": 3, "end_line": 4, "page": None, "query": "wind cost"},
    {"text": "Sun is cheaper.", "source": "b.pdf", "line": None, "page": 3, "query": "solar"},
]
BRIEF = """# Brief

3 statements from 2 documents, word for word; behind each stands where it was found.

## Wind cost

- Wind is cheap. (a.md:12)
- Sea wind is not. (a.md:3-4)

## Solar

- Sun is cheaper. (b.pdf, page 3)

## Sources

- a.md: lines 3, 12
- b.pdf: page 3
"""


def written(workspace: Path, content: Any, **args: Any) -> str:
    write_report(workspace).invoke({"content": content, **args})
    return (workspace / args.get("path", "report.md")).read_text()


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.name != NAME)


def test_a_summary_becomes_a_brief_with_a_citation_behind_each_statement(tmp_path: Path) -> None:
    assert written(tmp_path, {"summary": "…", "statements": STATEMENTS}) == BRIEF


@pytest.mark.parametrize(
    "content",
    [
        STATEMENTS,
        [{"statements": STATEMENTS[:2]}, {"statements": STATEMENTS[2:]}],
        json.dumps({"statements": STATEMENTS}),
        {"query": None, "passages": STATEMENTS},
    ],
)
def test_however_statements_arrive_the_brief_is_the_same(content: Any, tmp_path: Path) -> None:
    assert written(tmp_path, content) == BRIEF


def test_headings_are_those_of_the_documents_and_not_the_words_that_were_looked_for(tmp_path: Path) -> None:
    found = [
        {"text": f"Number {n}.", "source": f"{title}.md", "line": n, "query": f"wind: limits {n}", "title": title}
        for n, title in enumerate(("wind at sea", "wind at sea", "cost", "cost"), 1)
    ]

    headings = [line for line in written(tmp_path, {"statements": found}).splitlines() if line.startswith("## ")]

    assert headings == ["## Wind at sea", "## Cost", "## Sources"]


def test_a_brief_of_single_statements_has_no_headings(tmp_path: Path) -> None:
    found = [
        {"text": f"Number {n}.", "source": f"{n}.md", "line": 1, "query": f"wind: limits {n}", "title": f"Title {n}"}
        for n in (1, 2, 3)
    ]

    assert "limits" not in written(tmp_path, {"statements": found})


def test_a_brief_tells_in_numbers_what_was_looked_through_and_skipped(tmp_path: Path) -> None:
    other = "not one of .md, .pdf"
    skipped = [{"source": "a.docx", "reason": other}, {"source": "b.csv", "reason": other}]
    summary = {"statements": STATEMENTS, "searched": 5, "skipped": skipped, "skipped_count": 3}

    text = written(tmp_path, summary)

    assert "where it was found. 5 documents were looked through, 3 files were skipped.\n" in text
    assert text.endswith("## Skipped files\n\n- a.docx, b.csv: not one of .md, .pdf\n- and 1 more file\n")


def test_text_is_written_as_it_is_below_its_title(tmp_path: Path) -> None:
    assert written(tmp_path, "Words {x} [1] *as* they are.") == "Words {x} [1] *as* they are.\n"
    assert written(tmp_path, "Words.", title="A title") == "# A title\n\nWords.\n"
    assert written(tmp_path, "# Own title\n\nWords.", title="A title") == "# Own title\n\nWords.\n"


def test_a_summary_inside_a_text_is_rendered_in_its_place(tmp_path: Path) -> None:
    text = written(tmp_path, f"# Mine\n\nBefore. {json.dumps({'statements': STATEMENTS[:1]})} After.")

    assert text.startswith("# Mine\n\nBefore.\n\n1 statement from 1 document")
    assert "- Wind is cheap. (a.md:12)" in text
    assert text.endswith("\n\nAfter.\n")


def test_an_object_becomes_sections(tmp_path: Path) -> None:
    assert written(tmp_path, {"Cost": 48, "Points": ["a", "b"]}) == "## Cost\n\n48\n\n## Points\n\n- a\n- b\n"


def test_the_result_has_the_path_of_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    near = write_report(Path("workspace")).invoke({"content": {"statements": STATEMENTS}, "path": "sub/a.md"})
    monkeypatch.chdir("/")
    far = write_report(tmp_path / "workspace").invoke({"content": "é"})

    assert near == {"path": "workspace/sub/a.md", "bytes": len(BRIEF), "statements": 3}
    assert far["bytes"] == 3
    assert Path("/", far["path"]) == (tmp_path / "workspace" / "report.md").resolve()


def test_the_workspace_stays_the_same_folder_when_the_program_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = write_report(Path("workspace"))
    monkeypatch.chdir("/")

    tool.invoke({"content": "Words."})

    assert (tmp_path / "workspace" / "report.md").exists()


def test_the_same_report_twice_is_one_file(tmp_path: Path) -> None:
    assert written(tmp_path, "Words.") == written(tmp_path, "Words.")
    assert names(tmp_path) == ["report.md"]


@pytest.mark.parametrize(
    "path",
    ["../a.md", "/tmp/a.md", "out/a.md", "out.md", "dangling.md", "a.py", ".", "folder.md", "x\0.md", "C:\\a.md"],
)
def test_a_path_that_leads_out_or_names_no_report_changes_nothing(path: str, tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "a.md").write_text("untouched")
    (workspace / "folder.md").mkdir()
    (workspace / "out").symlink_to(outside)
    (workspace / "out.md").symlink_to(outside / "a.md")
    (workspace / "dangling.md").symlink_to(outside / "b.md")

    with pytest.raises(PathRefused):
        write_report(workspace).invoke({"content": "new", "path": path})

    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("a.md", "untouched")]
    assert names(workspace) == ["dangling.md", "folder.md", "out", "out.md"]


@pytest.mark.parametrize("content", ["", " \n", "\ud800"])
def test_content_that_cannot_be_stored_leaves_the_old_report(content: str, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("old")

    with pytest.raises(FileNotWritten):
        write_report(tmp_path).invoke({"content": content})

    assert (tmp_path / "report.md").read_text() == "old"


def test_a_file_in_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("file")

    with pytest.raises(FileNotWritten) as error:
        write_report(tmp_path).invoke({"content": "Words.", "path": "a/b.md"})

    assert error.value.path == "a/b.md"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "a", "out", "", "~", "b.md", "c.md"]), max_size=5).map("/".join))
def test_no_path_writes_outside_the_workspace(tmp_path: Path, path: str) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    for folder in (workspace, outside):
        folder.mkdir(exist_ok=True)
    if not (workspace / "out").is_symlink():
        (workspace / "out").symlink_to(outside)

    with suppress(PathRefused, FileNotWritten):
        write_report(workspace).invoke({"content": "Words.", "path": path})

    assert names(tmp_path) == ["outside", "workspace"]
    assert names(outside) == []


def test_a_report_takes_the_place_of_one_that_was_written_before(tmp_path: Path) -> None:
    written(tmp_path, "One.")

    assert written(tmp_path, "Two.") == "Two.\n"
    assert written(tmp_path, "Three.") == "Three.\n"


@pytest.mark.parametrize("edit", [lambda file: file.write_text("mine"), lambda file: file.write_text("One.\nmine\n")])
def test_a_file_of_another_author_is_replaced_only_with_overwrite(edit: Any, tmp_path: Path) -> None:
    written(tmp_path, "One.")
    edit(tmp_path / "report.md")
    before = (tmp_path / "report.md").read_text()

    with pytest.raises(FileNotWritten, match="overwrite"):
        write_report(tmp_path).invoke({"content": "Two."})
    assert (tmp_path / "report.md").read_text() == before
    assert written(tmp_path, "Two.", overwrite=True) == "Two.\n"


def test_a_file_that_was_there_before_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("notes of my own")

    with pytest.raises(FileNotWritten, match="overwrite"):
        write_report(tmp_path).invoke({"content": "Two."})
    assert (tmp_path / "report.md").read_text() == "notes of my own"


def test_a_report_that_was_cut_short_by_a_crash_can_be_written_again(tmp_path: Path) -> None:
    written(tmp_path, "One.")
    OwnFiles(Root(tmp_path, "workspace")).note("report.md", b"Two.\n")

    assert written(tmp_path, "Three.") == "Three.\n"


@pytest.mark.parametrize("noted", ["no JSON", "[]", '{"report.md": 7}', '{"report.md": {"a": 1}}'])
def test_notes_that_say_nothing_vouch_for_no_file(noted: str, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("mine")
    (tmp_path / NAME).write_text(noted)

    with pytest.raises(FileNotWritten):
        write_report(tmp_path).invoke({"content": "Two."})


def test_the_notes_keep_the_paths_that_were_written_last(tmp_path: Path) -> None:
    own = OwnFiles(Root(tmp_path, "workspace"))
    for number in range(PATHS + 5):
        own.note(f"{number}.md", b"x")

    assert len(json.loads((tmp_path / NAME).read_text())) == PATHS


def test_a_preview_is_a_diff_of_the_rendered_report(tmp_path: Path) -> None:
    tool = write_report(tmp_path)
    preview = (tool.metadata or {})["preview"]

    assert preview(content="old", title="T").startswith("--- /dev/null\n+++ report.md\n@@")

    tool.invoke({"content": "old"})
    shown = preview(content="new")

    assert "-old" in shown and "+new" in shown and "old" in (tmp_path / "report.md").read_text()
    with pytest.raises(PathRefused):
        preview(content="new", path="report.py")
