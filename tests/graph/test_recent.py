"""What was made last is at hand, and is not kept for ever."""

from planner_executor.graph.recent import Recent


def test_a_value_is_made_once_for_what_it_rests_on_and_few_are_kept() -> None:
    made: list[int] = []

    def make(number: int) -> str:
        made.append(number)
        return str(number)

    recent = Recent[str](most=2)
    found = [recent.get(number, lambda number=number: make(number)) for number in (1, 1, 2, 2, 3, 1, 3)]

    assert found == ["1", "1", "2", "2", "3", "1", "3"]
    assert made == [1, 2, 3, 1]
    assert len(recent._values) <= 2
