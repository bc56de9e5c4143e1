import pytest

from tools.failures.guards import guard_against


@pytest.mark.parametrize(
    ("exception", "message", "words"),
    [
        ("statistics.StatisticsError", "mean requires at least one data point", "empty data"),
        ("KeyError", "'NO'", "missing key"),
        ("AttributeError", "'NoneType' object has no attribute 'x'", "None"),
        ("AttributeError", "'str' object has no attribute 'x'", "another type"),
        ("json.decoder.JSONDecodeError", "Expecting value", "cannot be read"),
        ("requests.exceptions.ReadTimeout", "", "does not come"),
        ("shop.OutOfStock", "mug", "OutOfStock"),
    ],
)
def test_each_exception_has_its_usual_guard(exception: str, message: str, words: str) -> None:
    assert words in guard_against(exception, message)
