"""Explanations of the rules in prose; without brackets, so that they are never parsed as JSON."""

from collections.abc import Mapping, Sequence

_NAME_A_MODEL = (
    "For anything else name a model, with --planner openai:gpt-5-mini on the command line "
    "or build_graph(planner=...) in Python."
)
_CAN = (
    "They can plan arithmetic, such as: What is 12 * 4 + 5? And a brief with sources over a folder of documents, "
    "such as: Research offshore wind and write a brief report. And the audit of a failing service from its logs and "
    "source, such as: Audit why the checkout service is failing and draft a fix."
)
_NO_BRACKETS = str.maketrans("{}[]", "()()")

NO_MODEL_STEP = (
    "the offline model is a set of rules and cannot do a step that needs a model; name an executor model, "
    "with --executor openai:gpt-5-mini or build_graph(executor=...)"
)
WISHES_FOR_BRIEFS = (
    "fewer searches; only 2 searches; add a search for something; no web; use the web; at most 5 statements; "
    "write it to notes.md; no report; with sources"
)
WISHES_FOR_AUDITS = "a log by its name, such as logs/worker.log; write it to notes.md; no draft"
WISHES_FOR_SUMS = "of arithmetic, which has one way to be done, whole numbers; answer with JSON"


def describe_rules(missing: Sequence[str] = ()) -> str:
    """Return a description of the rules; `missing` names tools that the goal would need."""
    intro = "This is the offline model: a built-in set of rules, no language model."
    if missing:
        tools = ", ".join(missing)
        return f"{intro} Its rules would plan this goal with tools that are not listed: {tools}. {_NAME_A_MODEL}"
    return f"{intro} No rule fits this goal. {_CAN} {_NAME_A_MODEL}"


def no_topic() -> str:
    """Return the message that the goal of a brief has no topic."""
    return (
        "The offline rules can write a brief over the documents, but find no topic in this goal. "
        f"Say what it is to be about, such as: Summarise what the documents say about offshore wind. {_NAME_A_MODEL}"
    )


def feedback_not_understood(feedback: str, understood: str) -> str:
    """Return the refusal of feedback that the rules do not know, with the feedback that they know."""
    return (
        f"The offline rules cannot use this feedback: {_plain(feedback)}. They understand: {understood}. "
        f"Or edit the plan itself. {_NAME_A_MODEL}"
    )


def constraint_not_kept(constraint: str, understood: str) -> str:
    """Return the refusal of a constraint that the rules cannot satisfy, with those that they can."""
    return (
        f"The offline rules cannot keep to this constraint: {_plain(constraint)}. They understand: {understood}. "
        f"Leave it out, or bring a plan. {_NAME_A_MODEL}"
    )


def explain_no_repair(errors: Mapping[str, str], why: str) -> str:
    """Return the failures, and why there is no repair; `errors` is step id -> error, and may hold the reason."""
    if why in errors.values():
        return f"The offline rules have no other way to go on: {_plain(why)}"
    steps: dict[str, list[str]] = {}
    for step, error in errors.items():
        steps.setdefault(_plain(error), []).append(step)
    failed = "; ".join(f"{', '.join(same)}: {error}" for error, same in list(steps.items())[:3])
    also = f". What failed: {failed}" if failed else ""
    return f"The offline rules have no other way to go on: {_plain(why)}{also}"


def _plain(text: str, most: int = 240) -> str:
    line = " ".join(text.split()).translate(_NO_BRACKETS)
    return line if len(line) <= most else line[: most - 1] + "…"
