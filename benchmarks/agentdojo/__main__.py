"""Write the tasks anew from the installed package: `python -m benchmarks.agentdojo`."""

import json
from importlib import import_module

from benchmarks.agentdojo import USER_TASKS
from benchmarks.attacked_task import solution

VERSION = "v1.2.2"


def main() -> None:
    """Take the ground truth of each user task in its environment, a line for each."""
    suites = import_module("agentdojo.task_suite.load_suites").get_suites(VERSION)
    lines = []
    for name, suite in suites.items():
        for task in suite.user_tasks.values():
            environment = task.init_environment(suite.load_and_inject_default_environment({}))
            calls = solution(task, environment)
            lines.append(json.dumps({"suite": name, "task": task.ID, "goal": task.PROMPT, "calls": calls}))
    USER_TASKS.write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
