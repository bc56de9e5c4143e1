from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.record.amounts import largest_amount

CENTS = st.decimals(min_value=0, max_value=10**9, places=2)


@given(CENTS, st.sampled_from(["{} EUR", "EUR {}", "refund ${} to ann", "amount: {}, to: ann", "pay {} USD."]))
def test_an_amount_is_found_with_and_without_marks_between_thousands(value: object, words: str) -> None:
    plain, marked = (largest_amount([words.format(one)]) for one in (f"{value}", f"{value:,}"))
    assert plain == marked == float(str(value))


def test_of_several_effects_the_largest_amount_counts_and_other_numbers_do_not() -> None:
    effects = [
        "pay 80 EUR to c7000",
        "pay 129.90 EUR",
        "mail 5000 people",
        "order 9.9.9 EURO 4711EURx",
        f"{'9' * 16} EUR",
    ]
    assert largest_amount(effects) == 129.9
    assert largest_amount([f"{'9' * 15} EUR"]) == float("9" * 15)
    assert largest_amount(["look at 5000", "1.2.3.4 EUR"]) is None
