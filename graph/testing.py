"""Small fakes for tests: a chat model that answers from a script, and tools that keep a log. Imported by tests only."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import PrivateAttr, TypeAdapter

from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.record.events import TYPES, Draft
from planner_executor.graph.review.interrupt_form import ReviewInterrupt

REQUEST = TypeAdapter(ReviewInterrupt)
ScriptedAnswer = str | dict[str, Any] | list[Any] | AIMessage | Exception


class ScriptedModel(BaseChatModel):
    """Answers in order, whatever it is asked; an object is sent as JSON text, an exception is raised.

    It can neither bind tools nor give structured output, like the plainest of models. `prompts` keeps what it got.
    """

    model_name: str = "scripted"
    _answers: list[ScriptedAnswer] = PrivateAttr()
    _prompts: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    def __init__(self, answers: Iterable[ScriptedAnswer]) -> None:
        super().__init__()
        self._answers = list(answers)

    @property
    def prompts(self) -> Sequence[list[BaseMessage]]:
        """The prompts of the model, call by call."""
        return self._prompts

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002  (LangChain's signature)
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002  (LangChain's signature)
        **kwargs: Any,  # noqa: ARG002  (LangChain's signature)
    ) -> ChatResult:
        self._prompts.append(list(messages))
        if not self._answers:
            raise AssertionError(f"the script has no answer left for: {messages[-1].text[:300]}")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, AIMessage):
            answer = AIMessage(answer if isinstance(answer, str) else json.dumps(answer))
        return ChatResult(generations=[ChatGeneration(message=answer)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002  (LangChain's signature)
        **kwargs: Any,
    ) -> ChatResult:
        """Answer in the event loop: LangChain would start a thread for each answer, and one more for its end."""
        await asyncio.sleep(0)
        return self._generate(messages, stop, None, **kwargs)


class LoggedTools:
    """Makes tools that write down each call they get, in `calls`, as (name, arguments)."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def tool(
        self,
        name: str,
        work: Callable[..., Any] = lambda **args: args,
        *,
        is_async: bool = False,
        schema: dict[str, Any] | None = None,
        **metadata: Any,
    ) -> BaseTool:
        """Return a tool that does `work`; `metadata` declares its effect, undeclared means external."""

        def run(**args: Any) -> Any:
            self.calls.append((name, args))
            return work(**args)

        async def arun(**args: Any) -> Any:
            self.calls.append((name, args))
            await asyncio.sleep(0)
            return work(**args)

        return StructuredTool(
            name=name,
            description=f"{name}, for tests",
            args_schema=schema or {"type": "object", "properties": {}, "additionalProperties": True},
            func=None if is_async else run,
            coroutine=arun if is_async else None,
            metadata=metadata,
        )

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the arguments of each call of one tool."""
        return [args for called, args in self.calls if called == name]


def on_thread(name: str = "thread") -> Any:
    """Return the configuration that names a thread."""
    return {"configurable": {"thread_id": name}}


def asked(state: dict[str, Any]) -> dict[str, Any]:
    """Return the review request that a graph's output shows; fails if there is none, or if its form is another one."""
    (interrupt,) = state["__interrupt__"]
    request: dict[str, Any] = interrupt.value
    REQUEST.validate_json(json.dumps(request), strict=True)
    return request


def step(name: str, tool: str | None = None, /, *, after: Sequence[str] = (), **args: Any) -> dict[str, Any]:
    """Return a step as a plan writes it: deterministic with a tool, pure reasoning without one."""
    made: dict[str, Any] = {"id": name, "objective": f"do {name}"}
    made |= {"tool": tool} if tool else {}
    made |= {"args": args} if args else {}
    return made | ({"depends_on": list(after)} if after else {})


class PassingClock:
    """A clock without real waiting: sleeping advances it. `waits` keeps the seconds, `clock` is the object to pass."""

    def __init__(self, now: float = 0.0) -> None:
        self.now, self.waits = now, list[float]()
        self.clock = Clock(now=lambda: self.now, sleep=self._sleep, jitter=lambda: 1.0)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


LEAST: Mapping[str, Mapping[str, Any]] = {
    "run_started": {"goal": "g", "constraints": [], "thread": "", "n": 0},
    "plan_revised": {"revision": 1, "plan": {"steps": []}, "digest": "d", "author": "planner"},
    "plan_refused": {"author": "planner"},
    "review_requested": {"request": 1, "subject": "s", "error": None, "issues": [], "skip": 0},
    "decided": {"digest": "d", "binding": "b", "decision": "approve", "by": "person", "message": None},
    "steered": {"constraints": [], "added": ["be kind"], "withdrawn": [], "feedback": None, "approver": "os:ada"},
    "executing": {"revision": 1},
    "call_started": {"key": "k", "call": 0, "tool": "send", "args": {}, "repeatable": False, "revision": 1},
    "call_finished": {"call": 0, "status": "succeeded"},
    "call_asked": {"key": "k", "call": 0, "tool": "send", "questions": [], "revision": 1},
    "call_previewed": {"previews": [{"key": "k", "place": "a", "tool": "send"}]},
    "call_refused": {"tool": "send", "args": {}, "why": "not granted", "revision": 1},
    "step_held": {"key": "k", "tool": "send", "args": {}, "labels": {}, "revision": 1},
    "step_uncertain": {"key": "k", "tool": "send", "args": {}, "calls": [], "revision": 1},
    "model_started": {"key": "m", "role": "planner", "model": "scripted"},
    "model_finished": {"key": "m", "role": "planner"},
    "step_finished": {"status": "succeeded", "inputs": "i", "revision": 1},
    "step_checked": {"met": True, "revision": 1},
    "condition_evaluated": {"met": True, "condition": "@", "revision": 1},
    "budget_reached": {"limit": "steps", "left": []},
    "cap_reached": {"cap": "tool_calls", "allows": "at most 1 tool call a day"},
    "paused": {"reason": "asked to pause"},
    "redacted": {"left": [], "by": "os:ada", "reason": "r"},
    "run_ended": {"status": "succeeded", "reason": "r"},
    "run_forked": {"source": "thread.1", "again": ["s"]},
    "inherited": {"source": "thread.1", "seq": 9, "status": "succeeded", "label": {"trust": "user", "sources": []}},
    "call_inherited": {"source": "thread.1", "key": "k", "tool": "send", "args": {}, "happened": True},
    "step_skipped": {"why": "not needed", "approver": "os:ada"},
    "result_supplied": {"value": 1, "approver": "os:ada"},
    "run_reopened": {"again": ["s"], "approver": "os:ada"},
    "standing_given": {
        "id": "a",
        "tool": "send",
        "args": {},
        "at_most": 1,
        "fingerprint": "f",
        "policy": "p",
        "given_by": ["os:ada"],
        "given_at": 0.0,
    },
    "owner_replaced": {"process": "process 7 on host", "is_dead": False},
    "take_over_asked": {"terms": "d", "differs": "x", "missing": "one more", "approver": "server:ada"},
    "voted": {"request": 1, "subject": "s", "says": "d", "missing": "one more", "approver": "server:ada"},
    "standing_revoked": {"id": "a", "approver": "os:ada"},
    "response_given": {"request": 1, "digest": "d", "response": {"value": "approve"}, "approver": "server:ada"},
    "review_reminded": {"request": 1, "after_s": 1.0, "expires_at": 9.0},
    "review_escalated": {"request": 1, "after_s": 1.0, "expires_at": 9.0},
    "review_expired": {"request": 1, "subject": "s", "expired_at": 9.0, "on_expire": "reject"},
    "late_answer": {"request": 1, "error": "too late", "approver": "os:ada"},
}
"""Kind of event -> the least that its payload holds."""

NOTHING: Mapping[str, Any] = {}


def drafted(kind: str, payload: Mapping[str, Any] = NOTHING, step: str | None = None) -> Draft:
    """Return an event to be written, with the least that its kind needs beside what is given of its payload.

    Unknown fields are written too: a ledger keeps any payload.
    """
    whole = whole_payload(kind, payload)
    draft = Draft(TYPES[kind].from_json(whole), step)
    vars(draft)["payload"] = whole
    return draft


def whole_payload(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return a payload with the least that its kind needs beside the given fields."""
    return {**LEAST.get(kind, {}), **payload}
