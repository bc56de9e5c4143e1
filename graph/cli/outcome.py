"""The outcome of a run, printed when the command finishes."""

import json
from pathlib import Path
from typing import assert_never

from pydantic import JsonValue

from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.plain_text.sanitize import margined
from planner_executor.graph.record.reopening import RETRIED
from planner_executor.graph.record.run_status import RunStatus
from planner_executor.graph.runs.run import Run


def show_outcome(screen: Screen, run: Run, database: str | Path) -> None:
    """Print status, reason, answer, report paths and the `show` command, if the run has ended."""
    if run.status == "paused" and run.reason:
        screen.say()
        screen.say(headline(run), "bold yellow")
        screen.say("continue then with:", whole=command("resume", run.id, database, run.setup))
        screen.say("a process with `work` does so by itself")
    if not run.ended:
        return
    screen.say()
    screen.say(headline(run), _style(run.status))
    if run.compared:
        screen.say(run.compared)
    screen.say_each(run.approved_ahead)
    if run.answer is not None:
        screen.say()
        screen.show_text(margined(pretty(run.answer)))
        screen.say()
    for path in reports(run):
        screen.say("written:", whole=path)
    screen.say("details:", whole=command("show", run.id, database))
    if run.status in RETRIED:
        screen.say("to try again what failed:", whole=command("retry", run.id, database, run.setup))


def headline(run: Run) -> str:
    """Return status and reason on one line."""
    return f"{run.status}: {run.reason}" if run.reason and run.reason != run.status else run.status


def pretty(value: JsonValue) -> str:
    """Return a value for people: text unchanged, an object key by key, anything else as indented JSON.

    >>> print(pretty({"report": "report.md", "sources": 3}))
    report: report.md
    sources: 3
    """
    if isinstance(value, dict) and value:
        return "\n".join(f"{key}: {_within(part)}" for key, part in value.items())
    return _within(value)


def _within(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def reports(run: Run) -> list[str]:
    """Return the paths of the reports that the run wrote."""
    steps = run.plan.steps if run.plan else ()
    writing = [step.id for step in steps if "write_report" in step.tool_names and step.id in run.results]
    values = [run.results[step].value for step in writing]
    paths = [value.get("path") for value in values if isinstance(value, dict)]
    return [path for path in paths if isinstance(path, str)]


def _style(status: RunStatus) -> str:
    match status:
        case "succeeded":
            return "bold green"
        case "failed":
            return "bold red"
        case "partial" | "rejected" | "budget_exhausted" | "cancelled":
            return "bold yellow"
        case "planning" | "running" | "waiting" | "paused" | "damaged":  # not an end
            return "bold"
        case _:
            assert_never(status)
