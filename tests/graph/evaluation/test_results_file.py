import json
from collections.abc import Callable
from pathlib import Path

import pytest

from planner_executor.graph.errors import ResultsError
from planner_executor.graph.evaluation.results_file import RESULTS, Results, read_results
from planner_executor.graph.evaluation.trial import PlannedTrial, Trial

Made = Callable[..., Trial]


def test_results_come_back_as_they_were_written(tmp_path: Path, made: Made) -> None:
    trials = (made("a", "direct", spent={"cost_usd": 0.25}), made("a", "static", met=False, void="no answer"))
    Results({"suite": "s"}, trials).write(tmp_path)

    read = read_results(tmp_path, {"suite": "s"}, [trial.slot for trial in trials])

    assert read.trials == trials


def test_what_is_finished_is_not_made_again_and_what_does_not_count_is(made: Made) -> None:
    results = Results({}, (made("a", "direct"), made("a", "static", void="no answer")))

    left = results.remaining([PlannedTrial("a", arm, 1, "basis") for arm in ("direct", "static", "replanning")])

    assert [slot.arm for slot in left] == ["static", "replanning"]


def test_trials_that_do_not_count_were_paid_for(made: Made) -> None:
    results = Results({}, (made("a", "direct"), made("a", "static", void="no answer")))

    assert (results.usage.model_calls, results.usage.tokens) == (4, 200)


def test_results_of_another_suite_are_left_alone(tmp_path: Path, made: Made) -> None:
    Results({}, (made("a", "direct"),)).write(tmp_path)
    before = (tmp_path / RESULTS).read_bytes()

    with pytest.raises(ResultsError, match="a direct 1"):
        read_results(tmp_path, {}, [PlannedTrial("a", "direct", 1, "another basis")])
    assert (tmp_path / RESULTS).read_bytes() == before


@pytest.mark.parametrize("text", ["", "[]", '{"trials": [{"case": "a"}]}'])
def test_a_file_that_is_no_results_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / RESULTS).write_text(text)

    with pytest.raises(ResultsError, match=RESULTS):
        read_results(tmp_path, {}, [])


def test_the_file_holds_summary_and_trials_for_other_programs(tmp_path: Path, made: Made) -> None:
    Results({"suite": "s"}, (made("a", "direct"),)).write(tmp_path)

    told = json.loads((tmp_path / RESULTS).read_text())

    assert told["about"] == {"suite": "s"}
    assert told["summary"]["arms"][0]["success"]["value"] == 1.0
    assert told["trials"][0]["findings"] == [{"check": {"matches": "53"}, "met": True, "seen": "it is 53"}]
