"""What is said if a server cannot be used."""

import psycopg
import pytest

from planner_executor.graph.ledger.postgres.server import ADVICE, advice


@pytest.mark.parametrize(("words", "move"), ADVICE.items())
def test_no_advice_stands_behind_wider_words_that_hide_it(words: str, move: str) -> None:
    assert advice(psycopg.OperationalError(f"it failed: {words} x")) == f"it failed: {words} x; {move}"
