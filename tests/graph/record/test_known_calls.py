from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.call import call_key
from planner_executor.graph.record.known_calls import known_calls


def test_calls_are_known_whose_arguments_stand_in_the_plan() -> None:
    plan = Plan.model_validate(
        {
            "steps": [
                {"id": "a", "objective": "a", "tool": "send", "args": {"to": "ann"}},
                {"id": "b", "objective": "b", "tool": "send", "args": {"to": "{a_result}"}, "depends_on": ["a"]},
                {"id": "c", "objective": "c", "tools": ["send"]},
                {"id": "d", "objective": "d", "tool": "send", "args": {"to": "{item_result}"}, "for_each": ["x", "y"]},
            ]
        }
    )

    calls = list(known_calls("run.1", plan.steps))

    assert [(call.place, call.args["to"]) for call in calls] == [("a", "ann"), ("d[0]", "x"), ("d[1]", "y")]
    assert calls[2].key == call_key("run.1", "d", 1, 0, "send", digest({"to": "y"}))
