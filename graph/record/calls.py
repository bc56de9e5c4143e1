"""The calls of a run: tool calls with their outcomes, and the responses of models."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planner_executor.graph.record.call import AskedCall, Call, failed
from planner_executor.graph.record.events import (
    Brief,
    CallAsked,
    CallFinished,
    CallInherited,
    CallStarted,
    Event,
    ModelFinished,
    ModelStarted,
    OwnerReplaced,
    Prompt,
    SettledCall,
)
from planner_executor.graph.record.former_owner import FormerOwner
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass, shared_pass


class Opening(NamedTuple):
    """The first request of a step's conversation: its key, its brief, if there was one, and its prompt."""

    key: str
    brief: Brief | None
    prompt: Prompt | None


@dataclass
class Calls:
    """The calls of a run by idempotency key; changed by events only.

    `latest` has the key of the last started call of each step, item and call number, `keys_of` the keys of all calls of
    a step. `elsewhere` has calls of other runs that block calls of this run, or that a fork
    inherited (`inherited` has their keys), `responses` the answers of models by call
    key, `followed` the keys of failed model calls that another attempt was to follow. `openings` has the requests that
    may have begun a conversation of a step or an item.
    """

    by_key: dict[str, Call] = field(default_factory=dict)
    latest: dict[tuple[str, int | None, int], str] = field(default_factory=dict)
    keys_of: dict[str, list[str]] = field(default_factory=dict)
    elsewhere: dict[str, Call] = field(default_factory=dict)
    inherited: set[str] = field(default_factory=set)
    responses: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)
    openings: dict[tuple[str, int | None], list[Opening]] = field(default_factory=dict)

    @property
    def inherited_calls(self) -> list[Call]:
        """Calls that a fork inherited, in the order of the record; that of `inherited` differs between processes."""
        return [call for key, call in self.elsewhere.items() if key in self.inherited]

    @property
    def failed(self) -> list[Call]:
        """The calls whose last attempt failed, in the order of the record, whatever became of their steps."""
        return [call for call in self.by_key.values() if call.result is not None and call.result.status == "failed"]

    def find(self, key: str) -> Call | None:
        """Return a call of this run, or a call of another run that blocked one of this run."""
        return self.by_key.get(key) or self.elsewhere.get(key)

    def finished(self, key: str) -> Call | None:
        """Return the call of this key if its result may be reused."""
        call = self.by_key.get(key)
        done = call is not None and call.result is not None and call.result.status == "succeeded"
        return call if done else None

    def of_step(self, step: str) -> list[Call]:
        """Return the calls of a step, in the order of their start."""
        return [self.by_key[key] for key in self.keys_of.get(step, ())]

    def may_have_acted(self, step: str, item: int | None) -> bool:
        """Return whether a call of a step, or of an item of it, had an effect or may have had one."""
        return any(call.item == item and not (call.repeatable or call.nothing_happened) for call in self.of_step(step))

    @property
    def looks(self) -> list[Call]:
        """The calls that planners made before they proposed; they belong to no step."""
        return self.of_step("")

    @property
    def named_looks(self) -> dict[str, Call]:
        """The looks under the names by which a person asks for them; no step is called so."""
        return {f"look {number}": call for number, call in enumerate(self.looks, 1)}

    def is_latest(self, call: Call) -> bool:
        """Return whether a call is the last one of this run that was started for its step."""
        return call.is_the_step and not call.run and self.latest.get((call.step, None, 0)) == call.key

    def call_started(self, event: Event, data: CallStarted, reopened: int) -> None:
        """Add a call, without an outcome; the run was reopened so often before, if the event does not say it."""
        step = event.step or ""
        known = self.by_key.get(data.key)
        if known is None:
            self.keys_of.setdefault(step, []).append(data.key)
        self.latest[step, data.item, data.call] = data.key
        self.by_key[data.key] = Call(
            key=data.key,
            step=step,
            tool=data.tool,
            args=data.args.shown,
            args_digest=data.args.digest,
            repeatable=data.repeatable,
            within=shared_pass(data.revision, reopened if data.reopened is None else data.reopened),
            number=data.call,
            item=data.item,
            begun_seq=event.seq,
            begun_at=event.at,
            attempt=data.attempt,
            args_artifact=data.args.artifact_id,
            # Begun again, so what it asked is answered, or will be asked anew.
            asked=known.asked._replace(resumed=True) if known is not None and known.asked is not None else None,
        )

    def call_finished(self, event: Event, data: CallFinished) -> Call:
        """Set the outcome of the last started call of this step, item and number, and return the call."""
        # The event names a place, not a key: of a call that was started twice it ends the last start.
        started = self.by_key[self.latest[event.step or "", data.item, data.call]]
        ended = started.ended(data.result, nothing_happened=data.nothing_happened, again=data.again)
        self.by_key[started.key] = ended
        return ended

    def owner_replaced(self, data: OwnerReplaced) -> None:
        """Note who left the calls that have no outcome; those of owners before it are noted already."""
        for call in self.by_key.values():
            if call.result is None and call.left_by is None:
                self.by_key[call.key] = call._replace(left_by=FormerOwner(data.process, data.is_dead))

    def call_asked(self, data: CallAsked, within: Pass) -> None:
        """Give a call the questions that it ended with, in place of those of before."""
        asked = AskedCall(data.questions, data.state, within)
        self.by_key[data.key] = self.by_key[data.key]._replace(asked=asked)

    def replied(self, key: str, forms: Mapping[str, Any]) -> None:
        """Give a call that asked the answers of a person."""
        call = self.by_key.get(key)
        if call is not None and call.asked is not None:
            self.by_key[key] = call._replace(asked=call.asked._replace(forms=forms))

    def criteria_met(self, step: str) -> None:
        """Clear the unmet criteria of a step's calls, because the step has succeeded."""
        for call in self.of_step(step):
            if call.unmet is not None:
                self.by_key[call.key] = call._replace(unmet=None)

    def criteria_unmet(self, step: str, error: str | None) -> None:
        """Forget the repeatable calls of a step, so that they are made again, and mark the others as unmet."""
        for call in self.of_step(step):
            # A model's calls (numbered from 1) answer from the record: its conversation goes on, with the criteria.
            if call.repeatable and call.number == 0:
                self.by_key[call.key] = call._replace(result=None)
            elif not call.repeatable and not call.nothing_happened:
                self.by_key[call.key] = call._replace(unmet=error)

    def settled(self, settled_call: SettledCall) -> Call:
        """Return an uncertain call as settled by a person: it happened, with this result, or it may be made again."""
        calls = self.elsewhere if settled_call.run is not None else self.by_key
        call = calls[settled_call.key]
        if settled_call.happened:
            call = call._replace(result=StepResult("succeeded", settled_call.result), settled=True, unmet=None)
        else:
            asked = call.asked._replace(resumed=False, anew=True) if call.asked is not None else None
            call = call._replace(nothing_happened=True, asked=asked)
        calls[settled_call.key] = call
        return call

    def call_inherited(self, step: str, data: CallInherited) -> None:
        """Add a call of the run that this one is a fork of: it happened, or may have."""
        succeeded = data.error is None and (data.happened or data.unmet is not None)
        self.inherited.add(data.key)
        self.elsewhere[data.key] = Call(
            key=data.key,
            step=step,
            tool=data.tool,
            args=data.args.shown,
            args_digest=data.args.digest,
            repeatable=False,
            within=shared_pass(0),
            number=0,
            result=StepResult("succeeded") if succeeded else failed(data.error),
            settled=data.happened,
            unmet=data.unmet,
            begun_seq=data.seq,
            begun_at=data.at,
            args_artifact=data.args.artifact_id,
            run=data.source,
            left_by=data.left_by,
        )

    def found_elsewhere(self, calls: Iterable[Call]) -> None:
        """Add calls of other runs; a known call is kept, unless something became of it since."""
        for call in calls:
            if not call.has_copy(self.elsewhere.get(call.key)):
                self.elsewhere[call.key] = call

    def model_started(self, step: str | None, data: ModelStarted) -> None:
        """Keep what a step's model was told at the start; earlier releases kept it in the prompt alone."""
        is_whole = data.prompt is not None and data.prompt.continues is None
        if step is not None and data.role == "executor" and (data.brief is not None or is_whole):
            opening = Opening(data.key, data.brief, data.prompt if is_whole else None)
            self.openings.setdefault((step, data.item), []).append(opening)

    def model_finished(self, data: ModelFinished) -> None:
        """Store the response of a model; a failed call has no response."""
        if data.response is not None:
            self.responses[data.key] = data.response
        if data.again:
            self.followed.add(data.key)
