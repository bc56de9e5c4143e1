"""Display of a review request and of the commands that respond to it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.screen import DIGEST_CHARACTERS, Screen
from planner_executor.graph.record.budget import Usage, read_budget
from planner_executor.graph.review.request import asked_again
from planner_executor.graph.review.request_json import RequestJson, digest_of_all
from planner_executor.graph.review.response import asked, call_names, can_approve, new_calls, reason_for, settled_steps
from planner_executor.graph.runs.run import Run
from planner_executor.graph.text.review.drawing import fitted
from planner_executor.graph.text.review.frame import plain_description, to_text
from planner_executor.graph.text.review.screen import screen_descriptions

READING_COLUMNS = 100
"""How wide text is at most: longer lines are hard to read."""


def show_request(screen: Screen, run: Run) -> None:
    """Print every action of the request, drawings fitted to the screen, and at last why it is asked again."""
    for description in screen_descriptions(run.open_request):
        screen.say()
        screen.show_text(_fit_to_screen(screen, run, description))
    screen.say()
    if error := run.open_request["error"]:
        screen.show_text(plain_description(asked_again(error), _width(screen)), style="red")
        screen.say()


def show_decision_commands(screen: Screen, run: Run, database: str | Path) -> None:
    """Print the commands that respond to the open request."""
    screen.say(f"{run.id} waits for your decision; continue with one of:")
    for words in _responses(run.open_request):
        screen.say(whole=f"  {command(f'resume {words}', run.id, database, run.setup)}")
    if asked(run.open_request, "run_plan"):
        screen.say("to edit the plan, write it to a file:", whole=f"{command('draw', run.id, database)} -o plan.json")


def _responses(request: RequestJson) -> list[str]:
    """Return complete sets of options, one per possible response."""
    kinds = {action["name"] for action in request["action_requests"]}
    why = ["--reason TEXT"] if reason_for(request) else []
    shown = f"--digest {digest_of_all(request)[:DIGEST_CHARACTERS]}"
    happened = ["--happened true|false"] * len(asked(request, "settle_effect"))
    rest = [f"--answer {action['args']['step']}=TEXT" for action in asked(request, "answer_question")] + happened
    rest += [f"--raise {name}=NUMBER" for action in asked(request, "raise_budget") for name in _spent_limits(action)]
    new = new_calls(request["action_requests"])
    approve = ["--approve", *(f"--approve-call {name}" for name in new)] if kinds & {"run_plan", "run_step"} else []
    # No approval is offered of a plan that cannot run as it is.
    ways = [[*approve, *why, *rest, shown]] if not approve or can_approve(request) else []
    if settled := settled_steps(request):
        ways.append([*approve, *(f"--ask-later {step}" for step in settled), *why, *rest, shown])
    if "run_plan" in kinds and "run_step" not in kinds:
        ways.append(["--edit FILE", *why, *rest])
    for call in filter(None, call_names(request["action_requests"])):
        # With anything else to decide, the rest has to be approved beside this call.
        others = ["--approve"] if sum(map(bool, call_names(request["action_requests"]))) > 1 or rest or new else []
        others += [f"--approve-call {name}" for name in new if name != call]
        ways.append([*others, f"--args {call}=JSON", *why, *rest])
        ways.append([*others, f"--reject-call {call}=WHY", *rest])
    if kinds - {"settle_effect", "run_step"}:
        ways.append(["--feedback TEXT", *happened])
    if "run_plan" in kinds:
        ways.append(["--comment STEP=TEXT", *happened])
    if "raise_budget" in kinds:
        ways.append(["--finish", *happened])
    return [" ".join(way) for way in [*ways, ["--reject"]]]


def _spent_limits(action: Mapping[str, Any]) -> list[str]:
    """Return the limits that are spent, or all if the next call would exceed one that is not."""
    budget, spent = read_budget(action["args"]["budget"])[0], action["args"]["spent"]
    usage = Usage(**spent)
    reached = [name for name in budget.names if usage.of(name) >= (budget.of(name) or 0)]
    return reached or list(budget.names)


def _fit_to_screen(screen: Screen, run: Run, description: str) -> str:
    """Return a description as plain text: its lines fit the screen, and its plan is drawn as wide as that."""
    width = min(screen.columns, READING_COLUMNS)
    return to_text(fitted(description, run.plan, run.results, width, screen.columns), _width(screen))


def _width(screen: Screen) -> int | None:
    """Return how wide prose is; without a terminal it is not broken, so that programs find its sentences."""
    return min(screen.columns, READING_COLUMNS) if screen.out.is_terminal else None
