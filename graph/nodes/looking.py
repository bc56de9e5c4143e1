"""Looking before a plan: calls of marked tools that a planner asks for, in bounds, through the gate and on record."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import HumanMessage

from planner_executor.graph.calls.gate import CallGate
from planner_executor.graph.calls.meter import LimitReached
from planner_executor.graph.errors import CapReachedError, StaleRunError
from planner_executor.graph.nodes.run.writer import RunWriter
from planner_executor.graph.plan.look import MOST_LOOKS_OF_A_RUN, Look
from planner_executor.graph.plan.normalization import MOST_LOOKS
from planner_executor.graph.policy.grants import Refused
from planner_executor.graph.prompts.data import bounded

SEEN_CHARACTERS = 4_000
"""Most characters of a result that a planner sees."""


@dataclass
class Looks:
    """The looks of one proposal, whose label names it; `tools` may look."""

    writer: RunWriter
    gate: CallGate
    label: str
    tools: frozenset[str]
    _made: int = field(default=0, init=False)

    @property
    def left(self) -> int:
        """How many calls are left, of this proposal and of the run."""
        return min(MOST_LOOKS - self._made, MOST_LOOKS_OF_A_RUN - len(self.writer.run.record.calls.looks))

    async def at(self, wanted: Sequence[Look]) -> HumanMessage:
        """Make the calls, one after the other, and return the message with their results.

        Raises:
            StaleRunError: The run has changed meanwhile; the proposal is to begin anew.
        """
        seen = [{"tool": look.tool, "args": dict(look.args), **await self._seen(look)} for look in wanted]
        before = self.writer.run.record.control_seq
        await self.writer.reload()  # what was seen taints what is proposed
        if self.writer.run.record.control_seq != before:
            raise StaleRunError(self.writer.run.ledger.name, self.writer.run.record.id)
        told: dict[str, Any] = {"seen": seen, "looks_left": max(0, self.left)}
        return HumanMessage(json.dumps(told, ensure_ascii=False))

    async def _seen(self, look: Look) -> dict[str, Any]:
        """Return the result of a call, or why it was not made or failed."""
        if self.left <= 0:
            return {"refused": "no looks are left; answer with a plan"}
        self._made += 1
        tainted = self.writer.run.has_read_untrusted
        try:
            finished = await self.gate.look(self.label, self._made, look.tool, look.args, is_tainted=tainted)
        except (Refused, LimitReached) as refused:
            return {"refused": str(refused)}
        except CapReachedError as reached:
            return {"refused": f"{reached.words}: this is used up"}
        if finished.result.status == "failed":
            return {"error": str(finished.result.error)}
        return {"result": bounded(await self.gate.value_of(finished.result), SEEN_CHARACTERS)}
