"""Playbooks and runs: one made of a run's approved plan, and what the records of a database say of one."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import InputError, LedgerCorruptError, MissingRunError
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.ledger.values import tools_of
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.playbooks import Playbook
from planner_executor.graph.playbooks.saving import kept_plan
from planner_executor.graph.record.events import RunStarted
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import UNREADABLE
from planner_executor.graph.runs.runs import Runs

LOOKED_AT = 20
"""Most runs with the name as a tag that are read; anybody may give a run that tag."""


async def named_in(runs: Runs, playbook: Playbook) -> dict[str, JsonValue]:
    """Return what the record of a run says that is started by the playbook's name.

    `changed_since` is the run that another playbook of this name and version ran last, if it was another one. A record
    that cannot be read says nothing.
    """
    named, before = playbook.named, None
    for limit in (1, LOOKED_AT):  # almost always the first one tells
        page = await runs.page(RunFilter(tag=playbook.name, limit=limit, before=before))
        for found in page:
            ran = await _playbook_of(runs, RunKey(found.thread, found.n))
            # A tag says little: anybody may give a run this one.
            if (ran.get("name"), ran.get("version")) == (playbook.name, playbook.version):
                return named if ran.get("digest") == named["digest"] else {**named, "changed_since": found.id}
        if (before := page.next) is None:
            break
    return named


async def _playbook_of(runs: Runs, run: RunKey) -> Mapping[str, Any]:
    """Return the playbook that a run was started by, empty if none is known, or the record is gone or damaged."""
    try:
        started = (await runs.ledger.events(run))[0].data_if_known
    except (LedgerCorruptError, MissingRunError, *UNREADABLE):
        return {}
    return started.playbook if isinstance(started, RunStarted) else {}


async def playbook_of_run(
    runs: Runs, name: str, head: Mapping[str, Any], parameters: Sequence[tuple[str, str]], keep: Collection[str] = ()
) -> Playbook:
    """Return the playbook of the plan of a run that was approved last, see `kept_plan`.

    Raises:
        UnknownRunError: There is no such run.
        InputError: No plan of it was approved; see also `kept_plan`.
    """
    record = await state_of(runs.ledger, await runs.find(name))
    approval, state = record.review_state.approval, record.plan_state
    if state.approved_plan is None or approval is None:
        raise InputError("run", f"no plan of {record.id} was approved; approve one first")
    plan = Plan.model_validate(state.approved_plan)
    source = {"run": record.id, "revision": state.approved_revision, "digest": plan.digest, "approved_by": approval.by}
    described = {"description": record.assignment.started.goal, **head, "source": source}
    return kept_plan(plan, await tools_of(runs.ledger, record), described, parameters, keep)
