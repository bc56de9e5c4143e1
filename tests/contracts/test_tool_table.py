"""What docs/tools.md says of each tool is what the tool declares."""

import re
from pathlib import Path

from planner_executor import AllowedHost, default_tools
from planner_executor.graph.calls.toolbox import Toolbox

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def test_the_table_names_every_tool_with_what_it_declares(tmp_path: Path) -> None:
    hosts = [AllowedHost("https://api.example.org", ("GET", "POST"))]
    specs = Toolbox(default_tools(tmp_path, tmp_path / "workspace", hosts)).specs.values()
    yes = {True: "yes", False: "no"}

    declared = [
        (spec.name, spec.effect, yes[spec.repeatable], f"{spec.timeout_s:g}", yes[spec.trusted]) for spec in specs
    ]

    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (\w+) \| (\w+) \| (\d+) \| (\w+) \|$", PAGE.read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(declared)
