"""The 97 user tasks of AgentDojo and the calls that solve them, kept as data: MIT, see `LICENSE` beside them.

The calls are AgentDojo's own ground truth over the default environments of its suites. `python -m benchmarks.agentdojo`
writes them anew (`pip install agentdojo==0.1.35`).
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.attacked_task import Call

USER_TASKS = Path(__file__).with_name("user_tasks.jsonl")


@dataclass(frozen=True)
class UserTask:
    """A task as its user words it, and the calls that solve it, in their order."""

    suite: str
    task: str
    goal: str
    calls: tuple[Call, ...]


@cache
def user_tasks() -> tuple[UserTask, ...]:
    """Return the tasks of all suites."""
    read = map(json.loads, USER_TASKS.read_text("utf-8").splitlines())
    return tuple(UserTask(**{**one, "calls": tuple((tool, args) for tool, args in one["calls"])}) for one in read)
