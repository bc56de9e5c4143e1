"""Who adds a kind of event or of step, or an end status, is led by the type check to the files that the docs name."""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OMEN = '''

@dataclass(frozen=True, kw_only=True, slots=True)
class Omen(Payload):
    """A kind of event that nobody knows yet."""
'''
IMPORT = "from planner_executor.graph.record.events.vote import "
ADDED = {
    "which kinds of events there are": "Omen",
    "which kinds of steps there are": "Literal['wait']",
    "with which statuses a run ends": "Literal['lost']",
}
"""The row of the architecture's table -> what is added."""


def change(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text()
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after, 1)
    path.write_text(text)


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Return what was added -> the files in which mypy misses it."""
    root = tmp_path_factory.mktemp("added") / "tree"
    for folder in ("graph", "tools", "planner_executor", ".mypy_cache"):
        if (ROOT / folder).is_dir():
            shutil.copytree(ROOT / folder, root / folder, symlinks=True)
    shutil.copy(ROOT / "pyproject.toml", root)
    events = root / "graph" / "record" / "events"
    change(events / "event.py", ("EventData = (\n", "EventData = (\n    Omen |\n"), (IMPORT, f"{IMPORT}Omen, "))
    with (events / "vote.py").open("a") as file:
        file.write(OMEN)
    change(root / "graph" / "plan" / "step_kind.py", ('"model"]', '"model", "wait"]'))
    change(root / "graph" / "record" / "run_status.py", ('"cancelled"]', '"cancelled", "lost"]'))
    found = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True, check=False)
    missed: defaultdict[str, set[str]] = defaultdict(set)
    for line in found.stdout.splitlines()[:-1]:
        match = re.match(r'planner_executor/([^:]+):\d+: error: Argument 1 to "assert_never" .* type "([^"]+)"', line)
        assert match, line
        missed[match[2]].add(match[1])
    return missed


@pytest.mark.e2e
@pytest.mark.parametrize("row", ADDED)
def test_the_type_check_names_the_files_that_the_architecture_does(row: str, named: dict[str, set[str]]) -> None:
    table = (ROOT / "docs" / "architecture.md").read_text()
    (told,) = re.findall(rf"^\| {row} \| .+; the type check then names (.+) \|$", table, re.MULTILINE)

    assert set(re.findall(r"`([^`]+)`", told)) == named[ADDED[row]]
