"""A case made of a run: what its calls, its models and its people answered, how it ended, and what it did."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import InputError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_states import projected, state_of
from planner_executor.graph.ledger.values import args_of, value_of
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.playbooks.case import Answer, Case, ExpectedCall
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.record.events import (
    CallFinished,
    CallStarted,
    Event,
    ModelFinished,
    ModelStarted,
    StepFinished,
)
from planner_executor.graph.record.redaction import MARK
from planner_executor.graph.runs.runs import Runs

Place = tuple[str, int | None, int]
"""Step, item and number of a call."""


async def playbook_named_by(runs: Runs, name: str) -> str | None:
    """Return the name of the playbook that a run was started by, None if it was started otherwise.

    Raises:
        UnknownRunError: There is no such run.
    """
    named = (await state_of(runs.ledger, await runs.find(name))).assignment.started.playbook.get("name")
    return str(named) if named is not None else None


async def case_of_run(runs: Runs, name: str, playbook: Playbook, params: Mapping[str, JsonValue]) -> Case:
    """Return the case that a run makes for a playbook.

    Args:
        runs: The runs.
        name: The run.
        playbook: The playbook that the case will stand beside.
        params: Values of parameters; the others are those of the run's plan, or the playbook's examples.

    Raises:
        UnknownRunError: There is no such run.
        InputError: The run has not ended, none of its steps is of the playbook, a value does not fit, or something that
            the case needs was redacted.
    """
    events = await runs.ledger.events(await runs.find(name))
    record = await projected(events)
    if record.ended is None:
        raise InputError("run", f"{record.id} has not ended; a case needs its end")
    plan = Plan.model_validate(record.plan_state.plan or {})
    # A revision may have changed most of the plan; without a step of the playbook it is a run of another one.
    if not {step.id for step in plan.steps} & {str(step.get("id")) for step in playbook.steps}:
        raise InputError("run", f"{record.id} has no step of {playbook.name}; name the playbook that it ran")
    values = {**(playbook.example() or {}), **{known: param.value for known, param in plan.params.items()}, **params}
    values = {known: value for known, value in values.items() if known in playbook.parameters}
    playbook.plan(values)
    asked = {str(step["id"]) for step in playbook.steps if step.get("ask")}
    case = Case(
        source={"run": record.id, "digest": plan.digest},
        params=values,
        answers=tuple(await _answers(runs.ledger, events, asked)),
        ends=record.ended.status,
        calls=tuple(await _effects(runs.ledger, events)),
    )
    # A case that has the mark of a redaction would expect what no run gives again.
    if MARK in case.to_text():
        raise InputError("run", f"something that {record.id} got was redacted; take another run")
    return case


async def _answers(ledger: Ledger, events: Sequence[Event], asked: set[str]) -> list[Answer]:
    """Return the last answer of each call, in the order of the first ones."""
    found: dict[tuple[str | None, Place], Answer] = {}
    started: dict[Place, CallStarted] = {}
    of_models: dict[str, ModelStarted] = {}
    turns: Counter[tuple[str, str, int | None]] = Counter()
    for event in events:
        data, step = event.data_if_known, event.step or ""
        if isinstance(data, CallStarted):
            started[step, data.item, data.call] = data
        elif isinstance(data, CallFinished) and step:
            place = (step, data.item, data.call)
            answer: dict[str, Any] = {"step": step, "item": data.item, "call": data.call, "tool": started[place].tool}
            if data.result.status == "succeeded":
                answer["answer"] = await value_of(ledger, data.result)
            else:
                answer["error"] = data.result.error or "failed"
            # An answer in the place of an earlier one keeps its turn: a dict keeps the order of first keys.
            found[None, place] = Answer(**answer)
        elif isinstance(data, ModelStarted):
            of_models[data.key] = data
        elif isinstance(data, ModelFinished) and step and not data.again and data.response is not None:
            item = of_models[data.key].item
            place = (step, item, turns[data.role, step, item])
            turns[data.role, step, item] += 1
            role: Any = data.role
            if role in ("executor", "judge"):
                told = {name: data.response[name] for name in ("content", "tool_calls") if data.response.get(name)}
                found[role, place] = Answer(step=step, item=item, call=place[2], role=role, answer=_json(told))
        elif isinstance(data, StepFinished) and step in asked and data.result.status == "succeeded":
            found["", (step, None, 0)] = Answer(step=step, answer=await value_of(ledger, data.result))
    return list(found.values())


async def _effects(ledger: Ledger, events: Sequence[Event]) -> list[ExpectedCall]:
    """Return the calls with an effect, equal ones together."""
    made: dict[str, ExpectedCall] = {}
    for event in events:
        data = event.data_if_known
        # A further attempt is the same call, and reads are no outcome.
        if not isinstance(data, CallStarted) or data.effect == "read" or data.attempt > 1:
            continue
        args = await args_of(ledger, data.args)
        key = json.dumps([data.tool, args], sort_keys=True)
        before = made[key].times or 0 if key in made else 0
        made[key] = ExpectedCall(tool=data.tool, args=args, times=before + 1)
    return list(made.values())


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value))
