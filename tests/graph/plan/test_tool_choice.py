"""Tools are chosen by words: named ones always, then those whose rare words fit, at most so many."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.tool_choice import ToolChoice, named_in, words_of

WORDS = ("list", "find", "invoice", "customer", "order", "paid", "march", "mail")
NAMES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map("_".join)
SPECS = st.builds(ToolSpec, NAMES, st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), st.just({}))
TOOLS = st.lists(SPECS, max_size=12, unique_by=lambda tool: tool.name)
TEXTS = st.lists(st.sampled_from([*WORDS, "list_invoice", "the", "nothing"]), max_size=8).map(" ".join)


def specs(*names: str) -> list[ToolSpec]:
    return [ToolSpec(name, "", {}) for name in names]


@given(TOOLS, TEXTS, st.integers(0, 12), st.sets(st.sampled_from(WORDS)))
def test_at_most_so_many_are_chosen_besides_those_that_are_named_or_needed(
    tools: list[ToolSpec], text: str, most: int, needed: set[str]
) -> None:
    names = {tool.name for tool in tools}
    always = (names & needed) | {name for name in names if f" {name} " in f" {text} "}

    chosen = ToolChoice(tools).of(text, most, needed)

    assert always <= chosen <= names
    assert len(chosen) <= max(most, len(always))


@given(TOOLS, TEXTS)
def test_every_tool_with_a_word_that_tells_tools_apart_is_chosen_if_there_is_room(
    tools: list[ToolSpec], text: str
) -> None:
    words = {tool.name: words_of(f"{tool.name} {tool.description}") & words_of(text) for tool in tools}
    common = frozenset.intersection(*words.values()) if words else frozenset()

    chosen = ToolChoice(tools).of(text, len(tools))

    assert chosen == {name for name, own in words.items() if own - common} | named_in(text, words)


@given(TOOLS, TEXTS, st.integers(0, 12), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_the_order_of_words(
    tools: list[ToolSpec], text: str, most: int, chance: random.Random
) -> None:
    mixed = " ".join(chance.sample(text.split(), k=len(text.split())))

    assert ToolChoice(tools).of(mixed, most) == ToolChoice(tools).of(text, most)


def test_of_equal_tools_the_first_are_chosen() -> None:
    tools = specs("mail", "find_order_a", "find_order_b", "find_order_c")

    assert ToolChoice(tools).of("find orders", 2) == {"find_order_a", "find_order_b"}
    assert ToolChoice(tools[::-1]).of("find orders", 2) == {"find_order_c", "find_order_b"}


def test_a_rare_word_counts_for_more_and_a_word_of_the_name_for_more_than_one_of_the_description() -> None:
    tools = [*specs("list_a", "list_b", "list_c"), ToolSpec("other", "It can refund.", {}), *specs("refund")]

    assert ToolChoice(tools).of("list refunds", 1) == {"refund"}
    assert ToolChoice(tools).of("list refunds", 5) == {tool.name for tool in tools}


def test_one_word_of_many_tools_does_not_crowd_out_another() -> None:
    tools = specs(*(f"invoice_{n}" for n in range(8)), *(f"customer_{n}" for n in range(8)), "mail")

    chosen = ToolChoice(tools).of("Send invoices to customers", 6)

    assert (
        sum(name.startswith("invoice") for name in chosen) == sum(name.startswith("customer") for name in chosen) == 3
    )


def test_names_of_arguments_are_words_of_a_tool() -> None:
    by_iban = ToolSpec("look_up", "", {"properties": {"iban": {}}})

    assert ToolChoice([*specs("mail"), by_iban]).of("Whose IBAN is this?", 5) == {"look_up"}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("use send_mail", True),
        ("`Send_Mail`.", True),
        ("resend_mail, then send_mail", True),
        ("send_mails", False),
        ("my_send_mail", False),
        ("send mail", False),
        ("", False),
    ],
)
def test_a_name_is_named_as_a_whole_word_only(text: str, named: bool) -> None:
    assert named_in(text, ["send_mail"]) == ({"send_mail"} if named else set())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GitHub", {"github", "git", "hub"}),
        ("readPDFFile", {"readpdffile", "read", "pdf", "file"}),
        ("the Entries of a class", {"entry", "class"}),
        ("status, analysis, bus", {"status", "analysis", "bus"}),
        ("Müllers ÄRGER", {"müller", "ärger"}),
        ("v2 of step_10", {"v2", "step", "10"}),
    ],
)
def test_words_are_without_case_and_plural(text: str, words: set[str]) -> None:
    assert words_of(text) == words


def test_a_plural_is_its_singular_if_the_word_is_long_enough() -> None:
    assert words_of("ties flies gas cats ies glass") == {"tie", "fly", "gas", "cat", "ies", "glass"}


@pytest.mark.parametrize("text", ["resend", "sending", "x_send", "send_x", "xsend send2", "\u00e9send"])
def test_a_part_of_a_longer_word_is_no_name(text: str) -> None:
    assert named_in(text, ["send"]) == frozenset()


def spread(*abouts: str) -> ToolChoice:
    """A choice among tools with these descriptions, and as many more without words."""
    return ToolChoice(
        [ToolSpec(f"t{number}", about, {}) for number, about in enumerate([*abouts, *[""] * (20 - len(abouts))])]
    )


def test_a_word_counts_for_three_quarters_with_each_tool_chosen_for_it() -> None:
    assert spread("x", "x", "y", "y", "y", "y").of("x y", 2) == {"t0", "t1"}  # log 10 * 3/4 is more than log 5


def test_a_tool_that_is_chosen_in_any_case_takes_nothing_from_the_others() -> None:
    assert spread("x", "x", "y", "y").of("x y", 2, ["t0"]) == {"t0", "t1"}


def test_a_word_of_a_name_counts_twice() -> None:
    named = ToolSpec("x_u", "", {})

    assert ToolChoice([*spread("y z").tools, named]).of("x y z", 1) == {"t0"}  # both count 2, and the first is chosen
    assert ToolChoice([*spread("v", "x").tools, named]).of("x v", 1) == {"x_u"}
