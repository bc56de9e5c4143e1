"""What a person has to know of a step at a glance."""

from types import SimpleNamespace
from typing import Any

from planner_executor.graph.desk.views.step_marks import EFFECTS, HELD, UNTRUSTED, step_marks
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.projection import project
from planner_executor.graph.testing import drafted, step

TOOLS = {
    "read": ToolSpec("read", "", {}, effect="read", trusted=False),
    "save": ToolSpec("save", "", {}, effect="write", trusted=True),
    "send": ToolSpec("send", "", {}, effect="external", trusted=True),
}
STEPS = (
    step("r", "read"),
    step("w", "save", text="{r_result}"),
    {"id": "m", "objective": "o", "tools": ["read", "save", "send"]},
    step("g", "gone"),
    step("h", "send"),
    {"id": "q", "objective": "o", "ask": "Which?"},
)


def test_a_step_is_marked_by_its_strongest_effect_by_whom_it_waits_for_and_by_what_it_gets() -> None:
    held = ("step_held", {"key": "k", "tool": "send", "args": {}, "labels": {}}, "h")
    label = {"trust": "untrusted", "sources": ["read"]}
    done = ("step_finished", {"result": {}, "status": "succeeded", "label": label}, "r")
    drafts = [("run_started", {}), ("plan_revised", {"plan": {"steps": [*STEPS]}}), ("decided", {}), done, held]
    made = [drafted(*draft) for draft in drafts]
    record = project([Event.written(place, 0.0, draft) for place, draft in enumerate(made, 1)])
    shown: Any = SimpleNamespace(record=record)

    assert step_marks(shown, Plan.model_validate({"steps": STEPS}), TOOLS) == {
        "r": (EFFECTS["read"],),
        "w": (EFFECTS["write"], UNTRUSTED),
        "m": (EFFECTS["external"],),
        "g": (EFFECTS["external"],),
        "h": (EFFECTS["external"], HELD),
        "q": (),
    }
