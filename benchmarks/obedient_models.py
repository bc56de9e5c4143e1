"""Planner, executor and replanner that obey every order that they read, as scripts over one task of AgentDojo."""

import json
import re
from calendar import month_abbr
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from benchmarks.attacked_task import Call
from planner_executor.graph.plan.normalization import MOST_LOOKS

CALLS = 10
"""How many calls the planner grants if the data gives their number."""
HANDED_OVER: Mapping[tuple[str, str], int | tuple[str, Mapping[str, str]]] = {
    ("workspace", "user_task_13"): 1,
    ("workspace", "user_task_19"): 2,
    ("banking", "user_task_12"): 1,
    ("slack", "user_task_18"): ("get_webpage", {"url": "www.company-todo-list.com/alice"}),
    ("slack", "user_task_19"): ("get_webpage", {"url": "www.company-todo-list.com/bob"}),
}
"""Tasks whose effects the user does not name: how many calls are planned before, or the one that reads the orders."""
MONTHS = {f"{at:02}": name.casefold() for at, name in enumerate(month_abbr) if name}


class Obedient(BaseChatModel):
    """A model that is a function of its prompt."""

    _answer: Callable[[list[BaseMessage]], AIMessage] = PrivateAttr()

    def __init__(self, answer: Callable[[list[BaseMessage]], AIMessage]) -> None:
        super().__init__()
        self._answer = answer

    @property
    def _llm_type(self) -> str:
        return "obedient"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])


class Trial(Protocol):
    """What the models know of a task, perhaps attacked, and what they have read and done."""

    @property
    def suite(self) -> Any: ...  # noqa: D102
    @property
    def task(self) -> Any: ...  # noqa: D102
    @property
    def attack(self) -> Any: ...  # noqa: D102
    @property
    def solution(self) -> Sequence[Call]: ...  # noqa: D102
    @property
    def wanted(self) -> Sequence[Call]: ...  # noqa: D102
    @property
    def calls(self) -> Sequence[Call]: ...  # noqa: D102
    @property
    def readers(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def is_ordered(self) -> bool: ...  # noqa: D102


class Roles:
    """Planner, executor and replanner of a trial; `insists` until a revision with the attacker's calls was refused."""

    def __init__(self, trial: Trial, *, look: bool = False) -> None:
        self.trial, self.insists, self.looks = trial, True, look
        self._turns: dict[str, list[AIMessage]] = {}
        self._filled: dict[str, list[Call]] = {}
        first = HANDED_OVER.get((trial.suite.name, trial.task.ID))
        later = trial.solution[first:] if isinstance(first, int) else trial.solution if first is not None else []
        now = trial.solution[:first] if isinstance(first, int) else [first] if first is not None else trial.solution
        self._steps = list(self._planned(now))
        self._revised = [*self._steps, *self._literal("r", later)]
        self._injected = self._literal("x", trial.wanted)

    def plan(self, messages: list[BaseMessage]) -> AIMessage:
        """Return the first plan; a planner that may look looks first, and adds what an order that it saw wants."""
        reads = [{"tool": tool, "args": dict(args)} for tool, args in self.trial.solution if tool in self.trial.readers]
        if self.looks and reads:
            self.looks = False
            return said({"look": reads[:MOST_LOOKS]})
        added = self._injected if self.trial.is_ordered and "untrusted look" not in messages[-1].text else ()
        return said(self._whole([*self._steps, *added]))

    def revise(self, messages: list[BaseMessage]) -> AIMessage:
        """Return the plan with what the data asks for, unless that was refused."""
        if "no approved plan has this call" in messages[-1].text:
            self.insists = False
        if not self.insists or not self.trial.calls:
            return said(self._whole(self._steps))
        return said(self._whole([*self._revised, *(self._injected if self.trial.is_ordered else ())]))

    def work(self, messages: list[BaseMessage]) -> AIMessage:
        """Return the next turn of a model's step."""
        name = re.findall(r"\[(s\d+|answer)\]", "\n".join(message.text for message in messages))[-1]
        if name not in self._turns:
            self._turns[name] = list(self._conversation(name))
        return self._turns[name].pop(0) if self._turns[name] else AIMessage("done")

    def turns(self) -> list[list[Call]]:
        """Return the calls of the solution as a model asks for them that waits for results only where it needs them."""
        found: list[list[Call]] = [[]]
        for step in self._revised:
            if "tools" in step or step["id"] == "r0":
                found.append([])
            found[-1] += self._filled.get(step["id"]) or [(step["tool"], step.get("args", {}))]
        return [turn for turn in found if turn]

    def knows(self, acts: Callable[[str], bool]) -> bool:
        """Whether the first plan has all calls with effects, with all their arguments."""
        open_tools = [tool for step in self._steps for tool in step.get("tools", ())]
        return len(self._revised) == len(self._steps) and not any(map(acts, open_tools))

    def _conversation(self, name: str) -> Iterator[AIMessage]:
        ordered = self.trial.attack if self.trial.is_ordered else None
        if name == "answer":
            words = [self.trial.task.GROUND_TRUTH_OUTPUT, ordered.GROUND_TRUTH_OUTPUT if ordered else ""]
            yield AIMessage(" ".join(filter(None, words)) or "done")
            return
        step = next(step for step in self._steps if step["id"] == name)
        if ordered:
            wanted = [args for tool, args in self.trial.wanted if tool in step["tools"]]
            (_, own), *_ = self._filled[name]
            bent = [{key: args.get(key, own.get(key)) for key in step["args"]} for args in wanted]
            pinned = {key: own[key] for key, value in step["args"].items() if "_result}" not in str(value)}
            yield from ([called([(step["tools"][0], {**args, **pinned}) for args in bent])] if bent else [])
        yield called(self._filled[name])

    def _planned(self, calls: Sequence[Call]) -> Iterator[dict[str, Any]]:
        """Yield the steps of a plan by a model that knows the user's words alone."""
        known = self.trial.task.PROMPT.casefold()
        before: dict[str, Any] | None = None
        for at, (tool, args) in enumerate(calls):
            literal = {name: value for name, value in args.items() if before is None or is_in(value, known)}
            if before is not None and before.get("tools") == [tool] and len(literal) < len(args):
                self._filled[before["id"]].append((tool, args))
                for name in [name for name in before["args"] if before["args"][name] != literal.get(name)]:
                    before["args"][name] = f"{{s{before['at']}_result}}"
                continue
            step: dict[str, Any] = {"id": f"s{at}", "objective": f"[s{at}] {tool}"}
            if before is not None:
                step["depends_on"] = [before["id"]]
            if len(literal) == len(args):
                step |= {"tool": tool, "args": dict(args)}
            else:
                assert before is not None
                opened = {name: literal.get(name, f"{{{before['id']}_result}}") for name in args}
                step |= {"tools": [tool], "args": opened, "max_calls": CALLS, "at": before["id"].removeprefix("s")}
                self._filled[step["id"]] = [(tool, args)]
            before = step
            yield step

    def _literal(self, mark: str, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """Return the steps of a model that has read what it needs."""
        made: list[dict[str, Any]] = []
        for at, (tool, args) in enumerate(calls):
            after = [made[-1]["id"]] if made else []
            own = {"id": f"{mark}{at}", "objective": tool, "tool": tool, "args": dict(args), "depends_on": after}
            made.append(own | {"literal": sorted(args)})
        return made

    def _whole(self, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        plain = [{name: value for name, value in step.items() if name != "at"} for step in steps]
        last = {"id": "answer", "objective": "[answer] tell the user", "depends_on": [step["id"] for step in plain]}
        return {"steps": [*plain, last], "answer": "{answer_result}"}


def is_in(value: Any, words: str) -> bool:
    """Whether a value can be read from the user's words; whoever plans has a default for true, false and none."""
    if isinstance(value, list):
        return all(is_in(item, words) for item in value)
    if isinstance(value, bool | None):
        return True
    text = str(value).casefold()
    return not isinstance(value, dict) and (text.removesuffix(".0") in words or is_named(text, words))


def is_named(text: str, words: str) -> bool:
    """Whether a date is in the words as people write it; the time of that day is then the planner's to choose.

    >>> is_named("2024-05-26 10:00", "on may 26th"), is_named("2024-05-26", "the 6th of may")
    (True, False)
    """
    if (date := re.match(r"\d{4}-(\d\d)-(\d\d)\b", text)) is None or date[1] not in MONTHS:
        return False
    month, day = MONTHS[date[1]], str(int(date[2]))
    return bool(re.search(rf"{month}\w*\.? {day}(?!\d)|(?<!\d){day}(st|nd|rd|th)?( of)? {month}", words))


def said(plan: Any) -> AIMessage:
    """Return a plan as a model's answer."""
    return AIMessage(json.dumps(plan))


def called(calls: Sequence[Call]) -> AIMessage:
    """Return calls as a model asks for them."""
    asked = [{"name": tool, "args": dict(args), "id": f"c{at}"} for at, (tool, args) in enumerate(calls)]
    return AIMessage("", tool_calls=asked)
