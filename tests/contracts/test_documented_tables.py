"""Every entry of a file that operators write is in the documentation."""

import re
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.chat_models.settings import ModelSettings
from planner_executor.graph.desk.desk_table import DeskTable, Headers, PeopleTable
from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.notices.addresses import WITH_KINDS
from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.policy.approvers_file import ApproversTable, CostRule
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.policy import ToolRule
from planner_executor.graph.policy.policy_file import PolicyTable, Standing
from planner_executor.graph.record.budget import Budget, Price
from planner_executor.graph.words.tables import entries

DOCS = Path(__file__).parents[2] / "docs"
POLICY = (PolicyTable, ToolRule, Constraint, Budget, Price, AttemptLimits, Standing, ApproversTable, CostRule)
TABLES = {
    "policy.md": POLICY,
    "review-desk.md": (DeskTable, PeopleTable, Headers, Oidc),
    "notices.md": (WITH_KINDS,),
    "models.md": (ModelSettings,),
}


@pytest.mark.parametrize(("page", "table"), [(page, table) for page, tables in TABLES.items() for table in tables])
def test_each_entry_of_a_table_is_on_its_page(page: str, table: Any) -> None:
    words = set(re.findall(r"\w+", "\n".join(re.findall(r"```.*?```|`[^`]+`", (DOCS / page).read_text(), re.DOTALL))))

    assert entries(table) and set(entries(table)) <= words
