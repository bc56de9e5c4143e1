"""Whatever a tool returns after its effect is kept exactly, and reads back everywhere, or fails its step with words."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, JsonValue
from typer.testing import CliRunner

from planner_executor import Agent
from planner_executor.graph.cli import app
from planner_executor.graph.testing import ScriptedModel, step

pytestmark = pytest.mark.e2e

ANY = {"type": "object", "properties": {}, "additionalProperties": True}


class Measured(BaseModel):
    at: date
    value: float


@dataclass
class Point:
    where: Any


class Thing:
    pass


def nested(levels: int) -> Any:
    value: Any = "core"
    for _ in range(levels):
        value = {"in": [value]}
    return value


def ring() -> list[Any]:
    made: list[Any] = []
    made.append({"again": made})
    return made


async def later() -> Any:
    yield 1


KEPT: dict[str, tuple[Any, JsonValue]] = {
    "null": (None, None),
    "false": (False, False),
    "empty": ("", ""),
    "zero": (-0.0, -0.0),
    "float": (0.1, 0.1),
    "whole_float": (1.0, 1.0),
    "largest": (1.7976931348623157e308, 1.7976931348623157e308),
    "bits_64": ([-(2**63), 2**64 - 1], [-(2**63), 2**64 - 1]),
    "huge": (10**30, 10**30),
    "huge_within": ({"n": [-(10**400)]}, {"n": [-(10**400)]}),
    "nul": ("a\x00b", "a\x00b"),
    "nul_key": ({"\x00": "\x00"}, {"\x00": "\x00"}),
    "breaks": ("\r\n\u2028\x85\x1b[31m\u202e", "\r\n\u2028\x85\x1b[31m\u202e"),
    "beyond_the_plane": ("😀\U0001f3fd\U0010ffff", "😀\U0001f3fd\U0010ffff"),
    "braces": ("{null_result} {{x}} $1", "{null_result} {{x}} $1"),
    "tuple": ((1, ("a",)), [1, ["a"]]),
    "date": (date(2026, 1, 2), "2026-01-02"),
    "decimal": (Decimal("1.10"), "1.10"),
    "model": (Measured(at=date(2026, 1, 2), value=0.5), {"at": "2026-01-02", "value": 0.5}),
    "dataclass": (Point((1, 2)), {"where": [1, 2]}),
    "message": (ToolMessage("said", tool_call_id="1"), "said"),
    "deep": (nested(100), nested(100)),
    "text_20_mb": ("é" * 10_000_000, "é" * 10_000_000),
    "many_keys": ({str(n): n for n in range(50_000)}, {str(n): n for n in range(50_000)}),
}
REFUSED: dict[str, tuple[Any, str]] = {
    "bytes": (b"\xff\x00", "is bytes"),
    "nan": (float("nan"), "is nan"),
    "infinite": ({"a": [float("inf")]}, "result.a[0]: is inf"),
    "too_huge": (10**5000, "return it as text"),
    "half_a_letter": ("a\ud800b", "half a surrogate pair"),
    "half_a_key": ({"\udfff": 1}, "half a surrogate pair"),
    "number_as_key": ({1: 2}, "keys are text"),
    "thing": (Thing(), "is a Thing"),
    "generator": ((n for n in [1]), "is a generator"),
    "async_generator": (later(), "is a async_generator"),
    "set": ({1, 2}, "is a set"),
    "ring": (ring(), "holds itself"),
    "ring_of_objects": (Point(ring()), "holds itself"),
    "too_deep": (nested(101), "nested deeper than 200"),
    "error": (ValueError("no"), "is an error: ValueError: no"),
    "error_message": (ToolMessage("no such page", tool_call_id="1", status="error"), "no such page"),
}


class Told:
    """One run whose steps return all of this, each followed by a step that uses what came of it."""

    def __init__(self, database: Path, is_async: bool) -> None:
        self.database, self._is_async = database, is_async
        self.given: list[str] = []
        self.used: dict[str, JsonValue] = {}
        plan = {"steps": [made for kind in (*KEPT, *REFUSED) for made in self._steps(kind)], "answer": {}}
        for kind in KEPT:
            plan["answer"][kind] = f"{{{kind}_result}}"
        self._planner = ScriptedModel([plan])
        with self.opened() as agent:
            agent.start("everything", thread="t")
            self.run = agent.resume("t", "approve")

    @staticmethod
    def _steps(kind: str) -> Iterator[dict[str, Any]]:
        yield step(kind, "give", kind=kind)
        yield step(f"use_{kind}", "use", kind=kind, value=f"{{{kind}_result}}")

    def opened(self) -> Any:
        return Agent.open(self.database, planner=self._planner, tools=[self._give(), self._use()], replan="never")

    def _give(self) -> BaseTool:
        def give(kind: str) -> Any:
            self.given.append(kind)
            return {**KEPT, **REFUSED}[kind][0]

        async def agive(kind: str) -> Any:
            return give(kind)

        function = {"coroutine": agive} if self._is_async else {"func": give}
        return StructuredTool(name="give", description="give", args_schema=ANY, **function)

    def _use(self) -> BaseTool:
        def use(kind: str, value: JsonValue) -> str:
            self.used[kind] = value
            return "used"

        return StructuredTool(name="use", description="use", args_schema=ANY, func=use, metadata={"effect": "read"})

    @cached_property
    def results(self) -> Any:
        """The results of all steps, as the library shows them to others."""
        with self.opened() as agent:
            return agent.show("t").results

    @cached_property
    def values(self) -> dict[str, JsonValue]:
        """The whole value of each step that has one, as the library reads it."""
        with self.opened() as agent:
            return {kind: agent.value("t", kind) for kind in KEPT}

    @cached_property
    def whole(self) -> Any:
        """What the command line shows of the whole run."""
        return self.shown()

    def shown(self, *options: str) -> Any:
        """Return what the command line shows of the run, as JSON."""
        result = CliRunner().invoke(app, ["show", "t.1", "--db", str(self.database), "--json", *options])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture(scope="module", params=["sync", "async"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(tmp_path_factory.mktemp("outputs") / "runs.db", request.param == "async")


def exactly(value: JsonValue) -> str:
    """Return what tells a value from all others, be they equal to Python."""
    return json.dumps(value)


def test_every_effect_happens_once_and_has_an_outcome_on_record(told: Told) -> None:
    with told.opened() as agent:
        assert agent.resume("t").status == "partial"
        log = agent.log("t")

    assert sorted(told.given) == sorted([*KEPT, *REFUSED])
    ended = [event.step for event in log if event.kind == "call_finished" and not str(event.step).startswith("use_")]
    assert sorted(map(str, ended)) == sorted(told.given)


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_kept_is_the_same_wherever_it_is_read(told: Told, kind: str) -> None:
    expected = exactly(KEPT[kind][1])

    result = told.results[kind]
    assert result.status == "succeeded" and exactly(told.values[kind]) == expected
    if result.artifact is None:
        assert exactly(result.value) == expected
    else:
        assert result.artifact["size"] == len(
            json.dumps(KEPT[kind][1], ensure_ascii=False, separators=(",", ":")).encode()
        )
    assert exactly(told.used[kind]) == expected
    assert exactly(told.shown("--value", kind)) == expected


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_kept_fails_its_step_and_says_why(told: Told, kind: str) -> None:
    words = REFUSED[kind][1]

    result = told.results[kind]
    assert result.status == "failed" and words in str(result.error)
    assert kind not in told.used
    shown = told.whole
    assert shown["steps"][kind] == "failed" and words in shown["results"][kind]["error"]


def test_the_answer_holds_all_that_was_kept(told: Told) -> None:
    expected = exactly({kind: value for kind, (_, value) in KEPT.items()})

    with told.opened() as agent:
        assert exactly(agent.value("t")) == expected
    assert exactly(told.shown("--answer")) == expected
