"""How long a thread's earlier checkpoints are kept: always, or until its run has ended.

See `docs/decisions/0069-checkpoints-until-the-end.md`.
"""

import os
from collections.abc import Mapping
from typing import Any, Literal, cast, get_args

from langgraph.checkpoint.base import Checkpoint

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.record.run_status import ENDS

KeepCheckpoints = Literal["all", "until_end"]
VARIABLE = "PLANNER_EXECUTOR_KEEP_CHECKPOINTS"
RUN_KEYS = {"thread", "n", "id", "seq"}
"""Key under which our nodes name their run."""
TRIGGERS = ("branch:to:", "__start__")
"""Channels that let a node run next."""


def keep_checkpoints_of(given: Any) -> KeepCheckpoints:
    """Return the setting.

    Raises:
        ConfigError: It is neither "all" nor "until_end".
    """
    if given not in get_args(KeepCheckpoints):
        raise ConfigError(f"keep_checkpoints must be one of {', '.join(get_args(KeepCheckpoints))}, got {given!r}")
    return cast(KeepCheckpoints, given)


def keep_checkpoints_from_environment(environment: Mapping[str, str] | None = None) -> KeepCheckpoints:
    """Return the setting of the environment; by default all checkpoints are kept.

    Raises:
        ConfigError: It is neither "all" nor "until_end".
    """
    return keep_checkpoints_of((os.environ if environment is None else environment).get(VARIABLE) or "all")


def let_keep(checkpointer: Any, given: Any) -> None:
    """Let a checkpointer keep a thread's earlier checkpoints as long as this setting says.

    Raises:
        ConfigError: There is no such setting, or the checkpointer always keeps all.
    """
    setting = keep_checkpoints_of(given)
    if hasattr(checkpointer, "keep_checkpoints"):
        checkpointer.keep_checkpoints = setting
    elif setting != "all":
        kind = type(checkpointer).__name__
        why = f"a {kind} keeps all; use an agent, `open_checkpointer`, or a LangGraph server with {VARIABLE}"
        raise ConfigError(f"keep_checkpoints={setting!r}: {why}")


def ends_run(namespace: str, checkpoint: Checkpoint) -> bool:
    """Whether a thread whose graph is ours stands still at this checkpoint, at the end of a run.

    A graph that has ours as a node has a history of its own, which is not ours to thin out.
    """
    values = checkpoint["channel_values"]
    run = values.get("run")
    is_ours = namespace == "" and isinstance(run, dict) and run.keys() >= RUN_KEYS
    return is_ours and values.get("status") in ENDS and not any(name.startswith(TRIGGERS) for name in values)
