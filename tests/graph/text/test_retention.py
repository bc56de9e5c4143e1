from graph.policy.retention import KeptThread
from graph.text.retention import kept_lines


def test_a_command_to_copy_quotes_the_name_of_a_run_that_a_stranger_chose() -> None:
    _, waits, unsettled = kept_lines([KeptThread("t; rm x.1", "waiting"), KeptThread("$(a).1", "uncertain", "pay")])

    assert waits.endswith("planner-executor resume 't; rm x.1'")
    assert "in step pay" in unsettled and unsettled.endswith("planner-executor retry '$(a).1'")
