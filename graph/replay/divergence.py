"""What a replay may do after it has left the record: calls that are on record all the same, and nothing else."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from graph.plan.canonical import digest
from graph.record.events import Draft, Event
from graph.replay.recording import Recording


class OffRecord:
    """Finds what calls came to by what was asked, wherever in the run that was; `given` takes what was found."""

    def __init__(self, tape: Recording, given: dict[str, Event]) -> None:
        self._tape, self._given = tape, given

    def refusal(self, draft: Draft) -> str | None:
        """Return why a call that is about to be begun cannot be answered from the record, None where it can."""
        payload = draft.payload
        if draft.kind == "call_started":
            known = self._calls.get((payload["tool"], _args_digest(payload)))
            if known is None:
                return f"{draft.step} would call {payload['tool']} with arguments that are not on record"
            self._given[payload["key"]] = known
        if draft.kind == "model_started" and not self._tape.is_aside(draft):
            known = self._answers.get(payload["prompt_digest"])
            if known is None:
                return f"the {payload['role']} would be asked what is not on record"
            self._given[payload["prompt_digest"]] = known
        return None

    @cached_property
    def _calls(self) -> dict[tuple[str, str], Event]:
        return {(one.payload["tool"], _args_digest(one.payload)): end for one, end in self._ended("call_started")}

    @cached_property
    def _answers(self) -> dict[str, Event]:
        return {one.payload["prompt_digest"]: end for one, end in self._ended("model_started")}

    def _ended(self, kind: str) -> list[tuple[Event, Event]]:
        events = self._tape.events
        begun = ((place, event) for place, event in enumerate(events) if event.kind == kind)
        return [(event, events[at]) for place, event in begun if (at := self._tape.outcome_of(place)) is not None]


def _args_digest(payload: Mapping[str, Any]) -> str:
    return str(payload["args_digest"]) if "args_digest" in payload else digest(payload["args"])
