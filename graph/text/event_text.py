"""The text of each event, in sentences for people.

A new kind of event gets a case in `_formatted`; mypy reports a missing one. An event of a newer release is shown by its
name and its fields.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never, get_args

from graph.errors import UnknownEventError
from graph.markdown import unfenced
from graph.plan.checks import describe_check
from graph.plan.issues import Issue
from graph.plan.kinds.table import kind_spec
from graph.plan.step_kind import kind_of
from graph.record.amendment import amendment_words
from graph.record.budget import Budget, spent_in_words, unit_in_words
from graph.record.events import (
    Arguments,
    BudgetReached,
    CallAsked,
    CallFinished,
    CallInherited,
    CallRefused,
    CallStarted,
    Configuration,
    Configured,
    Content,
    Decided,
    Event,
    EventData,
    Executing,
    Inherited,
    ModelFinished,
    ModelStarted,
    Paused,
    PlanRefused,
    PlanRevised,
    ResultSupplied,
    ReviewRequested,
    RunEnded,
    RunForked,
    RunReopened,
    RunStarted,
    Steered,
    StepChecked,
    StepFinished,
    StepHeld,
    StepSkipped,
    StepUncertain,
    ValueRedacted,
)
from graph.record.results import StepResult
from graph.record.values import to_text
from graph.text.drawing.labels import plain

Section = Literal["run", "plans", "steps", "decisions", "policy", "budget"]
SECTIONS: tuple[Section, ...] = get_args(Section)

Words = Iterator[str]
"""A sentence, followed by lines of detail."""

MOST_CHARACTERS = 800
DIGEST_CHARACTERS = 12
DECIDED = {
    "approve": "approved",
    "reject": "rejected",
    "finish": "finished with what there is",
    "feedback": "sent back",
    "settle": "settled",
}


@dataclass(frozen=True)
class EventText:
    """The text of an event: a sentence, lines of detail, and the sections of the audit that it belongs to."""

    sections: tuple[Section, ...]
    sentence: str
    details: tuple[str, ...] = ()


def event_text(event: Event) -> EventText:
    """Return the text of an event, with invisible characters escaped."""
    try:
        sections, words = _formatted(event.data, event.step or "")
    except UnknownEventError:
        sections, words = SECTIONS, _unknown(event)
    sentence, *details = (plain(line) for line in words)
    return EventText(sections, sentence, tuple(details))


def _formatted(data: EventData, step: str) -> tuple[tuple[Section, ...], Words]:  # noqa: C901, PLR0912  (one for each kind)
    """Return the sections of the audit that an event belongs to, and its text."""
    match data:
        case RunStarted():
            return SECTIONS, _run_started(data)
        case Configured():
            return ("run", "policy"), _configured(data)
        case PlanRevised():
            return ("plans",), _plan_revised(data)
        case PlanRefused():
            return ("plans",), _plan_refused(data)
        case ReviewRequested():
            return ("decisions",), _review_requested(data)
        case Decided():
            return ("decisions", "policy", "budget"), _decided(data)
        case Steered():
            return ("plans", "decisions"), _steered(data)
        case Executing():
            return ("steps",), iter([f"the executor took up revision {data.revision}"])
        case CallStarted():
            return ("steps",), _call_started(step, data)
        case CallFinished():
            return ("steps",), _call_finished(step, data)
        case CallAsked():
            return ("steps", "decisions"), _call_asked(step, data)
        case CallRefused():
            return ("steps", "policy"), _call_refused(step, data)
        case StepHeld():
            return ("steps", "policy"), _step_held(step, data)
        case StepUncertain():
            return ("steps", "decisions"), _step_uncertain(step, data)
        case BudgetReached():
            return ("budget",), _budget_reached(data)
        case ModelStarted():
            return ("plans", "steps"), _model_started(step, data)
        case ModelFinished():
            return ("plans", "steps", "budget"), _model_finished(step, data)
        case StepFinished():
            return ("steps",), iter([f"{step} {_outcome(data.result)}"])
        case StepChecked():
            return ("steps",), _step_checked(step, data)
        case Paused():
            return ("run",), iter([f"paused: {data.reason}"])
        case ValueRedacted():
            return SECTIONS, _redacted(data)
        case RunEnded():
            return SECTIONS, _run_ended(data)
        case RunForked():
            return SECTIONS, iter([f"forked from {data.source}", f"done anew: {', '.join(data.again)}"])
        case Inherited():
            return ("steps",), iter([f"{step} has its result of {data.source}: {_outcome(data.result)}"])
        case CallInherited():
            made = "made" if data.happened else "begun, and may have happened"
            words = f"{step} called {data.tool} in {data.source} with {_arguments(data.args)}"
            return ("steps", "decisions"), iter([words, f"the call was {made}"])
        case StepSkipped():
            because = f": {data.why}" if data.why else ""
            return ("plans", "steps", "decisions"), iter([f"{step} is skipped by {data.approver}{because}"])
        case ResultSupplied():
            return ("steps", "decisions"), iter([f"{data.approver} gave the result of {step}: {content(data.result)}"])
        case RunReopened():
            return ("run", "steps", "decisions", "budget"), _run_reopened(data)
        case _:
            assert_never(data)


def event_line(event: Event) -> str:
    """Return an event as one numbered line."""
    return f"{event.seq:>4} {event_text(event).sentence}"


def shortened(text: str) -> str:
    """Return the text, or its beginning and the number of omitted letters.

    >>> shortened("a" * 810)[-20:]
    'a… (10 more letters)'
    """
    more = len(text) - MOST_CHARACTERS
    return text if more <= 0 else f"{text[:MOST_CHARACTERS]}… ({more} more letters)"


def content(held: Content) -> str:
    """Return a value, or the beginning of its artifact."""
    if artifact := held.artifact:
        place = f"artifact {artifact['id'][:DIGEST_CHARACTERS]}" if "id" in artifact else "made of the results"
        return f"{artifact['size']} bytes, {place}: {shortened(artifact['preview'])}"
    return _value(held.value)


def _value(value: Any) -> str:
    return shortened(value if isinstance(value, str) else to_text(value))


def _limits(budget: Budget) -> str:
    return ", ".join(unit_in_words(name, budget.of(name) or 0) for name in budget.names)


def _short(digest: Any) -> str:
    return str(digest)[:DIGEST_CHARACTERS]


def _unknown(event: Event) -> Words:
    where = f" in {event.step}" if event.step else ""
    yield f"{event.kind}{where}: a kind of event that this version does not know"
    yield from (f"{name}: {_value(value)}" for name, value in event.payload.items())


def _run_started(data: RunStarted) -> Words:
    yield f"started for the goal: {data.goal}"
    yield from (f"to respect: {constraint}" for constraint in data.constraints)
    if data.history:
        yield f"after {len(data.history)} message(s) of a chat"
    if data.budget.names:
        yield f"budget: {_limits(data.budget)}"
    if data.configured is not None:
        yield from _configuration(data.configured)


def _configured(data: Configured) -> Words:
    yield "goes on with other settings, models or tools"
    yield from _configuration(data.configuration)


def _configuration(configured: Configuration) -> Words:
    if models := configured.models:
        yield "models: " + ", ".join(f"{role} {' then '.join(names)}" for role, names in models.items())
    if settings := configured.settings:
        yield "settings: " + ", ".join(f"{name} {_value(value)}" for name, value in settings.items())
    if (tools := configured.tools) is None:
        return
    if tools.artifact is not None:
        yield f"tools: {content(tools) if 'preview' in tools.artifact else 'in artifact ' + tools.artifact['id']}"
    else:
        yield "tools: " + ", ".join(f"{tool['name']} ({tool['effect']})" for tool in tools.value)


def _plan_revised(data: PlanRevised) -> Words:
    yield f"revision {data.revision} of the plan by the {data.author}: {data.reason}"
    yield f"digest {data.digest}"
    steps = {step.get("id"): step for step in data.plan.get("steps", ())}
    for word, ids in (("added", data.diff.added), ("changed", data.diff.changed)):
        yield from (f"{word} {step_words(steps[name])}" for name in ids if name in steps)
    if data.diff.removed:
        yield f"removed {', '.join(data.diff.removed)}"
    for one in data.replaced or ():
        words = {"open": "is not made up for", "asked": "is made up for if a person approves the plan"}
        by = f", with {', '.join(one.by)} in its place" if one.by else ""
        yield f"the failed {one.step}{by} {words.get(one.standing, 'is made up for')}"
    if data.tainted:
        yield f"written after untrusted results were read: {', '.join(data.tainted)}"
    yield from _read_as(data)
    if data.stalled:
        yield data.stalled
    if data.diff.answer:
        yield f"answer {_value(data.plan.get('answer'))}"


def step_words(step: Mapping[str, Any]) -> str:
    """Return the work of a step and its success criteria."""
    does = kind_spec(kind_of(step)).work(step, _value) + (
        f" for each of {_value(step['for_each'])}" if "for_each" in step else ""
    )
    args = f" {_value(step['args'])}" if step.get("args") else ""
    after = f", after {', '.join(step['depends_on'])}" if step.get("depends_on") else ""
    checked = f", if all of {_value(step['checks'])}" if step.get("checks") else ""
    instead = f", instead of {step['replaces']}" if step.get("replaces") else ""
    return f"{step['id']}: {does}{args}{after}{instead} ({step.get('objective')}){checked}"


def _plan_refused(data: PlanRefused) -> Words:
    yield f"no plan by the {data.author} that can run"
    yield from _issues(data.issues)
    if data.brought is not None:
        yield f"brought: {content(data.brought)}"


def _issues(issues: Iterable[Issue]) -> Words:
    yield from (f"issue {issue}" for issue in issues)


def _review_requested(data: ReviewRequested) -> Words:
    again = " again" if data.error else ""
    yield f"request {data.request} was shown{again}: {', '.join(data.asked)}, about digest {_short(data.digest)}"
    if data.answer is not None:
        yield f"the answer before was {content(data.answer)}"
    if data.error:
        yield f"which was none: {data.error}"
    yield from _issues(data.issues)
    if data.shown.artifact is not None:
        yield f"shown: {content(data.shown)}"
    texts = data.shown.value or ()
    yield from (f"shown: {line}" for words in texts for line in shortened(unfenced(words)).split("\n"))


def _decided(data: Decided) -> Words:
    who = data.approver
    by = {"person": f"a person ({who})", "unseen": f"{who}, unseen"}.get(data.by, f"the {data.by}")
    about = f"digest {_short(data.digest)}" if data.digest else "no plan that can run"
    words = f": {data.message}" if data.message and data.message != data.decision else ""
    yield f"{DECIDED.get(data.decision, data.decision)} by {by}, about {about}{words}"
    for made in data.decisions:
        more = ", ".join(f"{name} {_value(value)}" for name, value in made.items() if name != "type" and value)
        if more:
            yield f"{made['type']}: {more}"
    for call in data.settled:
        happened = f"happened, with {_value(call.result)}" if call.happened else "did not happen"
        where = f" of run {call.run}" if call.run else ""
        yield f"the call {_short(call.key)}{where} {happened}"
    if data.steps:
        yield f"{len(data.steps)} call(s) may be made with the arguments that were shown"
    if data.budget is not None and data.budget.names:
        yield f"the budget is now {_limits(data.budget)}"


def _call_refused(step: str, data: CallRefused) -> Words:
    yield f"{step} asked for {data.tool}, which was refused: {data.why}"
    yield f"it asked with {_arguments(data.args)}"


def _call_asked(step: str, data: CallAsked) -> Words:
    yield f"{step} waits: its call of {data.tool} asks a person"
    yield from (f"it asks: {question.text}" for question in data.questions)


def _step_held(step: str, data: StepHeld) -> Words:
    yield f"{step} waits for a person to see its call of {data.tool} with {_arguments(data.args)}"
    for name, label in data.labels.items():
        yield f"{name} is {label.trust}, from {', '.join(label.sources)}"
    yield from (f"the same call happened in run {call.run}, in {call.step}" for call in data.before)


def _step_uncertain(step: str, data: StepUncertain) -> Words:
    yield f"{step} waits: its call of {data.tool} with {_arguments(data.args)} may have happened already"
    for call in data.calls:
        where = f" of {call.step} in run {call.run}" if call.run else ""
        why = call.unmet or call.error
        yield f"a person has to settle the call {_short(call.key)}{where}" + (f": {shortened(why)}" if why else "")


def _budget_reached(data: BudgetReached) -> Words:
    yield f"the budget's limit of {data.limit} was reached"
    yield f"spent: {spent_in_words(data.budget, data.spent)}"
    if data.left:
        yield f"left to do: {', '.join(data.left)}"


def _steered(data: Steered) -> Words:
    yield amendment_words(data.added, data.withdrawn, data.feedback)
    yield f"said by {data.approver}"
    yield from (f"to respect: {constraint}" for constraint in data.constraints)


def _call_started(step: str, data: CallStarted) -> Words:
    repeatable = "" if data.repeatable else ", not to be repeated"
    yield f"{step} calls {data.tool} ({data.effect}{repeatable}) with {_arguments(data.args)}"


def _arguments(args: Arguments) -> str:
    return content(Content(args.shown, args.artifact))


def _call_finished(step: str, data: CallFinished) -> Words:
    nothing = ", and nothing happened" if data.nothing_happened else ""
    yield f"the call of {step} {_outcome(data.result)}{nothing}"


def _step_checked(step: str, data: StepChecked) -> Words:
    again = ", and it is tried once more" if data.again else ""
    yield f"the result of {step} {'meets its criteria' if data.met else 'does not meet its criteria'}{again}"
    for finding in data.checks:
        yield f"{'met' if finding.met else 'not met'}: {describe_check(finding.check)}: {finding.seen}"
    if (judged := data.judged) is not None:
        word = {True: "met", False: "not met", None: "not judged"}[judged.met]
        yield f"{word}: {judged.criterion}: {judged.why}"


def _outcome(result: StepResult) -> str:
    took = ""
    if result.started_at is not None and result.ended_at is not None:
        took = f" in {result.ended_at - result.started_at:.3f} s"
    succeeded = result.status == "succeeded"
    words = content(Content(result.value, result.artifact)) if succeeded else shortened(str(result.error))
    return f"{result.status}{took}: {words}"


def _model_started(step: str, data: ModelStarted) -> Words:
    yield f"the {data.role} asked {data.model}{f' for {step}' if step else ''}"
    if data.prompt is None:
        yield "what it asked is not on record"
        return
    if data.prompt.continues:
        yield "going on with the conversation:"
    messages = data.prompt.messages
    if messages.artifact is not None:
        yield content(messages)
    for message in messages.value or ():
        yield f"{message['type']}: {_value(_content_of(message))}{_requested_calls(message)}"


def _content_of(message: Mapping[str, Any]) -> Any:
    """Return the content of a message; text stored apart, shared by messages, may be absent."""
    parts = message.get("parts")
    if parts is None:
        return message["content"]
    return "".join(part if isinstance(part, str) else f"(constant {part})" for part in parts)


def _model_finished(step: str, data: ModelFinished) -> Words:
    usage = data.usage
    tokens = f", {usage.input_tokens} tokens in and {usage.output_tokens} out" if usage is not None else ""
    by = f" by {data.model}" if data.model else ""
    yield f"the {data.role} was answered{by}{f' for {step}' if step else ''}{tokens}"
    yield from (f"attempt with {attempt.model} failed: {attempt.error}" for attempt in data.attempts)
    if data.response is None:
        yield f"no answer: {data.error}"
    else:
        yield f"answer: {_value(data.response.get('content'))}{_requested_calls(data.response)}"


def _requested_calls(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or ()
    return "".join(f"; it asks for {call['name']} {_value(call['args'])}" for call in calls)


def _redacted(data: ValueRedacted) -> Words:
    events = ", ".join(str(one.seq) for one in data.left)
    yield f"a value was taken out of events {events} by {data.by}: {data.reason}"


def _run_ended(data: RunEnded) -> Words:
    yield f"ended as {data.status}: {data.reason}"
    if data.answer != Content():
        yield f"answer: {content(data.answer)}"
    yield from _read_as(data)


def _run_reopened(data: RunReopened) -> Words:
    yield f"reopened by {data.approver}"
    if data.again:
        yield f"tried again: {', '.join(data.again)}"
    if data.budget is not None and data.budget.names:
        yield f"the budget is now {_limits(data.budget)}"


def _read_as(data: PlanRevised | RunEnded) -> Words:
    yield from (f"read otherwise than written: {note}" for note in data.read_as)
