"""What docs/records.md says of each kind of event is what its class writes."""

import re
from pathlib import Path

from full_payloads import FULL

from planner_executor.graph.record.events import TYPES

PAGE = Path(__file__).parents[2] / "docs" / "records.md"


def test_the_table_names_every_kind_with_its_fields() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE)

    told = {kind: re.findall(r"`(\w+)`", names) for kind, names in rows}
    assert told == {kind: list(TYPES[kind].from_json(FULL[kind]).to_json()) for kind in TYPES}
