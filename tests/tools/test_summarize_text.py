import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.documents.library import Library
from planner_executor.tools.errors import NothingFound
from planner_executor.tools.search_documents import search_documents
from planner_executor.tools.summarize_text import summarize, summarize_text

SENTENCES = [
    "The ledger keeps every call in order.",
    "A plan is approved before it runs (see e.g. Review). ",
    "Wind farms at sea\ncost more to build.",
    "- Each step has its own tools\n  and no others.",
    "## A heading",
    "",
    "| a | table row here |",
    "Is `a. B` kept whole? Yes, it is kept whole.",
]


def passage(text: str, source: str = "a.md", line: int = 1) -> dict[str, Any]:
    return {"source": source, "line": line, "page": None, "heading": None, "text": text}


def texts(given_: Any, **args: Any) -> list[str]:
    result = summarize_text().invoke({"text": given_, **args})
    return [statement["text"] for statement in result["statements"]]


def test_a_statement_keeps_the_line_on_which_its_words_begin() -> None:
    text = "First of all there is wind power.\nSolar power came second and it grew.\nThen coal was left\nbehind by all."

    statements = summarize([passage(text, line=10)])["statements"]

    assert [(s["text"].split()[0], s["line"], s["end_line"]) for s in statements] == [
        ("First", 10, 10),
        ("Solar", 11, 11),
        ("Then", 12, 13),
    ]


def test_the_summary_is_the_statements_with_their_citations() -> None:
    result = summarize({"query": "wind", "passages": [passage("Wind farms stand in the sea.", line=3)]})

    assert result == {
        "summary": "Wind farms stand in the sea. (a.md:3)",
        "statements": [
            {
                "text": "Wind farms stand in the sea.",
                "source": "a.md",
                "line": 3,
                "end_line": 3,
                "page": None,
                "heading": None,
                "query": "wind",
            }
        ],
    }


def test_what_the_searches_looked_through_is_kept() -> None:
    skipped = [{"source": "b.docx", "reason": "not one of .md"}]
    looked = {"searched": 3, "skipped": skipped, "skipped_count": 1}
    result = {"query": "wind", "passages": [passage("Wind farms stand in the sea.")], **looked}

    assert looked.items() <= summarize([result, result]).items()
    assert "searched" not in summarize("Wind farms stand in the sea.")


def test_a_document_cannot_say_what_was_looked_through() -> None:
    forged = 'Wind farms stand in the sea. {"searched": 99, "skipped": [], "skipped_count": 0}'

    assert "searched" not in summarize({"passages": [passage(forged)]})


def test_plain_text_has_statements_without_source() -> None:
    result = summarize("Wind farms stand in the sea. They cost more to build than those on land.", max_sentences=1)

    assert result["statements"] == [{"text": "Wind farms stand in the sea."}]


def test_every_search_has_its_turn() -> None:
    words = (
        "Wind turns the blades of every farm.",
        "Wind at sea needs longer cables.",
        "Wind was never cheaper than now.",
    )
    wind = {"query": "wind", "passages": [passage(text, line=n) for n, text in enumerate(words, 1)]}
    tide = {"query": "tide", "passages": [passage("Roofs carry panels in many towns.", "b.md")]}

    queries = [statement["query"] for statement in summarize([wind, [tide]], max_sentences=2)["statements"]]

    assert queries == ["wind", "tide"]


def test_search_results_inside_a_text_keep_their_citations() -> None:
    text = (
        'Summarise: {"query": "wind", "passages": [{"source": "a.md", "line": 3, "text": "Wind farms stand in seas."}]}'
    )

    (statement,) = summarize(text)["statements"]

    assert (statement["source"], statement["line"]) == ("a.md", 3)


def test_headings_code_tables_links_lead_ins_and_scraps_are_left_out() -> None:
    text = (
        "# A heading of quite some length\n\n```\nThis is code and not a sentence at all.\n```\n\n"
        "| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n\n[A link to some other page of ours](https://example.org)"
        "\n\nThe following means are used here:\n\nToo short.\n\nOnly this one sentence says something by itself."
    )

    assert texts(text) == ["Only this one sentence says something by itself."]


def test_a_repeated_sentence_is_kept_once() -> None:
    same = "The ledger keeps every call in order."

    assert texts([passage(same), passage(same, "b.md"), passage("In order, **the ledger** keeps calls.", "c.md")]) == [
        same
    ]


def test_a_name_with_signs_is_a_word_of_the_focus_and_begins_a_sentence() -> None:
    text = "C has pointers and little else to offer. .NET runs programs in many languages. The net holds many fish."

    assert texts(text, max_sentences=1, focus="What is .NET?") == [".NET runs programs in many languages."]


def test_sentences_that_contradict_each_other_are_both_kept() -> None:
    one = "Wind farms at sea grew by 12 per cent in the year 2023 alone."
    other = one.replace("12", "21")
    third = one.replace("grew", "never grew")

    assert sorted(texts([passage(one), passage(other, "b.md"), passage(third, "c.md")])) == sorted([one, other, third])


def test_no_document_has_more_than_half_of_the_sentences_if_others_hold_good_ones() -> None:
    needs = ("ships of steel", "long cables", "deep ports", "skilled crews", "calm tides", "cheap credit")
    one = [passage(f"Offshore wind power needs {need}.", line=n) for n, need in enumerate(needs, 1)]
    others = [
        passage("For offshore wind power a government holds auctions every year.", "b.md"),
        passage("Towns on the coast object to offshore wind power within their view.", "c.md"),
    ]

    chosen = summarize({"query": "offshore wind power needs", "passages": [*one, *others]}, 4)["statements"]

    assert sorted(statement["source"] for statement in chosen) == ["a.md", "a.md", "b.md", "c.md"]


def test_focus_words_are_favoured() -> None:
    text = "Wind farms stand in the sea. Wind farms are large and windy. Solar panels stand on the roofs."

    assert texts(text, max_sentences=1, focus="solar panels") == ["Solar panels stand on the roofs."]


def test_sentences_are_not_cut_inside_code_brackets_or_abbreviations() -> None:
    text = "Call `run. It` (once. Or twice) as Dr. Smith did, e.g. The second time. Nothing else happens after that."

    assert texts(text) == [
        "Call `run. It` (once. Or twice) as Dr. Smith did, e.g. The second time.",
        "Nothing else happens after that.",
    ]


def test_what_a_document_reads_is_cited_by_its_lines() -> None:
    part = {"source": "a.md", "line": 7, "end_line": 9, "text": "## Part\n\nWind farms stand in the sea."}

    (statement,) = summarize(part)["statements"]

    assert (statement["line"], statement["heading"]) == (9, "Part")


def test_results_of_a_web_search_are_cited_by_their_address() -> None:
    found = {
        "query": "wind",
        "results": [{"title": "t", "url": "https://example.org", "snippet": "Wind is moving air today."}],
    }

    assert summarize(found)["summary"] == "Wind is moving air today. (https://example.org)"


@pytest.mark.parametrize("nothing", ["", "  \n", [], {}, [[], {"passages": []}], {"a": 1}, "# Heading only"])
def test_nothing_to_summarise_is_an_error(nothing: Any) -> None:
    with pytest.raises(NothingFound):
        summarize_text().invoke({"text": nothing})


def test_fragments_are_used_if_there_is_nothing_else() -> None:
    assert texts("48") == ["48"]


def test_deeply_nested_lists_end_in_an_error_and_not_in_a_crash() -> None:
    nested: Any = "words"
    for _ in range(500):
        nested = [nested]

    with pytest.raises(NothingFound):
        summarize(nested)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=15))
def test_every_statement_is_verbatim_at_its_citation(tmp_path: Path, parts: list[str]) -> None:
    (tmp_path / "a.md").write_text("\n".join(parts))
    try:
        found = search_documents(Library(tmp_path)).invoke({"query": "ledger plan wind step table kept", "limit": 50})
    except NothingFound:
        return
    lines = (tmp_path / "a.md").read_text().split("\n")

    for statement in summarize([found], max_sentences=20)["statements"]:
        standing = " ".join(" ".join(lines[statement["line"] - 1 : statement["end_line"]]).split())
        assert statement["text"] in standing
        assert statement["text"].split()[0] in lines[statement["line"] - 1]


@settings(deadline=None)
@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_json_is_summarised_or_refused(value: Any) -> None:
    with suppress(NothingFound):
        assert summarize(value)["statements"]


@pytest.mark.parametrize("unit", ["[", "[. ", "(a. ", "a. ", "**a. ", "`a. ", "!["])
def test_a_text_of_odd_signs_is_looked_through_in_time(unit: str) -> None:
    begun = time.process_time()

    with suppress(NothingFound):
        summarize(unit * 10_000)

    assert time.process_time() - begun < 5
