"""The text of the events of a run: start, configuration, redaction and end."""

from typing import assert_never

from planner_executor.graph.record.events import (
    Configuration,
    Configured,
    Content,
    OwnerReplaced,
    Paused,
    RunEnded,
    RunReopened,
    RunStarted,
    TakeOverAsked,
    ValueRedacted,
)
from planner_executor.graph.text.event_text.sections import SECTIONS, Formatted, Words
from planner_executor.graph.text.event_text.values import (
    changed_playbook,
    content,
    limits_text,
    normalization_notes,
    playbook_text,
    until_text,
    value_text,
)
from planner_executor.graph.words.name_list import counted

RunEvent = RunStarted | Configured | OwnerReplaced | TakeOverAsked | Paused | ValueRedacted | RunEnded | RunReopened


def format_run(data: RunEvent) -> Formatted:
    """Return the sections and the text of an event of a run."""
    match data:
        case RunStarted():
            return SECTIONS, _run_started(data)
        case Configured():
            return ("run", "policy"), _configured(data)
        case OwnerReplaced():
            return ("run",), iter([f"continues in another process; {_former(data)}"])
        case TakeOverAsked():
            return ("run", "policy", "decisions"), _take_over_asked(data)
        case Paused():
            return ("run",), iter([f"paused: {data.reason}{_by(data.by)}{until_text(data.due_at)}"])
        case ValueRedacted():
            return SECTIONS, _redacted(data)
        case RunEnded():
            return SECTIONS, _run_ended(data)
        case RunReopened():
            return ("run", "steps", "decisions", "budget"), _run_reopened(data)
        case _:
            assert_never(data)


def _run_started(data: RunStarted) -> Words:
    yield f"started for the goal: {data.goal}"
    if data.playbook:
        yield f"runs the playbook {playbook_text(data.playbook)}"
        yield from changed_playbook(data.playbook)
    yield from (f"constraint: {constraint}" for constraint in data.constraints)
    for picture in data.pictures:
        yield f"with a picture: {picture['mime_type']}, {picture['size']} bytes, sha256 {picture['sha256']}"
    if data.history:
        yield f"after {counted(len(data.history), 'message')} of a chat"
    if data.budget.names:
        yield f"budget: {limits_text(data.budget)}"
    if data.configured is not None:
        yield from _configuration(data.configured)


def _configured(data: Configured) -> Words:
    taken_over = f"was taken over by {data.approver} under other terms" if data.approver else ""
    yield taken_over or "continues under other terms"
    if data.budget is not None and data.budget.names:
        yield f"the budget is now at most {limits_text(data.budget)}"
    yield from _configuration(data.configuration)


def _take_over_asked(data: TakeOverAsked) -> Words:
    yield f"{data.approver} asked to take it over under other terms; this takes {data.missing}"
    yield data.differs


def _configuration(configured: Configuration) -> Words:
    if models := configured.models:
        yield "models: " + ", ".join(f"{role} {' then '.join(names)}" for role, names in models.items())
    if settings := configured.settings:
        yield "settings: " + ", ".join(f"{name} {value_text(value)}" for name, value in settings.items())
    if (policy := configured.policy) is not None:
        yield f"policy: {_named(policy) if policy.artifact else content(policy)}"
    if (tools := configured.tools) is None:
        return
    if tools.artifact is not None:
        yield f"tools: {content(tools) if 'preview' in tools.artifact else _named(tools)}"
    else:
        yield "tools: " + ", ".join(f"{tool['name']} ({tool['effect']})" for tool in tools.value)


def _named(stored: Content) -> str:
    return f"in artifact {stored.artifact['id']}" if stored.artifact else ""


def _redacted(data: ValueRedacted) -> Words:
    events = ", ".join(str(one.seq) for one in data.left)
    yield f"a value was removed from events {events} by {data.by}: {data.reason}"


def _run_ended(data: RunEnded) -> Words:
    yield f"ended as {data.status}: {data.reason}{_by(data.by)}"
    if data.answer != Content():
        yield f"answer: {content(data.answer)}"
    yield from normalization_notes(data)


def _run_reopened(data: RunReopened) -> Words:
    yield f"reopened by {data.approver}"
    if data.again:
        yield f"tried again: {', '.join(data.again)}"
    if data.budget is not None and data.budget.names:
        yield f"the budget is now {limits_text(data.budget)}"


def _former(data: OwnerReplaced) -> str:
    return f"{data.process} {'is dead' if data.is_dead else 'showed no sign of life, and may stand still'}"


def _by(person: str | None) -> str:
    return f" by {person}" if person is not None else ""
