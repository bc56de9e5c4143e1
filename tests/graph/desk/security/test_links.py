"""Links that open one session each."""

import re

import pytest

from planner_executor.graph.desk.security.links import LINK_S, MOST, Links


def test_a_link_opens_one_session_and_no_guess_opens_any() -> None:
    links = Links()
    token = links.issue()

    assert re.fullmatch(r"[\w-]{43}", token)
    assert not links.take("guess") and not links.take("") and not links.take("é")
    assert links.take(token) and not links.take(token)


@pytest.mark.parametrize(("after_s", "opens"), [(LINK_S - 1, True), (LINK_S, False)])
def test_a_link_opens_nothing_when_it_is_an_hour_old(after_s: float, opens: bool) -> None:
    moment = [0.0]
    links = Links(now=lambda: moment[0])
    token = links.issue()
    moment[0] = after_s

    assert LINK_S == 3600 and links.take(token) == opens


def test_the_oldest_link_is_dropped_for_one_too_many() -> None:
    links = Links()
    tokens = [links.issue() for _ in range(MOST + 1)]

    assert [links.take(token) for token in tokens] == [False, *[True] * 8]


def test_the_latest_link_is_a_new_one_if_there_is_none() -> None:
    links = Links()

    assert links.take(links.latest())


def test_asking_for_the_latest_link_again_and_again_drops_none_that_nobody_has_opened() -> None:
    links = Links()
    first, last = links.issue(), links.issue()

    assert {links.latest() for _ in range(100)} == {last}
    assert links.take(last) and links.latest() == first


@pytest.mark.parametrize(("after_s", "is_kept"), [(LINK_S - 1, True), (LINK_S, False)])
def test_the_latest_link_is_a_new_one_if_the_last_is_too_old(after_s: float, is_kept: bool) -> None:
    moment = [0.0]
    links = Links(now=lambda: moment[0])
    token = links.issue()
    moment[0] = after_s

    assert (links.latest() == token) == is_kept
    assert links.take(links.latest())
