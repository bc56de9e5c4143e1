from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.documents.passages import Passage
from planner_executor.tools.documents.text_blocks import text_blocks

MARKUP = ["# Head", "## Below ##", "words on a line", "  more words", "- item", "  going on", "1. first", "2. second"]
MARKUP += ["", "> quoted", "> - quoted item", "| a | b |", "|---|---|", "```", "~~~", "    code", "---", "===", "\t"]
MARKUP += ["<!-- hidden", "-->", "<p>", "[x]: https://example.org", "* * *", "- [ ] to do", "    - deep item"]


def blocks(text: str, *, markup: bool = True) -> list[Passage]:
    return list(text_blocks("a.md", text.split("\n"), markup=markup))


def shapes(text: str, *, markup: bool = True) -> list[tuple[str, int | None, str]]:
    return [(passage.block, passage.line, passage.text) for passage in blocks(text, markup=markup)]


def test_paragraphs_items_and_rows_are_passages_of_their_own() -> None:
    text = "One\ntwo.\n\n- first\n  goes on\n- second\n\n| a | b |\n|---|---|\n| 1 | 2 |"

    assert shapes(text) == [
        ("paragraph", 1, "One\ntwo."),
        ("item", 4, "first\ngoes on"),
        ("item", 6, "second"),
        ("row", 8, "| a | b |"),
        ("row", 10, "| 1 | 2 |"),
    ]


def test_a_passage_remembers_the_headings_above_it() -> None:
    text = "# Top\n\n## Part\n\nWords.\n\nOther\n=====\n\nEnd."

    assert [(p.text, p.headings) for p in blocks(text)] == [("Words.", ("Top", "Part")), ("End.", ("Other",))]


def test_a_heading_with_nothing_below_it_can_be_found_itself() -> None:
    assert shapes("# Top\n## Empty\n## Full\nWords.") == [("heading", 2, "Empty"), ("paragraph", 4, "Words.")]


def test_code_is_kept_apart_from_prose() -> None:
    text = "Before\n```python\n# not a heading\n\nx = 1\n```\nAfter\n\n    indented"

    assert shapes(text) == [
        ("paragraph", 1, "Before"),
        ("code", 3, "# not a heading\n\nx = 1"),
        ("paragraph", 7, "After"),
        ("code", 9, "    indented"),
    ]


def test_metadata_comments_link_targets_and_rulers_are_not_passages() -> None:
    text = "---\ntitle: x\n---\n<!-- a\nb -->\n[x]: https://example.org\n\n***\n<div>\nWords."

    assert shapes(text) == [("paragraph", 10, "Words.")]


def test_a_wrapped_line_that_starts_with_a_year_is_not_a_list_item() -> None:
    assert shapes("It was in\n2023. Then it ended.") == [("paragraph", 1, "It was in\n2023. Then it ended.")]


def test_plain_text_knows_underlined_headings_but_no_markup() -> None:
    text = "Title\n=====\n\n# 1 is a number\n    indented words"

    passages = blocks(text, markup=False)

    assert [(p.text, p.headings) for p in passages] == [("# 1 is a number\nindented words", ("Title",))]


def test_a_very_long_paragraph_becomes_several_passages_with_their_own_lines() -> None:
    lines = [f"Sentence number {n} stands on its own line of the source." for n in range(100)]

    passages = blocks("\n".join(lines))

    assert len(passages) > 2
    assert all(p.text.split("\n") == lines[(p.line or 0) - 1 : p.end_line] for p in passages)


def test_a_very_long_line_is_cut_behind_a_sentence() -> None:
    passages = blocks("This sentence is repeated. " * 200)

    assert len(passages) > 1
    assert all(p.line == 1 and p.text.endswith("repeated.") and len(p.text) <= 1600 for p in passages)


@settings(deadline=None)
@given(st.lists(st.sampled_from(MARKUP) | st.text(alphabet="ab #-|>`*1.=\t", max_size=12), max_size=25), st.booleans())
def test_every_line_of_a_passage_stands_on_its_line_of_the_source(lines: list[str], markup: bool) -> None:
    for passage in text_blocks("a.md", lines, markup=markup):
        assert passage.line is not None
        for number, words in enumerate(passage.text.split("\n"), passage.line):
            assert words in lines[number - 1] or passage.block == "heading"
