"""The text of the events of a run: start, configuration, redaction and end."""

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
from planner_executor.graph.text.event_text.sections import Words
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


def run_started(data: RunStarted) -> Words:
    """Say with which goal and terms the run starts."""
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


def configured(data: Configured) -> Words:
    """Say under which terms the run goes on."""
    taken_over = f"was taken over by {data.approver} under other terms" if data.approver else ""
    yield taken_over or "continues under other terms"
    if data.budget is not None and data.budget.names:
        yield f"the budget is now at most {limits_text(data.budget)}"
    yield from _configuration(data.configuration)


def take_over_asked(data: TakeOverAsked) -> Words:
    """Say who asked for which other terms."""
    yield f"{data.approver} asked to take it over under other terms; this takes {data.missing}"
    yield data.differs


def _configuration(configured: Configuration) -> Words:
    if models := configured.models:
        yield "models: " + ", ".join(f"{role} {' then '.join(names)}" for role, names in models.items())
    if settings := configured.settings:
        yield "settings: " + ", ".join(f"{name} {value_text(value)}" for name, value in settings.items())
    if (policy := configured.policy) is not None:
        # A policy is long and of interest to auditors; its artifact is named, and can be read whole.
        yield f"policy: {_named(policy) if policy.artifact else content(policy)}"
    if (tools := configured.tools) is None:
        return
    if tools.artifact is not None:
        yield f"tools: {content(tools) if 'preview' in tools.artifact else _named(tools)}"
    else:
        yield "tools: " + ", ".join(f"{tool['name']} ({tool['effect']})" for tool in tools.value)


def _named(stored: Content) -> str:
    return f"in artifact {stored.artifact['id']}" if stored.artifact else ""


def value_redacted(data: ValueRedacted) -> Words:
    """Say what was redacted by whom, and what is left of it."""
    events = ", ".join(str(one.seq) for one in data.left)
    yield f"a value was removed from events {events} by {data.by}: {data.reason}"


def run_ended(data: RunEnded) -> Words:
    """Say how the run ended."""
    yield f"ended as {data.status}: {data.reason}{_by(data.by)}"
    if data.answer != Content():
        yield f"answer: {content(data.answer)}"
    yield from normalization_notes(data)


def run_reopened(data: RunReopened) -> Words:
    """Say who reopened the run, and for what."""
    yield f"reopened by {data.approver}"
    if data.again:
        yield f"tried again: {', '.join(data.again)}"
    if data.budget is not None and data.budget.names:
        yield f"the budget is now {limits_text(data.budget)}"


def owner_replaced(data: OwnerReplaced) -> Words:
    """Say why another process took the run."""
    state = "is dead" if data.is_dead else "showed no sign of life, and may stand still"
    yield f"continues in another process; {data.process} {state}"


def paused(data: Paused) -> Words:
    """Say why the run pauses, and until when."""
    yield f"paused: {data.reason}{_by(data.by)}{until_text(data.due_at)}"


def _by(person: str | None) -> str:
    return f" by {person}" if person is not None else ""
