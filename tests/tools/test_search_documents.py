from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.documents.library import Library
from planner_executor.tools.errors import NothingFound
from planner_executor.tools.search_documents import search_documents

LINES = [
    "# Alpha",
    "Beta and gamma",
    "  gamma goes on",
    "- delta item",
    "",
    "> beta quoted",
    "| alpha | delta |",
    "```",
]


def search(folder: Path, query: str, limit: int = 5) -> list[dict[str, Any]]:
    found = search_documents(Library(folder)).invoke({"query": query, "limit": limit})
    assert found["query"] == query
    passages: list[dict[str, Any]] = found["passages"]
    return passages


def test_a_passage_has_its_place(tmp_path: Path) -> None:
    (tmp_path / "wind.md").write_text("# Wind\n\n## Cost\n\nOffshore wind costs more\nto build.\n")

    (passage,) = search(tmp_path, "what does offshore wind cost?")

    assert passage.pop("score") > 0
    assert passage == {
        "source": "wind.md",
        "line": 5,
        "end_line": 6,
        "page": None,
        "heading": "Cost",
        "block": "paragraph",
        "text": "Offshore wind costs more\nto build.",
        "title": "Wind",
    }


@pytest.mark.parametrize(
    "entry",
    [
        "- Smith, A.: Offshore wind costs. https://example.org/wind",
        "[3] Smith, A. Offshore wind costs.",
        "Smith, A. (2021). Offshore wind costs. Journal of Wind.",
    ],
)
@pytest.mark.parametrize("heading", ["References", "7.1 Bibliography", "FURTHER READING"])
def test_a_bibliography_is_left_out(tmp_path: Path, heading: str, entry: str) -> None:
    (tmp_path / "wind.md").write_text(f"# Wind\n\nOffshore wind costs more.\n\n## {heading}\n\n{entry}\n")

    assert [passage["line"] for passage in search(tmp_path, "offshore wind costs")] == [3]


@pytest.mark.parametrize(
    ("heading", "text"),
    [
        ("References", "A step refers to the results of others in braces."),
        ("References of steps", "Results of 2021 are at https://example.org."),
        ("Costs", "Results of 2021 are at https://example.org."),
    ],
)
def test_a_section_that_only_looks_like_a_bibliography_is_found(tmp_path: Path, heading: str, text: str) -> None:
    (tmp_path / "a.md").write_text(f"## {heading}\n\n{text}\n")

    assert search(tmp_path, "results")[0]["text"] == text


def test_the_passage_that_answers_most_of_the_question_comes_first(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "Approval comes first.\n\nThe agent keeps side effects safe: every call needs an approval.\n\nAn agent plans.\n"
    )

    assert search(tmp_path, "how this agent keeps side effects safe approval")[0]["line"] == 3


@pytest.mark.parametrize(("name", "line"), [("C++", 1), ("c#", 3), (".NET", 5), ("csharp", 3)])
def test_a_name_with_signs_is_not_taken_for_another_name(tmp_path: Path, name: str, line: int) -> None:
    (tmp_path / "a.md").write_text(
        "C++ has templates.\n\nC# has properties.\n\n.NET runs both.\n\nC is old, and the net is wide.\n"
    )

    assert [passage["line"] for passage in search(tmp_path, f"What is {name}?")] == [line]


def test_a_passage_holds_as_many_words_of_the_query_as_are_asked_for(tmp_path: Path) -> None:
    text = "# Facts\n\n## Norway\n\nThe capital is Oslo.\n\n## Cost\n\nCapital costs are high.\n"
    (tmp_path / "a.md").write_text(text)
    found = search_documents(Library(tmp_path))

    passages = found.invoke({"query": "the capital of Norway", "min_words": 2})["passages"]

    assert [passage["line"] for passage in passages] == [5]
    with pytest.raises(NothingFound, match="2 of the words capital, sweden together"):
        found.invoke({"query": "the capital of Sweden", "min_words": 2})


def test_a_search_says_what_it_looked_through_and_what_it_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Wind is cheap.")
    (tmp_path / "b.docx").write_bytes(b"PK")

    found = search_documents(Library(tmp_path)).invoke({"query": "wind"})

    assert (found["searched"], found["skipped_count"], found["skipped"][0]["source"]) == (1, 1, "b.docx")


def test_words_of_a_heading_find_the_text_below_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Side effects\n\nA call is made once.\n\n# Models\n\nA call is cheap.\n")

    assert search(tmp_path, "side effects")[0]["line"] == 3


def test_no_two_passages_have_the_same_words(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("The same words about wind.\n")

    assert [passage["source"] for passage in search(tmp_path, "wind")] == ["a.md"]


def test_near_duplicates_are_found_once_and_what_contradicts_is_no_duplicate(tmp_path: Path) -> None:
    said = "Offshore wind farms grew by 12 per cent in the whole of the year"
    for name, text in {
        "a.md": f"{said}.",
        "b.md": f"{said} too!",
        "c.md": f"{said.replace('12', '21')}.",
        "d.md": f"Not {said.lower()}.",
    }.items():
        (tmp_path / name).write_text(text)

    assert sorted(passage["source"][0] for passage in search(tmp_path, "offshore wind farms")) in (
        ["a", "c", "d"],
        ["b", "c", "d"],
    )


def test_half_of_the_passages_come_from_other_documents_if_they_hold_good_ones(tmp_path: Path) -> None:
    names = ("ships", "cables", "ports", "crews", "fish", "tides")
    one = [f"Offshore wind power needs {name} and offshore wind power likes {name}." for name in names]
    (tmp_path / "a.md").write_text("\n\n".join(one))
    (tmp_path / "b.md").write_text("For offshore wind power a government holds one auction every year.")
    (tmp_path / "c.md").write_text("Towns on the coast object to offshore wind power within their view.")

    sources = [passage["source"] for passage in search(tmp_path, "offshore wind power", limit=4)]

    assert sorted(sources) == ["a.md", "a.md", "b.md", "c.md"]
    (tmp_path / "b.md").write_text("Power.")
    (tmp_path / "c.md").write_text("Other words.")
    assert [passage["source"] for passage in search(tmp_path, "offshore wind power", limit=4)] == ["a.md"] * 4


def test_nothing_found_names_the_words_and_the_number_of_documents(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Words.")

    with pytest.raises(NothingFound) as error:
        search(tmp_path, "the zebra and the quagga")

    assert "none of the words zebra, quagga occurs in the 1 document" in str(error.value)


def test_a_folder_that_comes_later_is_found_then(tmp_path: Path) -> None:
    tool = search_documents(Library(tmp_path / "docs"))
    with pytest.raises(NothingFound):
        tool.invoke({"query": "wind"})

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Wind.")

    assert len(tool.invoke({"query": "wind"})["passages"]) == 1


def test_the_index_follows_changed_new_and_deleted_files(tmp_path: Path) -> None:
    tool = search_documents(Library(tmp_path))
    (tmp_path / "a.md").write_text("Old words about wind.")
    (tmp_path / "b.md").write_text("Words about water.")
    tool.invoke({"query": "wind"})

    (tmp_path / "a.md").write_text("Some newer words about sun.")
    (tmp_path / "b.md").unlink()
    (tmp_path / "c.md").write_text("Words about coal.")

    found = tool.invoke({"query": "wind water sun coal"})["passages"]
    assert sorted(passage["text"] for passage in found) == ["Some newer words about sun.", "Words about coal."]


def test_many_threads_may_search_while_files_change(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(f"Wind number {number}.")
    tool = search_documents(Library(tmp_path))

    def once(number: int) -> int:
        (tmp_path / f"{number % 20}.md").write_text(f"Wind again, number {number}.")
        return len(tool.invoke({"query": "wind", "limit": 50})["passages"])

    with ThreadPoolExecutor(8) as pool:
        assert all(count > 0 for count in pool.map(once, range(80)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=20), st.sampled_from(["\n", "\r\n"]))
def test_any_citation_opens_at_its_line(tmp_path: Path, lines: list[str], line_end: str) -> None:
    (tmp_path / "a.md").write_bytes(line_end.join(lines).encode())
    try:
        passages = search(tmp_path, "alpha beta gamma delta", 50)
    except NothingFound:
        return
    for passage in passages:
        standing = (tmp_path / passage["source"]).read_text().split("\n")[passage["line"] - 1 : passage["end_line"]]
        assert all(words in line for words, line in zip(passage["text"].split("\n"), standing, strict=True))


@settings(deadline=None)
@given(st.text(min_size=1, max_size=100))
def test_any_query_is_answered_or_finds_nothing(tmp_path: Path, query: str) -> None:
    (tmp_path / "a.md").write_text("The letters a b c and 1 2 3.")

    try:
        assert search(tmp_path, query)
    except NothingFound as error:
        assert "in the 1 document" in str(error)
