from planner_executor.graph.policy.retention import KeptThread
from planner_executor.graph.text.retention import kept_lines


def test_each_reason_names_the_next_move_with_the_run() -> None:
    kept = [KeptThread("a.1", "waiting"), KeptThread("b.1", "unfinished"), KeptThread("c.1", "uncertain", "pay")]

    _, waits, unfinished, unsettled = kept_lines(kept, lambda name, run: f"<{name} {run}>")

    assert waits.endswith("cancel it: <resume a.1>") and unfinished.endswith("end it: <resume b.1>, or <cancel b.1>")
    assert "in step pay" in unsettled and unsettled.endswith("settle it: <retry c.1>")
