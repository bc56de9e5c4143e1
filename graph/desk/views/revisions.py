"""Two revisions of a plan side by side: each field of a step before and after."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.events import Event, PlanRevised
from planner_executor.graph.text.word_diff import Piece, word_diff

Json = Mapping[str, Any]


@dataclass(frozen=True)
class FieldChange:
    """A field of a step before and after; None if it is not there."""

    field: str
    before: str | None
    after: str | None

    @property
    def words(self) -> tuple[Sequence[Piece], Sequence[Piece]]:
        """Both in pieces, word by word; what is not there has none."""
        if self.before is not None and self.after is not None:
            return word_diff(self.before, self.after)
        return [*_whole(self.before)], [*_whole(self.after)]


@dataclass(frozen=True)
class StepDifference:
    """A step that differs: `added`, `removed` or `changed`; a page shows the fields of a few of them."""

    step: str
    how: str
    before: Step | Json
    after: Step | Json

    @property
    def fields(self) -> Sequence[FieldChange]:
        """The fields that differ."""
        was, now = _flat(self.before), _flat(self.after)
        names = (name for name in dict.fromkeys((*was, *now)) if was.get(name) != now.get(name))
        return [FieldChange(name, was.get(name), now.get(name)) for name in names]


def _whole(text: str | None) -> Iterator[Piece]:
    if text is not None:
        yield Piece("changed", text)


def revisions_in(events: Sequence[Event]) -> list[tuple[Event, PlanRevised]]:
    """Return the revisions of a run, in order."""
    return [(event, data) for event in events if isinstance(data := event.data_if_known, PlanRevised)]


def plan_of_revision(events: Sequence[Event], number: int) -> Plan | None:
    """Return the plan of a revision, None if there is none."""
    found = next((data.plan for _, data in revisions_in(events) if data.revision == number), None)
    return Plan.model_validate(found) if found is not None else None


def step_changes(before: Plan | None, after: Plan) -> list[StepDifference]:
    """Return the steps that differ, in the order of the later plan, and the answer."""
    diff: PlanDiff = difference(before, after)
    was, now = before.by_id if before is not None else {}, after.by_id
    found = [
        *(StepDifference(step, "added", {}, now[step]) for step in diff.added),
        *(StepDifference(step, "changed", was[step], now[step]) for step in diff.changed),
        *(StepDifference(step, "removed", was[step], {}) for step in diff.removed),
    ]
    # Without a plan before there was no answer either; an answer that is new has nothing beside it.
    if diff.answer:
        old = {} if before is None or before.answer is None else {"answer": before.answer}
        new = {} if after.answer is None else {"answer": after.answer}
        found.append(StepDifference("answer", "changed", old, new))
    return found


def argument_changes(step: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[StepDifference]:
    """Return how the arguments of a call differ."""
    found = StepDifference(step, "changed", {"args": before}, {"args": after})
    return [found] if found.fields else []


def _flat(given: Step | Json) -> dict[str, str]:
    """Return the fields of a step as text, its arguments one by one."""
    step: Json = given.to_json() if isinstance(given, Step) else given
    fields = {name: value for name, value in step.items() if name not in ("args", "id")}
    fields |= {f"args.{name}": value for name, value in step.get("args", {}).items()}
    return {name: value if isinstance(value, str) else visible_json(value) for name, value in fields.items()}
