"""The page of a trial: what each goal came to, the sums, and what went wrong."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.models.cached import Prompted
from benchmarks.models.outcome import Outcome
from planner_executor.graph.plain_text.markdown import code
from planner_executor.graph.plain_text.sanitize import one_line

REASON_CHARACTERS = 300
HEAD = """\
| Goal | Plan valid | Calls as expected | Result right | Tokens | Prompt from the cache |
|---|---|---|---|--:|--:|"""


def trial_page(
    about: Mapping[str, Any], day: str, outcomes: Sequence[Outcome], prompted: Mapping[str, Prompted], void: int
) -> str:
    """Return the page in Markdown.

    Args:
        about: The description of the evaluation.
        day: The day of the trial.
        outcomes: A trial of each goal that counts.
        prompted: What the provider said of the prompts, by the folder of a trial.
        void: How many trials do not count.
    """
    models = {role: code(model["model"]) for role, model in about["models"].items()}
    parts = [
        f"# Trial of {models['planner']}",
        f"`python -m benchmarks.models`, {day}, planner-executor {about['versions']['planner-executor']}. "
        f"{'; '.join(f'{role}: {model}' for role, model in models.items())}.",
        "\n".join(_sums(outcomes, prompted, void, len(about["cases"]))),
        "\n".join([HEAD, *(_row(outcome, prompted.get(outcome.trial.folder)) for outcome in outcomes)]),
    ]
    if wrong := [line for outcome in outcomes for line in _wrong(outcome)]:
        parts += ["## What went wrong", "\n".join(wrong)]
    return "\n\n".join(parts) + "\n"


def _sums(outcomes: Sequence[Outcome], prompted: Mapping[str, Prompted], void: int, goals: int) -> Iterator[str]:
    made = len(outcomes)
    at_once = sum(outcome.at_once for outcome in outcomes)
    repaired = sum(outcome.valid for outcome in outcomes) - at_once
    tokens = sum(outcome.trial.spent.tokens for outcome in outcomes)
    known = (prompted[outcome.trial.folder] for outcome in outcomes if outcome.trial.folder in prompted)
    cached = sum(known, Prompted()).share
    yield f"- Plans and revisions valid: {at_once} of {made} goals at once, {repaired} more after repair"
    yield f"- Calls as expected: {sum(outcome.calls_made for outcome in outcomes)} of {made}"
    yield f"- Result right: {sum(outcome.right for outcome in outcomes)} of {made}"
    yield f"- Tokens: {tokens:,}; share of the prompts that came from the provider's cache: {cached}"
    if made < goals:
        yield f"- Not tried: {goals - made} of {goals} goals; {void} of them had no model, or no budget left"


def _row(outcome: Outcome, prompted: Prompted | None) -> str:
    spent = outcome.trial.spent
    plan = "no" if not outcome.valid else "at once" if outcome.at_once else f"after repair ({outcome.repairs})"
    cells = (
        outcome.trial.slot.case,
        plan,
        "yes" if outcome.calls_made else "no",
        "yes" if outcome.right else "no",
        f"{'about ' if spent.estimated else ''}{spent.tokens:,}",
        (prompted or Prompted()).share,
    )
    return f"| {' | '.join(cells)} |"


def _wrong(outcome: Outcome) -> Iterator[str]:
    """Yield why a goal was missed, in the words of the run and of the checks."""
    if outcome.right and outcome.calls_made:
        return
    unmet = [str(finding["seen"]) for finding in outcome.trial.findings if not finding["met"]]
    said = [one_line(words, REASON_CHARACTERS) for words in (outcome.why, *outcome.faults, *unmet)]
    yield f"- {outcome.trial.slot.case}, {outcome.trial.status}: {code('; '.join(said))}"
