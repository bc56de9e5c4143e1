from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.text.drawing.crossings import crossings, untangled
from planner_executor.graph.text.drawing.layers import layered
from planner_executor.graph.text.drawing.layout import laid_out
from planner_executor.graph.text.drawing.positions import spread


def test_an_edge_that_passes_layers_bends_in_each_of_them() -> None:
    layers = layered({"a": (), "b": ("a",), "c": ("b",), "d": ("c", "a")})

    assert layers.rows == [[0], [1, 4], [2, 5], [3]]
    assert layers.owner == {4: "a", 5: "a"}
    assert layers.above[3] == [2, 5]


def test_edges_of_one_step_share_their_bends() -> None:
    layers = layered({"a": (), "b": ("a",), "c": ("b", "a"), "d": ("c", "a"), "e": ("d", "a")})

    assert len(layers.owner) == 3
    assert layers.far == ()


def test_bends_stay_in_proportion_to_steps() -> None:
    waits = {f"s{n}": (f"s{n - 1}", f"s{n - 100}") if n >= 100 else (f"s{n - 1}",) if n else () for n in range(1000)}

    layers = layered(waits)

    assert len(layers.owner) <= 2 * len(waits) + 60
    assert layers.edge_count - len(layers.owner) + len(layers.far) == 999 + 900


def test_an_edge_without_bends_swings_out_within_the_picture() -> None:
    waits = {f"s{n}": (f"s{n - 1}", f"s{n - 30}") if n >= 30 else (f"s{n - 1}",) if n else () for n in range(60)}

    layout = laid_out(waits, 100, [50] * 60)

    assert layout.layers.far
    assert layout.extent[0] > max(layout.corner(node)[0] for node in range(60)) + 100 + 24


def test_only_edges_that_follow_from_others_are_left_out_of_a_crowded_plan() -> None:
    names = [f"s{n}" for n in range(40)]
    layers = layered({name: tuple(names[:number]) for number, name in enumerate(names)})

    assert layers.implied == 40 * 39 // 2 - 39
    assert [row[0] for row in layers.rows] == list(range(40))
    assert layers.edge_count == 39


def test_every_edge_of_an_ordinary_plan_is_drawn() -> None:
    assert layered({"a": (), "b": ("a",), "c": ("a", "b")}).implied == 0


def test_crossed_edges_are_untangled() -> None:
    layers = layered({"a": (), "b": (), "c": (), "x": ("c",), "y": ("b",), "z": ("a",)})

    assert crossings(layers, layers.rows) == 3
    assert crossings(layers, untangled(layers, sweeps=4)) == 0


numbers = st.floats(-1000, 1000)


@given(st.lists(st.tuples(numbers, st.floats(0, 300), st.floats(0.1, 9)), min_size=1, max_size=20))
def test_spread_keeps_order_and_gaps(nodes: list[tuple[float, float, float]]) -> None:
    wanted, gaps, weights = zip(*nodes, strict=True)

    places = spread(wanted, gaps[1:], weights)

    assert all(right - left >= gap - 1e-6 for left, right, gap in zip(places, places[1:], gaps[1:], strict=False))


@given(st.lists(numbers, min_size=1, max_size=20))
def test_spread_leaves_alone_what_has_room(wanted: list[float]) -> None:
    ordered = sorted(wanted)

    assert all(
        abs(a - b) < 1e-6
        for a, b in zip(spread(ordered, [0.0] * (len(wanted) - 1), [1.0] * len(wanted)), ordered, strict=True)
    )
