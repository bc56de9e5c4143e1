"""The real graph with everything outside of it replaced: models, tools, ledger, clock."""

from dataclasses import replace
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from planner_executor.graph.builder.configuration import settings_of
from planner_executor.graph.builder.graph_builder import Graph, compiled
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.chat_models.role_model import RoleModel
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.context import Services
from planner_executor.graph.errors import ConfigError, InputError
from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import KnownPlaybook
from planner_executor.graph.record.budget import Budget
from planner_executor.graph.record.events import Configuration, Content
from planner_executor.graph.replay.inputs import held
from planner_executor.graph.replay.ledger import ReplayLedger
from planner_executor.graph.replay.recorded import RecordedModel, RecordedTools, SubstituteModel
from planner_executor.graph.replay.scheduler import Scheduler
from planner_executor.graph.settings.settings import current_settings


async def _at_once(_seconds: float) -> None:
    """Wait for nothing: how long a run waited is on record."""


def staged(
    configured: Configuration,
    budget: Budget,
    transcript: Transcript,
    ledger: ReplayLedger,
    cues: Scheduler,
    saver: BaseCheckpointSaver[Any],
    planner: SubstituteModel | None,
) -> Graph:
    """Return the graph as it was configured.

    Raises:
        InputError: It was configured in a way that this version does not know.
    """
    try:
        policy = held(configured.policy, transcript.artifacts) if configured.policy is not None else {}
        settings = settings_of({"policy": policy, **current_settings(configured.settings), "budget": budget})
        specs = [ToolSpec.from_json(raw) for raw in held(configured.tools or Content(), transcript.artifacts)]
        playbooks = held(configured.playbooks or Content([]), transcript.artifacts)
        library = {raw["name"]: KnownPlaybook.from_json(raw) for raw in playbooks}
        models = _models(configured, cues, planner)
    except (ConfigError, TypeError, KeyError) as error:
        raise InputError("run", f"{transcript.run} was recorded by another version: {error}") from error

    async def opened() -> ReplayLedger:
        return ledger

    tools = RecordedTools(specs, cues.outcome_of_call, transcript.artifacts, ledger.recording)
    # Without rates: the record says when each call was made.
    turns = RateLimiter({}, ledger.time.seconds)
    clock = Clock(ledger.time.now, _at_once, step_over=cues.step_over, dated=ledger.recording.date_told)
    services = Services(settings, tools, models, opened, turns, ledger.time.seconds, clock, judges_terms=False)
    return compiled(replace(services, library=library), saver)


def _models(configured: Configuration, cues: Scheduler, planner: SubstituteModel | None) -> RoleModels:
    def recorded(role: str, names: list[str]) -> RoleModel:
        return RecordedModel((), called=tuple(names), role=role, outcome=cues.outcome_of_prompt)

    found = {role: recorded(role, names) for role, names in configured.models.items()}
    return RoleModels(
        planner=planner.under(tuple(configured.models["planner"])) if planner is not None else found["planner"],
        executor=found["executor"],
        replanner=found["replanner"],
        judge=found.get("judge"),
        layers=(),
        named={name: recorded("executor", names) for name, names in configured.executors.items()},
    )
