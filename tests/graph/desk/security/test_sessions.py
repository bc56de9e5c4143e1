"""Sessions in signed cookies."""

import random
import re
import string
import time

import pytest

from planner_executor.graph.desk.security.sessions import MOST_COOKIE, SESSION_S, Sessions, new_id
from planner_executor.graph.record.person import Person

SESSIONS = Sessions("a secret of a test")
ADA = Person("ada", ("finance", "staff"))


@pytest.mark.parametrize("person", [ADA, None])
@pytest.mark.parametrize("is_apart", [True, False])
def test_a_cookie_holds_the_person_the_id_and_who_else_gets_it(person: Person | None, is_apart: bool) -> None:
    before = int(time.time())
    session = SESSIONS.read(SESSIONS.begin(person, "an id", is_apart))

    assert session is not None
    assert (session.person, session.id, session.is_apart) == (person, "an id", is_apart)
    assert before <= session.ends_at - 8 * 3600 <= time.time() and SESSION_S == 8 * 3600


def test_a_session_has_a_random_id_and_a_cookie_that_others_get_unless_it_is_given_them() -> None:
    first, second = (SESSIONS.read(SESSIONS.begin(None)) for _ in range(2))

    assert first is not None and second is not None and first.id != second.id
    assert re.fullmatch("[0-9a-f]{32}", first.id) and re.fullmatch("[0-9a-f]{32}", new_id())
    assert not first.is_apart


def test_a_session_ends_in_time_and_none_can_be_forged() -> None:
    cookie = SESSIONS.begin(ADA)

    assert cookie is not None and SESSIONS.read(cookie) is not None
    assert Sessions("a secret of a test", lasts_s=-1).read(cookie) is None
    assert Sessions("another secret").read(cookie) is None
    assert SESSIONS.read(cookie[:-2]) is None
    assert SESSIONS.read("") is None and SESSIONS.read(None) is None


@pytest.mark.parametrize("value", [[["ada"], "an id"], 7, [[7], "an id", True], [["ada", ""], "an id", True]])
def test_a_signed_value_of_another_form_is_no_session(value: object) -> None:
    assert SESSIONS.read(str(SESSIONS._serializer.dumps(value))) is None


def test_only_what_is_said_to_be_apart_is() -> None:
    session = SESSIONS.read(str(SESSIONS._serializer.dumps([[], 7, 1])))

    assert session is not None and not session.is_apart and session.id == "7"


def test_more_roles_than_fit_into_a_cookie_begin_no_session() -> None:
    letters = "".join(random.Random(0).choices(string.ascii_letters + string.digits, k=4_000))
    roles = [[letters[at : min(at + 100, end)] for at in range(0, end, 100)] for end in range(3_400, 3_700)]
    cookies = [SESSIONS.begin(Person("ada", some)) for some in roles]

    assert MOST_COOKIE == 3_800 and None in cookies
    assert 3_790 < max(len(cookie) for cookie in cookies if cookie) <= MOST_COOKIE


def test_every_session_has_a_token_of_its_own_for_its_forms() -> None:
    token = SESSIONS.form_token("an id")

    assert re.fullmatch(r"[-\w]{43}", token) and SESSIONS.is_form_token("an id", token)
    for other in (SESSIONS.form_token("another id"), Sessions("another secret").form_token("an id"), "", "é"):
        assert not SESSIONS.is_form_token("an id", other)
