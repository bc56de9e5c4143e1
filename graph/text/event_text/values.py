"""Values, outcomes and issues as text, shared by the texts of all events."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.record.budget import Budget, unit_in_words
from planner_executor.graph.record.call_preview import CallPreview
from planner_executor.graph.record.events import Arguments, Content, PlanRevised, RunEnded
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.values import to_text
from planner_executor.graph.text.event_text.sections import Words

MOST_CHARACTERS = 800
DIGEST_CHARACTERS = 12


def truncated(text: str) -> str:
    """Return the text, or its beginning and the number of omitted letters.

    >>> truncated("a" * 810)[-20:]
    'a… (10 more letters)'
    """
    more = len(text) - MOST_CHARACTERS
    return text if more <= 0 else f"{text[:MOST_CHARACTERS]}… ({more} more letters)"


def preview_text(found: CallPreview) -> str:
    """Return what a tool says that a call would do."""
    if found.is_begun:
        return f"{found.tool} is asked what it would do in {found.place}"
    if found.same:
        return f"{found.tool} says of {found.place} what it said before"
    if found.text is None:
        return f"no preview of {found.place} by {found.tool}: {found.none}"
    return f"{found.tool} says of {found.place}: {truncated(found.text)}"


def content(held: Content) -> str:
    """Return a value, or the beginning of its artifact."""
    if artifact := held.artifact:
        place = f"artifact {artifact['id'][:DIGEST_CHARACTERS]}" if "id" in artifact else "derived from the results"
        return f"{artifact['size']} bytes, {place}: {truncated(artifact['preview'])}"
    return value_text(held.value)


def value_text(value: Any) -> str:
    """Return a value as shortened text or JSON."""
    return truncated(value if isinstance(value, str) else to_text(value))


def short_digest(digest: Any) -> str:
    """Return the beginning of a digest."""
    return str(digest)[:DIGEST_CHARACTERS]


def issue_lines(issues: Iterable[Issue]) -> Words:
    """Yield a line for each issue."""
    yield from (f"issue {issue}" for issue in issues)


def arguments_text(args: Arguments) -> str:
    """Return the arguments of a call, or the beginning of their artifact."""
    return content(Content(args.shown, args.artifact))


def outcome_text(result: StepResult) -> str:
    """Return status, duration, and value or error of a result."""
    took = f" in {result.seconds:.3f} s" if result.seconds is not None else ""
    succeeded = result.status == "succeeded"
    words = content(Content(result.value, result.artifact)) if succeeded else truncated(str(result.error))
    return f"{result.status}{took}: {words}"


def normalization_notes(data: PlanRevised | RunEnded) -> Words:
    """Yield a line for each spelling that was normalized."""
    yield from (f"normalised: {note}" for note in data.read_as)


def limits_text(budget: Budget) -> str:
    """Return the limits of a budget."""
    return ", ".join(unit_in_words(name, budget.of(name) or 0) for name in budget.names)


def until_text(due_at: float | None) -> str:
    """Return until when something waits, with a space before it; empty if that is not known.

    >>> until_text(86_400.0)
    ' until 1970-01-02 00:00:00 UTC'
    """
    return "" if due_at is None else time.strftime(" until %Y-%m-%d %H:%M:%S UTC", time.gmtime(due_at))


def playbook_text(recorded: Mapping[str, Any]) -> str:
    """Return name, version and digest of a playbook as the record has them, of which a redaction may have left less."""
    name, version, digest = (str(recorded.get(part, "?")) for part in ("name", "version", "digest"))
    return f"{name} {version}, digest {digest[:DIGEST_CHARACTERS]}"


def changed_playbook(recorded: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sentence that another playbook of this name and version ran last; none if it was the same."""
    if (run := recorded.get("changed_since")) is None:
        return ()
    what = f"{recorded.get('name', '?')} {recorded.get('version', '?')} is not the playbook that ran as {run}"
    return (f"{what}: it has changed since, and its version has not",)
