"""Every notebook runs from top to bottom, offline; plans, runs and ledgers draw themselves in it."""

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.filterwarnings("default")


def executed(path: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    return notebook


def outputs(notebook: Any, kind: str) -> list[str]:
    shown = (output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    return [data[kind] for data in shown if kind in data]


@pytest.mark.e2e
def test_the_first_notebook_plans_edits_approves_runs_watches_and_looks_into_the_ledger() -> None:
    notebook = executed(ROOT / "notebooks" / "first_plan.ipynb")

    pictures = outputs(notebook, "image/svg+xml")
    assert len(pictures) == 6 and all(picture.startswith("<svg") for picture in pictures)
    assert sum("Timeline of 2 steps" in html for html in outputs(notebook, "text/html")) == 1  # watched, and left still
    assert "Sources" in "".join(outputs(notebook, "text/markdown"))
    assert any("approved by a person" in text and "ended as" in text for text in outputs(notebook, "text/plain"))
    assert outputs(notebook, "text/plain")[-2] == "53"


@pytest.mark.e2e
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem != "first_plan"], ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_pictures(path: Path) -> None:
    pictures = outputs(executed(path), "image/svg+xml")

    assert len(pictures) >= 2 and all(picture.startswith("<svg") for picture in pictures)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)

    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in notebook.cells)
