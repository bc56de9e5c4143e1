from graph.policy.retention import Retention, threads_of
from graph.record.summary import RunSummary


def run(thread: str, n: int, updated_at: float = 1.0, status: str = "succeeded") -> RunSummary:
    return RunSummary(thread, n, 1, status, updated_at=updated_at)


def test_runs_are_put_together_by_thread() -> None:
    assert [[one.id for one in runs] for runs in threads_of([run("a", 2), run("b", 1), run("a", 1)])] == [
        ["a.1", "a.2"],
        ["b.1"],
    ]


def test_the_youngest_run_decides_whether_a_thread_is_old() -> None:
    assert Retention(before=5.0).is_due([run("a", 1), run("a", 2, 4.9)])
    assert not Retention(before=5.0).is_due([run("a", 1, 5.0), run("a", 2)])


def test_every_run_of_a_thread_has_to_have_ended_as_named() -> None:
    wanted = Retention(5.0, frozenset({"succeeded"}))

    assert wanted.is_due([run("a", 1)]) and not wanted.is_due([run("a", 1), run("a", 2, status="failed")])
