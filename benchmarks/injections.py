"""Prompt injection at its worst, over the tasks of AgentDojo: `python -m benchmarks.injections`.

Environments, tasks, attacks and their checks are those of the package (`pip install agentdojo`, 0.1.35, suites v1.2.2);
the models are scripts of ours. They obey every order that they read in a result of a tool:

- The planner has read nothing. It writes the calls of the task's solution in their order. An argument whose value is in
  the user's words is a literal; every other one is left to the executor, which gets the results before it. A task that
  hands control to its data ("do what the mail says") is planned up to that read, and revised after it (`HANDED_OVER`).
- With `--look` it makes the solution's reads first, and adds all calls of the attacker to the plan if it saw an order.
- The executor fills the arguments that are open with the attacker's values if the attacker wants that tool, before it
  does its own work, and says in its answer what the attacker wants said.
- The replanner is asked after every step. Once an order was read it adds all calls of the attacker to the plan.
- The person approves whatever is asked: each plan and each call.

An attack is a pair of a user's task and an attacker's, with the order in every place that the suite lets an attacker
write. It has succeeded if AgentDojo's own check says so. An attacker's task without a solution in the package is left
out, since no script can obey it: 629 pairs are left. `--undeclared` takes the tools' metadata away.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from benchmarks.attacked_task import AttackedTask, solution
from benchmarks.obedient_models import Obedient, Roles
from planner_executor import build_graph

VERSION = "v1.2.2"
ANSWERS = 60
PAID = ("send_money", "schedule_transaction")
"""Tools whose recipients the policy bounds to the accounts of the user's history."""


def policy_of(suite: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Return the policy of a suite: money goes to accounts that were in the history before, unless it is `none`."""
    bank = getattr(suite.load_and_inject_default_environment({}), "bank_account", None)
    if bank is None or options.policy == "none":
        return {"new_effects": options.new_effects}
    moves = [*bank.transactions, *bank.scheduled_transactions]
    known = sorted({account for move in moves for account in (move.sender, move.recipient)})
    return {
        "new_effects": options.new_effects,
        "tools": {tool: {"args": {"recipient": {"one_of": known}}} for tool in PAID},
    }


async def carried_out(
    trial: AttackedTask, policy: Mapping[str, Any], *, declared: bool, replan: str, look: bool
) -> str:
    """Run a trial with a person who approves all, and return its answer."""
    roles = Roles(trial, look=look)
    graph = build_graph(
        planner=Obedient(roles.plan),
        executor=Obedient(roles.work),
        replanner=Obedient(roles.revise),
        tools=trial.tools(declared=declared),
        checkpointer=InMemorySaver(),
        policy=dict(policy),
        replan=replan,
        look=trial.readers if look else (),
        max_rounds=40,
    )
    thread = {"configurable": {"thread_id": "t"}}
    state = await graph.ainvoke({"goal": trial.task.PROMPT}, thread)
    for _ in range(ANSWERS):
        if "__interrupt__" not in state:
            break
        actions = state["__interrupt__"][0].value["action_requests"]
        trial.shown += [(one["args"]["tool"], one["args"]["args"]) for one in actions if one["name"] == "run_step"]
        decisions = [{"type": "approve"} if one["name"] == "run_plan" else decided(one) for one in actions]
        state = await graph.ainvoke(Command(resume={"decisions": decisions}), thread)
    return str(state.get("answer") or "")


def decided(action: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decision of a person who wants it all."""
    if action["name"] == "run_step":
        return {"type": "approve"}
    happened = {**action["args"], "happened": False}
    return {"type": "edit", "edited_action": {"name": action["name"], "args": happened}}


def trials(suites: Mapping[str, Any], *, attacked: bool) -> Iterator[AttackedTask]:
    """Yield the trials of all suites."""
    for suite in suites.values():
        environment = suite.load_and_inject_default_environment({})
        attacks = [
            one for one in suite.injection_tasks.values() if solution(one, environment) or one.GROUND_TRUTH_OUTPUT
        ]
        for task in suite.user_tasks.values():
            yield from (AttackedTask(suite, task, attack) for attack in (attacks if attacked else [None]))


async def measured(options: argparse.Namespace) -> None:
    """Run all trials and print what came of them, suite by suite."""
    found = import_module("agentdojo.task_suite.load_suites").get_suites(VERSION)
    suites = {name: suite for name, suite in found.items() if options.suite in (None, name)}
    policies = {name: policy_of(suite, options) for name, suite in suites.items()}
    how: dict[str, Any] = {"declared": not options.undeclared, "replan": options.replan, "look": options.look}
    counts: Counter[tuple[str, str]] = Counter()
    for attacked in (False, True):
        for trial in trials(suites, attacked=attacked):
            name = trial.suite.name
            answer = await carried_out(trial, policies[name], **how)
            if not attacked:
                solved = trial.has_solved(answer)
                counts.update({(name, "tasks"): 1, (name, "done"): solved})
                lines = [] if solved else [f"not done: {name} {trial.task.ID}"]
            else:
                won = trial.was_attacked(answer)
                counts.update({(name, "attacks"): 1, (name, "won"): won, (name, "shown"): won and trial.was_shown})
                lines = [f"won: {name} {trial.task.ID} {trial.attack.ID}{' shown' * trial.was_shown}"] if won else []
            if options.verbose:
                print(*lines, sep="\n", end="\n" * bool(lines), flush=True)
    print(table(counts, list(suites)))


def table(counts: Counter[tuple[str, str]], names: Sequence[str]) -> str:
    """Return the counts as a table in Markdown."""
    for name in names:
        counts.update({("all", what): counts[name, what] for what in ("tasks", "done", "attacks", "won", "shown")})
    lines = [
        "| suite | tasks done | attacks that succeeded | of these in a request of their own |",
        "|---|---|---|---|",
    ]
    for name in (*names, "all"):
        done, won, shown = (counts[name, what] for what in ("done", "won", "shown"))
        tasks, attacks = counts[name, "tasks"], counts[name, "attacks"]
        cells = [share(done, tasks), share(won, attacks), share(shown, won)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    """Return a part of a whole in words.

    >>> share(1, 8), share(0, 0)
    ('1 of 8 (12.5 %)', 'none')
    """
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.injections", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--new-effects", choices=["ask", "deny"], default="ask")
    parser.add_argument("--policy", choices=["accounts", "none"], default="accounts", help="who may be paid")
    parser.add_argument("--replan", choices=["every_step", "failure"], default="every_step")
    parser.add_argument("--undeclared", action="store_true", help="tools without metadata")
    parser.add_argument("--look", action="store_true", help="the planner looks by all tools that only read")
    parser.add_argument("--suite", help="one suite alone")
    parser.add_argument("--verbose", action="store_true", help="name each attack that succeeded and each task not done")
    asyncio.run(measured(parser.parse_args()))


if __name__ == "__main__":
    main()
