"""What the record of a run says of a model: which of its plans were valid, which calls were made, how the run ended."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.models.goals import Expected
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.record.events import (
    CallStarted,
    Event,
    ModelFinished,
    ModelStarted,
    PlanRefused,
    PlanRevised,
    StepFinished,
)
from planner_executor.graph.record.projection import project

PLANNERS = ("planner", "replanner")
UNREFINED = "it could not be refined"
QUESTION = "answer_question"
"""The action of a question, which an evaluation cannot answer; the reason of the run's end names it."""


@dataclass(frozen=True)
class Outcome:
    """A trial, judged.

    `repairs` counts the rounds of repair of all plans and revisions. `why` is why the run ended, `faults` what it lacks
    beside the checks.
    """

    trial: Trial
    valid: bool
    repairs: int
    calls_made: bool
    right: bool
    why: str
    faults: tuple[str, ...] = ()

    @property
    def at_once(self) -> bool:
        """Whether each plan and revision was valid as it came."""
        return self.valid and not self.repairs


def judge(trial: Trial, events: Sequence[Event], expected: Expected) -> Outcome:
    """Return what a run's record says against what is expected of it."""
    facts = [event.data for event in events]
    asked = [fact for fact in facts if isinstance(fact, ModelStarted) and fact.role in PLANNERS]
    revisions = [fact for fact in facts if isinstance(fact, PlanRevised)]
    refused = [fact for fact in facts if isinstance(fact, PlanRefused)]
    invalid = any(map(_is_invalid, facts)) or any(
        after.digest == before.digest for before, after in pairwise(revisions)
    )
    cannot = bool(refused) and not invalid
    calls, called = _calls(events, expected.calls)
    lacks = [*_ending_faults(trial, expected, cannot), *_field_faults(revisions, expected.fields)]
    return Outcome(
        trial,
        valid=not invalid and (bool(revisions) or cannot or trial.claimed),  # an answer at once is no revision
        repairs=sum(fact.prompt is not None and fact.prompt.continues is not None for fact in asked),
        calls_made=calls,
        right=trial.met and not lacks,
        why=next((fact.stalled for fact in reversed(revisions) if fact.stalled), None) or trial.reason or trial.status,
        faults=(*lacks, *([] if calls else [called])),
    )


def _is_invalid(fact: Any) -> bool:
    """Whether it says that a model gave no valid plan; one that says that it cannot gave an answer."""
    if isinstance(fact, PlanRefused):
        return bool(fact.issues)
    if isinstance(fact, StepFinished):
        return fact.result.status == "failed" and str(fact.result.error).startswith(UNREFINED)
    return isinstance(fact, ModelFinished) and fact.role in PLANNERS and fact.error is not None and not fact.again


def _calls(events: Sequence[Event], expected: Mapping[str, int]) -> tuple[bool, str]:
    """Return whether the expected calls succeeded and no other had an effect, and which succeeded, in words."""
    calls = project(events).calls.by_key.values()
    made = Counter(call.tool for call in calls if call.result and call.result.status == "succeeded")
    named = {name for names in expected for name in names.split("|")}
    started = [event.data for event in events if isinstance(event.data, CallStarted)]
    effects = {call.tool for call in started if call.effect != "read"}
    enough = all(sum(made[name] for name in names.split("|")) >= least for names, least in expected.items())
    words = ", ".join(f"{count} x {tool}" for tool, count in made.items())
    return enough and effects <= named, f"calls that succeeded: {words or 'none'}"


def _ending_faults(trial: Trial, expected: Expected, cannot: bool) -> Iterator[str]:
    asked = trial.status == "rejected" and QUESTION in (trial.reason or "")
    if expected.ends == "cannot" and not cannot:
        yield "it does not say that it cannot"
    if expected.ends == "question" and not asked:
        yield "it does not ask the person"
    if expected.ends == "done" and not trial.claimed:
        yield "the goal is not reached"


def _field_faults(revisions: Sequence[PlanRevised], fields: Sequence[str]) -> Iterator[str]:
    steps = [step for revision in revisions for step in revision.plan.get("steps", ())]
    yield from (f"no step has {name}" for name in fields if not any(name in step for step in steps))
