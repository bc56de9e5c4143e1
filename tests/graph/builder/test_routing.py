"""Where each node sends the run, and where a state goes that no node leaves behind."""

from typing import Any

import pytest

from planner_executor.graph.builder.graph_builder import EDGES as LABELLED
from planner_executor.graph.builder.routing import END
from planner_executor.graph.record.run_status import ENDS
from planner_executor.graph.route import ANNOUNCED, ROUTES, STATUS, headed, route_of
from planner_executor.graph.state import proof_of

EDGES: list[Any] = [lambda state, edge=edge, to=to: to[edge(state)] for edge, to in LABELLED.values()]
planner, review, executor, replanner = EDGES


@pytest.mark.parametrize(
    ("edge", "sends"),
    [
        (planner, {}),
        (review, {"plan": "planner", "announce": "planner", "execute": "executor"}),
        (executor, {"revise": "replanner", "plan": "replanner"}),
        (replanner, {}),
    ],
)
def test_each_route_leads_to_one_node_and_what_a_node_never_leaves_to_review(edge: Any, sends: dict[str, str]) -> None:
    assert {route: edge({"route": route}) for route in ROUTES} == {
        route: sends.get(route, "review") for route in ROUTES
    }


@pytest.mark.parametrize("edge", EDGES)
def test_an_end_is_one_only_with_a_proof(edge: Any) -> None:
    state: Any = {"route": "end", "status": "succeeded", "answer": 42}

    assert edge(state) == "review"
    assert edge({**state, "proof": proof_of(state)}) == END


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("route", ["odd", ["execute"], {"execute": 1}, 5, True, ""])
def test_what_is_no_route_goes_to_review_whatever_the_status_says(edge: Any, route: Any) -> None:
    assert edge({"route": route, "status": "running"}) == "review"


@pytest.mark.parametrize("status", ["waiting", "running", "planning", "succeeded"])
def test_words_for_people_lead_nowhere_beside_a_route(status: str) -> None:
    state: Any = {"route": "review", "status": status, "reason": ANNOUNCED}

    assert [edge(state) for edge in EDGES] == ["review"] * 4


@pytest.mark.parametrize("route", STATUS)
def test_a_state_of_before_the_route_goes_where_its_status_says(route: Any) -> None:
    said = {"status": STATUS[route]}

    assert STATUS[route_of(said) or "end"] == STATUS[route] and said.items() <= headed(route).items()
    assert route_of({"status": "planning", "reason": ANNOUNCED}) == "announce"
    assert route_of({"status": "waiting", "reason": ANNOUNCED}) == "review", "a reason alone says nothing"
    assert headed("end") == {"route": "end"}, "the status is that of the end"
    assert {route_of({"status": end}) for end in ENDS} == {"end"}


@pytest.mark.parametrize("status", [None, 5, ["running"], "odd"])
def test_a_state_without_route_and_status_leads_nowhere(status: Any) -> None:
    assert route_of({"status": status}) is None
