"""Results of an evaluation: a JSON file, rewritten after each trial so that finished trials are never lost."""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from planner_executor.graph.errors import ResultsError
from planner_executor.graph.evaluation.suite import ARMS
from planner_executor.graph.evaluation.summary import Summary, summarise
from planner_executor.graph.evaluation.trial import PlannedTrial, Trial
from planner_executor.graph.record.budget import Usage
from planner_executor.graph.words.unreadable import unreadable

RESULTS, CHART, RECORDS, TRIALS, LOCK = "results.json", "results.svg", "runs.db", "trials", "results.lock"
"""File names in an evaluation's folder; each trial has a folder in `TRIALS`."""


@dataclass(frozen=True)
class Results:
    """The trials so far; `about` describes the evaluation: suite, models, tools, versions."""

    about: Mapping[str, Any]
    trials: tuple[Trial, ...] = ()
    stopped: str | None = None

    @cached_property
    def summary(self) -> Summary:
        """Summary of the trials."""
        return summarise(self.trials, self.about.get("arms", ARMS))

    @property
    def usage(self) -> Usage:
        """Usage of all trials, void ones included."""
        used = [trial.spent.usage for trial in self.trials]
        return Usage(
            model_calls=sum(one.model_calls for one in used),
            tokens=sum(one.tokens for one in used),
            cost_usd=sum(one.cost_usd for one in used),
            tool_calls=sum(one.tool_calls for one in used),
            wall_s=sum(one.wall_s for one in used),
        )

    def remaining(self, slots: Iterable[PlannedTrial]) -> list[PlannedTrial]:
        """Return the trials that are missing or void."""
        made = {trial.slot for trial in self.trials if trial.void is None}
        return [slot for slot in slots if slot not in made]

    def plus(self, trial: Trial) -> "Results":
        """Return the results with a trial added."""
        return replace(self, trials=(*self.trials, trial))

    def to_json(self) -> dict[str, Any]:
        """Return the results in the file's format."""
        return {
            "about": dict(self.about),
            "stopped": self.stopped,
            "summary": self.summary.to_json(),
            "spent": self.usage.to_json(),
            "trials": [trial.to_json() for trial in self.trials],
        }

    def write(self, folder: Path) -> None:
        """Write the file atomically."""
        # A crash must leave the old or the new file complete: flush to disk, then rename.
        new = folder / f"{RESULTS}.new"
        with new.open("w", encoding="utf-8") as stream:
            json.dump(self.to_json(), stream, ensure_ascii=False, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        new.replace(folder / RESULTS)


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, created if missing, until the end of the block.

    Raises:
        ResultsError: Another evaluation uses the folder, or it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("w")
    except OSError as error:
        raise ResultsError(str(folder), f"cannot be written to: {error.strerror}; use another --out") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ResultsError(str(folder), "another evaluation is using it; wait, or use another --out") from error
        yield


def read_results(folder: Path, about: Mapping[str, Any], slots: Iterable[PlannedTrial]) -> Results:
    """Return the results stored in a folder, or empty results.

    Raises:
        ResultsError: The file cannot be read, or belongs to another evaluation.
    """
    file = folder / RESULTS
    if not file.exists():
        return Results(about)
    try:
        trials = tuple(Trial.from_json(each) for each in json.loads(file.read_text("utf-8"))["trials"])
    except (OSError, ValueError, TypeError, LookupError) as error:
        reason = unreadable(error, "name another folder with --out")
        raise ResultsError(str(file), f"cannot be read: {reason}") from error
    expected = set(slots)
    for trial in trials:
        # The digest of its inputs is a part of a slot: one of other inputs says nothing about these.
        if trial.slot not in expected:
            reason = "was run with another suite, models or files; name another folder with --out"
            raise ResultsError(str(file), f"trial {trial.slot.name} {reason}")
    return Results(about, trials)
