"""What a refused call comes to, by whoever refused it and by what was called after it."""

from typing import Any

import pytest

from planner_executor.graph.execution.refusals import Refusal, Refusals
from planner_executor.graph.plan.catalog import ToolSpec

SPECS = {name: ToolSpec(name, "", {}, effect) for name, effect in (("send", "external"), ("save", "write"))}  # type: ignore[arg-type]
SPECS["look"] = ToolSpec("look", "", {}, "read")


def after(*happened: tuple[Any, ...]) -> tuple[str | None, tuple[str, ...]]:
    """Return the failure, and what is missing, after calls `(turn, tool, refused by)`, with the turn as argument."""
    refusals = Refusals(SPECS)
    for turn, tool, by, *args in happened:
        asked = {"n": args[0] if args else turn}
        if by is None:
            refusals.succeeded(tool, asked, turn)
        else:
            refusals.add(Refusal(tool, "no", turn, by_person=by == "person"), asked)
    return refusals.failure, refusals.missing("a")


FAILED = ("its call of send was refused: no", ())
MISSING = (None, ("a did not call send: no",))
NOTHING = (None, ())


@pytest.mark.parametrize(
    ("happened", "outcome"),
    [
        ([(1, "send", "rule")], FAILED),
        ([(1, "look", "rule")], NOTHING),
        ([(1, "unknown", "rule")], NOTHING),
        ([(1, "send", "rule"), (2, "send", None)], NOTHING),
        ([(1, "send", "rule"), (1, "send", None, 5)], NOTHING),
        ([(1, "send", "rule"), (2, "save", None)], FAILED),
        ([(1, "send", None), (2, "send", "rule")], FAILED),
        ([(1, "send", None, 5), (2, "send", "rule", 5)], NOTHING),
        ([(1, "send", "person")], MISSING),
        ([(1, "send", "person"), (2, "send", None)], NOTHING),
        ([(1, "send", "person"), (2, "send", "person")], (None, ("a did not call send: no",) * 2)),
        ([(1, "send", "rule"), (2, "send", "rule")], FAILED),
        ([(1, "send", "person"), (2, "save", None)], NOTHING),
        ([(1, "send", "person"), (2, "look", None)], MISSING),
        ([(1, "send", "person"), (1, "save", None)], MISSING),
        ([(1, "send", "person"), (2, "send", "rule")], MISSING),
        ([(1, "save", "person"), (2, "send", "rule")], (FAILED[0], ("a did not call save: no",))),
    ],
)
def test_a_refused_call_counts_until_another_makes_up_for_it(happened: Any, outcome: Any) -> None:
    assert after(*happened) == outcome
