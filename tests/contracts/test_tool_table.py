"""What docs/tools.md says of each tool is what the tool declares."""

import re
from pathlib import Path

from planner_executor import AllowedHost, default_tools
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.tools.packs import PACKS

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def test_the_table_names_every_tool_with_what_it_declares(tmp_path: Path) -> None:
    hosts = [AllowedHost("https://api.example.org", ("GET", "POST"))]
    specs = Toolbox(default_tools(tmp_path, tmp_path / "workspace", hosts, packs=tuple(PACKS))).specs.values()
    pack_of = {tool: name for name, pack in PACKS.items() for tool in pack.tools}
    yes = {True: "yes", False: "no"}

    declared = [
        (spec.name, pack_of[spec.name], spec.effect, yes[spec.repeatable], f"{spec.timeout_s:g}", yes[spec.trusted])
        for spec in specs
    ]

    rows = re.findall(
        r"^\| `(\w+)` \| [^|]+ \| (\w+) \| (\w+) \| (\w+) \| (\d+) \| (\w+) \|$", PAGE.read_text(), re.MULTILINE
    )
    assert sorted(rows) == sorted(declared)


def test_the_page_says_what_each_pack_is_for_and_which_are_there_by_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (yes|by name) \|$", PAGE.read_text(), re.MULTILINE)

    assert rows == [(name, pack.purpose, "yes" if pack.by_default else "by name") for name, pack in PACKS.items()]
