"""`python -m planner_executor` is the command."""

import sys

if not sys.flags.safe_path:
    # `python -m` looks in the current folder first, where a tool or a stranger may have written a module.
    del sys.path[0]

from planner_executor.command import main

main()
