"""The state's own rules: which of two runs stands, and what proves an end."""

from typing import Any

import pytest

from planner_executor.graph.builder.graph_builder import EDGES as LABELLED
from planner_executor.graph.builder.routing import END
from planner_executor.graph.state import PROVEN, furthest, is_proven, proof_of

ENDED: Any = {
    "run": {"thread": "t", "n": 1, "id": "t.1", "seq": 9},
    "status": "succeeded",
    "answer": 42,
    "plan": {"steps": []},
    "results": {},
}
EDGES: list[Any] = [lambda state, edge=edge, to=to: to[edge(state)] for edge, to in LABELLED.values()]


def run(n: Any, seq: Any, **more: Any) -> dict[str, Any]:
    return {"thread": "t", "n": n, "seq": seq, **more}


def test_of_two_nodes_in_one_superstep_the_one_that_knows_more_stands_in_either_order() -> None:
    saw = [1, 2]
    late, early = run(1, 9, saw=saw), run(1, 5, saw=saw)

    assert furthest(furthest(run(1, 2), late), early) == furthest(furthest(run(1, 2), early), late) == run(1, 9)


@pytest.mark.parametrize(
    "claimed", [run(1, 10**9), run(10**6, 1), run("x", "y"), run(True, None), {"thread": "t"}, 5, None]
)
def test_a_node_replaces_what_it_saw_however_far_that_claims_to_be(claimed: Any) -> None:
    saw = [claimed.get("n"), claimed.get("seq")] if isinstance(claimed, dict) else None

    assert furthest(claimed, run(1, 3, saw=saw)) == run(1, 3)


def test_a_run_of_another_thread_and_no_run_at_all_replace() -> None:
    assert furthest(run(9, 9), {"thread": "u", "n": 1, "seq": 1}) == {"thread": "u", "n": 1, "seq": 1}
    assert furthest(run(9, 9), None) is None


@pytest.mark.parametrize("edge", EDGES)
def test_an_end_is_one_with_its_proof_only(edge: Any) -> None:
    assert edge({**ENDED, "proof": proof_of(ENDED)}) == END
    assert edge(ENDED) == "review" and edge({**ENDED, "proof": "0" * 64}) == "review"


@pytest.mark.parametrize("key", PROVEN)
@pytest.mark.parametrize("edge", EDGES)
def test_no_key_that_tells_the_end_can_be_changed_under_its_proof(edge: Any, key: str) -> None:
    assert edge({**ENDED, "proof": proof_of(ENDED), key: ["forged"]}) in ("review",)


def test_a_proof_is_about_its_run() -> None:
    proof = proof_of(ENDED)

    assert is_proven({**ENDED, "proof": proof, "run": {**ENDED["run"], "seq": 99}})
    assert not is_proven({**ENDED, "proof": proof, "run": {**ENDED["run"], "n": 2}})
    assert not any(is_proven({**ENDED, "proof": odd}) for odd in (None, 5, b"x", "é", proof.upper()))


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("status", [None, "odd", ["running"], {"a": 1}, 5, True])
def test_a_status_that_no_node_leaves_goes_to_review(edge: Any, status: Any) -> None:
    assert edge({"status": status}) == "review" and edge({}) == "review"
