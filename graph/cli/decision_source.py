"""Source of review decisions: command-line options, `--yes`, or a person at the terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner_executor.graph.cli.prompts import Prompter
from planner_executor.graph.cli.reply import Reply
from planner_executor.graph.cli.request_view import show_decision_commands, show_request
from planner_executor.graph.cli.screen import DIGEST_CHARACTERS, Screen
from planner_executor.graph.errors import InputError
from planner_executor.graph.record.events import ReviewRequested
from planner_executor.graph.record.person import Person
from planner_executor.graph.review.request import ANEW, UNCHANGED
from planner_executor.graph.review.request_json import digest_of_all
from planner_executor.graph.review.response import ReviewResponse, build_response
from planner_executor.graph.runs.run import Run

VOTED = "your approval is on record; {run} waits for the others whose approval it takes"
"""What is said if the same request is open after it was answered: the answer was one of several that it takes."""


@dataclass
class DecisionSource:
    """Decides the review requests of one run in turn.

    `response` is used for the first request, and only if the request's digest starts with `digest` (if given).

    `by` is the person who gives the command.

    Calling it with a run returns the reply, or None to leave the request open.
    """

    screen: Screen
    database: str | Path
    yes: bool = False
    response: ReviewResponse = field(default_factory=ReviewResponse)
    digest: str | None = None
    by: Person | None = None
    _response_sent: bool = False
    _approved_digest: str | None = None
    _answered: str | None = None
    _was_unseen: bool = False
    _prompter: Prompter | None = None

    @property
    def has_response(self) -> bool:
        """Whether the options hold a response that has not been used yet."""
        return bool(self.response)

    def proposal(self) -> Any:
        """Return the plan that the options give and nothing else, None if there is none; it is used once."""
        plan = self.response.plan
        if plan is None or self.response != ReviewResponse(plan=plan) or self.digest:
            return None
        self.response = ReviewResponse()
        return plan

    def __call__(self, run: Run) -> Reply | None:
        """Show the request and return the reply.

        Raises:
            InputError: The options do not fit the request, or the review refused them.
        """
        error = str(run.open_request["error"] or "")
        refused = error and not error.startswith(UNCHANGED)
        if self._response_sent and error.endswith(ANEW):  # not the one printed before
            show_request(self.screen, run)
            show_decision_commands(self.screen, run, self.database)
            raise InputError("decision", f"{error.removesuffix(ANEW)}; {run.id} waits with the request above")
        if self._response_sent and refused:
            raise InputError("decision", f"{error}; {run.id} is still waiting")
        # The options answer one request; the next one is another question.
        self._response_sent = False
        if run.refused is not None and not self._was_unseen:  # the same person would be refused again
            self.screen.complain(f"{run.refused}; {run.id} is still waiting")
            return None
        if digest_of_all(run.open_request) == self._answered and not error:
            self.screen.say(VOTED.format(run=run.id))
            return None
        reply = self._reply_from_options(run) if self.has_response else None  # wrong ones are refused in one sentence
        show_request(self.screen, run)
        reply = reply or self._decider(run)(run)
        self._answered = digest_of_all(run.open_request) if reply is not None else None
        self._was_unseen = reply is not None and reply.unseen
        return reply

    def _decider(self, run: Run) -> Callable[[Run], Reply | None]:
        names = [action["name"] for action in run.open_request["action_requests"]]
        if self._approves_by_yes(names, run.open_request["issues"], run.open_request["digest"]):
            return self._approve_unseen
        if self.screen.interactive:
            self._prompter = self._prompter or Prompter(self.screen, self.database)
            return self._prompter.reply
        return self._leave_open

    def _reply_from_options(self, run: Run) -> Reply:
        if self.digest and not (current := digest_of_all(run.open_request)).startswith(self.digest):
            raise InputError("--digest", f"the open request has another digest, {current}; review it first")
        reply = Reply(build_response(run.open_request, self.response))
        self.response, self._response_sent = ReviewResponse(), True
        return reply

    def answers(self, event: ReviewRequested) -> bool:
        """Whether `--yes` answers this request, so that people need not hear of it."""
        return self._approves_by_yes(event.asked, event.issues, event.digest)

    def _approves_by_yes(self, asked: Sequence[str], issues: Sequence[object], digest: str | None) -> bool:
        """Whether `--yes` applies: only to a valid plan, once per digest, if nothing else needs a decision."""
        # A plan without progress keeps its digest: approving it again would loop.
        return self.yes and set(asked) == {"run_plan"} and not issues and self._approved_digest != digest

    def _approve_unseen(self, run: Run) -> Reply:
        self._approved_digest = run.open_request["digest"]
        digest = digest_of_all(run.open_request)[:DIGEST_CHARACTERS]
        self.screen.say(f"approved by --yes: revision {run.open_request['revision']}, digest {digest}")
        return Reply(build_response(run.open_request, ReviewResponse(approve=True)), unseen=True)

    def _leave_open(self, run: Run) -> None:
        show_decision_commands(self.screen, run, self.database)
