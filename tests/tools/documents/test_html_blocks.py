from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.documents.html_blocks import html_blocks

TAGS = [
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<li>",
    "<h2>",
    "</h2>",
    "<script>",
    "</script>",
    "<nav>",
    "</nav>",
    "<tr>",
    "<td>",
]
PIECES = st.sampled_from([*TAGS, "alpha", "beta ", "&amp;", "&#65;", "\n", "<!-- c -->", "<", "&", "gamma\ndelta"])


def test_words_are_found_on_the_line_of_the_source_on_which_they_stand() -> None:
    page = "<html><head><title>A page</title></head>\n<body><h1>Top</h1>\n<p>One <b>bold</b> &amp;\n  two</p></body>"

    title, passages = html_blocks("a.html", page)

    assert title == "A page"
    assert [(p.block, p.line, p.end_line, p.text, p.headings) for p in passages] == [
        ("heading", 2, 2, "Top", ()),
        ("paragraph", 3, 4, "One bold &\ntwo", ("Top",)),
    ]


def test_scripts_styles_and_navigation_are_not_read() -> None:
    page = "<script>var p = 'no'</script><style>p {}</style><nav><a>no</a></nav><p>yes</p>"

    assert [p.text for p in html_blocks("a.html", page)[1]] == ["yes"]


def test_a_table_row_is_one_passage() -> None:
    page = "<table><tr><th>Year</th><th>GW</th></tr><tr><td>2023</td><td>11</td></tr></table>"

    assert [(p.block, p.text) for p in html_blocks("a.html", page)[1]] == [("row", "Year GW"), ("row", "2023 11")]


def test_signs_that_only_look_like_tags_are_words() -> None:
    page = "<!DOCTYPE html><p title='a > b' x=\"<p>\">1 < 2 &lt; 3 <!-- <p>no</p> --> end</p>"

    assert [p.text for p in html_blocks("a.html", page)[1]] == ["1 < 2 < 3 end"]


def test_a_page_of_tags_that_are_never_closed_is_read_in_no_time() -> None:
    for broken in ("<a ", "<!--", "<script>", '<a b="', "<", "</", "<?"):
        title, passages = html_blocks("a.html", broken * 300_000)
        assert title is None
        assert len(list(passages)) < 1000


@settings(deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_words_of_any_page_stand_on_their_line(page: str) -> None:
    lines = page.split("\n")

    for passage in html_blocks("a.html", page)[1]:
        for number, words in enumerate(passage.text.split("\n"), passage.line or 0):
            plain = [word for word in ("alpha", "beta", "gamma", "delta") if word in words]
            assert all(word in lines[number - 1] for word in plain)
