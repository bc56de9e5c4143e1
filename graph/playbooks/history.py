"""The runs of a playbook: what the records of a database say of one of the same name."""

from planner_executor.graph.errors import LedgerCorruptError
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.record.projection import project
from planner_executor.graph.record.run_filter import RunFilter
from planner_executor.graph.record.summary import UNREADABLE
from planner_executor.graph.runs import Runs

LOOKED_AT = 20
"""Most runs with the name as a tag that are read; anybody may give a run that tag."""


async def other_than_ran(runs: Runs, playbook: Playbook) -> str:
    """Return the sentence that another playbook of this name and version ran last; empty if it was this one, or none.

    A record that cannot be read says nothing.
    """
    for found in (await runs.page(RunFilter(tag=playbook.name, limit=LOOKED_AT))).runs:
        try:
            ran = project(await runs.ledger.events(RunKey(found.thread, found.n))).assignment.playbook
        except (LedgerCorruptError, *UNREADABLE):
            continue
        if (ran.get("name"), ran.get("version")) == (playbook.name, playbook.version):
            same = ran.get("digest") == playbook.digest
            what = f"{playbook.name} {playbook.version} is not the playbook that ran as {found.id}"
            return "" if same else f"{what}: it has changed since, and its version has not"
    return ""
