from planner_executor.graph.plan.library import KnownPlaybook, fitting


def known(name: str) -> KnownPlaybook:
    return KnownPlaybook(name, 1, f"d-{name}", f"How to {name}", {}, ())


def test_playbooks_are_shown_by_words_and_at_most_eight() -> None:
    library = {f"tell_{n}": known(f"tell_{n}") for n in range(12)} | {"pay": known("pay")}

    assert len(fitting(library, "Tell them")) == 8
    assert [one.name for one in fitting(library, "Pay the invoice")] == ["pay"]
    assert not fitting(library, "Something else")
