import traceback
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.incident_tools.failures.stack_trace import Frame, Trace, traces_in

TRACE = """unhandled
Traceback (most recent call last):
  File "/srv/shop/cart.py", line 7, in total
    return sum(prices) / len(prices)
           ~~~~~~~~~~~~^~~~~~~~~~~~~
  File "/usr/lib/python3.12/site-packages/lib.py", line 9, in <lambda>
ZeroDivisionError: division by zero
after"""


def test_a_traceback_gives_its_frames_and_what_was_raised() -> None:
    assert traces_in(TRACE) == [
        Trace(
            "ZeroDivisionError",
            "division by zero",
            (
                Frame(
                    "/srv/shop/cart.py",
                    7,
                    "total",
                    "return sum(prices) / len(prices)",
                    "sum(prices) / len(prices)",
                ),
                Frame("/usr/lib/python3.12/site-packages/lib.py", 9, "<lambda>"),
            ),
        )
    ]


def test_library_frames_are_told_apart() -> None:
    files = ["/usr/lib/python3.12/json/decoder.py", "/v/site-packages/x.py", "<frozen os>", "/srv/shop/lib/python.py"]

    assert [Frame(file, 1, "f").is_library for file in files] == [True, True, True, False]


def _raised(work: Callable[[], object]) -> str:
    try:
        work()
    except Exception:  # noqa: BLE001  (whatever is raised is what the test is about)
        return traceback.format_exc()
    raise AssertionError("nothing was raised")


def test_a_traceback_of_python_is_parsed() -> None:
    (found,) = traces_in(_raised(lambda: {}["key"]))  # type: ignore[var-annotated]

    assert (found.exception, found.message) == ("KeyError", "'key'")
    assert found.frames[-1].expression == '{}["key"]'


def test_of_a_chain_the_cause_comes_first() -> None:
    def wrap() -> None:
        try:
            int("x")
        except ValueError as error:
            raise RuntimeError("wrapped") from error

    assert [trace.exception for trace in traces_in(_raised(wrap))] == ["ValueError", "RuntimeError"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(TRACE.split("\n")), max_size=20), st.text(max_size=30))
def test_any_text_is_read(lines: list[str], text: str) -> None:
    for trace in traces_in("\n".join([*lines, text, *lines])):
        assert trace.exception and trace.frames
