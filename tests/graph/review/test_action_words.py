"""A kind of action that is new to reviews has to be put into words wherever people read what is asked."""

from collections.abc import Mapping
from typing import get_args

import pytest

from planner_executor.graph.desk.pages.lists import ASKS
from planner_executor.graph.review.request_json import ALLOWED, ActionName
from planner_executor.graph.review.response import WORDS
from planner_executor.graph.text.inbox import ASKED


@pytest.mark.parametrize("table", [ALLOWED, WORDS, ASKED, ASKS])
def test_each_kind_of_action_has_its_row(table: Mapping[str, object]) -> None:
    assert set(table) == set(get_args(ActionName))
