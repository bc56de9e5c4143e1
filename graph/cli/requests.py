"""A review request on the screen, and the commands that answer it."""

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph.cli.options import DATABASE
from graph.cli.screen import Screen
from graph.plan.render import plan_text
from graph.runs import Run

DIGEST_CHARACTERS = 12
"""How much of a digest people are shown."""

NAME = "planner-executor"


def command(words: str, run: str, database: Path) -> str:
    """Return a command line about a run that can be pasted into a shell; `words` begins with the command's name.

    >>> command("resume --approve", "demo.1", Path("runs.db"))
    'planner-executor resume demo.1 --approve --db runs.db'
    """
    name, _, options = words.partition(" ")
    where = "" if database == DATABASE else f" --db {shlex.quote(str(database))}"
    return f"{program()} {name} {shlex.quote(run)}{options and ' '}{options}{where}"


def program() -> str:
    """Return how this command is called: by its path where it is not on the search path."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == NAME and shutil.which(NAME) is None else NAME


def asked(request: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the actions of one kind that the request asks about."""
    return [action for action in request["action_requests"] if action["name"] == name]


def show_request(screen: Screen, run: Run) -> None:
    """Print everything that is asked, drawings as wide as the screen."""
    assert run.request is not None
    if error := run.request["error"]:
        screen.say(f"Asked again: {error}", style="red")
    for action in run.request["action_requests"]:
        screen.say()
        screen.say(_fitted(screen, run, _without_error(action["description"], error)))
    screen.say()


def say_how_to_decide(screen: Screen, run: Run, database: Path) -> None:
    """Print the commands that answer the open request."""
    assert run.request is not None
    screen.say(f"{run.id} waits for your decision; go on with one of:")
    for words in _answers(run.request):
        screen.say(f"  {command(words, run.id, database)}")
    if asked(run.request, "run_plan"):
        screen.say(f"the plan to edit: {command('draw', run.id, database)} -o plan.json")


def _answers(request: Mapping[str, Any]) -> list[str]:
    calls = asked(request, "settle_effect")
    happened = " ".join(["--happened true|false"] * len(calls))
    if not asked(request, "run_plan"):
        return [f"resume {happened}", f"resume {happened} --result JSON", "resume --reject"]
    shown = f"--digest {request['digest'][:DIGEST_CHARACTERS]}"
    plans = [*([] if request["issues"] else [f"--approve {shown}"]), "--edit FILE", "--feedback TEXT"]
    return [*(f"resume {words} {happened}".rstrip() for words in plans), "resume --reject"]


def _without_error(description: str, error: str | None) -> str:
    return description.removeprefix(f"Asked again: {error}\n\n") if error else description


def _fitted(screen: Screen, run: Run, description: str) -> str:
    """Draw the plan anew within the description: as wide as the screen, and with what is done already."""
    if run.plan is None:
        return description
    status = run.step_status if run.results else None
    return description.replace(plan_text(run.plan), plan_text(run.plan, status, width=screen.columns))
