"""Interactive prompts for a review request; all answers are sent together at the end."""

import contextlib
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner_executor.graph.cli.budget_options import parse_limits
from planner_executor.graph.cli.command_line import command
from planner_executor.graph.cli.decision_options import parse_objects
from planner_executor.graph.cli.plan_draft import NotEdited, PlanDraft
from planner_executor.graph.cli.reply import Reply
from planner_executor.graph.cli.request_view import READING_COLUMNS, show_decision_commands
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.review.comments import step_ids
from planner_executor.graph.review.decision import FINAL, NO, YES
from planner_executor.graph.review.near_words import is_unclear
from planner_executor.graph.review.request_json import GATE, RequestJson
from planner_executor.graph.review.response import (
    ReviewResponse,
    build_response,
    call_names,
    can_approve,
    describe_action,
    reason_for,
    settled_steps,
)
from planner_executor.graph.runs.run import Run
from planner_executor.graph.words.name_list import counted, listed, right_name

OTHERWISE = "n: end the run, anything else: replan with this feedback: "
COMMENT = re.compile(r"c(?:omment)?\s+(?P<step>[A-Za-z][A-Za-z0-9_]*)(?:\s*:)?\s+(?P<text>.+)", re.IGNORECASE)
CALL_ANSWERS = "y: call, n: end the run, {...}: call with these arguments, anything else: no, for this reason: "
LATER = re.compile(r"l\s+(?P<steps>.+)", re.IGNORECASE)
LATER_OFFER = "l STEP: run, but ask about the calls of this step when due, "
PLAN_QUESTION = f"Run this plan? y: run, {{later}}e: edit, c STEP TEXT: comment, {OTHERWISE}"
FAULTY_QUESTION = f"This plan cannot run as it is. e: edit, c STEP TEXT: comment, {OTHERWISE}"
COMMENTED = (
    "c STEP TEXT: another comment, s: send {count} for a new plan, d: drop, anything else: send with these words: "
)
EDIT_QUESTION = "Run the plan as you edited it? y: run, e: edit it again, anything else: leave it for now: "
BUDGET_QUESTION = f"More budget? NAME=VALUE: raise to, f: finish with the results so far, {OTHERWISE}"

ENDING, AGAIN = ":end", ":again"
"""Words that reject a question: any other text is its answer."""
ANSWER_QUESTION = f"Your answer to {{step}} ({ENDING}: end the run, {AGAIN} WORDS: replan, Ctrl-D: later): "

Action = Mapping[str, Any]


class Postponed(Exception):
    """The person left the question open."""


@dataclass
class Prompter:
    """Prompts for the review requests of one run in turn; `draft` is the plan as the person last edited it."""

    screen: Screen
    database: str | Path
    draft: PlanDraft | None = None

    def reply(self, run: Run) -> Reply | None:
        """Return the person's reply, or None if they left a question open."""
        _discard_typed_ahead()
        response = ReviewResponse()
        try:
            for action in run.open_request["action_requests"]:
                response = self._prompt_for(response, action, run)
            response = self._with_reason(response, run.open_request)
        except Postponed:
            show_decision_commands(self.screen, run, self.database)
            return None
        return Reply(build_response(run.open_request, response))

    def _with_reason(self, response: ReviewResponse, request: RequestJson) -> ReviewResponse:
        """Return an approval with the reason that the policy requires."""
        tools = reason_for(request)
        if not tools or not (response.approve or response.approved or response.args or response.plan is not None):
            return response
        while not (reason := self._ask(f"Why? The policy requires a reason for {listed(tools)}: ")):
            pass
        return replace(response, reason=reason)

    def _prompt_for(self, response: ReviewResponse, action: Action, run: Run) -> ReviewResponse:
        """Return the response with one more action decided.

        Once the response stops or replans the run, no further action needs a prompt, except uncertain calls, which
        have to be settled either way (decision 0025).
        """
        prompts: Mapping[str, Callable[[ReviewResponse, Action, Run], ReviewResponse]] = {
            "run_plan": self._plan,
            "run_step": self._step,
            "answer_question": self._question,
            "settle_effect": self._settlement,
            "raise_budget": self._budget,
        }
        is_settled = response.stop or (
            (response.feedback or response.comments or response.finish) and action["name"] != "settle_effect"
        )
        return response if is_settled else prompts[action["name"]](response, action, run)

    def _plan(self, response: ReviewResponse, action: Action, run: Run) -> ReviewResponse:
        can_run, settled = can_approve(run.open_request), settled_steps(run.open_request)
        question = PLAN_QUESTION.format(later=LATER_OFFER if settled else "") if can_run else FAULTY_QUESTION
        while True:
            words = self._ask(question)
            if words.lower() in YES and not can_run:
                self.screen.say("the plan has the faults above; edit it, or say what to change")
            elif words.lower() in ("e", "edit"):
                if (plan := self._edited(action, run)) is not None:
                    return replace(response, plan=plan)
            elif settled and (later := LATER.fullmatch(words)):
                if unknown := [step for step in later["steps"].split() if step not in settled]:
                    self.screen.say(f"approving settles no call of {unknown[0]}; it does of {listed(settled)}")
                else:
                    return replace(response, approve=True, ask_later=tuple(later["steps"].split()))
            # Before the verdict: any words that are none of these are feedback, which ends the question.
            elif comment := COMMENT.fullmatch(words):
                if said := self._comments(comment, action):
                    return replace(response, **said)
            elif decided := self._verdict(response, words):
                return decided

    def _comments(self, first: re.Match[str], action: Action) -> dict[str, Any] | None:
        """Return the comments that a person collects, with words beside them; None if there are none to send."""
        steps, comments, found = step_ids(action["args"]["plan"]), [], first
        while True:
            if found["step"] in steps:
                comments.append((found["step"], found["text"]))
            else:
                self.screen.say(f"the plan has no step {found['step']}; {right_name(found['step'], steps)}")
            if not comments:
                return None
            words = self._ask(COMMENTED.format(count=counted(len(comments), "comment")))
            if (again := COMMENT.fullmatch(words)) is not None:
                found = again
            elif words.lower() in ("d", "drop"):
                return None
            elif words:
                return {"comments": tuple(comments), "feedback": None if words.lower() in ("s", "send") else words}

    def _edited(self, action: Action, run: Run) -> Any:
        """Return the plan as the person edited it and wants it run, None if they want neither."""
        if self.draft is None or not self.draft.is_about(run):
            self.draft = PlanDraft(run, action["args"]["plan"])
        if run.open_request["issues"]:
            self.draft.refused([Issue.from_json(issue) for issue in run.open_request["issues"]])
        while True:
            try:
                plan = self.draft.edit()
            except (NotEdited, InputError) as why:
                self.screen.say(str(why))
                # No editor works here, so the person needs another way to edit.
                if isinstance(why, InputError):
                    self._show_edit_commands(run)
                return None
            if changes := self.draft.changes(plan, min(self.screen.columns, READING_COLUMNS)):
                self.screen.show_text(f"\n{changes}\n")
            answer = read_answer(self.screen, EDIT_QUESTION).lower()
            if answer not in ("e", "edit"):
                return plan if answer in YES else None

    def _step(self, response: ReviewResponse, action: Action, run: Run) -> ReviewResponse:
        step, tool = action["args"]["step"], action["args"]["tool"]
        if tool != GATE:
            return self._call(response, action, run)
        while not (decided := self._verdict(response, self._ask(f"Continue after {step}? y: continue, {OTHERWISE}"))):
            pass
        return decided

    def _call(self, response: ReviewResponse, action: Action, run: Run) -> ReviewResponse:
        """Return the response with a decision about one call; a reason why not is about this call alone."""
        actions, step = run.open_request["action_requests"], action["args"]["step"]
        # By identity: two calls of one request may be equal as data.
        name = call_names(actions)[next(at for at, one in enumerate(actions) if one is action)] or step
        question = f"Let {name} call {action['args']['tool']} with these arguments? {CALL_ANSWERS}"
        while True:
            words = self._ask(question)
            if words.startswith("{"):
                try:
                    return replace(
                        response, args={**response.args, name: parse_objects([f"{name}={words}"], "--args")[name]}
                    )
                except InputError as error:
                    self.screen.say(str(error))
            elif words.lower() in YES:
                return replace(response, approved=(*response.approved, name))
            # A no here ends the run; words say why this call is not made, and the run goes on.
            elif (decided := self._verdict(response, words)) and decided.feedback is None:
                return decided
            elif decided:
                return replace(response, rejected={**response.rejected, name: words})

    def _verdict(self, response: ReviewResponse, words: str) -> ReviewResponse | None:
        """Return the response with an approval, a stop, or feedback; None if the words are none of them."""
        if words and is_unclear(words):
            self.screen.say(f"{words!r} is neither y nor n, and too little for feedback; say what to change")
        if not words or is_unclear(words):
            return None
        if words.lower() in YES:
            return replace(response, approve=True)
        ends = words.lower() in (*NO, *FINAL)
        return replace(response, stop=True) if ends else replace(response, feedback=words)

    def _question(self, response: ReviewResponse, action: Action, _: Run) -> ReviewResponse:
        while not (words := self._ask(ANSWER_QUESTION.format(step=action["args"]["step"]))):
            pass
        if words == ENDING:
            return replace(response, stop=True)
        if words.startswith(f"{AGAIN} "):
            return replace(response, feedback=words.removeprefix(AGAIN).strip())
        return replace(response, answers={**response.answers, action["args"]["step"]: words})

    def _settlement(self, response: ReviewResponse, action: Action, _: Run) -> ReviewResponse:
        question = f"Say {describe_action(action)}: yes, no, later, or stop to end the run: "
        while True:
            words = self._ask(question).lower()
            if words in ("yes", "true"):
                result = self._ask("Its result, as JSON or text (empty: none): ") or None
                return replace(response, happened=(*response.happened, True), results=(*response.results, result))
            if words in ("no", "false"):
                return replace(response, happened=(*response.happened, False))
            if words == "later":
                raise Postponed
            if words == "stop":
                return replace(response, stop=True)
            self.screen.say(f"{words!r} is none of yes, no, later and stop")

    def _budget(self, response: ReviewResponse, _: Action, __: Run) -> ReviewResponse:
        while True:
            words = self._ask(BUDGET_QUESTION)
            if words.lower() in ("f", "finish"):
                return replace(response, finish=True)
            if "=" not in words:
                if words.lower() in YES:
                    self.screen.say("a budget is raised to a number, such as tool_calls=40")
                elif decided := self._verdict(response, words):
                    return decided
                continue
            try:
                return replace(response, limits=parse_limits("raise", words.replace(",", " ").split()))
            except InputError as error:
                self.screen.say(str(error))

    def _ask(self, question: str) -> str:
        return _line(self.screen, question)

    def _show_edit_commands(self, run: Run) -> None:
        self.screen.say("Leave the question open with Ctrl-D, then:")
        self.screen.say(whole=f"  {command('draw', run.id, self.database)} -o plan.json")
        self.screen.say(whole=f"  {command('resume --edit plan.json', run.id, self.database, run.setup)}")


def read_answer(screen: Screen, question: str) -> str:
    """Prompt and return one line; keys pressed before the prompt are discarded.

    Raises:
        Postponed: Standard input is at its end.
    """
    _discard_typed_ahead()
    return _line(screen, question)


def is_confirmed(screen: Screen, question: str) -> bool:
    """Whether the person says yes; anything else, and the end of the input, is a no."""
    try:
        return read_answer(screen, f"{question} [y/N] ").lower() in ("y", "yes")
    except Postponed:
        return False


def _line(screen: Screen, question: str) -> str:
    screen.ask(question)
    line = sys.stdin.readline()
    if not line:
        screen.say()
        raise Postponed
    return line.strip()


def _discard_typed_ahead() -> None:
    """Drop keys pressed before the prompt: they were not typed in view of the request."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
