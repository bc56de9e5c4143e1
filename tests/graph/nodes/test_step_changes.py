"""Changes of single steps in the words of a chat."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from graph.nodes.step_changes import change_in_words
from graph.review.step_change import Skip, Supply


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("skip fax", Skip("fax")),
        ("SKIP  fax : sent by\nhand ", Skip("fax", "sent by\nhand")),
        ("supply price = 9", Supply("price", 9)),
        ('Supply price={"eur": 9}', Supply("price", {"eur": 9})),
        ("supply price = nine euros", Supply("price", "nine euros")),
        ("skip", None),
        ("skip 2", None),
        ("skip fax please", None),
        ("please skip fax", None),
        ("supply price", None),
        ("supply price =", None),
    ],
)
def test_a_message_that_is_a_command_changes_a_step_and_no_other_does(words: str, change: Any) -> None:
    assert change_in_words({"messages": [HumanMessage("goal"), HumanMessage(words)]}) == change


@pytest.mark.parametrize("state", [{}, {"messages": None}, {"messages": [HumanMessage("skip fax"), AIMessage("done")]}])
def test_without_words_of_the_user_nothing_changes(state: dict[str, Any]) -> None:
    assert change_in_words(state) is None
