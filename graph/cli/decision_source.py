"""Who decides: the options of the command, `--yes`, a person in the terminal, or nobody for now."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from graph.cli.prompts import Prompter
from graph.cli.reply import Reply
from graph.cli.request_view import say_how_to_decide, show_request
from graph.cli.screen import DIGEST_CHARACTERS, Screen
from graph.errors import InputError
from graph.review.request import digest_of_all
from graph.review.response import ReviewResponse, asked, build_response
from graph.runs import Run


@dataclass
class DecisionSource:
    """Decides the requests of one run in turn; `said` is for the first one.

    With `digest`, it is only given if that is what is asked about; its first characters suffice.

    Called with a run, it returns the answer, or None where the run is to wait.
    """

    screen: Screen
    database: Path
    yes: bool = False
    said: ReviewResponse = field(default_factory=ReviewResponse)
    digest: str | None = None
    _given: bool = False
    _approved: str | None = None

    @property
    def has_answer(self) -> bool:
        """Whether the options hold an answer that is not given yet."""
        return bool(self.said)

    def __call__(self, run: Run) -> Reply | None:
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

    def _decider(self, run: Run) -> Callable[[Run], Reply | None]:
        if self.has_answer:
            return self._by_options
        if self.yes and self._yes_covers(run):
            return self._by_yes
        if self.screen.interactive:
            return Prompter(self.screen, self.database).answer
        return self._later

    def _by_options(self, run: Run) -> Reply:
        assert run.request is not None
        if self.digest and not (waits := digest_of_all(run.request)).startswith(self.digest):
            raise InputError("--digest", f"something else is asked now, digest {waits}; look at it first")
        answer = Reply(build_response(run.request, self.said))
        self.said, self._given = ReviewResponse(), True
        return answer

    def _yes_covers(self, run: Run) -> bool:
        """`--yes` approves a plan that can run, once, where nothing else is asked."""
        assert run.request is not None
        only_plans = asked(run.request, "run_plan") == run.request["action_requests"]
        return only_plans and not run.request["issues"] and self._approved != run.request["digest"]

    def _by_yes(self, run: Run) -> Reply:
        assert run.request is not None
        self._approved = run.request["digest"]
        digest = run.request["digest"][:DIGEST_CHARACTERS]
        self.screen.say(f"approved by --yes: revision {run.request['revision']}, digest {digest}")
        return Reply(build_response(run.request, ReviewResponse(approve=True)), unseen=True)

    def _later(self, run: Run) -> None:
        say_how_to_decide(self.screen, run, self.database)
