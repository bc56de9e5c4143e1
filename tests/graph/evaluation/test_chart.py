from collections.abc import Callable
from xml.etree import ElementTree

from planner_executor.graph.evaluation.chart import chart_svg
from planner_executor.graph.evaluation.summary import summarise
from planner_executor.graph.evaluation.trial import Trial

Made = Callable[..., Trial]
SVG = "{http://www.w3.org/2000/svg}"
ABOUT = {"suite": "sums & <briefs>", "cases": ["a", "b"], "models": {"planner": {"model": "gpt-5-mini"}}}


def test_each_measure_has_a_panel_and_each_arm_a_dot_in_it(made: Made) -> None:
    trials = [made(case, arm, spent={"cost_usd": 0.1}) for case in "ab" for arm in ("direct", "static", "replanning")]

    drawn = ElementTree.fromstring(chart_svg(ABOUT, summarise(trials)))

    words = [text.text for text in drawn.iter(f"{SVG}text")]
    assert words[0] == "sums & <briefs>"
    assert {"success", "model calls", "tokens", "cost, US dollars", "time, seconds", "questions asked"} <= set(words)
    assert len(list(drawn.iter(f"{SVG}circle"))) == 6 * 3


def test_what_is_not_known_is_said_to_be(made: Made) -> None:
    drawn = chart_svg(ABOUT, summarise([made("a", "static")]))

    assert "unknown" in drawn  # the cost
    assert drawn.count("<circle") == 5


def test_nothing_stands_outside_the_page(made: Made) -> None:
    trials = [made("a", "static", spent={"seconds": 0.001}), made("b", "static", spent={"seconds": 900.0})]

    drawn = ElementTree.fromstring(chart_svg(ABOUT, summarise(trials)))

    width = float(drawn.attrib["width"])
    marks = [float(line.attrib[x]) for line in drawn.iter(f"{SVG}line") for x in ("x1", "x2")]
    assert all(0 <= x <= width for x in marks)


def test_an_evaluation_without_trials_can_be_drawn() -> None:
    ElementTree.fromstring(chart_svg(ABOUT, summarise([])))
