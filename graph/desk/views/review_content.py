"""What a request says as data (`graph.review.content`), in tables: no sentence is read for it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from pydantic import JsonValue, ValidationError

from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approver_rule import ApproverRule
from planner_executor.graph.policy.decision_deadline import AFTERWARDS
from planner_executor.graph.record.budget import Budget, Usage
from planner_executor.graph.record.deadline import moment_in_words
from planner_executor.graph.review.content import (
    ActionContent,
    Argument,
    BudgetContent,
    CallContent,
    Change,
    GateContent,
    PeopleContent,
    PlanContent,
    PreviewContent,
    QuestionContent,
    ReviewContent,
    Shown,
    StepContent,
    Tool,
    UncertainContent,
    Whole,
    Why,
)
from planner_executor.graph.text.expectation import takes_in_words
from planner_executor.graph.text.literal_text import literal_lines
from planner_executor.graph.text.review.asked_calls import LATER
from planner_executor.graph.text.review.effects import uses
from planner_executor.graph.text.review.person import NO_ARGUMENTS
from planner_executor.graph.text.word_diff import Piece, word_diff

READING_STEPS = 60
"""Steps without an effect that are shown; the page of the plan has all."""

Row = tuple[str, ...]
Json = Mapping[str, Any]

UNDO = {True: "can be undone", False: "cannot be undone", None: "not known to be reversible"}
NEW = "No plan that was approved had this call; a model planned it after it had read what strangers may have written."
JUDGES = {"code": "code alone", "model": "a model", "nobody": "nobody", None: ""}
SHOWN_FOR = {
    "always": "every plan is shown before it runs",
    "policy": "the policy requires a review of plans with these tools",
    "effects": "of the effects of these tools",
    None: "",
}


@dataclass(frozen=True)
class Words:
    """A value before or after a change, in pieces; what differs is marked by this element."""

    pieces: Sequence[Piece]
    mark: Literal["del", "ins"]


@dataclass(frozen=True)
class Table:
    """Rows below a title; `is_folded`: one opens it to read them."""

    title: str
    heads: Row
    rows: Sequence[Sequence[str | Words]]
    is_folded: bool = False


def action_tables(content: ActionContent, args: Json) -> list[Table]:
    """Return what there is to read before one action is decided; `args` are those of the action."""
    return [table for table in _of_action(content, args) if table.rows]


def people_table(review: ReviewContent) -> Table:
    """Return who decides, and until when."""
    rows = list(_people(review.people)) if review.people is not None else []
    rows += _fact("An approval needs a reason for", ", ".join(review.reason_for))
    return Table("Who decides", ("", ""), rows)


def review_of(request: Json) -> ReviewContent | None:
    """Return the value of a request, None if a redaction has changed its form."""
    try:
        return ReviewContent.model_validate(request.get("review"))
    except ValidationError:
        return None


def _of_action(content: ActionContent, args: Json) -> Iterator[Table]:
    match content:
        case PlanContent():
            yield from _plan(content, args["plan"])
        case CallContent():
            yield from _call(content, args)
        case GateContent():
            yield _facts(("It asks", content.words), ("Then run", ", ".join(content.steps)))
            # A gate shows results under `args`, in the place where a call has its arguments.
            yield _values("The results that it rests on", args["args"])
            yield Table(
                "Calls with effects that it lets through",
                ("Step", "Tool", "Effect", "Undo", "Times", "What it does", "Arguments"),
                [
                    (
                        one.step,
                        *_tool(one.tool)[:3],
                        str(one.items or ""),
                        one.does or "",
                        _lines({name: _value(value) for name, value in one.args.items()}) or NO_ARGUMENTS,
                    )
                    for one in content.through
                ],
            )
        case QuestionContent():
            yield _facts(
                ("It asks", str(args["question"])),
                ("Asked by the tool", content.tool),
                ("Then run", ", ".join(content.steps)),
            )
            yield Table(
                "The results that it rests on",
                ("Step", "Result"),
                [(step, _value(value)) for step, value in content.results.items()],
            )
            # A question without a schema takes any answer.
            schema = [(_json(content.answer),)] if content.answer is not None else []
            yield Table("JSON Schema of the answer", ("",), schema, is_folded=True)
        case UncertainContent():
            yield _facts(
                ("What it does", content.does),
                ("It took effect, but" if content.took_effect else "What is known", content.failure),
                ("Its process", "may yet make it" if content.may_live else ""),
                ("Made in the run", content.run),
                ("The same call is due in", ", ".join(content.due_in)),
            )
            yield _tools([content.tool] if content.tool is not None else [])
            yield _values(f"Arguments of {args['tool']} in {content.step}", args["args"])
        case BudgetContent():
            yield _facts(("The limit that is reached", content.limit), ("Left to do", ", ".join(content.left)))
            yield _limits(content, args)
        case _:
            assert_never(content)


def _plan(content: PlanContent, raw: Any) -> Iterator[Table]:
    if content.cannot_run:
        yield Table("Faults", ("This plan cannot run: edit it, or reject it",), [(fault,) for fault in content.faults])
        return
    # The plan of the action, which the digest covers, and not what the content repeats of it.
    plan = Plan.model_validate(raw)
    left = content.left
    yield _facts(*_why(content.why), ("Steps left", str(len(left))), ("Steps settled", _settled(content)))
    if content.why is not None:
        yield Table("What failed before", ("Step", "Error"), list(content.why.failed.items()))
    yield Table(
        "Comments on the plan before",
        ("Step", "Comment", "In this plan", "The planner says"),
        [(one.step, one.text, one.became, one.says or "") for one in content.comments],
    )
    yield _changes(content)
    yield Table(
        "Parameters of the plan",
        ("Name", "Value", "Trust"),
        [(name, _value(one.value), one.trust) for name, one in content.params.items()],
    )
    yield _tools(content.tools)
    notes = [*content.notes, *(line.removeprefix("- ") for line in literal_lines(list(plan.steps), plan))]
    yield Table("Before you decide", ("",), [(note,) for note in notes])
    # Effects that ran before in this form are folded, so that what is new does not drown among them.
    acting, approved = [step for step in left if step.acts], _approved(content)
    yield _steps("Effects, with their arguments", [step for step in acting if step.id not in approved], plan)
    before = [step for step in acting if step.id in approved]
    title = f"Effects as in revision {content.since}, which ran: {len(before)}"
    yield _steps(title, before, plan, is_folded=True)
    reading = [step for step in left if not step.acts]
    more = len(reading) - READING_STEPS
    title = f"Steps that only read: {len(reading)}" + (f"; the page of the plan has {more} more" if more > 0 else "")
    yield _steps(title, reading[:READING_STEPS], plan, is_folded=True)
    yield _previews(content.previews)
    yield _facts(("No preview of", ", ".join(content.unpreviewed)))
    yield Table(
        "Calls that the policy asks about",
        ("Step", "Tool", "Since", "If you approve the plan", "Arguments"),
        [row for step in left for row in _asked(step)],
    )
    yield Table(
        "What success is",
        ("Step", "Success criteria", "Checked by code", "Judged by"),
        [
            (step.id, plan.by_id[step.id].success_criteria or "", "\n".join(step.checks), JUDGES[step.judged_by])
            for step in left
            if step.judged_by is not None or step.checks
        ],
    )
    yield Table(
        "Constraints that the model of a step is not told",
        ("Step", "Constraint"),
        [(step.id, one) for step in left for one in step.left_out],
    )
    yield Table("What it may take", ("", ""), list(_work(content.work)))


def _approved(content: PlanContent) -> set[str]:
    """Return the steps that are as in a plan that a person saw and that was begun, and so approved."""
    is_begun = any(step.status != "pending" for step in content.steps) or bool(content.why and content.why.failed)
    if content.since is None or not content.was_seen or not is_begun:
        return set()
    return {step.id for step in content.steps} - {one.step for one in content.changes}


def _previews(previews: Iterable[PreviewContent]) -> Table:
    heads = ("Call", "Tool", "In its words", "What you saw before")
    rows = [(one.place, one.tool, _said(one), one.was or "") for one in previews]
    return Table("What the tools say that calls would do, which may be wrong", heads, rows)


def _said(one: PreviewContent) -> str:
    more = f"\n({one.length} characters in all)" if one.length is not None else ""
    return f"{one.text}{more}" if one.text is not None else f"no preview: {one.none or ''}"


def _why(why: Why | None) -> Iterator[tuple[str, str | None]]:
    if why is None:
        return
    yield "Written by", " ".join(part for part in (why.author, f"({why.cause})" if why.cause else "") if part)
    yield "Reason", why.reason
    yield "No progress", why.stalled
    yield "Shown because", ": ".join(part for part in (SHOWN_FOR[why.rule], ", ".join(why.tools)) if part)


def _settled(content: PlanContent) -> str:
    return ", ".join(f"{step.id} ({step.status})" for step in content.steps if step.status != "pending")


def _changes(content: PlanContent) -> Table:
    since = "no plan was shown before" if content.since is None else f"since revision {content.since}"
    seen = "" if content.was_seen else ", which ran without a review"
    rows = [row for one in content.changes for row in _change(one)]
    return Table(f"What changed, {since}{seen}", ("Step", "Change", "Field", "Before", "Now"), rows)


def _change(change: Change) -> Iterator[tuple[str | Words, ...]]:
    if not change.fields:
        yield change.step, change.change, "", "", ""
    for one in change.fields:
        was, now = (_value(value) if value is not None else "" for value in (one.was, one.now))
        old, new = word_diff(was, now)
        yield (
            change.step,
            change.change,
            one.field,
            Words(old, "del") if one.was is not None else "not given",
            Words(new, "ins") if one.now is not None else "not given",
        )


def _tools(tools: Iterable[Tool]) -> Table:
    heads = ("Tool", "Effect", "Undo", "Its results", "Writes in", "Steps")
    return Table("Tools", heads, [_tool(tool) for tool in tools])


def _tool(tool: Tool) -> Row:
    effect = tool.effect if tool.declared else f"{tool.effect}, not declared"
    undo = UNDO[tool.reversible] if tool.acts or tool.reversible is not None else "changes nothing"
    trust = "not declared" if tool.trust == "undeclared" else tool.trust
    return tool.name, effect, undo, trust, tool.folder or "", ", ".join(tool.steps)


def _steps(title: str, steps: Sequence[StepContent], plan: Plan, *, is_folded: bool = False) -> Table:
    heads = ("Step", "Done by", "Tool", "What it does", "Argument", "Value", "From", "Trust")
    return Table(title, heads, [row for step in steps for row in _step(step, plan)], is_folded)


def _step(step: StepContent, plan: Plan) -> Iterator[Row]:
    """Yield a row for each argument; what is said of the whole call stands in the first."""
    planned = plan.by_id[step.id]
    often = f"for each of {_json(planned.for_each)}, {step.most_items} at most" if step.most_items is not None else ""
    unchecked = f"{uses(step.unchecked)}, unchecked" if step.unchecked else ""
    when = f"only if {step.when}" if step.when is not None else ""
    told = f"whether it runs depends on values from {', '.join(step.decided_by)}, which are not declared to be trusted"
    said = (often, unchecked, when, told if step.decided_by else "")
    # A step without tools still has a row, as a question or a gate has.
    for tool in planned.tool_names or ("",):
        does = "\n".join(filter(None, (step.does.get(tool, ""), planned.objective, *said)))
        args = step.args.get(tool, {})
        # A model's call has arguments that the plan does not name; all of them are listed.
        named = dict.fromkeys((*planned.args, *args)) or {"": None}
        for at, name in enumerate(named):
            head = (step.id, step.done_by, tool, does) if at == 0 else ("", "", "", "")
            value = _json(planned.args[name]) if name in planned.args else ""
            yield *head, name, value, *(origin_in_words(args[name]) if name in args else ("", ""))


def origin_in_words(argument: Argument) -> Row:
    """Return where an argument comes from, and how far it is trusted."""
    named = ", ".join(argument.steps)
    origin = {"plan": "the plan", "result": "result", "item": "item of the list", "model": "the model"}[argument.origin]
    trust = [argument.trust, *([f"by {', '.join(argument.sources)}"] if argument.sources else [])]
    made_of = [f"{{param.{name}}}" for name in argument.params]
    return ", ".join([f"{origin} of {named}" if named else origin, *made_of]), ", ".join(
        [*trust, *(["shown again before the call"] if argument.asked else [])]
    )


def _asked(step: StepContent) -> Iterator[Row]:
    rules = ", and also ".join(str(ApproverRule.from_json(rule)) for rule in step.settled_by)
    then = f"asked when due: {LATER[step.asked_later]}" if step.asked_later is not None else "asked when due"
    if step.settled:
        then = f"approved too, if approved by {rules}" if rules else "approved too"
    for tool, why in step.asks.items():
        yield step.id, tool, why, then, ""
    for place, args in step.settles.items():
        yield place, "", "", then, _lines({name: _json(value) for name, value in args.items()})


def _work(work: Json) -> Iterator[Row]:
    names = {"steps": "Steps", "longest_chain": "Longest chain", "tool_calls": "Tool calls at most",
             "further_attempts": "Further attempts after failures", "model_steps": "Steps by a model",
             "to_refine": "Steps to refine"}  # fmt: skip
    yield from ((named, str(work[name])) for name, named in names.items() if name in work)
    yield from (("Left of the budget", f"{limit}: {amount}") for limit, amount in work.get("budget_left", {}).items())
    yield from _fact("Time and cost", takes_in_words(work.get("takes", {})))


def _call(content: CallContent, args: Json) -> Iterator[Table]:
    by = "a model" if content.by_model else ""
    yield _facts(
        ("What it does", content.does),
        ("Shown because", content.why),
        ("New", NEW if content.new else ""),
        ("The same call happened in", ", ".join(content.before)),
        ("Made by", by),
        ("For", content.objective),
        ("Calls at most", str(content.most_calls or "")),
        ("Items at most", str(content.most_items or "")),
        ("Success criteria", content.criteria),
        ("Checked by code", "\n".join(content.checks)),
        ("Judged by", JUDGES[content.judged_by]),
    )  # fmt: skip
    yield _tools([content.tool] if content.tool is not None else [])
    yield Table(
        "Given by people who may not decide about it alone",
        ("What", "For", "By", "Value"),
        [(one.what, one.step or "", ", ".join(one.by), one.value or "") for one in content.given],
    )
    rows = [
        (name, _json(value), *(origin_in_words(content.args[name]) if name in content.args else ("", "")))
        for name, value in args["args"].items()
    ]
    yield Table(f"Arguments of {args['tool']} in {content.step}", ("Argument", "Value", "From", "Trust"), rows)
    yield _previews([content.preview] if content.preview is not None else [])


def _limits(content: BudgetContent, args: Json) -> Table:
    budget, hard = Budget.from_json(args["budget"]), Budget.from_json(content.hard)
    kinds = (Usage.from_json(args["spent"]), budget, hard)
    rows = [
        (name, *("" if amount is None else visible_json(amount) for amount in (one.of(name) for one in kinds)))
        for name in dict.fromkeys((*budget.names, *hard.names))
    ]
    return Table("Limits", ("Limit", "Spent", "Now", "Hard limit of the policy"), rows)


def _people(people: PeopleContent) -> Iterator[Row]:
    for rule in people.rules:
        yield "Has to approve", str(ApproverRule.from_json(rule))
    # Empty facts are left out, so that a row stands here only if it bears on the decision.
    yield from _fact("Two people have to", "since it is not verified who asked" if people.takes_two else "")
    yield from _fact("Asked by", ", ".join(people.asked_by))
    yield from _fact("Nobody is left besides those who asked", ", ".join(people.nobody_left))
    if people.reach is not None:
        yield "It reaches calls of", ", ".join(people.reach.tools)
        yield from (("Who decides about these too", str(ApproverRule.from_json(one))) for one in people.reach.rules)
    yield from _fact("Approved so far by", ", ".join(people.approved_by))
    yield from _fact("Until", moment_in_words(people.until) if people.until is not None else "")
    yield from _fact("After that", AFTERWARDS[people.on_expire] if people.on_expire is not None else "")
    for one in people.escalations:
        others = ", ".join([*one.names, *(f"the role {role}" for role in one.roles)])
        yield f"From {moment_in_words(one.at)} on also", others


def _facts(*rows: tuple[str, str | None]) -> Table:
    return Table("", ("", ""), [(name, value) for name, value in rows if value])


def _fact(name: str, value: str) -> Iterator[Row]:
    if value:
        yield name, value


def _values(title: str, values: Mapping[str, JsonValue]) -> Table:
    return Table(title, ("Name", "Value"), [(name, _json(value)) for name, value in values.items()])


def _lines(values: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _value(value: Shown) -> str:
    if isinstance(value, Whole):
        return _json(value.value)
    return f"{value.preview}\n... {value.length} bytes in all, digest {value.digest} ...\n{value.end}"


def _json(value: JsonValue) -> str:
    """Return a value as JSON; a text of several lines as these lines."""
    return value if isinstance(value, str) and "\n" in value else visible_json(value)
