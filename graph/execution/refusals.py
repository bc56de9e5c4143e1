"""Calls with effects that a model step was refused: they count, whatever the model says of them (decision 129)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from planner_executor.graph.plan.catalog import ToolSpec


@dataclass(frozen=True)
class Refusal:
    """A refused call and why; `turn` is that of the model's answer which asked for it."""

    tool: str
    why: str
    turn: int
    by_person: bool


@dataclass
class Refusals:
    """The refused calls of one conversation that no later call has made up for; `specs` are the known tools.

    It follows from the requests in their order, and so from the record: a step that is resumed comes to the same.
    """

    specs: Mapping[str, ToolSpec]
    open: list[Refusal] = field(default_factory=list)
    _made: list[tuple[str, Mapping[str, JsonValue]]] = field(default_factory=list)

    def add(self, refusal: Refusal, asked: Mapping[str, JsonValue]) -> None:
        """Note a refused call with an effect.

        A request that had its call already lacks nothing, and one that a rule refuses after a person's words follows
        from them: what is left of the grant is used up by the call that the person rejected. A second one says no more.
        """
        follows = not refusal.by_person and any(one.tool == refusal.tool for one in self.open)
        if self._acts(refusal.tool) and not follows and (refusal.tool, asked) not in self._made:
            self.open.append(refusal)

    def succeeded(self, tool: str, asked: Mapping[str, JsonValue], turn: int) -> None:
        """Close the refusals that a call makes up for.

        Any later call of the tool makes up for a refusal by a rule; any call with an effect that the model asked for
        after it had a person's words, for one by the person, whose words may name another way.
        """
        self._made.append((tool, asked))
        heeds = self._acts(tool)
        self.open = [one for one in self.open if not (heeds and one.turn < turn if one.by_person else one.tool == tool)]

    @property
    def failure(self) -> str | None:
        """Why the step has failed: the first call that a rule refused."""
        return next((f"its call of {one.tool} was refused: {one.why}" for one in self.open if not one.by_person), None)

    def missing(self, step: str) -> tuple[str, ...]:
        """Return sentences on what a person kept a step from, which the run therefore lacks."""
        return tuple(f"{step} did not call {one.tool}: {one.why}" for one in self.open if one.by_person)

    def _acts(self, tool: str) -> bool:
        return tool in self.specs and self.specs[tool].acts
