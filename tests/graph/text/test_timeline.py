from xml.etree import ElementTree

from planner_executor.graph.record.results import StepResult
from planner_executor.graph.text.timeline import MOST_ROWS, timeline_svg

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_step_that_never_began_has_its_status_and_no_bar() -> None:
    svg = timeline_svg(
        {"a": "failed", "b": "blocked"}, {"a": StepResult("failed", error="x", started_at=1, ended_at=2)}
    )

    assert texts(svg)[:4] == ["a", "failed", "b", "blocked"]
    assert svg.count("a: failed, 1.000 s, x") == 1


def test_names_that_differ_at_the_end_look_different_and_stand_whole_in_the_tooltip() -> None:
    names = ["n" * 200 + end for end in "ab"]

    svg = timeline_svg(dict.fromkeys(names, "pending"), {})

    first, _, second, *_ = texts(svg)
    assert first != second and all(f"<title>{name}</title>" in svg for name in names)


def test_rows_beyond_the_most_are_counted() -> None:
    svg = timeline_svg({f"s{n}": "pending" for n in range(MOST_ROWS + 804)}, {})

    assert texts(svg)[-1] == "804 more steps" and int(ElementTree.fromstring(svg).attrib["height"]) < 5_000


def test_words_from_outside_are_text() -> None:
    evil = "</text><script>\x1b\u202e"

    svg = timeline_svg({"a": "failed"}, {"a": StepResult("failed", error=evil, started_at=1, ended_at=2)})

    assert not list(ElementTree.fromstring(svg).iter(f"{SVG}script")) and "\\u{202e}" in svg
