"""Policies as hypothesis draws them, and tools of them."""

from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import Effect, ToolSpec
from planner_executor.graph.policy.policy_file import policy_from

TOOLS = ("send", "look")
VERDICTS = st.sampled_from(["allow", "review", "ask", "deny"])
EFFECTS: tuple[Effect, ...] = ("read", "write", "external")
CONSTRAINTS = st.fixed_dictionaries(
    {},
    optional={
        "minimum": st.integers(0, 3),
        "maximum": st.integers(3, 6),
        "one_of": st.sampled_from([["a"], ["a", "b"]]),
        "untrusted_from": st.sampled_from([["look"], ["send"]]),
    },
)
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "approval": st.sampled_from(["never", "side_effects", "always"]),
        "new_effects": st.sampled_from(["ask", "deny"]),
        "preview_changed": st.sampled_from(["ask", "go"]),
        "leaving_previews": st.lists(st.sampled_from(TOOLS), min_size=1, unique=True),
        "effects": st.dictionaries(st.sampled_from(EFFECTS), VERDICTS, max_size=2),
        "tools": st.dictionaries(
            st.sampled_from(TOOLS),
            st.fixed_dictionaries(
                {}, optional={"verdict": VERDICTS, "args": st.fixed_dictionaries({"x": CONSTRAINTS})}
            ),
            max_size=2,
        ),
        "limits": st.fixed_dictionaries({}, optional={"tool_calls": st.integers(0, 3)}),
    },
).map(policy_from)
RANK = {"allow": 0, None: 1, "review": 2, "ask": 3, "deny": 4}


def spec(name: str, effect: Effect) -> ToolSpec:
    return ToolSpec(name=name, description="", schema={"properties": {"x": {}}}, effect=effect)
