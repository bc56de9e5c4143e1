"""The table of commands, which imports none of them."""

from typing import NamedTuple


class Row(NamedTuple):
    """A command: the module in `graph/cli/commands/`, the name of the command there, and its line in `--help`."""

    module: str
    name: str
    summary: str


COMMANDS = {
    "new": Row("new", "new", "Write a small project of your own: three tools, settings, a policy, a plan and a test."),
    "run": Row("run", "run", "Plan a goal, review the plan and execute it."),
    "runs": Row("runs", "runs", "List runs, the latest first, or those that cost most or took longest."),
    "inbox": Row(
        "inbox", "inbox_command", "List what needs a person, the longest wait first, and decide it one by one."
    ),
    "show": Row("show", "show", "Show a run: goal, plan, results, decisions and answer; or one result in full."),
    "resume": Row("resume", "resume", "Continue a run that waits, was paused or was killed."),
    "retry": Row("retry", "retry", "Try again what failed in a run that ended; what succeeded stays."),
    "fork": Row("fork", "fork", "Start a run that keeps another one's results as far as they do not depend on a step."),
    "pause": Row("pause", "pause", "Pause a run that another process executes, before its next call."),
    "steer": Row("steer", "steer", "Add or withdraw constraints of an active run, which replans before it continues."),
    "skip": Row("skip", "skip", "Leave a step of a waiting or paused run out, and with it the steps that need it."),
    "approvals": Row(
        "approvals",
        "approvals",
        "List the standing approvals: those that hold in any run, and those of runs that have not ended.",
    ),
    "supply": Row(
        "supply",
        "supply",
        "Give the result of a step of a waiting or paused run, which is then not executed; its checks still apply.",
    ),
    "cancel": Row("cancel", "cancel", "Cancel a run; steps that have finished are not undone."),
    "work": Row("work", "work", "Continue runs that no process works on, until stopped."),
    "draw": Row("draw", "draw", "Draw a run's plan on the screen, or into a file in the format of its extension."),
    "audit": Row(
        "audit", "audit", "Print the history of a run: plans, calls, model calls and decisions, with author and reason."
    ),
    "verify": Row(
        "verify", "verify", "Recompute the hash chain of a run or an exported file, and name the first broken event."
    ),
    "export": Row(
        "export", "export", "Write the events and artifacts of a run to one file, which `verify` and `replay` accept."
    ),
    "replay": Row(
        "replay", "replay", "Replay a run with recorded model and tool results, and report the first divergence."
    ),
    "redact": Row(
        "redact",
        "redact",
        "Remove a value, prompted for or read from standard input, from all records of a run and its thread.",
    ),
    "prune": Row(
        "prune",
        "prune",
        "Remove whole threads with runs, artifacts and checkpoints; a tombstone without words remains of each.",
    ),
    "backup": Row(
        "backup",
        "backup",
        "Copy the database with its runs and checkpoints to a new file, as one moment has it; runs go on meanwhile.",
    ),
    "copy": Row(
        "copy", "copy", "Copy threads with their runs and checkpoints to another database; the originals stay."
    ),
    "tools": Row(
        "tools", "tools", "List the tools with their effects and the `--approval` modes that ask before their use."
    ),
    "trust": Row(
        "trust",
        "trust",
        "Trust a folder's settings file, and the policy named in it, or a playbook, until they change.",
    ),
    "serve": Row(
        "serve", "serve", "Serve the review desk: see the runs of a database in a browser, and decide on them."
    ),
    "notify": Row("notify", "notify", "Send a test notice to an address, to see that it arrives."),
    "metrics": Row(
        "metrics", "metrics", "Print counts over all runs in Prometheus' text format, or serve them until Ctrl-C."
    ),
    "doctor": Row("doctor", "doctor", "Check the database: sizes, integrity, index, runs whose process died."),
    "migrate": Row(
        "migrate", "migrate", "Migrate the database to this version; any command that opens it does the same."
    ),
    "eval": Row("eval", "evaluate", "Run each goal of a suite in several arms and compare success and cost."),
    "models": Row("models", "models", "The models of the roles."),
    "playbook": Row("playbook", "playbook", "Plans that are kept as files, and run again with other values."),
    "case": Row("case", "case", "Cases of playbooks."),
    "policy": Row("policy", "policy", "Rules that allow, review and deny."),
}
"""Command by name, in the order of `--help`; `models`, `playbook`, `case` and `policy` have subcommands."""
