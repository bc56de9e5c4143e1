"""A path that a plan may name is one that the tools take, in the same words if it is not."""

from hypothesis import example, given
from hypothesis import strategies as st

from planner_executor.graph.plan.relative_path import path_fault
from planner_executor.tools.path_text import path_fault as fault_of_tools

PARTS = st.sampled_from(["a", "report.md", "..", ".", "", " ", "C:", "\\", "\0", "\n", "ä" * 150, "b" * 250, "/"])


@given(st.one_of(st.text(), st.lists(PARTS, max_size=6).map("/".join)))
@example("a/" * 501)
@example("a" * 1001)
@example("C:/x")
def test_plans_and_tools_have_one_rule_for_paths(path: str) -> None:
    assert path_fault(path) == fault_of_tools(path)
