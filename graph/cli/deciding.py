"""Who decides: the options of the command, `--yes`, a person in the terminal, or nobody for now."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph.cli.answers import PlanChoice, Settlement, answer_to
from graph.cli.asking import Asking
from graph.cli.requests import DIGEST_CHARACTERS, asked, say_how_to_decide, show_request
from graph.cli.screen import Screen
from graph.errors import InputError
from graph.runs import Run

Answer = dict[str, Any]


@dataclass
class Deciding:
    """Decides the requests of one run in turn; `choice` and `settlements` are for the first one.

    With `digest`, they are only given if it is what is asked about; its first characters suffice.

    Called with a run, it returns the answer, or None where the run is to wait.
    """

    screen: Screen
    database: Path
    yes: bool = False
    choice: PlanChoice | None = None
    settlements: list[Settlement] = field(default_factory=list)
    digest: str | None = None
    _given: bool = False
    _approved: str | None = None

    @property
    def has_answer(self) -> bool:
        """Whether the options hold an answer that is not given yet."""
        return self.choice is not None or bool(self.settlements)

    def __call__(self, run: Run) -> Answer | None:
        """Show what is asked and return the answer.

        Raises:
            InputError: What the options say does not answer what is asked, or was refused.
        """
        assert run.request is not None
        if self._given and run.request["error"]:
            raise InputError("decision", f"{run.request['error']}; {run.id} still waits")
        self._given = False
        show_request(self.screen, run)
        decide = self._decider(run)
        return decide(run)

    def _decider(self, run: Run) -> Callable[[Run], Answer | None]:
        if self.has_answer:
            return self._by_options
        if self.yes and self._yes_covers(run):
            return self._by_yes
        if self.screen.interactive:
            return Asking(self.screen, self.database).answer
        return self._later

    def _by_options(self, run: Run) -> Answer:
        assert run.request is not None
        if self.digest and not run.request["digest"].startswith(self.digest):
            raise InputError("--digest", f"another plan waits now, digest {run.request['digest']}; look at it first")
        answer = answer_to(run.request, self.choice, self.settlements)
        self.choice, self.settlements, self._given = None, [], True
        return answer

    def _yes_covers(self, run: Run) -> bool:
        """`--yes` approves a plan that can run, once; it never settles an uncertain call."""
        assert run.request is not None
        approvable = not run.request["issues"] and not asked(run.request, "settle_effect")
        return approvable and self._approved != run.request["digest"]

    def _by_yes(self, run: Run) -> Answer:
        assert run.request is not None
        self._approved = run.request["digest"]
        digest = run.request["digest"][:DIGEST_CHARACTERS]
        self.screen.say(f"approved by --yes: revision {run.request['revision']}, digest {digest}")
        return answer_to(run.request, PlanChoice("approve"))

    def _later(self, run: Run) -> None:
        say_how_to_decide(self.screen, run, self.database)
