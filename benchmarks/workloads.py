"""What is to be done: graphs of tool calls, each with the time it takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

from planner_executor.graph.plan.schedule import critical_path


@dataclass(frozen=True)
class Piece:
    """One tool call: which steps it builds on, and how long it takes."""

    id: str
    after: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Workload:
    """Calls of one tool; in `failing` steps it fails, and another tool has to do them.

    `result_characters` is the length of each result's text.
    """

    name: str
    pieces: tuple[Piece, ...]
    tool: str = "look"
    failing: tuple[str, ...] = ()
    result_characters: int = 40

    @cached_property
    def waits(self) -> dict[str, tuple[str, ...]]:
        """Step id -> ids it waits for."""
        return {piece.id: piece.after for piece in self.pieces}

    @cached_property
    def by_id(self) -> Mapping[str, Piece]:
        """The pieces by their ids."""
        return {piece.id: piece for piece in self.pieces}

    @cached_property
    def critical_s(self) -> float:
        """The shortest possible time; a step that fails takes its time twice."""
        times = {piece.id: piece.seconds * (2 if piece.id in self.failing else 1) for piece in self.pieces}
        return critical_path(TopologicalSorter(self.waits).static_order(), self.waits, times)[0]

    def args(self, step: str) -> dict[str, Any]:
        """Return the arguments of a step's call, references filled in."""
        piece = self.by_id[step]
        return {"step": step, "seconds": piece.seconds, "given": list(piece.after)}

    def step(self, step: str, tool: str | None = None) -> dict[str, Any]:
        """Return a step as our plan writes it."""
        given = [f"{{{before}_result.step}}" for before in self.by_id[step].after]
        args = {**self.args(step), "given": given}
        return {"id": step, "objective": f"look at {step}", "tool": tool or self.tool, "args": args}

    def plan(self) -> dict[str, Any]:
        """Return the whole as our plan."""
        return {"steps": [self.step(piece.id) for piece in self.pieces]}


def chain(length: int, seconds: float, **options: Any) -> Workload:
    """Each step builds on the one before."""
    pieces = (_piece(place, (place - 1,) if place > 1 else (), seconds) for place in range(1, length + 1))
    return Workload(f"chain of {length}", tuple(pieces), **options)


def wide(width: int, seconds: float, **options: Any) -> Workload:
    """Steps that wait for nothing."""
    pieces = (_piece(place, (), seconds) for place in range(1, width + 1))
    return Workload(f"{width} side by side", tuple(pieces), **options)


def fan(width: int, seconds: float, failing: tuple[str, ...] = ()) -> Workload:
    """Steps side by side, and one that joins them."""
    arms = range(1, width + 1)
    pieces = (*(_piece(place, (), seconds) for place in arms), _piece(width + 1, tuple(arms), seconds))
    name = f"fan-out of {width} and a join"
    return Workload(f"{name}, one step fails" if failing else name, pieces, failing=failing)


def skewed(size: int, slow_s: float, quick_s: float) -> Workload:
    """As many chains as levels; at each level another chain has the slow step, so that a wave is always slow."""
    pieces = []
    for level in range(size):
        for lane in range(size):
            place = level * size + lane + 1
            after = (place - size,) if level else ()
            pieces.append(_piece(place, after, slow_s if lane == level else quick_s))
    return Workload(f"skewed, {size} chains of {size}", tuple(pieces))


def layered(steps: int, width: int, seconds: float) -> Workload:
    """Layers in which each step builds on two of the layer before."""
    pieces = []
    for place in range(1, steps + 1):
        lane, before = (place - 1) % width, place - 1 - (place - 1) % width - width
        after = (before + lane + 1, before + (lane + 1) % width + 1) if before >= 0 else ()
        pieces.append(_piece(place, after, seconds))
    return Workload(f"{steps} steps in layers of {width}", tuple(pieces))


def _piece(place: int, after: tuple[int, ...], seconds: float) -> Piece:
    return Piece(f"step_{place}", tuple(f"step_{before}" for before in after), seconds)
