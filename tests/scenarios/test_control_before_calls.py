"""Whoever steers, pauses or cancels a run stops its next call, of whatever kind, and not the one after five more."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from planner_executor import Agent
from planner_executor.graph.errors import RunPausedError
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

STARTS = {"call_started", "model_started"}
CONTROLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "steer": (lambda agent: agent.steer("t", feedback="not so"), "steered"),
    "constraint": (lambda agent: agent.steer("t", add=["spend nothing"]), "steered"),
    "pause": (lambda agent: agent.pause("t"), "paused"),
    "cancel": (lambda agent: agent.cancel("t"), "run_ended"),
}
DONE = {"steps": [], "answer": "changed"}
FAULTY = {"steps": [step("a", "nope")]}
ASKS = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}])
MODEL = {**step("a"), "tools": ["look"]}
EACH: dict[str, Any] = {"for_each": [1, 2, 3]}


class Now(ScriptedModel):
    """Gives its answers, and does something during the first that is marked with `during`."""

    async def _agenerate(self, *args: Any, **kwargs: Any) -> Any:
        if self._answers and isinstance(self._answers[0], During):
            self._answers[0] = self._answers[0].answer
            speak()
        return await super()._agenerate(*args, **kwargs)


class During:
    def __init__(self, answer: Any) -> None:
        self.answer = answer


def speak() -> None:
    """What a person does during a call; each test sets it."""
    raise AssertionError


KINDS: dict[str, dict[str, Any]] = {
    "tool step": {"planner": [{"steps": [step("a", "act"), step("b", "look", after=["a"])]}]},
    "model call of a model step": {"planner": [{"steps": [{**step("a"), "tools": ["act"]}]}], "executor": ["act", "x"]},
    "tool call of a model step": {"planner": [{"steps": [MODEL]}], "executor": [During(ASKS), "x"]},
    "items of a tool step": {"planner": [{"steps": [{**step("a", "act", n="{item_result}"), **EACH}]}]},
    "items of a model step": {"planner": [{"steps": [{**step("a"), **EACH}]}], "executor": [During("x"), "x", "x"]},
    "refine": {
        "planner": [
            {"steps": [{**step("a"), "refine": True}, {**step("b"), "refine": True}]},
            During({"steps": [step("c", "look")]}),
        ]
    },
    "judge": {
        "planner": [{"steps": [{**step("a", "act"), "success_criteria": "it is good"}]}],
        "judge": [{"met": True, "why": "it is"}],
    },
    "planner": {"planner": [During(FAULTY)]},
    "replanner": {"planner": [{"steps": [step("a", "fail")]}], "replanner": [During(FAULTY)]},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("control", CONTROLS)
def test_the_next_call_waits_for_what_a_person_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: LoggedTools, control: str, kind: str
) -> None:
    scripts = KINDS[kind]
    say, event = CONTROLS[control]

    def fail(**_: Any) -> None:
        raise ValueError("broken")

    def act(**_: Any) -> str:
        speak()
        return "done"

    own = [
        tools.tool("look", effect="read"),
        tools.tool("act", act, effect="read"),
        tools.tool("fail", fail, effect="read"),
    ]
    acts = AIMessage("", tool_calls=[{"name": "act", "args": {}, "id": "1"}])
    executor = Now([acts if answer == "act" else answer for answer in scripts.get("executor", ())])
    models: dict[str, Any] = {
        "planner": Now([*scripts["planner"], DONE]),
        "replanner": Now([*scripts.get("replanner", ()), DONE]),
        "executor": executor,
        "judge": Now(scripts.get("judge", ())),
    }
    with (
        Agent.open(tmp_path / "runs.db", tools=own, approval="never", max_concurrency=1, **models) as agent,
        Agent.open(tmp_path / "runs.db", tools=own) as elsewhere,
    ):
        monkeypatch.setitem(globals(), "speak", lambda: once(said, lambda: say(elsewhere)))
        said: list[int] = []
        try:
            agent.start("g", thread="t")
        except RunPausedError:
            assert control == "pause"
        kinds = [one.kind for one in agent.log("t")]
        same = agent.replay("t")

    first = kinds.index(event)
    begun = next(place for place in range(first, -1, -1) if kinds[place] in STARTS)
    assert said and not any(kind in STARTS for kind in kinds[begun + 1 : first])
    assert begins(kinds, kind) == begun, kinds
    assert same.is_same, str(same)


def once(done: list[int], do: Callable[[], Any]) -> None:
    """Do it the first time."""
    if not done:
        done.append(1)
        do()


def begins(kinds: list[str], kind: str) -> int:
    """Return the place at which the call begins during which the person speaks."""
    nth = {"model call of a model step": 3, "tool call of a model step": 2, "refine": 2, "replanner": 3}.get(kind)
    starts = [place for place, one in enumerate(kinds) if one in STARTS]
    return starts[(nth or (1 if kind == "planner" else 2)) - 1]
