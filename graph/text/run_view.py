"""Runs in a notebook: facts of a run beside its picture, and lists of runs as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from planner_executor.graph.plain_text.sanitize import escaped, margined
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_status import RunStatus
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.request import asked_again
from planner_executor.graph.text.drawing.svg import plan_svg
from planner_executor.graph.text.drawing.text import plan_text
from planner_executor.graph.text.html import badge, facts, scrolled, words
from planner_executor.graph.text.review.drawing import fitted, settled
from planner_executor.graph.text.review.frame import is_plan, to_blocks
from planner_executor.graph.text.review.frame import to_text as review_text
from planner_executor.graph.text.review.html import COLUMNS, review_html
from planner_executor.graph.text.table import Bundle, table_bundle
from planner_executor.graph.words.times import local_time

MOST_ERRORS = 20
"""How many errors of steps stand beside the picture."""


@dataclass(frozen=True)
class RunView:
    """The facts of a run to show: `statuses` and `results` by step id; without a plan there is no picture.

    `asked` are the descriptions of the open review request, `error` says why it is asked again, `compared` is what was
    expected against what it took, and `ahead` says which calls standing approvals let through.
    """

    name: str
    goal: str
    constraints: Sequence[str]
    status: RunStatus
    reason: str | None
    answer: JsonValue
    plan: Plan | None
    statuses: Mapping[str, str]
    results: Mapping[str, StepResult]
    asked: Sequence[str] = ()
    error: str | None = None
    compared: str = ""
    ahead: Sequence[str] = ()

    def bundle(self) -> Bundle:
        """Return the run as HTML, as a picture if it has a plan, and as text."""
        told, asked = facts(self._facts()), "".join(map(review_html, self._asked))
        if self.plan is None:
            return {"text/html": told + asked, "text/plain": self._text()}
        svg = plan_svg(self.plan, self._drawn(self.plan))
        return {"text/html": told + scrolled(svg) + asked, "image/svg+xml": svg, "text/plain": self._text()}

    def _drawn(self, plan: Plan) -> Mapping[str, str]:
        """Return the statuses in the picture; beside a review of the plan, what it would do is pending."""
        if not self._shows_plan:
            return self.statuses
        # Results may be those of steps as they were before the revision; only what is settled holds in the one shown.
        return {**{step.id: "pending" for step in plan.steps}, **settled(plan, self.results)}

    @property
    def _asked(self) -> list[str]:
        """What the open review request says, at last why it is asked again."""
        return [*self.asked, *([asked_again(self.error)] if self.error else [])]

    @property
    def _shows_plan(self) -> bool:
        """Whether the open review request draws the plan."""
        return any(is_plan(block) for words in self.asked for block in to_blocks(words))

    def _facts(self) -> list[tuple[str, str]]:
        reason = f" {words(self.reason)}" if self.reason else ""
        rows = [("run", words(self.name)), ("goal", words(self.goal))]
        rows += [("respect", words(constraint)) for constraint in self.constraints]
        rows += [("status", badge(self.status) + reason)]
        rows += [("spent", words(self.compared))] if self.compared else []
        rows += [("ahead", words(line)) for line in self.ahead]
        rows += [("answer", words(_in_words(self.answer)))] if self.answer is not None else []
        return rows + [(f"{step} {word}", words(error)) for step, word, error in self._errors()]

    def _text(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        lines = [escaped(f"run {self.name}: {self.status}{reason}"), f"goal: {escaped(self.goal)}"]
        lines += [self.compared] if self.compared else []
        lines += map(escaped, self.ahead)
        lines += [f"error in {step}: {escaped(error)}" for step, _, error in self._errors()]
        lines += [f"answer: {margined(_in_words(self.answer))}"] if self.answer is not None else []
        # A request for a plan draws it already; twice would leave a reader to compare the two.
        if self.plan is not None and not self._shows_plan:
            lines += ["", plan_text(self.plan, self.statuses)]
        for description in self._asked:
            lines += ["", review_text(fitted(description, self.plan, self.results, COLUMNS, COLUMNS), COLUMNS)]
        return "\n".join(lines)

    def _errors(self) -> list[tuple[str, str, str]]:
        """Return id, status and error of the first steps that have one."""
        found = [(step, result.status, result.error) for step, result in self.results.items() if result.error]
        return [(step, word, error) for step, word, error in found[:MOST_ERRORS] if error]


def runs_bundle(runs: Sequence[RunSummary], following: str | None) -> Bundle:
    """Return a list of runs as a table; `following` is the value of `before` for the next page."""
    rows = [(run.id, run.status, run.done, local_time(run.updated_at), run.goal) for run in runs]
    more = f"there are more: list(before={following!r})" if following else ""
    return table_bundle(("run", "status", "steps", "changed", "goal"), rows, more)


def _in_words(answer: JsonValue) -> str:
    return answer if isinstance(answer, str) else to_text(answer)
