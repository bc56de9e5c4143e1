from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.text.todos import todos

PLAN = Plan.model_validate(
    {
        "steps": [
            {"id": "a", "objective": "look", "tool": "look"},
            {"id": "b", "objective": "pay\u202e\nnow", "tool": "pay", "depends_on": ["a"]},
            {"id": "c", "objective": "o" * 500},
        ]
    }
)


def told(statuses: dict[str, str], *, starts: bool = False) -> list[tuple[str, str]]:
    return [(todo["content"], todo["status"]) for todo in todos(PLAN, statuses, starts=starts)]


def test_every_step_has_an_entry_on_one_line() -> None:
    assert told({}) == [
        ("a: look", "pending"),
        ("b: pay\\u{202e}\\u{a}now", "pending"),
        (f"c: {'o' * 119}…", "pending"),
    ]


def test_statuses_that_a_list_does_not_know_stand_in_words() -> None:
    assert told({"a": "failed", "b": "blocked", "c": "succeeded"}) == [
        ("a: look (failed)", "pending"),
        ("b: pay\\u{202e}\\u{a}now (blocked)", "pending"),
        (f"c: {'o' * 119}…", "completed"),
    ]


def test_what_waits_for_nothing_is_in_progress_when_the_plan_is_about_to_be_executed() -> None:
    assert [status for _, status in told({}, starts=True)] == ["in_progress", "pending", "in_progress"]
    assert [status for _, status in told({"a": "succeeded"}, starts=True)] == [
        "completed",
        "in_progress",
        "in_progress",
    ]
