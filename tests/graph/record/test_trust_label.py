"""Trust labels: never more trust than the least trusted of what a value was made from."""

from collections import UserDict
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.params import Param
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.record.trust_label import (
    ORDER,
    PLAN,
    USER,
    TrustLabel,
    argument_labels,
    joined,
    label_of_item,
    label_of_params,
    label_of_result,
    label_of_tool,
)

SOURCES = st.lists(st.sampled_from(["web", "mail", "clock", "files"]), max_size=3, unique=True).map(tuple)
LABELS = st.builds(TrustLabel, st.sampled_from(ORDER), SOURCES)
RESULTS = {
    "page": TrustLabel("untrusted", ("web",)),
    "time": TrustLabel("trusted", ("clock",)),
    "row": TrustLabel("undeclared", ("table",)),
}


def rank(label: TrustLabel) -> int:
    return ORDER.index(label.trust)


def same(one: TrustLabel, other: TrustLabel) -> bool:
    return (one.trust, set(one.sources)) == (other.trust, set(other.sources))


@given(st.lists(LABELS, max_size=5))
def test_a_joined_label_is_the_least_trusted_of_all_in_whatever_order(labels: list[TrustLabel]) -> None:
    joins = [joined(order) for order in list(permutations(labels))[:6]]

    assert rank(joins[0]) == max((rank(label) for label in labels), default=0)
    assert all(same(join, joins[0]) for join in joins)


@given(LABELS, LABELS, LABELS)
def test_labels_may_be_joined_in_any_grouping(one: TrustLabel, two: TrustLabel, three: TrustLabel) -> None:
    assert same(joined([joined([one, two]), three]), joined([one, joined([two, three])]))
    assert same(joined([one, two, three]), joined([joined([one, two]), three]))


@given(LABELS, LABELS)
def test_joining_never_makes_a_value_more_trusted(one: TrustLabel, other: TrustLabel) -> None:
    assert rank(joined([one, other])) >= max(rank(one), rank(other))
    assert same(joined([one, one]), joined([one])) and same(joined([one, USER]), joined([one]))


@given(LABELS, LABELS)
def test_what_a_model_makes_of_a_value_is_no_more_trusted_than_the_value(one: TrustLabel, other: TrustLabel) -> None:
    assert rank(one.by_model) >= rank(one)
    assert same(joined([one, other]).by_model, joined([one.by_model, other.by_model]))


def test_a_model_vouches_for_nothing_that_does_not_say_it_may_be_trusted() -> None:
    assert [TrustLabel(trust).by_model.untrusted for trust in ORDER] == [False, False, True, True]


def test_whoever_made_a_value_untrusted_is_named_and_so_is_who_says_nothing_of_itself() -> None:
    label = joined([*RESULTS.values(), USER, RESULTS["page"]])

    assert label == TrustLabel("untrusted", ("web", "table"))


def test_a_tool_that_does_not_say_is_between_one_to_be_trusted_and_one_not_to_be() -> None:
    labels = [label_of_tool(ToolSpec("t", "", {}, trusted=trusted)) for trusted in (True, None, False)]

    assert labels == [TrustLabel("trusted", ("t",)), TrustLabel("undeclared", ("t",)), TrustLabel("untrusted", ("t",))]


@pytest.mark.parametrize(
    ("value", "trust"),
    [
        ("plain words", "user"),
        ({"deep": ["{{page_result}}"]}, "user"),
        ("{time_result}", "trusted"),
        (["{time_result}", {"n": "at {row_result.at}"}], "undeclared"),
        ("{time_result} and {page_result.items[0]} and {row_result}", "untrusted"),
        ({"{page_result}": 1}, "user"),
    ],
)
def test_a_label_follows_the_references_of_an_argument(value: object, trust: str) -> None:
    step = Step(id="s", objective="o", tool="send", args={"body": value})

    assert argument_labels(step, RESULTS)["body"].trust == trust


def test_each_argument_has_a_label_of_its_own() -> None:
    step = Step(id="s", objective="o", tool="send", args={"to": "ann", "body": "{page_result}"})

    assert argument_labels(step, RESULTS) == {"to": USER, "body": TrustLabel("untrusted", ("web",))}


class NeverWhole(UserDict[str, TrustLabel]):
    """Labels of results that nobody may go through as a whole."""

    def __iter__(self) -> Iterator[str]:
        """Refuse."""
        raise AssertionError


def test_labels_of_results_are_looked_up_one_by_one_and_an_item_has_that_of_its_list() -> None:
    step = Step(id="s", objective="o", tool="t", args={"a": "{item_result} {time_result}"}, for_each="{page_result}")

    assert argument_labels(step, NeverWhole(RESULTS)) == {"a": TrustLabel("untrusted", ("web",))}
    assert argument_labels(step, NeverWhole({**RESULTS, "item": PLAN})) == {"a": TrustLabel("untrusted", ("web",))}


def test_an_argument_has_the_mark_of_the_plan_beside_the_labels_of_its_references() -> None:
    step = Step(id="s", objective="o", tool="send", args={"to": "ann", "body": "{time_result}", "cc": "ben"})

    labels = argument_labels(step, RESULTS, {"to": PLAN, "body": PLAN})

    assert labels == {"to": PLAN, "body": PLAN, "cc": USER}


@given(st.dictionaries(st.sampled_from(["page", "time", "row"]), LABELS, min_size=3), st.booleans())
def test_an_argument_is_never_more_trusted_than_a_result_it_refers_to(
    results: dict[str, TrustLabel], tainted: bool
) -> None:
    step = Step(id="s", objective="o", tool="t", args={"a": "{page_result}{row_result}", "b": ["{time_result.x}"]})
    labels = argument_labels(step, results, {"a": PLAN} if tainted else {})

    assert rank(labels["a"]) >= max(rank(results["page"]), rank(results["row"]))
    assert rank(labels["b"]) >= rank(results["time"])


@given(LABELS)
def test_a_label_is_read_as_it_was_written(label: TrustLabel) -> None:
    assert TrustLabel.from_json(label.to_json()) == label


def test_a_label_whose_sources_were_taken_out_of_the_record_has_none() -> None:
    assert TrustLabel.from_json({"trust": "untrusted"}) == TrustLabel("untrusted")
    assert TrustLabel.from_json({"trust": "untrusted", "sources": "redacted"}) == TrustLabel("untrusted")


def test_a_reference_to_a_step_that_has_no_label_says_nothing_of_the_argument() -> None:
    step = Step(id="s", objective="o", tool="send", args={"body": "{page_result} {item_result}"})

    assert argument_labels(step, {"page": TrustLabel("trusted", ("clock",))})["body"].trust == "trusted"


def test_a_label_whose_trust_was_taken_out_of_the_record_is_untrusted() -> None:
    assert TrustLabel.from_json({"trust": "[redacted]", "sources": ["web"]}) == TrustLabel("untrusted", ("web",))


def test_sources_are_named_as_unvouched_if_nobody_declared_that_they_may_be_trusted() -> None:
    sources = ("web", "mail")

    assert {trust: TrustLabel(trust, sources).unvouched for trust in ORDER} == {
        "user": (), "trusted": (), "undeclared": ("mail", "web"), "untrusted": ("mail", "web"),
    }  # fmt: skip


def test_a_model_does_not_vouch_for_its_result_and_a_tool_does_not_change_what_it_read() -> None:
    row = RESULTS["row"]
    model, tool = Step(id="s", objective="o", tools=()), Step(id="s", objective="o", tool="t")

    assert (label_of_result(model, row), label_of_result(tool, row)) == (row.by_model, row)


PARAMS = {"mail": Param(value="x", label="untrusted"), "name": Param(value="y", label="user")}
FROM_MAIL = TrustLabel("untrusted", ("the parameter mail",))


def of_playbook(**fields: Any) -> Step:
    (step,) = Plan(steps=(Step(id="s", objective="o", tool="t", **fields),), params=PARAMS).steps
    return step


def test_a_parameter_has_the_trust_of_who_gave_it_wherever_it_stands() -> None:
    step = of_playbook(args={"to": "{param.mail}", "by": "{param.name}"})

    assert argument_labels(step, {}) == {"to": FROM_MAIL, "by": USER}
    assert label_of_params(step) == FROM_MAIL
    assert (label_of_params(step, "{param.name}"), label_of_params(step, "{param.mail}")) == (USER, FROM_MAIL)


def test_a_plan_without_parameters_takes_them_for_text() -> None:
    assert label_of_params(Step(id="s", objective="o", tool="t"), "{param.mail}") == USER


def test_an_item_is_as_trusted_as_the_results_and_parameters_that_its_list_is_made_of() -> None:
    step = Step(id="s", objective="o", tool="t", for_each=["{page_result}", "{gone_result}"])

    assert label_of_item(step, RESULTS) == RESULTS["page"]
    assert label_of_item(step, {}) == USER
    assert label_of_item(of_playbook(for_each=["{param.mail}"]), {}) == FROM_MAIL
