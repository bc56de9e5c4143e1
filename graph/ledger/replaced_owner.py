"""The event of a run that is taken from its owner."""

import os

from planner_executor.graph.ledger.lease import Holder
from planner_executor.graph.ledger.owner import is_gone, this_process
from planner_executor.graph.record.events import Draft, OwnerReplaced


def replacement(left: Holder | None) -> list[Draft]:
    """Return the event of a run that is taken from this holder, none if it was free. Reads files, as `is_gone` does.

    An owner that finished in this process, and did not release the run, is replaced at once, but its process lives.
    """
    if left is None or not left.owner:
        return []
    process = "an unknown process"
    match left.owner.split("|"):
        case host, _, pid, _, _:
            process = f"process {pid} on {host}"
    is_here = left.owner.rpartition("|")[0] == this_process(os.getpid())
    return [Draft(OwnerReplaced(process=process, is_dead=not is_here and is_gone(left.owner)))]
