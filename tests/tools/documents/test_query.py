import sqlite3

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.documents.query import match_any, query_words

DATABASE = sqlite3.connect(":memory:", check_same_thread=False)
DATABASE.execute("CREATE VIRTUAL TABLE t USING fts5(a, tokenize = 'porter unicode61 remove_diacritics 2')")


@settings(deadline=None)
@given(st.text() | st.text(alphabet="\"'*()^:+-ANDORNEAR \0\ud800{}_", max_size=60))
def test_no_query_is_a_syntax_error(query: str) -> None:
    if words := query_words(query):
        DATABASE.execute("SELECT * FROM t WHERE t MATCH ?", (match_any(words),)).fetchall()


def test_a_query_of_a_whole_page_is_cut() -> None:
    assert len(query_words(" ".join(f"w{n}" for n in range(1000)))) == 40
