"""The limit on attempts to sign in."""

from planner_executor.graph.desk.security.rate import ADDRESSES, ATTEMPTS, WINDOW_S, Attempts


def test_attempts_are_limited_by_address_for_a_minute() -> None:
    moment = [0.0]
    attempts = Attempts(now=lambda: moment[0])

    tried = [attempts.allows("10.0.0.1") for _ in range(ATTEMPTS + 1)]
    other = attempts.allows("10.0.0.2")
    moment[0] = WINDOW_S - 1
    within = attempts.allows("10.0.0.1")
    moment[0] = WINDOW_S
    after = attempts.allows("10.0.0.1")

    assert tried == [*[True] * 10, False] and other
    assert (WINDOW_S, within, after) == (60, False, True)


def test_the_limit_holds_for_any_minute_and_not_for_each() -> None:
    moment = [0.0]
    attempts = Attempts(most=2, now=lambda: moment[0])
    allowed = []
    for moment[0] in (0.0, 40.0, 70.0, 80.0, 101.0):
        allowed.append(attempts.allows("10.0.0.1"))

    assert allowed == [True, True, True, False, True]


def test_an_attempt_that_was_no_failure_is_taken_back() -> None:
    attempts = Attempts(most=1, now=lambda: 0.0)
    attempts.allows("10.0.0.1")
    attempts.forgive("10.0.0.1")
    attempts.forgive("10.0.0.1")
    attempts.forgive("10.0.0.2")

    assert [attempts.allows("10.0.0.1") for _ in range(2)] == [True, False]


def test_the_address_that_came_first_is_forgotten_for_one_too_many() -> None:
    attempts = Attempts(most=1, now=lambda: 0.0)
    for number in range(ADDRESSES):
        attempts.allows(str(number))
    full = attempts.allows("0")
    attempts.allows("one more")

    assert ADDRESSES == 10_000 and not full
    assert not attempts.allows("1") and attempts.allows("0")
