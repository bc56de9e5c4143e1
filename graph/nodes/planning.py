"""Asking a model for a plan or a revision, with corrections as long as its faults get fewer."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from langchain_core.messages import AIMessage

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.model_call import ModelCall
from planner_executor.graph.chat_models.answer import Flaw, flaw_of, is_explanation
from planner_executor.graph.chat_models.json_scan import Piece
from planner_executor.graph.chat_models.json_text import ONE_PLAN, NoJson, plans_in
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.nodes.looking import Looks
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.cannot import read_or_cannot
from planner_executor.graph.plan.fragments import PlanShape
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.look import ParsedLook, read_or_look
from planner_executor.graph.plan.normalization import LOOK, called_tool
from planner_executor.graph.plan.on_comments import read_on_comments, with_on_comments
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.revision import read_revision
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.plan.shortening import joined_messages
from planner_executor.graph.prompts.data import cut
from planner_executor.graph.prompts.offer import Offer
from planner_executor.graph.prompts.planner import repair_message
from planner_executor.graph.prompts.replanner import replanner_messages
from planner_executor.graph.record.events import PlanRefused

WORDS_CHARACTERS = 1_000
NO_LOOKS = (Issue(None, "look", "no looks are left; answer with a plan"),)
MOST_READ = 10
"""Most plans of one answer that are compared."""

FLAWS: Mapping[Flaw, str] = {
    "refused": "the model refuses to answer",
    "truncated": "the answer was cut off at the model's token limit; a shorter plan, or a higher max_tokens, is needed",
    "empty": "the answer is empty",
}


@dataclass(frozen=True)
class Proposal(ParsedPlan):
    """A plan with notes on its normalized fields, or the reason why there is no plan.

    `explained` means that the reason is the embedded rules' own sentence, which needs no other before it; `cannot` that
    the model says so, and that no plan is to be expected of it. `on_comments` is what it says of the comments on steps,
    `playbooks` those that are part of the plan.
    """

    reason: str = ""
    explained: bool = False

    def refusal(self, author: str, *, stays: bool = False) -> PlanRefused:
        """Return the event with the reason why there is no plan; with `stays` the one before waits again."""
        denied = any(issue.by_policy for issue in self.issues)
        return PlanRefused(author=author, issues=self.issues, stays=self.reason if stays else None, denied=denied)


async def propose(
    writer: RunWriter,
    gate: CallGate,
    model: RoleModel,
    call: ModelCall,
    offered: Offer,
    read: Callable[[Any], ParsedPlan],
    commented: tuple[str, ...] = (),
) -> Proposal:
    """Return the model's first valid plan; it is corrected as long as its faults get fewer.

    Args:
        writer: Writes the events of the run that is planned.
        gate: The choke point of its calls.
        model: The model of the role.
        call: The first request; each correction adds the answer and its issues to the messages.
        offered: The tools of the prompt, with those by which the model may look before it proposes.
        read: Parses and validates a JSON value.
        commented: The steps that people commented on, about which the answer may say something.

    Raises:
        LimitReached: A call would exceed the budget.
    """
    issues: tuple[Issue, ...] = ()
    words, explained, faults = "", False, inf
    services, marked = writer.run.services, offered.lookers
    shape = PlanShape(frozenset(services.toolbox.specs), commented)
    looks = Looks(writer, gate, f"{call.role}:{call.label}", marked)
    attempt = turn = 0
    while attempt <= services.settings.max_repairs:
        answer = await gate.models.ask(model, replace(call, label=f"{call.label}:{turn}"))
        turn += 1
        if isinstance(answer, str):
            return Proposal(None, reason=answer)
        words = str(answer.text)
        parsed = _parse(answer, lambda raw: _read(raw, shape, marked, read), shape, marked)
        if parsed.plan is not None:
            return Proposal(**vars(parsed))
        if parsed.cannot:
            return Proposal(None, reason=parsed.cannot, explained=True, cannot=parsed.cannot)
        if isinstance(parsed, ParsedLook) and looks.left > 0:
            # A look is no fault: it takes no attempt, and has a bound of its own.
            seen = await looks.at(parsed.looks)
            call = replace(call, messages=[*call.messages, AIMessage(words), seen])
            continue
        # A plan that cannot be read may have any number of faults, so one that can be read is an improvement.
        issues, explained, before = parsed.issues or NO_LOOKS, is_explanation(answer), faults
        faults = inf if _is_unread(issues) else len(issues)
        if flaw_of(answer) == "refused":  # a correction does not change a refusal
            break
        # A model that makes no fewer faults will not get there, and each round costs the whole prompt.
        if attempt and faults >= before:
            break
        correction = repair_message(issues, offered.lines_for(words))
        call, attempt = replace(call, messages=[*call.messages, AIMessage(words), correction]), attempt + 1
    if explained:
        return Proposal(None, issues, reason=cut(words.strip(), WORDS_CHARACTERS), explained=True)
    return Proposal(None, issues, reason=_reason(call.role, words, issues))


async def propose_revision(
    writer: RunWriter,
    model: RoleModel,
    role: str,
    label: str,
    current: Plan,
    why: str,
    offered: Offer,
    commented: tuple[str, ...] = (),
) -> Proposal:
    """Ask for a revision of what is left of a plan; see `propose`."""
    run, record = writer.run, writer.run.record
    succeeded, specs, most = record.steps.succeeded, run.services.toolbox.specs, run.services.settings.max_steps
    goal, horizon = record.assignment.goal, run.replan_policy.horizon
    messages = replanner_messages(goal, offered.text, current, record, why, run.planner_limits, horizon, offered.lines)
    call = ModelCall(role, label, messages, schema=with_on_comments(offered.revision_schema, commented))

    def read(raw: Any) -> ParsedPlan:
        return run.planned(read_revision(raw, current, succeeded, specs, most))

    return await propose(writer, writer.gate(), model, call, offered, read, commented)


def _read(raw: Any, shape: PlanShape, marked: frozenset[str], read: Callable[[Any], ParsedPlan]) -> ParsedPlan:
    if (tool := called_tool(raw, shape.tools)) is not None:
        return _called(tool, marked)

    def of_plan(found: Any) -> ParsedPlan:
        return read_or_look(found, shape.tools, marked, lambda plan: read_or_cannot(plan, shape.tools, read))

    return read_on_comments(raw, shape.tools, shape.commented, of_plan)


def _parse(
    answer: AIMessage, read: Callable[[Any], ParsedPlan], shape: PlanShape, marked: frozenset[str]
) -> ParsedPlan:
    parsed = _parse_text(answer, read, shape, marked)
    if parsed.plan is None and answer.name in shape.tools:  # a call in place of the schema's
        return _called(answer.name, marked)
    return parsed


def _parse_text(
    answer: AIMessage, read: Callable[[Any], ParsedPlan], shape: PlanShape, marked: frozenset[str]
) -> ParsedPlan:
    if flaw := flaw_of(answer):
        return ParsedPlan(None, (Issue(None, "plan", FLAWS[flaw]),))
    try:
        pieces = plans_in(str(answer.text), shape)
    except NoJson as error:
        if called := [call["name"] for call in answer.tool_calls if call["name"] in shape.tools]:
            return _called(called[0], marked)
        message = str(answer.text) if is_explanation(answer) else str(error)
        return ParsedPlan(None, (Issue(None, "plan", message),))
    return _parse_piece(pieces[0], read) if len(pieces) == 1 else _parse_several(pieces, read)


def _called(tool: str, marked: frozenset[str]) -> ParsedPlan:
    """Return the fault of a call in place of a plan; one of a tool that may look says how to look."""
    form = {LOOK: [{"tool": tool, "args": {}}]}
    look = f", or look with {json.dumps(form)}" if tool in marked else ""
    return ParsedPlan(None, (Issue(None, "plan", f"you called {tool}; answer with a plan{look}"),))


def _parse_piece(piece: Piece, read: Callable[[Any], ParsedPlan]) -> ParsedPlan:
    parsed = read(piece.value)
    return replace(parsed, notes=(*piece.notes, *parsed.notes))


def _parse_several(pieces: Sequence[Piece], read: Callable[[Any], ParsedPlan]) -> ParsedPlan:
    """Return the plan if all pieces are the same plan in different spellings; never choose among differing plans."""
    parsed = [_parse_piece(piece, read) for piece in pieces] if len(pieces) <= MOST_READ else []
    digests = {each.plan.digest if each.plan is not None else each.cannot for each in parsed}
    # Beside a piece that is no plan nobody knows which one was meant.
    if len(digests) == 1 and "" not in digests:
        return parsed[0]
    message = f"the answer holds {len(pieces)} differing plans; {ONE_PLAN}"
    return ParsedPlan(None, (Issue(None, "plan", message),))


def _is_unread(issues: Sequence[Issue]) -> bool:
    """Whether there is no plan whose faults could be counted."""
    return [issue.field for issue in issues] == ["plan"]


def _reason(role: str, words: str, issues: Sequence[Issue]) -> str:
    answer = f"; it said: {cut(words.strip(), WORDS_CHARACTERS)}" if words.strip() else ""
    if _is_unread(issues):
        return f"the {role} gave no plan: {issues[0].message}{answer}"
    return f"the {role} gave no valid plan: {joined_messages([str(issue) for issue in issues], WORDS_CHARACTERS)}"
