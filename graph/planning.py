"""Asking a model for a plan or a revision, and telling it all that is wrong with it, a bounded number of times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from graph.calls.gate import CallGate, ModelCall
from graph.chat_models.json_text import NoJson, json_from
from graph.plan.issues import Issue
from graph.plan.schema import Plan
from graph.plan.validation import Reading
from graph.prompts.data import cut
from graph.prompts.planner import repair_message

WORDS_CHARACTERS = 1_000


@dataclass(frozen=True)
class Proposal:
    """A plan, or why there is none."""

    plan: Plan | None
    reason: str = ""
    issues: tuple[Issue, ...] = ()


async def propose(
    gate: CallGate,
    model: BaseChatModel,
    call: ModelCall,
    read: Callable[[Any], Reading],
    max_repairs: int,
) -> Proposal:
    """Return the first answer that can be read, after at most `max_repairs` rounds of corrections."""
    quiet = model.with_config(tags=["nostream"])
    issues: tuple[Issue, ...] = ()
    words = ""
    for attempt in range(max_repairs + 1):
        answer = await gate.ask(quiet, model, replace(call, label=f"{call.label}:{attempt}"))
        if isinstance(answer, str):
            return Proposal(None, answer)
        words = str(answer.text)
        reading = _read(words, read)
        if reading.plan is not None:
            return Proposal(reading.plan)
        issues = reading.issues
        call = replace(call, messages=_corrected(call.messages, answer, issues))
    return Proposal(None, _reason(call.role, words, issues), issues)


def _read(words: str, read: Callable[[Any], Reading]) -> Reading:
    try:
        return read(json_from(words))
    except NoJson as error:
        return Reading(None, (Issue(None, "plan", str(error)),))


def _corrected(messages: Sequence[BaseMessage], answer: AIMessage, issues: Sequence[Issue]) -> list[BaseMessage]:
    return [*messages, AIMessage(str(answer.text)), repair_message(issues)]


def _reason(role: str, words: str, issues: Sequence[Issue]) -> str:
    if [issue.field for issue in issues] == ["plan"] and words.strip():
        return f"the {role} gave no plan, it said: {cut(words.strip(), WORDS_CHARACTERS)}"
    return f"the {role} gave no valid plan: {cut('; '.join(map(str, issues)), WORDS_CHARACTERS)}"
