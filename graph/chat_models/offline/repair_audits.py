"""Repairs of audits with incomplete logs: read older copies, or continue without the missing ones."""

import re
from pathlib import PurePosixPath
from typing import Any

from planner_executor.graph.chat_models.offline.audit import read_step
from planner_executor.graph.chat_models.offline.remaining import NoRepair, Remaining, with_more
from planner_executor.graph.plan.references import references_in

_COPIES = re.compile(r"\brotated copies of it are there: (?P<copies>.+?)(?:; other logs: |$)", re.S)
_COPY = re.compile(
    r"(?:^|, )(?P<path>[^(),]+) \((?:from )?(?:(?P<first>\d\S+) (?:to (?P<last>\d[^\s()]+)|on)|[^()]*)\)"
)
_FIRST_ERROR = re.compile(r'"first_error_at":"([^"]+)"')
_ROTATED = re.compile(r'"rotated":\["([^"\\]+)"')
_NO_PLACE = re.compile(r"\bis not there\b|\bis not of type\b|\bNone is not\b")


def repair_logs(remaining: Remaining) -> None:
    """Read the rotated copy of a missing log that covers the time of the errors, else continue without it.

    Raises:
        NoRepair: No other log remains.
    """
    for step in remaining.failed_calls("read_logs"):
        path = _copy_for(remaining, remaining.failed[step["id"]])
        if path is not None:
            words = f"Read {PurePosixPath(path).name}, a rotated archive, since {_path(step)} is not there"
            level = str(step.get("args", {}).get("min_level", "debug"))
            new = read_step(remaining.new_id(), path, level, words)
            remaining.exchange(step["id"], {**new, "args": {**step.get("args", {}), **new["args"]}})
        elif remaining.can_drop(step["id"]) and _reads_left(remaining, step["id"]):
            remaining.drop(step["id"])
        else:
            raise NoRepair("there is no other log to read")


def repair_groups(remaining: Remaining) -> None:
    """Read older copies of the logs if those read so far contain no error.

    Raises:
        NoRepair: There are no older copies.
    """
    for step in remaining.failed_calls("group_errors"):
        older = _read_older(remaining)
        if older is None:
            raise NoRepair("the logs hold no error, and there are no older copies of them")
        remaining.give(with_more(step, "records", older))


def repair_source(remaining: Remaining) -> None:
    """Read older copies if no traceback names a line; if the source is unreadable, draft without it.

    Raises:
        NoRepair: The step is not part of an audit plan.
    """
    for step in remaining.failed_calls("read_source"):
        group = next((reference.step for reference in references_in(step.get("args", {}))), None)
        if group is None or remaining.tool(group) != "group_errors":
            raise NoRepair("the source cannot be read, and the plan does not say where else to look")
        if not _NO_PLACE.search(remaining.failed[step["id"]]):
            remaining.drop_with_text(step["id"], "(the source could not be read)")
        elif older := _read_older(remaining):
            again = {**remaining.every_step[group], "id": remaining.new_id()}
            remaining.give(with_more(again, "records", older))
            remaining.redirect(group, again["id"])
        else:
            note = "no traceback in the logs names a line of the source in this folder"
            remaining.steps, remaining.answer = {}, {"summary": f"{{{group}_result.summary}}", "note": note}


def _copy_for(remaining: Remaining, error: str) -> str | None:
    """Return the unread copy that covers the first error seen in another log, else the newest one."""
    named = _COPIES.search(error)
    copies = (
        [copy for copy in _COPY.finditer(named["copies"]) if not _was_read(remaining, copy["path"])] if named else []
    )
    began = next((found for found in map(_first_error, _reads_done(remaining)) if found), None)
    for copy in copies:
        # ISO times compare as texts.
        if began and copy["first"] and copy["first"] <= began <= (copy["last"] or began):
            return copy["path"]
    return copies[0]["path"] if copies else None


def _read_older(remaining: Remaining) -> str | None:
    """Add a step that reads an older copy of a log, and return its id."""
    found = (match[1] for preview in _reads_done(remaining) if (match := _ROTATED.search(preview)))
    path = next((path for path in found if not _was_read(remaining, path)), None)
    if path is None:
        return None
    words = f"Read {PurePosixPath(path).name}, a rotated archive, since newer logs do not tell enough"
    step = read_step(remaining.new_id(), path, "info", words)
    remaining.give(step)
    return str(step["id"])


def _reads_done(remaining: Remaining) -> list[str]:
    """Return the previews of the logs read so far, in plan order."""
    return [remaining.preview(step) for step in remaining.succeeded if remaining.tool(step) == "read_logs"]


def _reads_left(remaining: Remaining, without: str) -> bool:
    steps = [step for step in (*remaining.succeeded, *remaining.steps) if step != without]
    return any(remaining.all_steps[step].get("tool") == "read_logs" for step in steps)


def _first_error(preview: str) -> str | None:
    found = _FIRST_ERROR.search(preview)
    return found[1] if found else None


def _was_read(remaining: Remaining, path: str) -> bool:
    reads = (step for step in remaining.all_steps.values() if step.get("tool") == "read_logs")
    return any(_path(step) == path for step in reads)


def _path(step: dict[str, Any]) -> str:
    return str(step.get("args", {}).get("path", "a log"))
