"""Moves of a replay after its first divergence: only calls that are on record."""

from functools import cached_property

from planner_executor.graph.plan.revision import difference
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import CallStarted, Draft, Event, ModelStarted, PlanRevised
from planner_executor.graph.replay.comparison import Divergence
from planner_executor.graph.replay.recording import Recording


class OffRecord:
    """Finds recorded outcomes by a call's arguments, anywhere in the run, and puts them into `given`."""

    def __init__(self, recording: Recording, given: dict[str, Event]) -> None:
        self._recording, self._given = recording, given

    def refusal(self, draft: Draft) -> str | None:
        """Return the reason why the record holds no outcome for a call, or None if it does."""
        data = draft.data
        if isinstance(data, CallStarted):
            known = self._calls.get((data.tool, data.args.digest))
            if known is None:
                return f"{draft.step} would call {data.tool} with arguments that are not on record"
            # Wherever in the run it was made: another plan may make the same calls in another order.
            self._given[data.key] = known
        elif isinstance(data, ModelStarted) and not self._recording.is_aside(draft):
            known = self._answers.get(data.prompt_digest)
            if known is None:
                return f"the {data.role} would be asked what is not on record"
            self._given[data.prompt_digest] = known
        return None

    @cached_property
    def _calls(self) -> dict[tuple[str, str], Event]:
        begun = ((one.data_if_known, end) for one, end in self._ended())
        return {(data.tool, data.args.digest): end for data, end in begun if isinstance(data, CallStarted)}

    @cached_property
    def _answers(self) -> dict[str, Event]:
        begun = ((one.data_if_known, end) for one, end in self._ended())
        return {data.prompt_digest: end for data, end in begun if isinstance(data, ModelStarted)}

    def _ended(self) -> list[tuple[Event, Event]]:
        """Return the beginnings of calls that came to an end, each with that."""
        events = self._recording.events
        begun = enumerate(events)
        return [(event, events[at]) for place, event in begun if (at := self._recording.outcome_of(place)) is not None]


def about_plans(found: Divergence) -> str | None:
    """Return the difference of two plans if the first divergence is a plan."""
    recorded = found.recorded.data_if_known if found.recorded is not None else None
    replayed = found.replayed.data if found.replayed is not None else None
    if not isinstance(recorded, PlanRevised) or not isinstance(replayed, PlanRevised):
        return None
    before, after = Plan.model_validate(recorded.plan), Plan.model_validate(replayed.plan)
    return f"the other plan against that on record: {difference(before, after)}"
