"""The plain text of a review, because some clients show nothing else.

Untrusted text is `escaped` and values are JSON, so that neither can begin a line of its own and pass for ours.
"""

from collections.abc import Collection, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

from pydantic import JsonValue

from graph.errors import listed
from graph.markdown import fenced
from graph.plan.catalog import UNDECLARED, ToolSpec, is_undeclared
from graph.plan.issues import Issue
from graph.plan.kinds.table import kind_spec
from graph.plan.revision import PlanDiff, difference
from graph.plan.schema import Plan, Step
from graph.record.budget import Budget, Usage, limit_in_words, unit_in_words
from graph.record.call import Call, HeldCall
from graph.record.spending import BudgetExhausted
from graph.record.values import to_text
from graph.sanitize import escaped, visible
from graph.text.drawing.labels import plain
from graph.text.drawing.text import plan_text
from graph.text.event_text import step_words
from graph.text.literal_text import text_lines, text_note

MAX_LINES = 300
"""Limit of a plan's drawing in a request, in lines."""
PASSED_LINES = 100
"""Limit of a plan's drawing in a message without a request."""

MAX_CHARACTERS = 4_000
"""Limits of a call's arguments and of a result, in characters."""

MAX_CHANGES = 30
"""Number of changed or removed steps whose former work is shown."""


def plan_message(plan: Plan, revision: int) -> str:
    """Return the plan as an assistant's message."""
    return f"Plan, revision {revision}:\n\n{fenced(_drawing(plan, PASSED_LINES, 'state'))}"


def plan_description(
    plan: Plan,
    revision: int,
    before: Plan | None,
    specs: Mapping[str, ToolSpec],
    done: Collection[str] = (),
    warnings: Sequence[str] = (),
    estimate: Mapping[str, Any] | None = None,
) -> str:
    """Return the description of a plan and of the effects that its approval permits.

    Args:
        plan: The plan to approve.
        revision: Its number.
        before: The plan approved before.
        specs: The tools by name.
        done: Ids of the steps that have succeeded.
        warnings: Sentences, such as on uncertain calls that the plan may repeat.
        estimate: Upper bounds on the remaining work, see `graph.review.estimate`.
    """
    lines = [f"Revision {revision} of the plan. Approve it, edit it, or reject it with a reason to plan again."]
    lines += _changes(difference(before, plan), before) if revision > 1 else []
    left = [step for step in plan.steps if step.id not in done]
    lines += [_effects(left, specs, "What is left" if done else "It"), *_acting(left, plan, specs), *_checked(left)]
    lines += text_lines(left, plan)
    lines += [*([_estimated(estimate)] if estimate else []), *_undeclared(left, specs), *map(escaped, warnings)]
    lines += ["", _drawing(plan), "", f"Digest: {plan.digest}"]
    return "\n".join(lines)


def invalid_description(revision: int, issues: Sequence[Issue]) -> str:
    """Return the reasons that the plan in the state cannot be approved."""
    faults = "\n".join(f"- {escaped(str(issue))}" for issue in issues)
    return f"The plan in the state (after revision {revision}) cannot run. Edit it, or reject it.\n{faults}"


def uncertain_description(call: Call, steps: Sequence[str] = ()) -> str:
    """Return the question whether a call took effect; `steps` wait for the answer."""
    where = f"In run {escaped(call.run)}, " if call.run else ""
    made = f"{where}{call.step} called {escaped(call.tool)} with {shown(dict(call.args))}{text_note(dict(call.args))}"
    others = [step for step in steps if call.run or step != call.step]
    wait = f" The same call is due in {listed(others)}." if others else ""
    return f"{made}{_outcome(call)}{wait} {_what_to_settle(call)} Reject to stop the run."


def _outcome(call: Call) -> str:
    if call.unmet is not None:
        return f". It took effect, but {escaped(call.unmet)}."
    error = escaped(str(call.result.error)) if call.result else "the process ended in the middle of it"
    return f", and nobody knows whether it took effect: {error}. Find out."


def _what_to_settle(call: Call) -> str:
    if call.run:
        return (
            "Set happened to true (you are then asked whether it is to be made again) or to false (it will be called)."
        )
    if call.unmet is not None:
        return "Set happened to true (with its result) to take it as it is, or to false to have it called once more."
    return (
        "Set happened to true (with its result, which then stands for this call in the whole run) or to false (it will "
        "be called)."
    )


def held_description(held: HeldCall) -> str:
    """Return the question whether to make a call that may have happened before or has untrusted arguments."""
    whence = escaped("; ".join(f"{name} from {', '.join(label.sources)}" for name, label in held.labels.items()))
    untrusted = f"Not to be trusted: {whence}. " if whence else ""
    before = f"The same call happened in {escaped(listed(held.before))}; make it again? " if held.before else ""
    return (
        f"{held.step} is about to call {escaped(held.tool)} with {shown(dict(held.args))}{text_note(dict(held.args))}\n"
        f"{before}{untrusted}Approve this very call, or reject it; with a reason it is planned again."
    )


def gate_description(step: Step, seen: Mapping[str, JsonValue]) -> str:
    """Return the question of a gate, with the results that it depends on."""
    return (
        f"{step.id} waits for you: {escaped(str(step.gate))}\n{_results(seen)}Approve to let the run go on, or reject."
    )


def question_description(step: Step, seen: Mapping[str, JsonValue]) -> str:
    """Return a question of the plan, with the results that it depends on."""
    form = (
        f" The answer fits this JSON Schema: {visible(to_text(step.output))}."
        if isinstance(step.output, Mapping)
        else ""
    )
    return f"{step.id} asks: {escaped(str(step.ask))}\n{_results(seen)}Fill in answer.{form} Reject to stop the run."


def shown(value: JsonValue) -> str:
    """Return a value for people: invisible characters are escaped, and omissions are stated.

    >>> print(shown({"to": "ann\u202emoc.live@"}))
    {"to":"ann\\u{202e}moc.live@"}
    """
    text = visible(to_text(value))
    if len(text) <= MAX_CHARACTERS:
        return text
    return _shorten_values(value) if isinstance(value, Mapping) and len(value) > 1 else _cut(text, MAX_CHARACTERS)


def _cut(text: str, most: int) -> str:
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}... and {left} more characters"


def _shorten_values(value: Mapping[str, JsonValue]) -> str:
    """Return an object with long values shortened one by one, so that none takes the room of another."""
    texts = {visible(to_text(name)): visible(to_text(part)) for name, part in value.items()}
    even = MAX_CHARACTERS // len(texts)
    short = sum(len(text) for text in texts.values() if len(text) <= even)
    most = (MAX_CHARACTERS - short) // sum(len(text) > even for text in texts.values())
    return "{" + ",".join(f"{name}:{_cut(text, most)}" for name, text in texts.items()) + "}"


def _results(seen: Mapping[str, JsonValue]) -> str:
    return "".join(f"- {name}: {shown(value)}\n" for name, value in seen.items())


def budget_description(shortage: BudgetExhausted, budget: Budget, usage: Usage, hard: Budget) -> str:
    """Return the question about a reached limit, with the usage and the remaining steps."""
    most = hard.of(shortage.limit)
    is_hard = most is not None and most <= (budget.of(shortage.limit) or 0)
    can = "It is a hard limit of the policy and cannot be raised." if is_hard else "Raise it: edit budget."
    spent = escaped("; ".join(limit_in_words(name, budget, usage) for name in budget.names))
    is_left = usage.of(shortage.limit) < (budget.of(shortage.limit) or 0)
    rest = " The next call may take more than what is left." if is_left else ""
    left = f"Left to do: {listed(shortage.left)}." if shortage.left else "Nothing is planned yet."
    return (
        f"The budget's limit of {escaped(shortage.limit)} is reached. Spent: {spent}.{rest} {left} "
        f"{can} Reject without a word to finish with what there is, with `stop` to reject the run, "
        "with a reason to plan again."
    )


def _drawing(plan: Plan, most: int = MAX_LINES, whole: str = "request") -> str:
    """Return the drawing of a plan, shortened if it is large; steps with effects are always listed separately."""
    lines = plan_text(plan).split("\n")
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join([*lines[:most], f"... and {len(lines) - most} more lines; the whole plan is in the {whole}"])


def _changes(diff: PlanDiff, before: Plan | None) -> list[str]:
    """Return the changes of a revision, with the former work of changed and removed steps."""
    was = {step.id: step.to_json() for step in before.steps} if before else {}
    gone = [plain(f"- was {step_words(was[name])}") for name in (*diff.changed, *diff.removed)]
    more = len(gone) - MAX_CHANGES
    return [f"Changes: {diff}.", *gone[:MAX_CHANGES], *([f"- and {more} more"] if more > 0 else [])]


def _effects(steps: Sequence[Step], specs: Mapping[str, ToolSpec], what: str) -> str:
    names = sorted({name for step in steps for name in step.tool_names})
    acting = [specs[name] for name in names if specs[name].acts]
    if not acting:
        return f"{what} only reads."
    folders = ", ".join(dict.fromkeys(tool.folder for tool in acting if tool.folder))
    named = ", ".join(f"{tool.name} ({tool.effect})" for tool in acting)
    return escaped(f"Tools with effects: {named}." + (f" Files are changed in {folders}." if folders else ""))


def _acting(steps: Sequence[Step], plan: Plan, specs: Mapping[str, ToolSpec]) -> list[str]:
    """Return the steps with effects and their full arguments, which the drawing shortens."""
    acting = [step for step in steps if any(specs[name].acts for name in step.tool_names)]
    fed = _undeclared_sources(plan, specs) if acting else {}
    return [f"- {step.id}: {_call_words(step)}{_vouching_note(fed[step.id])}" for step in acting]


def _undeclared(steps: Sequence[Step], specs: Mapping[str, ToolSpec]) -> list[str]:
    """Return the undeclared tools that a model may call, with the steps that grant them."""
    granted: dict[str, list[str]] = {}
    for step in steps:
        for name in step.tools:
            if is_undeclared(specs[name]):
                granted.setdefault(name, []).append(step.id)
    return [
        f"Warning: {escaped(name)} in {escaped(listed(ids))}: {UNDECLARED}." for name, ids in sorted(granted.items())
    ]


def _checked(steps: Sequence[Step]) -> list[str]:
    """Return the checks of the steps, so that a revision with fewer checks is noticed."""
    return [f"- {step.id} succeeds only if all of {shown(list(step.checks))}" for step in steps if step.checks]


def _call_words(step: Step) -> str:
    words = kind_spec(step.kind).calls(step, escaped, shown)
    return words if step.for_each is None else f"{words} for each of {shown(step.for_each)}, {step.most_items} at most"


def _vouching_note(tools: Collection[str]) -> str:
    """Return a sentence on undeclared tools whose results reach an effect: approving means vouching for them."""
    return escaped(f" (you vouch for what {', '.join(sorted(tools))} returns)") if tools else ""


def _undeclared_sources(plan: Plan, specs: Mapping[str, ToolSpec]) -> Mapping[str, frozenset[str]]:
    """Return step id -> tools without declared trust whose results may reach its arguments."""
    near = {step.id: [name for name in _named_by(step) if name in plan.by_id] for step in plan.steps}
    own = {
        step.id: frozenset(name for name in step.tool_names if name in specs and specs[name].trusted is None)
        for step in plan.steps
    }
    found: dict[str, frozenset[str]] = {}
    for name in TopologicalSorter(near).static_order():
        found[name] = frozenset().union(*(found[before] | own[before] for before in near[name]))
    return found


def _named_by(step: Step) -> list[str]:
    sees_results = kind_spec(step.kind).done_by == "model"
    return [ref.step for ref in step.references()] + list(step.depends_on if sees_results else ())


def _estimated(estimate: Mapping[str, Any]) -> str:
    """Return a sentence on the remaining work and the remaining budget."""
    chain = f", {estimate['longest_chain']} of them one after the other" if estimate["longest_chain"] > 1 else ""
    by_models = f", {_counted(estimate['model_steps'], 'step')} by a model" if estimate["model_steps"] else ""
    calls = _counted(estimate["tool_calls"], "tool call")
    beside = (
        f", and what comes of {_counted(estimate['to_refine'], 'step')} to refine" if "to_refine" in estimate else ""
    )
    words = f"To do: {_counted(estimate['steps'], 'step')}{chain}; at most {calls}{by_models}{beside}."
    left = estimate.get("budget_left", {})
    rest = escaped(", ".join(unit_in_words(name, amount) for name, amount in left.items()))
    more = any(estimate[name] > left.get(name, estimate[name]) for name in ("steps", "tool_calls"))
    told = f"{words} Left of the budget: {rest}." if left else words
    return f"{told} The plan may take more than that; the run then asks." if more else told


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
