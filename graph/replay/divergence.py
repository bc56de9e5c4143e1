"""What a replay may do after it has left the record: calls that are on record all the same, and nothing else."""

from functools import cached_property

from graph.record.events import CallStarted, Draft, Event, ModelStarted
from graph.replay.recording import Recording


class OffRecord:
    """Finds what calls came to by what was asked, wherever in the run that was; `given` takes what was found."""

    def __init__(self, tape: Recording, given: dict[str, Event]) -> None:
        self._tape, self._given = tape, given

    def refusal(self, draft: Draft) -> str | None:
        """Return why a call that is about to be begun cannot be answered from the record, None where it can."""
        match draft.data:
            case CallStarted() as data:
                known = self._calls.get((data.tool, data.args.digest))
                if known is None:
                    return f"{draft.step} would call {data.tool} with arguments that are not on record"
                self._given[data.key] = known
            case ModelStarted() as data if not self._tape.is_aside(draft):
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
        events = self._tape.events
        begun = enumerate(events)
        return [(event, events[at]) for place, event in begun if (at := self._tape.outcome_of(place)) is not None]
