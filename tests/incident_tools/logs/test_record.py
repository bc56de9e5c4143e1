import pytest

from planner_executor.incident_tools.logs.record import LONGEST_TEXT, Record, bounded, bounded_text


def test_fields_nested_too_deeply_become_json_text() -> None:
    assert bounded({"a": [{"b": {"c": {"d": 1}}}]}) == {"a": [{"b": {"c": '{"d": 1}'}}]}


def test_lists_and_objects_are_cut_to_sixty_entries() -> None:
    assert bounded(list(range(100))) == list(range(60))
    assert len(bounded({str(number): number for number in range(100)})) == 60


def test_nesting_beyond_what_json_can_write_is_a_placeholder() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    assert bounded(deep) == [[[["nested too deep to be shown"]]]]


@pytest.mark.parametrize("value", [None, True, 1, 1.5])
def test_plain_values_are_unchanged(value: object) -> None:
    assert bounded(value) is value


def test_a_long_text_keeps_both_ends() -> None:
    text = bounded_text("a" * LONGEST_TEXT + "z" * LONGEST_TEXT)

    assert len(text) == LONGEST_TEXT
    assert text.startswith("aaa") and "…" in text and text.endswith("zzz")


def test_a_record_has_at_most_sixty_fields() -> None:
    record = Record(1, None, "info", "m", {f"f{number}": number for number in range(100)})

    assert len(record.to_json("app.log")["fields"]) == 60
