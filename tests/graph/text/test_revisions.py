from typing import Any

from planner_executor.graph.plan.plan_diff import PlanDiff
from planner_executor.graph.record.events import Event
from planner_executor.graph.text.revisions import revisions_in


def revised(number: int, **told: Any) -> Event:
    payload = {"revision": number, "plan": {"steps": []}, "digest": "d" * 64, **told}
    return Event(seq=number, kind="plan_revised", step=None, payload=payload, at=0.0)


def test_revisions_are_a_table_of_what_they_change() -> None:
    diff = {"added": ["c", "d"], "changed": ["a"], "removed": ["b"], "answer": True}
    events = [
        revised(1, author="planner", reason="first"),
        revised(2, author="replanner", reason="b <failed>", diff=diff),
    ]

    found = revisions_in(events)

    assert found[1].diff == PlanDiff(("c", "d"), ("a",), ("b",), True) and len(found) == len(found[:]) == 2
    shown = found._repr_mimebundle_()
    assert "b &lt;failed&gt;" in shown["text/html"] and "c, d" in shown["text/html"]
    head, first, second = shown["text/plain"].splitlines()
    assert head.split() == ["revision", "at", "by", "why", "difference"]
    assert first.endswith("none")
    assert second.endswith("added c, d; changed a; removed b; changed the answer")


def test_other_events_are_no_revisions() -> None:
    assert not revisions_in([])
