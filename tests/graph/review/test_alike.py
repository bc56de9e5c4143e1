"""Which requests are alike, and the arguments that their table shows."""

from typing import Any

import pytest

from planner_executor.graph.review.alike import MOST_CHARACTERS, alone_because, batches

Step = dict[str, Any]


def request(run: str, to: Any = "ann", *, content: Step | None = None, plan: Step | None = None, **top: Any) -> Step:
    """A request for a plan of one call, as it stands on record."""
    said = {"id": "r", "status": "pending", "args": {"pay": {"to": {"origin": "plan", "trust": "user"}}}}
    step = {"id": "r", "objective": "do r", "tool": "pay", "args": {"to": to, "amount": 5}, **(plan or {})}
    action = {
        "name": "run_plan",
        "decisions": ["approve"],
        "revision": 1,
        "tools": [{"name": "pay"}],
        "steps": [{**said, **(content or {})}],
    }
    return {
        "run": run,
        "action_requests": [{"name": "run_plan", "args": {"plan": {"steps": [step]}}}],
        "review_configs": [{"action_name": "run_plan", "allowed_decisions": ["approve", "edit", "reject"]}],
        "issues": [],
        "error": None,
        "review": {"goal": f"of {run}", "actions": [action]},
        **top,
    }


def test_a_table_has_every_argument_that_differs_and_no_other() -> None:
    (batch,) = batches([request("a"), request("b", to=["bob"]), request("c", plan={"args": {"to": "x", "amount": 6}})])

    assert batch.columns == (("r", "to"), ("r", "amount"))
    assert [values for _, _, values in batch.rows] == [('"ann"', "5"), ('["bob"]', "5"), ('"x"', "6")]
    assert batch.to_json()["rows"][0] == {"run": "a", "goal": "of a", "values": ['"ann"', "5"]}


def test_columns_stand_in_the_order_of_the_first_request() -> None:
    (batch,) = batches([request("a"), request("b", plan={"args": {"amount": 6, "to": "x"}})])

    assert batch.columns == (("r", "to"), ("r", "amount"))


def test_numbers_and_texts_that_look_alike_differ() -> None:
    (batch,) = batches([request("a", to=1), request("b", to="1"), request("c", to=True)])

    assert batch.columns == (("r", "to"),)


@pytest.mark.parametrize(
    "other",
    [
        request("b", plan={"objective": "do something else"}),
        request("b", plan={"tool": "send"}),
        request("b", plan={"args": {"to": "bob"}}),
        request("b", plan={"timeout_s": 5}),
        request("b", content={"args": {"pay": {"to": {"origin": "result", "steps": ["s"], "trust": "user"}}}}),
        request("b", content={"settled": True}),
        request("b", to="x" * MOST_CHARACTERS),
    ],
)
def test_what_differs_in_more_than_a_readable_argument_is_not_alike(other: Step) -> None:
    assert batches([request("a"), other]) == []


def test_words_that_differ_with_an_argument_and_the_time_to_decide_make_requests_no_less_alike() -> None:
    ann, bob = request("a", content={"does": {"pay": "pay ann"}}), request("b", "bob", content={"does": {"pay": "bob"}})
    ann["review"]["people"] = {"rules": [{"roles": ["finance"]}], "on_expire": "end", "until": 1.0}
    bob["review"]["people"] = {"rules": [{"roles": ["finance"]}], "on_expire": "end", "until": 2.0}
    assert len(batches([ann, bob])) == 1

    for name, other in (("rules", []), ("on_expire", "reject")):
        differs = {**bob, "review": {**bob["review"], "people": {**bob["review"]["people"], name: other}}}
        assert batches([ann, differs]) == []


def test_an_argument_of_just_so_many_characters_is_readable() -> None:
    assert len(batches([request("a"), request("b", to="x" * (MOST_CHARACTERS - len('""')))])) == 1


ALONE = {
    "untrusted": {"content": {"args": {"pay": {"to": {"origin": "result", "trust": "untrusted"}}}}},
    "held": {"content": {"args": {"pay": {"to": {"origin": "result", "trust": "trusted", "asked": True}}}}},
    "new": {"content": {"asked_later": "new"}},
    "uncertain": {"content": {"asked_later": "uncertain"}},
    "begun": {"content": {"status": "succeeded"}},
    "turned down": {"error": "no"},
    "with issues": {"issues": [{"field": "plan", "message": "no"}]},
    "of an earlier release": {"review": None},
    "a call beside it": {"action_requests": [{"name": "run_plan", "args": {}}, {"name": "run_step", "args": {}}]},
    "cannot run": {"review": {"actions": [{"name": "run_plan", "decisions": ["edit", "reject"]}]}},
}


@pytest.mark.parametrize("name", ALONE)
def test_what_a_person_has_to_look_at_is_decided_by_itself(name: str) -> None:
    alone = [request(run, **ALONE[name]) for run in ("a", "b")]

    assert all(map(alone_because, alone)) and batches(alone) == []


@pytest.mark.parametrize("name", ["untrusted", "held", "new", "uncertain", "begun"])
def test_one_step_of_several_that_a_person_has_to_look_at_is_enough(name: str) -> None:
    alone, plain = request("a", **ALONE[name]), request("b")["review"]["actions"][0]["steps"]
    alone["review"]["actions"][0]["steps"] += plain

    assert alone_because(request("b")) is None and alone_because(alone) is not None


def test_a_request_whose_content_tells_of_more_than_it_asks_is_decided_by_itself() -> None:
    told = request("a")
    told["review"]["actions"] *= 2

    assert alone_because(told) == "its content is not on record"


@pytest.mark.parametrize("field", ["changes", "comments", "notes"])
def test_a_revision_and_a_plan_with_a_warning_are_decided_by_themselves(field: str) -> None:
    told = request("a")
    told["review"]["actions"][0][field] = ["something"]

    assert alone_because(told) is not None
