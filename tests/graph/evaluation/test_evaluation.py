from collections.abc import Callable

from planner_executor.graph.evaluation.evaluation import stop_reason
from planner_executor.graph.evaluation.results_file import Results
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.record.budget import NO_BUDGET, Budget

Made = Callable[..., Trial]


def test_nothing_is_tried_when_a_limit_is_reached(made: Made) -> None:
    results = Results({}, (made("a", "direct"),))

    assert stop_reason(Budget(tokens=101), results, []) is None
    assert "100 of 100 tokens" in (stop_reason(Budget(tokens=100), results, []) or "")


def test_a_trial_that_was_cut_short_ends_it_although_something_is_left(made: Made) -> None:
    cut = made("a", "direct", met=False, void="cut", limit="tokens")

    assert stop_reason(Budget(tokens=1000), Results({}, (cut,)), [cut]) is not None
    assert stop_reason(Budget(tokens=1000), Results({}, (cut,)), []) is None  # cut short the last time, with less


def test_only_trials_in_a_row_that_do_not_count_end_it(made: Made) -> None:
    void, good = made("a", "direct", void="no answer"), made("b", "direct")

    assert stop_reason(NO_BUDGET, Results({}), [void, void, good, void]) is None
    assert "no answer" in (stop_reason(NO_BUDGET, Results({}), [good, void, void, void]) or "")
