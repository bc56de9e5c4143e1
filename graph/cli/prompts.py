"""Asking a person in the terminal, one thing after the other, and giving all of the answers at once."""

import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph.cli.budget_options import limits_of
from graph.cli.command_line import command
from graph.cli.reply import Reply
from graph.cli.request_view import say_how_to_decide
from graph.cli.screen import Screen
from graph.errors import InputError
from graph.review.decision import FINAL, NO, YES
from graph.review.human_steps import GATE
from graph.review.response import ReviewResponse, build_response
from graph.runs import Run

OTHERWISE = "n: end the run, other words: plan again with them: "
PLAN_QUESTION = f"Run this plan? y: run it, e: how to edit it, {OTHERWISE}"
BUDGET_QUESTION = f"More? NAME=VALUE: raise it so far, f: finish with what there is, {OTHERWISE}"

Action = Mapping[str, Any]


class Later(Exception):
    """The person leaves the question open."""


@dataclass(frozen=True)
class Prompter:
    """Questions about one database's runs."""

    screen: Screen
    database: Path

    def answer(self, run: Run) -> Reply | None:
        """Return the person's answer, or None where they leave the question open."""
        assert run.request is not None
        _forget_what_was_typed_before()
        said = ReviewResponse()
        try:
            for action in run.request["action_requests"]:
                said = self._heard(said, action, run)
        except Later:
            say_how_to_decide(self.screen, run, self.database)
            return None
        return Reply(build_response(run.request, said))

    def _heard(self, said: ReviewResponse, action: Action, run: Run) -> ReviewResponse:
        """Return what is said after one more thing was asked; nothing is, where the run ends or is planned anew."""
        asks: Mapping[str, Callable[[ReviewResponse, Action, Run], ReviewResponse]] = {
            "run_plan": self._plan,
            "run_step": self._step,
            "answer_question": self._question,
            "settle_effect": self._settlement,
            "raise_budget": self._budget,
        }
        needless = said.stop or ((said.feedback or said.finish) and action["name"] != "settle_effect")
        return said if needless else asks[action["name"]](said, action, run)

    def _plan(self, said: ReviewResponse, _: Action, run: Run) -> ReviewResponse:
        while True:
            words = self._ask(PLAN_QUESTION)
            if words.lower() in ("e", "edit"):
                self._say_how_to_edit(run)
            elif words:
                return _verdict(said, words)

    def _step(self, said: ReviewResponse, action: Action, _: Run) -> ReviewResponse:
        step, tool = action["args"]["step"], action["args"]["tool"]
        what = f"Go on behind {step}? y: go on" if tool == GATE else f"Let {step} call {tool} like this? y: call it"
        while not (words := self._ask(f"{what}, {OTHERWISE}")):
            pass
        return _verdict(said, words)

    def _question(self, said: ReviewResponse, action: Action, _: Run) -> ReviewResponse:
        while not (words := self._ask(f"Your answer to {action['args']['step']}, Ctrl-D: later: ")):
            pass
        return replace(said, answers={**said.answers, action["args"]["step"]: words})

    def _settlement(self, said: ReviewResponse, action: Action, _: Run) -> ReviewResponse:
        call = action["args"]
        while True:
            question = f"Did {call['step']}'s call of {call['tool']} happen? yes, no, later, or stop to end the run: "
            words = self._ask(question).lower()
            if words in ("yes", "true"):
                result = self._ask("What did it return? JSON or text, empty for nothing: ") or None
                return replace(said, happened=(*said.happened, True), results=(*said.results, result))
            if words in ("no", "false"):
                return replace(said, happened=(*said.happened, False))
            if words == "later":
                raise Later
            if words == "stop":
                return replace(said, stop=True)

    def _budget(self, said: ReviewResponse, _: Action, __: Run) -> ReviewResponse:
        while True:
            words = self._ask(BUDGET_QUESTION)
            if words.lower() in ("f", "finish"):
                return replace(said, finish=True)
            if "=" not in words:
                if words and words.lower() not in YES:
                    return _verdict(said, words)
                continue
            try:
                return replace(said, limits=limits_of("raise", words.replace(",", " ").split()))
            except InputError as error:
                self.screen.say(str(error))

    def _ask(self, question: str) -> str:
        return _line(self.screen, question)

    def _say_how_to_edit(self, run: Run) -> None:
        self.screen.say("Leave with Ctrl-D, then:")
        self.screen.say(f"  {command('draw', run.id, self.database)} -o plan.json")
        self.screen.say(f"  {command('resume --edit plan.json', run.id, self.database)}")


def asked_of_person(screen: Screen, question: str) -> str:
    """Return what a person types now; keys that were pressed before the question do not count.

    Raises:
        Later: There is nothing more to read.
    """
    _forget_what_was_typed_before()
    return _line(screen, question)


def _line(screen: Screen, question: str) -> str:
    screen.ask(question)
    line = sys.stdin.readline()
    if not line:
        screen.say()
        raise Later
    return line.strip()


def _verdict(said: ReviewResponse, words: str) -> ReviewResponse:
    """Return what is said after an approval, an end, or words to plan again with."""
    if words.lower() in YES:
        return replace(said, approve=True)
    ends = words.lower() in (*NO, *FINAL)
    return replace(said, stop=True) if ends else replace(said, feedback=words)


def _forget_what_was_typed_before() -> None:
    """Keys pressed while the plan was made are no decision about it."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
