"""Sign-ins at a provider that are under way."""

import pytest

from planner_executor.graph.desk.security.sessions import Sessions
from planner_executor.graph.desk.security.sign_ins import LASTS_S, SignIn, SignIns

SIGN_INS = SignIns("a secret of a test")
BEGUN = SignIn("state", "nonce", "verifier", "/runs")


def test_a_cookie_brings_back_what_was_kept() -> None:
    assert SIGN_INS.read(SIGN_INS.keep(BEGUN)) == BEGUN


def test_a_cookie_that_is_missing_or_forged_brings_back_nothing() -> None:
    forged = SignIns("another secret").keep(BEGUN)
    assert [SIGN_INS.read(cookie) for cookie in (None, "", "guess", forged)] == [None] * 4


def test_a_cookie_of_a_session_or_of_another_form_is_no_sign_in() -> None:
    assert SIGN_INS.read(Sessions(SIGN_INS.secret).begin(None)) is None
    assert SIGN_INS.read(str(SIGN_INS._serializer.dumps(["state", "nonce"]))) is None


@pytest.mark.parametrize(("age_s", "counts"), [(LASTS_S, True), (LASTS_S + 1, False)])
def test_a_person_may_take_ten_minutes_at_the_provider(age_s: int, counts: bool) -> None:
    assert LASTS_S == 600 and (SIGN_INS.read(kept_before(age_s)) is not None) == counts


def kept_before(age_s: int) -> str:
    serializer = SIGN_INS._serializer
    signer = serializer.make_signer(serializer.salt)
    now_s = signer.get_timestamp()
    signer.get_timestamp = lambda: now_s - age_s  # type: ignore[method-assign]
    return signer.sign(serializer.dump_payload(["state", "nonce", "verifier", "/runs"])).decode()
