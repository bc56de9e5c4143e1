"""What a removal of threads did, in sentences."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from planner_executor.graph.policy.retention import KeptThread, Obstacle
from planner_executor.graph.words.name_list import counted

LISTED = 5
"""So many threads are named for each reason."""
OBSTACLES: Mapping[Obstacle, tuple[str, str]] = {
    "waiting": ("waiting for a decision", "waits for a decision; decide or cancel it: {resume}"),
    "unfinished": ("not ended", "has not ended; end it: {resume}, or {cancel}"),
    "uncertain": (
        "with an uncertain call",
        "has a call in step {about} that may have happened; settle it: {retry}",
    ),
    "forked": ("read by a fork", "is read by its fork {about}; prune the fork first"),
    "executing": ("being worked on", "is being worked on; prune again when it has ended"),
    "changed": ("changed meanwhile", "was changed meanwhile; prune again"),
    "damaged": ("damaged", "is damaged; look at it: {verify}"),
    "newer": ("of a newer release", "was written by a newer release; prune with that release"),
}
"""Obstacle -> its name in a count, and what keeps a run with the next move, in which commands are named in braces."""
COMMANDS = ("resume", "cancel", "retry", "verify")


def removed_line(threads: int, runs: int, dry_run: bool) -> str:
    """Return how much was removed.

    >>> removed_line(1, 2, dry_run=True)
    'would prune 1 thread with 2 runs'
    """
    return f"{'would prune' if dry_run else 'pruned'} {counted(threads, 'thread')} with {counted(runs, 'run')}"


def kept_lines(kept: Sequence[KeptThread], command: Callable[[str, str], str]) -> Iterator[str]:
    """Yield how many threads stay, and for a few of each reason the run that keeps the thread, with the next move.

    Args:
        kept: The threads.
        command: Returns the command line for a command's name and a run, quoted for a shell.
    """
    if not kept:
        return
    counts = Counter(one.obstacle for one in kept)
    reasons = ", ".join(f"{counts[obstacle]} {words}" for obstacle, (words, _) in OBSTACLES.items() if counts[obstacle])
    yield f"kept {counted(len(kept), 'thread')}: {reasons}"
    for obstacle, (_, move) in OBSTACLES.items():
        same = [one for one in kept if one.obstacle == obstacle]
        for one in same[:LISTED]:
            commands = {name: command(name, one.run) for name in COMMANDS}
            # The patterns are ours; a run's name goes in as a value, quoted for the shell.
            yield f"run {one.run} {move.format(about=one.about, **commands)}"
