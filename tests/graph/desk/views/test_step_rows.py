"""The steps of a plan as a list has them."""

from recorded_run import recorded

from planner_executor.graph.desk.views.step_marks import HELD
from planner_executor.graph.desk.views.step_rows import step_rows
from planner_executor.graph.testing import drafted, step

STEPS = [
    step("a", "look"),
    step("b", "look", after=["a"]),
    step("f", "look"),
    {"id": "g", "objective": "Ask", "gate": "Go?", "depends_on": ["b"]},
]


def test_each_step_has_its_doer_what_it_waits_for_and_what_came_of_it() -> None:
    plan = drafted("plan_revised", {"plan": {"steps": STEPS}})
    done = drafted("step_finished", {"status": "succeeded", "value": "calm"}, "a")
    none = drafted("step_finished", {"status": "succeeded", "value": ""}, "b")

    failed = drafted("step_finished", {"status": "failed", "error": "no"}, "f")

    drafts = (drafted("run_started"), plan, drafted("decided"), done, none, failed)
    a, b, f, g = step_rows(recorded(*drafts), {"b": (HELD,)})

    assert (a.id, a.status, a.objective, a.doer, a.waits, a.preview, a.marks) == (
        "a", "succeeded", "do a", "look", (), "calm", ()
    )  # fmt: skip
    assert (b.status, b.waits, b.preview, b.marks) == ("succeeded", ("a",), "", (HELD,))
    assert (f.status, f.preview) == ("failed", "")
    assert (g.status, g.doer, g.waits, g.result, g.preview) == ("pending", "a person agrees", ("b",), None, "")


def test_without_a_plan_there_are_none() -> None:
    assert step_rows(recorded(drafted("run_started"))) == ()
