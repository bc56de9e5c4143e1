"""`python -m planner_executor` is the command."""

import sys

if not sys.flags.safe_path:
    # `python -m` looks in the current folder first, where a file named like a module of Python's may lie.
    sys.path.append(sys.path.pop(0))

from planner_executor.command import main

main()
