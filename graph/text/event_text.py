"""What each event says, in sentences for people: one table, from the kind of an event to those who tell it.

A new kind of event gets a line in `FORMATTERS`; one that is not there is told by its name and its fields.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from graph.markdown import unfenced
from graph.plan.checks import describe_check
from graph.plan.kinds.table import kind_spec
from graph.plan.step_kind import kind_of
from graph.record.amendment import amendment_words
from graph.record.artifacts import held_artifact
from graph.record.budget import Usage, read_budget, spent_in_words, unit_in_words
from graph.record.events import Event
from graph.record.values import to_text
from graph.text.drawing.labels import plain

Section = Literal["run", "plans", "steps", "decisions", "policy", "budget"]
SECTIONS: tuple[Section, ...] = get_args(Section)

Payload = Mapping[str, Any]
Formatter = Callable[[str, Payload], Iterator[str]]
"""Takes an event's step and payload, yields a sentence, and then lines that go into detail."""

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
    """An event in words: a sentence, lines that go into detail, and the sections of the story that it belongs to."""

    sections: tuple[Section, ...]
    sentence: str
    details: tuple[str, ...] = ()


def event_text(event: Event) -> EventText:
    """Return an event in words, on lines that hold nothing but what can be seen."""
    sections, teller = FORMATTERS.get(event.kind, (SECTIONS, _unknown(event.kind)))
    sentence, *details = (plain(line) for line in teller(event.step or "", event.payload))
    return EventText(sections, sentence, tuple(details))


def told_line(event: Event) -> str:
    """Return an event as one numbered line."""
    return f"{event.seq:>4} {event_text(event).sentence}"


def shortened(text: str) -> str:
    """Return the text, or its beginning and how much more there is.

    >>> shortened("a" * 810)[-20:]
    'a… (10 more letters)'
    """
    more = len(text) - MOST_CHARACTERS
    return text if more <= 0 else f"{text[:MOST_CHARACTERS]}… ({more} more letters)"


def content(payload: Payload) -> str:
    """Return a value, or the beginning of the artifact that holds it."""
    if artifact := payload.get("artifact"):
        place = f"artifact {artifact['id'][:DIGEST_CHARACTERS]}" if "id" in artifact else "made of the results"
        return f"{artifact['size']} bytes, {place}: {shortened(artifact['preview'])}"
    return _value(payload.get("value"))


def _value(value: Any) -> str:
    return shortened(value if isinstance(value, str) else to_text(value))


def _limits(budget: Payload) -> str:
    found = read_budget(budget)[0]
    return ", ".join(unit_in_words(name, found.of(name) or 0) for name in found.names)


def _short(digest: Any) -> str:
    return str(digest)[:DIGEST_CHARACTERS]


def _unknown(kind: str) -> Formatter:
    def tell(step: str, payload: Payload) -> Iterator[str]:
        where = f" in {step}" if step else ""
        yield f"{kind}{where}: a kind of event that this version does not know"
        yield from (f"{name}: {_value(value)}" for name, value in payload.items())

    return tell


def _run_started(_: str, payload: Payload) -> Iterator[str]:
    yield f"started for the goal: {payload['goal']}"
    yield from (f"to respect: {constraint}" for constraint in payload.get("constraints", ()))
    if history := payload.get("history"):
        yield f"after {len(history)} message(s) of a chat"
    if budget := payload.get("budget"):
        yield f"budget: {_limits(budget)}"
    yield from _configuration(payload.get("configured", {}))


def _configured(_: str, payload: Payload) -> Iterator[str]:
    yield "goes on with other settings, models or tools"
    yield from _configuration(payload)


def _configuration(configured: Payload) -> Iterator[str]:
    if models := configured.get("models"):
        yield "models: " + ", ".join(f"{role} {' then '.join(names)}" for role, names in models.items())
    if settings := configured.get("settings"):
        yield "settings: " + ", ".join(f"{name} {_value(value)}" for name, value in settings.items())
    tools = configured.get("tools", {})
    if "artifact" in tools:
        yield f"tools: {content(tools) if 'preview' in tools['artifact'] else 'in artifact ' + tools['artifact']['id']}"
    elif tools:
        yield "tools: " + ", ".join(f"{tool['name']} ({tool['effect']})" for tool in tools["value"])


def _plan_revised(_: str, payload: Payload) -> Iterator[str]:
    yield f"revision {payload['revision']} of the plan by the {payload['author']}: {payload.get('reason')}"
    yield f"digest {payload['digest']}"
    diff = payload.get("diff", {})
    steps = {step.get("id"): step for step in payload["plan"].get("steps", ())}
    for word in ("added", "changed"):
        yield from (f"{word} {step_words(steps[name])}" for name in diff.get(word, ()) if name in steps)
    if removed := diff.get("removed"):
        yield f"removed {', '.join(removed)}"
    for one in payload.get("replaced", ()):
        words = {"open": "is not made up for", "asked": "is made up for if a person approves the plan"}
        by = f", with {', '.join(one['by'])} in its place" if one["by"] else ""
        yield f"the failed {one['step']}{by} {words.get(one['standing'], 'is made up for')}"
    if tainted := payload.get("tainted"):
        yield f"written after untrusted results were read: {', '.join(tainted)}"
    yield from _read_as(payload)
    if payload.get("stalled"):
        yield payload["stalled"]
    if diff.get("answer"):
        yield f"answer {_value(payload['plan'].get('answer'))}"


def step_words(step: Payload) -> str:
    """Return what a step of a plan does, and what has to hold of its result."""
    does = kind_spec(kind_of(step)).work(step, _value) + (
        f" for each of {_value(step['for_each'])}" if "for_each" in step else ""
    )
    args = f" {_value(step['args'])}" if step.get("args") else ""
    after = f", after {', '.join(step['depends_on'])}" if step.get("depends_on") else ""
    checked = f", if all of {_value(step['checks'])}" if step.get("checks") else ""
    instead = f", instead of {step['replaces']}" if step.get("replaces") else ""
    return f"{step['id']}: {does}{args}{after}{instead} ({step.get('objective')}){checked}"


def _plan_refused(_: str, payload: Payload) -> Iterator[str]:
    yield f"no plan by the {payload['author']} that can run"
    yield from _issues(payload)
    if brought := payload.get("brought"):
        yield f"brought: {content(brought)}"


def _issues(payload: Payload) -> Iterator[str]:
    for issue in payload.get("issues", ()):
        where = f"{issue['step']}.{issue['field']}" if issue.get("step") else issue.get("field")
        yield f"issue {where}: {issue.get('message')}"


def _review_requested(_: str, payload: Payload) -> Iterator[str]:
    again = " again" if payload.get("error") else ""
    asked = ", ".join(payload.get("asked", ()))
    yield f"request {payload['request']} was shown{again}: {asked}, about digest {_short(payload['digest'])}"
    if "answer" in payload:
        yield f"the answer before was {content(payload['answer'])}"
    if payload.get("error"):
        yield f"which was none: {payload['error']}"
    yield from _issues(payload)
    shown = payload.get("shown", {})
    if "artifact" in shown:
        yield f"shown: {content(shown)}"
    yield from (f"shown: {line}" for words in shown.get("value", ()) for line in shortened(unfenced(words)).split("\n"))


def _decided(_: str, payload: Payload) -> Iterator[str]:
    who = payload.get("approver")
    by = {"person": f"a person ({who})", "unseen": f"{who}, unseen"}.get(payload["by"], f"the {payload['by']}")
    about = f"digest {_short(payload['digest'])}" if payload.get("digest") else "no plan that can run"
    decision, message = payload["decision"], payload.get("message")
    words = f": {message}" if message and message != decision else ""
    yield f"{DECIDED.get(decision, decision)} by {by}, about {about}{words}"
    for made in payload.get("decisions", ()):
        more = ", ".join(f"{name} {_value(value)}" for name, value in made.items() if name != "type" and value)
        if more:
            yield f"{made['type']}: {more}"
    for settled in payload.get("settled", ()):
        happened = f"happened, with {_value(settled['result'])}" if settled["happened"] else "did not happen"
        where = f" of run {settled['run']}" if settled.get("run") else ""
        yield f"the call {_short(settled['key'])}{where} {happened}"
    if calls := payload.get("steps"):
        yield f"{len(calls)} call(s) may be made with the arguments that were shown"
    if payload.get("budget"):
        yield f"the budget is now {_limits(payload['budget'])}"


def _call_refused(step: str, payload: Payload) -> Iterator[str]:
    yield f"{step} asked for {payload['tool']}, which was refused: {payload['why']}"
    yield f"it asked with {_arguments(payload)}"


def _step_held(step: str, payload: Payload) -> Iterator[str]:
    yield f"{step} waits for a person to see its call of {payload['tool']} with {_arguments(payload)}"
    for name, label in payload["labels"].items():
        yield f"{name} is {label['trust']}, from {', '.join(label['sources'])}"
    yield from (f"the same call happened in run {call['run']}, in {call['step']}" for call in payload.get("before", ()))


def _step_uncertain(step: str, payload: Payload) -> Iterator[str]:
    yield f"{step} waits: its call of {payload['tool']} with {_arguments(payload)} may have happened already"
    for call in payload["calls"]:
        where = f" of {call['step']} in run {call['run']}" if call.get("run") else ""
        why = call.get("unmet") or call.get("error")
        yield f"a person has to settle the call {_short(call['key'])}{where}" + (f": {shortened(why)}" if why else "")


def _budget_reached(_: str, payload: Payload) -> Iterator[str]:
    yield f"the budget's limit of {payload['limit']} was reached"
    yield f"spent: {spent_in_words(read_budget(payload['budget'])[0], Usage(**payload['spent']))}"
    if left := payload.get("left"):
        yield f"left to do: {', '.join(left)}"


def _steered(_: str, payload: Payload) -> Iterator[str]:
    yield amendment_words(payload["added"], payload["withdrawn"], payload["feedback"])
    yield f"said by {payload['approver']}"
    yield from (f"to respect: {constraint}" for constraint in payload["constraints"])


def _executing(_: str, payload: Payload) -> Iterator[str]:
    yield f"the executor took up revision {payload['revision']}"


def _call_started(step: str, payload: Payload) -> Iterator[str]:
    repeatable = "" if payload.get("repeatable") else ", not to be repeated"
    yield f"{step} calls {payload['tool']} ({payload.get('effect')}{repeatable}) with {_arguments(payload)}"


def _arguments(payload: Payload) -> str:
    return content(payload["args"]) if held_artifact(payload, "args") else _value(payload["args"])


def _call_finished(step: str, payload: Payload) -> Iterator[str]:
    nothing = ", and nothing happened" if payload.get("nothing_happened") else ""
    yield f"the call of {step} {_outcome(payload)}{nothing}"


def _step_finished(step: str, payload: Payload) -> Iterator[str]:
    yield f"{step} {_outcome(payload)}"


def _step_checked(step: str, payload: Payload) -> Iterator[str]:
    again = ", and it is tried once more" if payload.get("again") else ""
    yield f"the result of {step} {'meets its criteria' if payload['met'] else 'does not meet its criteria'}{again}"
    for finding in payload.get("checks", ()):
        yield f"{'met' if finding['met'] else 'not met'}: {describe_check(finding['check'])}: {finding['seen']}"
    if judged := payload.get("judged"):
        word = {True: "met", False: "not met", None: "not judged"}[judged["met"]]
        yield f"{word}: {judged['criterion']}: {judged['why']}"


def _outcome(payload: Payload) -> str:
    took = ""
    if payload.get("started_at") is not None and payload.get("ended_at") is not None:
        took = f" in {payload['ended_at'] - payload['started_at']:.3f} s"
    result = content(payload) if payload["status"] == "succeeded" else shortened(str(payload.get("error")))
    return f"{payload['status']}{took}: {result}"


def _model_started(step: str, payload: Payload) -> Iterator[str]:
    yield f"the {payload['role']} asked {payload.get('model')}{f' for {step}' if step else ''}"
    prompt = payload.get("prompt")
    if prompt is None:
        yield "what it asked is not on record"
        return
    if prompt.get("continues"):
        yield "going on with the conversation:"
    if "artifact" in prompt:
        yield content(prompt)
    for message in prompt.get("value", ()):
        yield f"{message['type']}: {_value(_said(message))}{_wanted(message)}"


def _said(message: Payload) -> Any:
    """Return what a message says; texts that it shares with others may not be at hand."""
    parts = message.get("parts")
    if parts is None:
        return message["content"]
    return "".join(part if isinstance(part, str) else f"(constant {part})" for part in parts)


def _model_finished(step: str, payload: Payload) -> Iterator[str]:
    usage = payload.get("usage") or {}
    tokens = f", {usage.get('input_tokens')} tokens in and {usage.get('output_tokens')} out" if usage else ""
    by = f" by {payload['model']}" if payload.get("model") else ""
    yield f"the {payload['role']} was answered{by}{f' for {step}' if step else ''}{tokens}"
    yield from (
        f"attempt with {attempt['model']} failed: {attempt['error']}" for attempt in payload.get("attempts", ())
    )
    response = payload.get("response")
    if response is None:
        yield f"no answer: {payload.get('error')}"
    else:
        yield f"answer: {_value(response.get('content'))}{_wanted(response)}"


def _wanted(message: Payload) -> str:
    calls = message.get("tool_calls") or ()
    return "".join(f"; it asks for {call['name']} {_value(call['args'])}" for call in calls)


def _paused(_: str, payload: Payload) -> Iterator[str]:
    yield f"paused: {payload.get('reason')}"


def _redacted(_: str, payload: Payload) -> Iterator[str]:
    events = ", ".join(str(entry["seq"]) for entry in payload["left"])
    yield f"a value was taken out of events {events} by {payload['by']}: {payload['reason']}"


def _run_ended(_: str, payload: Payload) -> Iterator[str]:
    yield f"ended as {payload['status']}: {payload.get('reason')}"
    if payload.get("artifact") or payload.get("value") is not None:
        yield f"answer: {content(payload)}"
    yield from _read_as(payload)


def _read_as(payload: Payload) -> Iterator[str]:
    yield from (f"read otherwise than written: {note}" for note in payload.get("read_as", ()))


FORMATTERS: Mapping[str, tuple[tuple[Section, ...], Formatter]] = {
    "run_started": (SECTIONS, _run_started),
    "configured": (("run", "policy"), _configured),
    "plan_revised": (("plans",), _plan_revised),
    "plan_refused": (("plans",), _plan_refused),
    "review_requested": (("decisions",), _review_requested),
    "decided": (("decisions", "policy", "budget"), _decided),
    "steered": (("plans", "decisions"), _steered),
    "executing": (("steps",), _executing),
    "call_started": (("steps",), _call_started),
    "call_finished": (("steps",), _call_finished),
    "call_refused": (("steps", "policy"), _call_refused),
    "step_held": (("steps", "policy"), _step_held),
    "step_uncertain": (("steps", "decisions"), _step_uncertain),
    "budget_reached": (("budget",), _budget_reached),
    "model_started": (("plans", "steps"), _model_started),
    "model_finished": (("plans", "steps", "budget"), _model_finished),
    "step_finished": (("steps",), _step_finished),
    "step_checked": (("steps",), _step_checked),
    "paused": (("run",), _paused),
    "redacted": (SECTIONS, _redacted),
    "run_ended": (SECTIONS, _run_ended),
}
"""Kind of event -> the sections of the story it belongs to, and who tells it."""
