"""Open what each extra brings, in an environment that may lack it, and print what was said, as JSON.

It is run as a file by the Python of that environment, away from the tree.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import metadata
from pathlib import Path

import planner_executor
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.notices.apprise import send
from planner_executor.graph.observing.otel_export import SWITCH, with_exported_spans
from planner_executor.graph.observing.prometheus import registry_of
from planner_executor.tools.documents.pdf_blocks import pdf_pages
from planner_executor.tools.extras import EXTRAS, absent_tools
from planner_executor.tools.mcp.launch import package_fault


def desk() -> str:
    """Return what the command says, which goes no further than to the choice of who may come in."""
    command = [Path(sys.executable).with_name("planner-executor"), "serve", "--address", "0.0.0.0"]
    return subprocess.run(command, capture_output=True, text=True).stderr


def tools(extra: str) -> str:
    """Return what the catalog says of the tools of an extra."""
    absent = absent_tools()
    for tool, (module, needed) in EXTRAS.items():
        if needed == extra and tool not in absent:
            import_module(module)
    return " ".join(told for tool, told in absent.items() if EXTRAS[tool][1] == extra)


def spans() -> None:
    """Export spans to the console."""
    os.environ |= {SWITCH: "1", "OTEL_TRACES_EXPORTER": "console"}
    with_exported_spans([])


def pdf() -> None:
    """Read a file that is no PDF."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        pdf_pages("a.pdf", Path(file.name))


DOORS: dict[str, Callable[[], object]] = {
    "desk": desk,
    "documents": pdf,
    "mcp": package_fault,
    "metrics": lambda: registry_of(lambda: {}),  # type: ignore[arg-type, return-value]
    "notify": lambda: asyncio.run(send("json://127.0.0.1:9", "title", "body")),
    "office": lambda: tools("office"),
    "otel": spans,
    "postgres": lambda: open_ledger("postgresql://127.0.0.1:9/runs"),
    "sandbox": lambda: tools("sandbox"),
    "studio": lambda: import_module("langgraph_cli"),  # ours says nothing: it is a command that one starts
    "web": lambda: tools("web"),
}


def said(door: Callable[[], object]) -> str:
    """Return what opening it says."""
    try:
        return str(door() or "")
    except Exception as error:  # noqa: BLE001  (whatever is said is what is looked at)
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    extras = metadata("planner-executor").get_all("Provides-Extra") or []
    assert {*DOORS, "dev"} == {*extras}, "name a door for each extra"
    sys.stdout.write(
        json.dumps({"from": planner_executor.__file__, **{extra: said(door) for extra, door in DOORS.items()}})
    )
