"""The plan as a graph of a page: where each node stands, what it says, and what its classes tell."""

import re
from typing import Any

import pytest

from planner_executor.graph.desk.views.plan_folds import Folds, unfolded
from planner_executor.graph.desk.views.plan_graph import Links, Shown, drawn_plan
from planner_executor.graph.desk.views.step_marks import EFFECTS, HELD
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.testing import step
from planner_executor.graph.text.drawing.icons import ICONS
from planner_executor.graph.text.drawing.labels import waits_within

STEPS = (
    step("a", "read"),
    {"id": "b", "objective": "x " * 60, "refine": True, "depends_on": ["a"]},
    {**step("c", "mail", after=["a"]), "objective": "x " * 60},
    step("d", "mail", after=["b", "c"]),
)
FOLDED = (("a",), ("b",), ("c", "d"))
BOX = (
    '<rect class="box" width="244" height="{}" rx="8"/><rect class="stripe" x="0" y="10" width="4" height="{}" rx="2"/>'
)


def drawn(*steps: Any, folds: Folds | None = None, shown: Shown = Shown({})) -> str:  # noqa: B008 -- never changed
    plan = Plan.model_validate({"steps": steps})
    links = Links("/step?s=", "/plan?f=")
    return str(drawn_plan(plan, links, folds or unfolded(waits_within(plan))).drawn(shown))


def nodes(drawing: str) -> list[str]:
    return [line for line in drawing.split("\n") if line.startswith("<a ")]


def badge(place: int, name: str, path: str) -> str:
    return (
        f'<g class="mark-{name}" transform="translate({place} 0)"><circle class="back" r="10"/><path d="{path}"/></g>'
    )


def test_a_step_is_a_box_with_its_icon_words_status_and_marks() -> None:
    shown = Shown({"a": "succeeded", "b": "odd"}, {"a": (EFFECTS["read"], HELD)}, {"a": None})
    icons = [
        f'<g class="icon" transform="translate(-1.5 -2) scale(.95)">{ICONS[name].svg}</g>'
        for name in ("gear", "branches")
    ]

    first, second, _ = nodes(drawn(*STEPS, folds=FOLDED, shown=shown))

    assert first == (
        '<a href="/step?s=a" tabindex="-1"><g class="node" data-status="succeeded" data-step="a" '
        f'transform="translate(41 24)">{BOX.format(80, 60)}{icons[0]}<text class="id" x="44" y="25">a</text>'
        '<text class="mark" x="230" y="25" text-anchor="end">✓</text><text class="doer" x="44" y="42">read</text>'
        '<text class="objective" x="14" y="65">do a</text>'
        f"{badge(228, 'held', HELD.path)}{badge(206, 'reads', EFFECTS['read'].path)}</g></a>"
    )
    assert second.startswith('<a href="/step?s=b" tabindex="-1"><g class="node open-work dim" data-status="odd"')
    assert f'{BOX.format(96, 76)}{icons[1]}<text class="id" x="44" y="25">b</text>' in second
    assert 'text-anchor="end"></text>' in second and 'y="81.5">x x' in second


def test_a_fold_tells_how_many_steps_it_has_of_which_layers_and_with_which_status() -> None:
    shown = Shown({"c": "failed"}, found={"a": None, "d": None})
    under = '<rect class="box under" x="5" y="5" width="244" height="80" rx="8"/>'

    *_, fold = nodes(drawn(*STEPS, folds=FOLDED, shown=shown))

    assert fold == (
        '<a href="/plan?f=c" tabindex="-1"><g class="node fold" data-fold="c" data-status="failed" '
        f'transform="translate(24 304)">{under}{BOX.format(80, 60)}<text class="id" x="14" y="25">2 steps</text>'
        '<text class="doer" x="14" y="42">layers 2 to 3, 1 match</text>'
        '<text class="objective" x="14" y="65">○ 1  ✗ 1</text></g></a>'
    )
    odd = Shown({"a": "odd", "b": "odd"})
    beside = nodes(drawn(step("a", "read"), step("b", "read"), folds=(("a", "b"),), shown=odd))
    assert '>layer 1</text><text class="objective" x="14" y="65"></text>' in beside[0]
    assert 'data-status="pending"' in beside[0]


def test_a_drawing_has_the_edges_between_its_nodes_and_their_heads() -> None:
    before, *_ = drawn(*STEPS, folds=FOLDED).split("<a ")
    after = drawn(*STEPS, folds=FOLDED).rpartition("</a>")[2]

    assert before.startswith(
        '<svg class="plan-graph" width="320" height="408" viewBox="0 0 320 408" aria-hidden="true"'
    )
    assert re.findall(r'data-from="(\w)"', before) == ["a", "b"] and after.count("<path") == 2


def test_long_names_are_cut_to_the_room_beside_the_icon() -> None:
    text = drawn({"id": "abcdefghij" * 6, "objective": "o", "tool": "0123456789" * 6})

    assert re.findall(r">([^<>\n]+)</text>", text) == ["abcdefghij…bcdefghij", "○", "0123456789012…7890123456789", "o"]


@pytest.mark.parametrize(
    ("count", "lines", "icons", "text_x", "head"),
    [(59, 2, 59, 44, "plan-graph"), (60, 1, 60, 44, "plan-graph large"), (120, 1, 0, 14, "plan-graph large")],
)
def test_a_large_drawing_says_less(count: int, lines: int, icons: int, text_x: int, head: str) -> None:
    steps = [{"id": f"s{n}", "objective": "x " * 60, "tool": "t"} for n in range(count)]

    text = drawn(*steps)

    assert text.count('class="objective"') == lines * count and text.count('class="icon"') == icons
    assert f'<text class="id" x="{text_x}" y="25">' in text and text.startswith(f'<svg class="{head}"')


def test_a_long_drawing_is_folded_into_rows_of_nodes_that_are_equally_high() -> None:
    chain = [step(f"s{n}", "read", after=[f"s{n - 1}"] if n else []) for n in range(17)]
    chain[3]["objective"] = "x " * 60

    whole, long = drawn(*chain[:16]), drawn(*chain)

    assert len({place.split()[0] for place in re.findall(r'data-step="\w+" transform="translate\((.+?)\)', whole)}) == 1
    assert len({place.split()[0] for place in re.findall(r'data-step="\w+" transform="translate\((.+?)\)', long)}) > 1
    assert long.count('class="box" width="244" height="96"') == 17 and "data-from=" in long
    assert len(re.findall("<path", long.rpartition("</a>")[2])) > 0
