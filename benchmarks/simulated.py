"""A model and tools of fixed latency: the same for every system, so that only the system makes a difference."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import PrivateAttr

from benchmarks.meter import Meter

Script = Callable[[Sequence[BaseMessage]], AIMessage]
Before = Callable[[str], Awaitable[None]]
MODEL_S = 0.05


class SimulatedModel(BaseChatModel):
    """Answers what its script says, after a fixed time; counts calls and prompt characters."""

    model_name: str = "simulated"
    _script: Script = PrivateAttr()
    _meter: Meter = PrivateAttr()
    _latency_s: float = PrivateAttr()

    def __init__(self, script: Script, meter: Meter, latency_s: float = MODEL_S) -> None:
        super().__init__()
        self._script, self._meter, self._latency_s = script, meter, latency_s

    @property
    def _llm_type(self) -> str:
        return "simulated"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:  # noqa: ARG002  (LangChain's signature)
        """Return the model: its script knows the tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("every system under test is asynchronous")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002  (LangChain's signature)
        run_manager: AsyncCallbackManagerForLLMRun | CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002  (LangChain's signature)
    ) -> ChatResult:
        with self._meter.spent(self._meter.models, "model"):
            self._meter.prompts.append(sum(map(characters, messages)))
            await asyncio.sleep(self._latency_s)
            answer = self._script(messages)
        return ChatResult(generations=[ChatGeneration(message=answer)])


def characters(message: BaseMessage) -> int:
    """Return how long a message is, its calls included."""
    calls = getattr(message, "tool_calls", None)
    return len(str(message.text)) + (len(json.dumps(calls)) if calls else 0)


def simulated_tools(
    meter: Meter, failing: Sequence[str] = (), result_characters: int = 0, before: Before | None = None
) -> list[BaseTool]:
    """Return `look` and `look_elsewhere`, which read, and `note`, which writes; `look` fails in the `failing` steps.

    A tool takes the id of its step, a duration in seconds, and the results it depends on; it returns the id and a text.
    Each step has another text, which compresses to half its size, like English. `before` is called with the step's id
    before each call.
    """

    async def work(step: str, seconds: float) -> dict[str, Any]:
        if before is not None:
            await before(step)
        with meter.spent(meter.tools, step):
            await asyncio.sleep(seconds)
        return {"step": step, "text": _text(step, result_characters)}

    async def look(step: str, seconds: float, given: list[str]) -> dict[str, Any]:  # noqa: ARG001  (part of the call)
        """Look something up."""
        found = await work(step, seconds)
        if step in failing:
            raise ToolException(f"nothing found for {step}")
        return found

    async def look_elsewhere(step: str, seconds: float, given: list[str]) -> dict[str, Any]:  # noqa: ARG001  (part of the call)
        """Look something up in another place."""
        return await work(step, seconds)

    async def note(step: str, seconds: float, given: list[str]) -> dict[str, Any]:  # noqa: ARG001  (part of the call)
        """Write something down."""
        return await work(step, seconds)

    effects = ((look, "read"), (look_elsewhere, "read"), (note, "write"))
    return [StructuredTool.from_function(coroutine=do, metadata={"effect": effect}) for do, effect in effects]


def _text(step: str, characters: int) -> str:
    lines = (sha256(f"{step} {line}".encode()).hexdigest() for line in range(characters // 64 + 1))
    return "".join(lines)[:characters]
