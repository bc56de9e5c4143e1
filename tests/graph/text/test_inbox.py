"""Open requests under headings, in the words that lists have."""

from planner_executor.graph.record.asked_effect import AskedEffect
from planner_executor.graph.text.inbox import InboxRow, grouped

REFUND = AskedEffect("refund 129.90 EUR", "external", undo=False)


def row(run: str, **more: object) -> InboxRow:
    return InboxRow(run=run, goal="g", asks=("run_plan",), since=0.0, **more)  # type: ignore[arg-type]


ROWS = [row("a.1", tags=("nightly",), started_by="os:ada"), row("b.1"), row("c.1", tags=("nightly",))]


def test_requests_stand_under_the_heading_that_came_first() -> None:
    def headings(by: object) -> list[tuple[str, list[str]]]:
        return [(heading, [one.run for one in rows]) for heading, rows in grouped(ROWS, by)]  # type: ignore[arg-type]

    assert headings("tag") == [("nightly", ["a.1", "c.1"]), ("no tag", ["b.1"])]
    assert headings("who") == [("os:ada", ["a.1"]), ("nobody on record", ["b.1", "c.1"])]
    assert headings("what") == [("a plan to approve", ["a.1", "b.1", "c.1"])]
    assert headings(None) == [("", ["a.1", "b.1", "c.1"])]
    assert grouped([], "tag") == []


def test_a_row_says_what_it_would_do_and_what_cannot_be_undone() -> None:
    told = row("a.1", effects=(REFUND, AskedEffect("mail to ann", "external")), left_out=3)

    assert told.does == "refund 129.90 EUR (cannot be undone), mail to ann, and 3 more"
