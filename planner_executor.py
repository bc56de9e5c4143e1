"""Entry point of the `planner-executor` command.

`graph` and `tools` are common names: a `graph.py` or `tools.py` of the user's own that comes first on the
import path would be loaded instead of ours. This module is looked up first and says so in one sentence.
"""

import importlib.util
import sys
from pathlib import Path


def shadowing_file(package: str) -> Path | None:
    """Return the file that `import package` would load instead of ours, or None if ours is found."""
    ours = Path(__file__).resolve().parent / package / "__init__.py"
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    found = Path(spec.origin).resolve()
    return None if found == ours else found


def main() -> None:
    """Run the command line, unless a file of the user's hides one of our packages."""
    for package in ("graph", "tools"):
        if found := shadowing_file(package):
            sys.stderr.write(
                f"{found} hides the package '{package}' of planner-executor; "
                "rename that file or run the command from another folder\n"
            )
            raise SystemExit(2)
    from graph.cli import app

    app(prog_name="planner-executor")


if __name__ == "__main__":
    main()
