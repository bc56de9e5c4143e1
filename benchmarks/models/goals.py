"""The goals of the trial: cases of an evaluation, and what a run of each has to show beside its result."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from planner_executor.graph.evaluation.suite import Suite

GOALS = Path(__file__).with_name("goals.toml")

Ends = Literal["done", "cannot", "question"]
"""How a run has to end: with a result, with the model's word that it cannot, or with a question to a person."""


class Expected(BaseModel):
    """What a run has to show beside its result.

    `calls` has the least number of successful calls of a tool, or of any of several (`read_file|search_files`).
    `fields` has fields that a step of the plan must have.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: Mapping[str, int] = Field(default_factory=dict)
    ends: Ends = "done"
    fields: tuple[str, ...] = ()


def read_goals(file: Path = GOALS) -> tuple[Suite, Mapping[str, Expected]]:
    """Return the suite, and what is expected beside the checks by the id of a case."""
    raw: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    own = {
        case["id"]: {name: case.pop(name) for name in Expected.model_fields if name in case} for case in raw["cases"]
    }
    suite = Suite.model_validate({**raw, "folder": file.absolute().parent})
    return suite, {case: Expected.model_validate(given) for case, given in own.items()}
