"""Asking a person in the terminal."""

import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.cli.answers import PlanChoice, Settlement, answer_to
from graph.cli.requests import asked, command, say_how_to_decide
from graph.cli.screen import Screen
from graph.run.decision import FINAL, NO, YES
from graph.runs import Run

PLAN_QUESTION = "Run this plan? y: run it, n: end the run, e: how to edit it, other words: plan again with them: "


class Later(Exception):
    """The person leaves the question open."""


@dataclass(frozen=True)
class Asking:
    """Questions about one database's runs."""

    screen: Screen
    database: Path

    def answer(self, run: Run) -> dict[str, Any] | None:
        """Return the person's answer, or None where they leave the question open."""
        assert run.request is not None
        _forget_what_was_typed_before()
        try:
            choice = self._choice(run) if asked(run.request, "run_plan") else None
            if choice is not None and choice.ends:
                return answer_to(run.request, choice)
            settled = [self._settlement(call["args"]) for call in asked(run.request, "settle_effect")]
        except Later:
            say_how_to_decide(self.screen, run, self.database)
            return None
        if None in settled:
            return answer_to(run.request, PlanChoice("reject"))
        return answer_to(run.request, choice, [one for one in settled if one is not None])

    def _choice(self, run: Run) -> PlanChoice:
        while True:
            words = self._ask(PLAN_QUESTION)
            if words.lower() in YES:
                return PlanChoice("approve")
            if words.lower() in (*NO, *FINAL):
                return PlanChoice("reject")
            if words.lower() not in ("", "e", "edit"):
                return PlanChoice("feedback", words)
            if words:
                self._say_how_to_edit(run)

    def _settlement(self, call: Mapping[str, Any]) -> Settlement | None:
        """Return what the person says of a call, or None where they stop the run."""
        while True:
            question = f"Did {call['step']}'s call of {call['tool']} happen? yes, no, later, or stop to end the run: "
            words = self._ask(question).lower()
            if words in ("yes", "true"):
                return Settlement(True, self._ask("What did it return? JSON or text, empty for nothing: ") or None)
            if words in ("no", "false"):
                return Settlement(False)
            if words == "later":
                raise Later
            if words == "stop":
                return None

    def _ask(self, question: str) -> str:
        """Return what the person types.

        Raises:
            Later: There is nothing more to read.
        """
        self.screen.ask(question)
        line = sys.stdin.readline()
        if not line:
            self.screen.say()
            raise Later
        return line.strip()

    def _say_how_to_edit(self, run: Run) -> None:
        self.screen.say("Leave with Ctrl-D, then:")
        self.screen.say(f"  {command('draw', run.id, self.database)} -o plan.json")
        self.screen.say(f"  {command('resume --edit plan.json', run.id, self.database)}")


def _forget_what_was_typed_before() -> None:
    """Keys pressed while the plan was made are no decision about it."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
