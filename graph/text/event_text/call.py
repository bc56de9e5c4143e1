"""The text of the events of tool calls."""

from planner_executor.graph.record.events import (
    CallAsked,
    CallFinished,
    CallRefused,
    CallStarted,
    StepHeld,
    StepUncertain,
)
from planner_executor.graph.text.event_text.sections import Words
from planner_executor.graph.text.event_text.values import (
    arguments_text,
    outcome_text,
    preview_text,
    short_digest,
    truncated,
)

LOOKER = "the planner, which looks before it proposes,"


def call_started(step: str, data: CallStarted) -> Words:
    """Say what is called with which arguments, and what lets it through."""
    repeatable = "" if data.repeatable else ", not to be repeated"
    instead = f", in place of the call {short_digest(data.replaces)}" if data.replaces else ""
    yield f"{step or LOOKER} calls {data.tool} ({data.effect}{repeatable}) with {arguments_text(data.args)}{instead}"
    if data.approval is not None:
        yield f"let through by the standing approval {data.approval}"
    if data.previewed is not None:
        yield preview_text(data.previewed)


def call_finished(step: str, data: CallFinished) -> Words:
    """Say how the call came out."""
    nothing = ", and nothing happened" if data.nothing_happened else ""
    nothing += ", and it is tried again" if data.again else ""
    yield f"the call of {step or LOOKER} {outcome_text(data.result)}{nothing}"


def call_asked(step: str, data: CallAsked) -> Words:
    """Say what the call asks a person."""
    yield f"{step} waits: its call of {data.tool} asks a person"
    yield from (f"it asks: {question.text}" for question in data.questions)


def call_refused(step: str, data: CallRefused) -> Words:
    """Say which call was refused, and why."""
    yield f"{step} asked for {data.tool}, which was refused: {data.why}"
    yield f"with {arguments_text(data.args)}"


def step_held(step: str, data: StepHeld) -> Words:
    """Say which call a person has to see, with what is known of it."""
    yield f"{step} waits for a person to see its call of {data.tool} with {arguments_text(data.args)}"
    if data.asked:
        yield data.asked
    for name, label in data.labels.items():
        yield f"{name} is {label.trust}, from {', '.join(label.sources)}"
    if data.previewed is not None:
        yield preview_text(data.previewed)
    yield from (f"the same call happened in run {call.run}, in {call.step}" for call in data.before)


def step_uncertain(step: str, data: StepUncertain) -> Words:
    """Say which calls may have happened, for a person to settle."""
    yield f"{step} waits: its call of {data.tool} with {arguments_text(data.args)} may have happened already"
    for call in data.calls:
        where = f" of {call.step} in run {call.run}" if call.run else ""
        why = call.unmet or call.error
        reason = f": {truncated(why)}" if why else ""
        yield f"a person has to settle the call {short_digest(call.key)}{where}{reason}"
