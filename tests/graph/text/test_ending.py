"""How a run's end reads in a chat."""

from typing import Any

import pytest
from markdown_it import MarkdownIt

from planner_executor.graph.text.ending import SAID_CHARACTERS, ending_text


def blocks(text: str) -> set[str]:
    return {token.type for token in MarkdownIt("commonmark").parse(text)}


def test_an_object_of_short_values_is_a_list_that_a_narrow_column_can_break() -> None:
    answer = {"report": "workspace/fix-draft.md", "errors": 49, "sure": True, "more": None}

    assert ending_text("succeeded", "done", answer).split("\n") == [
        "- **report:** workspace/fix-draft.md",
        "- **errors:** 49",
        "- **sure:** true",
        "- **more:** null",
    ]


def test_a_success_names_the_criteria_that_nobody_judged_after_its_answer() -> None:
    said = ending_text("succeeded", "done", ["Bergen"], ["find_it", "b"])

    assert said.split("\n")[-2:] == ["", "Success criteria that nobody judged: find_it, b."]
    assert blocks(said) == {"fence", "paragraph_open", "inline", "paragraph_close"}


@pytest.mark.parametrize("answer", [{"a": {"b": 1}}, {"a": "two\nlines"}, [1, 2], {}, {str(n): n for n in range(21)}])
def test_any_other_object_or_list_is_a_block(answer: Any) -> None:
    assert blocks(ending_text("succeeded", "done", answer)) == {"fence"}


def test_names_and_values_of_strangers_are_words() -> None:
    stranger = {"**x** ![p](http://evil.example/p)\n# y": "<img src=x> [bank](http://evil.example)"}

    text = ending_text("succeeded", "done", stranger)

    inline = [child.type for token in MarkdownIt("commonmark").parse(text) for child in token.children or ()]
    assert len(text.split("\n")) == 1 and not {"image", "link_open", "html_inline"} & set(inline)


@pytest.mark.parametrize(("status", "first"), [("succeeded", "fine"), ("partial", "```text")])
def test_what_was_expected_stands_below_the_answer(status: str, first: str) -> None:
    lines = ending_text(status, "b failed", "fine", (), "expected 1 to 2 seconds; took 3 seconds").split("\n")

    assert lines[-2:] == ["", "Expected 1 to 2 seconds; took 3 seconds."] and lines[0].startswith(first[:3])


def test_of_a_long_answer_only_the_start_is_written() -> None:
    unwritten: Any = object()
    said = ending_text("succeeded", "", ["é" * SAID_CHARACTERS, unwritten])
    assert said.count("é") == SAID_CHARACTERS - len('[\n  "')
    assert said.endswith("\n… (the whole is the run's answer)\n```")


def test_an_answer_that_just_fits_is_shown_whole() -> None:
    fits = "x" * (SAID_CHARACTERS - len('[\n  ""\n]'))
    assert f'"{fits}"\n]' in ending_text("succeeded", "", [fits])
    assert "…" in ending_text("succeeded", "", [f"{fits}x"])
