from collections.abc import Callable

import pytest

from planner_executor.graph.evaluation.intervals import Interval, mean_interval
from planner_executor.graph.evaluation.summary import summarise
from planner_executor.graph.evaluation.trial import Trial

Made = Callable[..., Trial]


def test_each_arm_has_its_share_of_successes_and_its_means(made: Made) -> None:
    trials = [
        made("a", "direct"),
        made("b", "direct", met=False, spent={"model_calls": 6}),
        made("a", "replanning", spent={"questions": 1}),
        made("b", "replanning", spent={"questions": 1}),
    ]

    direct, replanning = summarise(trials).arms

    assert (direct.arm, direct.cases, direct.trials, direct.met) == ("direct", 2, 2, 1)
    assert direct.success.value == 0.5
    assert direct.means["model_calls"] == mean_interval([2.0, 6.0], least=0.0)
    assert (replanning.met, replanning.means["questions"].value) == (2, 1.0)


def test_a_case_counts_once_however_often_it_was_tried(made: Made) -> None:
    trials = [made("a", "static", n) for n in range(1, 4)] + [made("b", "static", met=False)]

    (static,) = summarise(trials).arms

    assert static.success.value == 0.5


def test_plans_are_set_beside_the_direct_agent_case_by_case(made: Made) -> None:
    trials = [
        made(case, arm, spent={"input_tokens": tokens, "output_tokens": 0})
        for case, direct, static in (("a", 100, 150), ("b", 1000, 1050), ("c", 5000, 5050))
        for arm, tokens in (("direct", direct), ("static", static))
    ]

    (difference,) = summarise([*trials, made("d", "static")]).differences

    assert (difference.arm, difference.baseline, difference.cases) == ("static", "direct", 3)
    assert difference.means["tokens"] == Interval(50.0, 50.0, 50.0)
    assert difference.means["tokens"].sign == 1
    assert difference.success.sign == 0


@pytest.mark.parametrize(
    ("cases", "differ", "said"), [(5, 5, "too few cases"), (6, 6, "higher"), (20, 5, "unsure"), (20, 6, "higher")]
)
def test_a_difference_in_success_is_said_only_if_the_exact_test_finds_it(
    made: Made, cases: int, differ: int, said: str
) -> None:
    trials = [
        made(f"c{n}", arm, met=arm == "new" or n >= differ, spent={"seconds": 2.0 if arm == "new" else 1.0})
        for n in range(cases)
        for arm in ("old", "new")
    ]

    (difference,) = summarise(trials, ("old", "new")).differences

    assert difference.verdicts["success"] == said == difference.to_json()["verdicts"]["success"]
    assert (difference.baseline, difference.verdicts["seconds"]) == ("old", "higher")
    (alone,) = summarise(trials[:2], ("old", "new")).differences
    assert set(alone.verdicts.values()) == {"too few cases"}


def test_trials_that_do_not_count_say_nothing(made: Made) -> None:
    trials = [made("a", "direct"), made("a", "direct", met=False, void="a model gave no answer")]

    (direct,) = summarise(trials).arms

    assert (direct.trials, direct.met) == (1, 1)


def test_a_cost_that_is_not_known_everywhere_is_told_nowhere(made: Made) -> None:
    trials = [made("a", "direct", spent={"cost_usd": 0.1}), made("b", "direct")]

    (direct,) = summarise(trials).arms

    assert "cost_usd" not in direct.means


@pytest.mark.parametrize(("status", "mistaken"), [("succeeded", 1), ("partial", 0)])
def test_a_run_that_says_it_succeeded_and_has_not_is_counted(made: Made, status: str, mistaken: int) -> None:
    (static,) = summarise([made("a", "static", met=False, status=status)]).arms

    assert static.mistaken == mistaken


def test_nothing_tried_is_nothing_found() -> None:
    assert summarise([]).to_json() == {"arms": [], "differences": []}
