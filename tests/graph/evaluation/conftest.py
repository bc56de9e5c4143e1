from collections.abc import Callable
from typing import Any

import pytest

from planner_executor.graph.evaluation.trial import PlannedTrial, Spent, Trial

MakeTrial = Callable[..., Trial]


@pytest.fixture
def made() -> MakeTrial:
    """Makes a trial that met its checks, apart from what is said otherwise."""

    def trial(case: str, arm: str, repetition: int = 1, *, met: bool = True, **more: Any) -> Trial:
        spent = Spent(
            **{"model_calls": 2, "input_tokens": 90, "output_tokens": 10, "seconds": 1.0, **more.pop("spent", {})}
        )
        return Trial(
            slot=PlannedTrial(case, arm, repetition, "basis"),
            status=more.pop("status", "succeeded"),
            reason=None,
            answer="53",
            met=met,
            findings=({"check": {"matches": "53"}, "met": met, "seen": "it is 53"},),
            spent=spent,
            folder=f"{case}-{arm}-{repetition}",
            **more,
        )

    return trial
