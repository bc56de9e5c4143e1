"""Plan of an audit of a failing service: read logs in parallel, group errors, locate the source, draft a fix."""

from typing import Any

from planner_executor.graph.chat_models.offline.audit_goals import AuditGoal
from planner_executor.graph.plan.references import escape_references

LOGS = {"read_logs": ("path", "min_level")}
GROUPS = {"group_errors": ("records",)}
SOURCE = {"read_source": ("path", "line")}
NEEDED = {**LOGS, **GROUPS, **SOURCE}

_USUAL = (
    ("**/access.log", "warning", "Collect the failed requests"),
    ("**/app.log", "warning", "Collect the application's log"),
    ("**/journal*.export", "info", "Collect the system's journal"),
)

_DRAFT = """\
## What fails

{G.summary}

## Failing line

`{G.groups[0].where}` in `{G.groups[0].function}` raises `{G.groups[0].exception}: {G.groups[0].message}`. \
It arises in `{G.groups[0].expression}`.

```text
{S.numbered}
```

## First occurrence

First at {G.groups[0].first} ({G.groups[0].sample.place}), last at {G.groups[0].last}, {G.groups[0].count} in all.

The request was `{G.groups[0].request || 'not named in the log'}`. \
What all of these records share: `{G.groups[0].common || 'nothing'}`.

## Failed requests

- {G.request_lines | join('
- ', @)}

## What changed before

- {G.changes | join('
- ', @)}

## Proposed fix

The rules propose: guard `{G.groups[0].expression}` in `{G.groups[0].where}` against \
`{G.groups[0].exception}: {G.groups[0].message}`.

The rules know the place and the exception. They do not know what the code is meant to do: somebody who does decides, \
and then sends the request above again.

## What was read

- {G.sources | join('
- ', @)}
"""


def audit_plan(audit: AuditGoal, without: str | None = None) -> dict[str, Any]:
    """Return the plan of an audit.

    Args:
        audit: The requested audit.
        without: Note on omitted parts, added to the answer.
    """
    wanted = [(log, "info", f"Collect {log}") for log in audit.logs] or list(_USUAL)
    steps = [read_step(f"step_{number}", *each) for number, each in enumerate(wanted, 1)]
    group, source, report = (f"step_{len(steps) + ahead}" for ahead in (1, 2, 3))
    steps += [_group(group, [step["id"] for step in steps]), _source(source, group)]
    answer = {"failing_line": f"{{{group}_result.groups[0].where}}", "summary": f"{{{group}_result.summary}}"}
    if audit.draft:
        steps.append(_report(report, group, source, audit))
        answer = {"report": f"{{{report}_result.path}}", **answer}
    else:
        answer["source"] = f"{{{source}_result.numbered}}"
    return {"steps": steps, "answer": {**answer, "note": without} if without else answer}


def read_step(step: str, path: str, min_level: str, objective: str) -> dict[str, Any]:
    """Return a step that reads one log."""
    args = {"path": escape_references(path), "min_level": min_level}
    return {"id": step, "objective": objective, "tool": "read_logs", "args": args}


def _group(step: str, reads: list[str]) -> dict[str, Any]:
    return {
        "id": step,
        "objective": "Inspect the failing branch: group the errors",
        "tool": "group_errors",
        "args": {"records": [f"{{{read}_result}}" for read in reads]},
    }


def _source(step: str, group: str) -> dict[str, Any]:
    place = f"{group}_result.groups[0]"
    return {
        "id": step,
        "objective": "Find the root cause in the source",
        "tool": "read_source",
        "args": {"path": f"{{{place}.file}}", "line": f"{{{place}.line}}"},
    }


def _report(step: str, group: str, source: str, audit: AuditGoal) -> dict[str, Any]:
    path = audit.path or "fix-draft.md"
    content = _DRAFT.replace("{G.", f"{{{group}_result.").replace("{S.", f"{{{source}_result.")
    return {
        "id": step,
        "objective": f"Draft a fix in {path}",
        "tool": "write_report",
        "args": {"content": content, "path": escape_references(path), "title": escape_references(audit.title)},
    }
