"""Words of strangers in a chat are no markup: fences are not closed from inside, answers hold no image and no HTML."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from planner_executor.graph.plain_text.markdown import MOST_CHARACTERS, NOTHING_LEFT, answer_markdown, code, fenced
from planner_executor.graph.plain_text.sanitize import document, visible

CLIENT = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SIGNS = [
    *[
        "`",
        "```",
        "````",
        "~~~",
        "\n",
        "\n\n",
        "- ",
        "> ",
        "1. ",
        "    ",
        "# ",
        "===",
        "---",
        "|",
        "|-|-|\n",
        "\\",
        "&lt;",
    ],
    *[
        "![",
        "[",
        "](",
        ")",
        "]",
        "][",
        "]: ",
        "<",
        ">",
        "</b>",
        "<img src=x>",
        "<!--",
        "-->",
        "<script>",
        "<http://e.org>",
    ],
    *["http://evil.example/x.png", "javascript:alert(1)", "data:text/html,x", "www.evil.example", '"t"', "[^1]: ", "!"],
    *[
        "*",
        "**",
        "_",
        "__",
        "~~",
        "$",
        "word",
        "a b",
        "é",
        "\u200d",
        "\r\n",
        "\t",
        "<div>\n",
        "[r]: http://evil.example\n",
    ],
]
TEXTS = st.lists(st.sampled_from(SIGNS) | st.text(max_size=3), max_size=25).map("".join)


def tokens(text: str) -> list[Token]:
    """Return all tokens that a client finds in a text, those within lines too."""
    found = CLIENT.parse(text)
    return [*found, *(child for token in found for child in _within(token))]


def _within(token: Token) -> list[Token]:
    return [inner for child in token.children or () for inner in (child, *_within(child))]


@given(TEXTS)
def test_a_fence_is_not_closed_by_what_is_in_it(text: str) -> None:
    found = CLIENT.parse(f"Ours.\n\n{fenced(text)}\n\nOurs again.")

    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert [token.type for token in found] == [*paragraph, "fence", *paragraph]
    assert found[3].content == visible(text) + "\n"


@given(TEXTS)
def test_an_answer_holds_no_image_and_no_html_and_links_are_their_targets(text: str) -> None:
    said = answer_markdown(text)

    for token in tokens(said):
        assert token.type not in ("image", "html_inline", "html_block")
        if token.type == "link_open":
            assert token.markup == "autolink" and str(token.attrs["href"]).startswith(("http://", "https://"))
    assert visible(said) == said


@given(st.lists(st.sampled_from([*SIGNS, " "]), max_size=25).map("".join))
def test_an_answer_that_was_written_anew_is_not_written_otherwise_again(text: str) -> None:
    said = answer_markdown(text)

    again = [token for token in tokens(answer_markdown(said)) if token.type in ("image", "html_inline", "html_block")]
    assert again == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("![logo](http://evil.example/x.png)", "(image left out: logo)"),
        ("![a ![b](c)](d)", "(image left out: a !\\[b\\](c))"),
        ("![][r]\n\n[r]: http://evil.example", "(image left out)"),
        ("[bank](http://evil.example/a_b)", "bank (<http://evil.example/a_b>)"),
        ("[**bank**][r]\n\n[r]: <http://evil.example> 'x'", "**bank** (<http://evil.example>)"),
        ("[x](/local \"t\")", "x (`/local`)"),
        ("[x](data:text/html,y)", "\\[x\\](data:text/html,y)"),
        ("[x](javascript:alert(1))", "\\[x\\](javascript:alert(1))"),
        ("<javascript:alert(1)>", "\\<javascript:alert(1)\\>"),
        ("<https://example.org/a_b>", "<https://example.org/a_b>"),
        ("<ann@example.org>", "`mailto:ann@example.org`"),
        ("[![i](http://e.org/i)](http://e.org)", "(image left out: i) (<http://e.org>)"),
        ("one<br/>two", "one\\\ntwo"),
        ("so <b onclick=x>bold</b> <img src=x>", "so bold"),
        ("<div>\n# hi\n<script>x</script>\n</div>", "\\# hi\nx"),
        ("<img src=http://evil.example/x.png>", NOTHING_LEFT),
        ("&lt;img src=x&gt; [](", "\\<img src=x\\> \\[\\]("),
        ("`![x](y)` and ``a`b <i>``", "`![x](y)` and ``a`b <i>``"),
        ("```html\n<img>\n```", "```\n<img>\n```"),
        ("~~~python\na[0][1]\n```\n~~~", "````python\na[0][1]\n```\n````"),
        ("    [code](x)", "```\n[code](x)\n```"),
        ("# [t](http://e.org)\n\ntext\n===", "# t (<http://e.org>)\n\n# text"),
        ("- a [x][]\n  1. b\n  2. c\n- d", "- a \\[x\\]\\[\\]\n  1. b\n  2. c\n- d"),
        ("> [a](http://e.org)\n> - b", "> a (<http://e.org>)\n>\n> - b"),
        ("|a|b|\n|-|-|\n|[x](http://e.org)|`p\\|q`|", "| a | b |\n| --- | --- |\n| x (<http://e.org>) | `p\\|q` |"),
        ("[a]:\n1. b\n2) c\n+ d", "\\[a\\]:\n\n1. b\n\n2. c\n\n- d"),
        ("[r]: http://evil.example", NOTHING_LEFT),
        ("[a]:\n14. b\n- c", "\\[a\\]:\n14\\. b\n\n- c"),
        ("- a\n\n  b [x](http://e.org)\n- c", "- a\n\n  b x (<http://e.org>)\n- c"),
        ("x *<i>* y", "x  y"),
        ("[](http://e.org)", "<http://e.org>"),
        ("```a` ``b``` [x](http://e.org)", "```a` ``b``` x (<http://e.org>)"),
        ("`` `a `` <i>", "`` `a ``"),
        ("`` a` `` <i>", "`` a` ``"),
        ("`  a ` <i>", "`  a `"),
    ],
)  # fmt: skip
def test_answers_keep_their_words_and_lose_what_acts(text: str, said: str) -> None:
    assert answer_markdown(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "done",
        "4.5 * 2 = 9",
        "# Title\n\n- **one** `two`\n\n| a |\n|---|\n| b |",
        "see https://example.org",
        "a_b & c",
        "[sic] a[0] < 5 [1]",
        "",
    ],
)
def test_an_answer_without_links_images_and_html_is_said_as_it_is(text: str) -> None:
    assert answer_markdown(text) == text


def test_a_very_long_answer_or_one_that_nests_deeply_is_fenced_instead_of_parsed() -> None:
    for text in ("](" * (MOST_CHARACTERS // 2 + 1), "> " * 200 + "[a](b)", "- " * 200 + "[a](b)"):
        assert answer_markdown(text) == fenced(document(text))


@given(TEXTS)
def test_the_words_of_an_answer_are_the_same_to_the_reader(text: str) -> None:
    """What is neither link, image nor HTML reads as before."""
    before: Any = tokens(document(text))
    if any(token.type in ("image", "link_open", "html_inline", "html_block") for token in before):
        return
    said = answer_markdown(text)
    if said not in (NOTHING_LEFT, fenced(document(text))):
        assert _words(said) == _words(document(text))


def _words(text: str) -> str:
    kinds = ("text", "code_inline", "fence", "code_block")
    return "".join("".join(token.content for token in tokens(text) if token.type in kinds).split())


def test_a_fence_is_longer_than_any_run_of_its_signs_in_the_text() -> None:
    assert fenced("` ~~~~ ``").startswith("`````text\n") and fenced("a `").startswith("```text\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a", "`a`"),
        ("", "`  `"),
        ("`", "`` ` ``"),
        (" a", "`  a `"),
        ("a ", "` a  `"),
        ("`ab", "`` `ab ``"),
        ("ab`", "`` ab` ``"),
    ],
)
def test_code_has_room_where_a_sign_would_be_taken_for_its_end(words: str, said: str) -> None:
    assert code(words) == said


def test_an_answer_of_so_many_characters_and_levels_is_still_parsed() -> None:
    long, deep = "[a](b)" + "x" * 19_994, "> " * 10 + "[a](b)"

    assert answer_markdown(long) == "a (`b`)" + "x" * 19_994 and answer_markdown(f"{long}x") == fenced(f"{long}x")
    assert answer_markdown(deep) == "> " * 10 + "a (`b`)" and answer_markdown(f"> {deep}") == fenced(f"> {deep}")
