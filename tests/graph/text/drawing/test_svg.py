import re
import time
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.schedule import waits_for
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.box import FAINT, INK, STOP, WIDTH
from planner_executor.graph.text.drawing.edges import HEAD
from planner_executor.graph.text.drawing.icons import ICONS
from planner_executor.graph.text.drawing.statuses import LOOKS
from planner_executor.graph.text.drawing.svg import plan_svg

SVG = "{http://www.w3.org/2000/svg}"
STATUSES = ["pending", "running", "succeeded", "failed", "blocked", "skipped", "interrupted", "uncertain"]

Box = tuple[int, int, int, int]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Any valid plan of a few steps: a step waits for any of those before it."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 14))):
        befores = draw(st.lists(st.sampled_from(steps), max_size=3)) if steps else []
        kind = draw(st.sampled_from(["tool", "tools", "none"]))
        name = draw(st.text(min_size=1))
        steps.append(
            Step(
                id=f"step_{number}",
                objective=draw(st.text(min_size=1)),
                tool=name if kind == "tool" else None,
                tools=(name,) if kind == "tools" else (),
                args={"text": f"{name} {{{befores[0].id}_result}}"} if befores else {},
                success_criteria=draw(st.none() | st.text()),
                depends_on=tuple(step.id for step in befores[1:]),
            )
        )
    return Plan(steps=tuple(draw(st.permutations(steps))))


def boxes(svg: str) -> dict[str, Box]:
    """Return step id -> left, top, right, bottom of its box."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        x, y = map(int, group.attrib["transform"].removeprefix("translate(").removesuffix(")").split())
        frame = group.find(f"{SVG}rect")
        assert frame is not None
        found[group.attrib["data-step"]] = (x, y, x + int(frame.attrib["width"]), y + int(frame.attrib["height"]))
    return found


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def chain(count: int) -> Plan:
    return Plan(
        steps=tuple(Step(id=f"s{n}", objective="Go on", depends_on=(f"s{n - 1}",) if n else ()) for n in range(count))
    )


def fan(count: int) -> Plan:
    spokes = tuple(Step(id=f"s{n}", objective="Fetch", tool="fetch", depends_on=("start",)) for n in range(count))
    return Plan(
        steps=(
            Step(id="start", objective="List what there is"),
            *spokes,
            Step(id="join", objective="Compare", depends_on=tuple(step.id for step in spokes)),
        )
    )


@given(
    plans(), st.none() | st.dictionaries(st.sampled_from([f"step_{n}" for n in range(9)]), st.sampled_from(STATUSES))
)
def test_any_valid_plan_renders_to_well_formed_xml_that_mentions_every_id(
    plan: Plan, status: dict[str, str] | None
) -> None:
    drawn = boxes(plan_svg(plan, status))

    assert list(drawn) == [step.id for step in plan.steps]


@given(plans())
def test_boxes_never_overlap_and_stay_inside_the_picture(plan: Plan) -> None:
    svg = plan_svg(plan)

    width, height = (int(ElementTree.fromstring(svg).attrib[side]) for side in ("width", "height"))
    drawn = list(boxes(svg).values())
    assert not any(overlap(one, other) for one, other in combinations(drawn, 2))
    assert all(left > 0 and top > 0 and right < width and bottom < height for left, top, right, bottom in drawn)


@given(plans())
def test_a_step_stands_below_or_to_the_right_of_everything_it_waits_for(plan: Plan) -> None:
    drawn = boxes(plan_svg(plan))

    pairs = [(drawn[before], drawn[step]) for step, befores in waits_for(plan.steps).items() for before in befores]
    assert all(upper[3] < lower[1] for upper, lower in pairs) or all(left[2] < right[0] for left, right in pairs)


def test_a_wide_plan_runs_from_left_to_right_and_a_small_one_down() -> None:
    wide, small = boxes(plan_svg(fan(8))), boxes(plan_svg(fan(3)))

    assert wide["start"][2] < wide["s0"][0] < wide["join"][0]
    assert small["start"][3] < small["s0"][1] < small["join"][1]


SIZES = [3, 30, 300, 1004]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("shape", [chain, lambda count: fan(count - 2)], ids=["deep", "wide"])
def test_a_plan_of_any_size_is_about_as_wide_as_high_and_no_box_lies_on_another(
    shape: Callable[[int], Plan], count: int
) -> None:
    svg = plan_svg(shape(count), {"s1": "blocked"})

    width, height = (int(ElementTree.fromstring(svg).attrib[side]) for side in ("width", "height"))
    drawn = boxes(svg)
    assert len(drawn) == count and width < 3.5 * height and height < 3.5 * width
    assert width * height < 45_000 * count + 400_000
    places = sorted((left, top) for left, top, _, _ in drawn.values())
    assert all(a == c or a + WIDTH < c for (a, _), (c, _) in pairwise(places))
    assert all(right < width and bottom < height for _, _, right, bottom in drawn.values())
    assert count > 100 or not any(overlap(one, other) for one, other in combinations(drawn.values(), 2))


def test_a_wide_level_takes_several_rows_between_what_comes_before_and_after() -> None:
    drawn = boxes(plan_svg(fan(40)))

    spokes = [box for step, box in drawn.items() if step not in ("start", "join")]
    assert len({top for _, top, _, _ in spokes}) > 3 < len({left for left, _, _, _ in spokes})
    assert all(drawn["start"][3] < top and bottom < drawn["join"][1] for _, top, _, bottom in spokes)


def test_a_long_chain_goes_on_at_the_top_to_the_right() -> None:
    drawn = boxes(plan_svg(chain(40)))

    tops = [drawn[f"s{n}"][1] for n in range(40)]
    folds = [n for n in range(1, 40) if tops[n] < tops[n - 1]]
    assert folds and all(tops[n] == tops[0] and drawn[f"s{n}"][0] > drawn[f"s{n - 1}"][2] for n in folds)


def test_every_wire_of_a_folded_drawing_ends_at_the_step_that_waits_and_crosses_no_box() -> None:
    plan = fan(40)
    svg = plan_svg(plan)
    drawn = boxes(svg)

    wires = {
        path.attrib["data-from"]: path.attrib["d"] for path in ElementTree.fromstring(svg) if "data-from" in path.attrib
    }
    assert set(wires) == {step.id for step in plan.steps} - {"join"}
    x, y = drawn["join"][0] + WIDTH // 2, drawn["join"][1]
    assert all(f"V{y - 8}" in path for step, path in wires.items() if step != "start") and f"M{x} " in wires["s39"]
    assert svg.count(f'fill="{HEAD}"') == len(plan.steps) - 1
    pieces = [line for path in wires.values() for line in straight_lines(path)]
    assert not [(line, box) for line in pieces for box in drawn.values() if overlap(line, box)]


def straight_lines(path: str) -> Iterator[Box]:
    """Yield the lines of a path of M, H and V, each as the box that it takes up."""
    x = y = 0
    for sign, numbers in re.findall(r"([MHV])([\d ]+)", path):
        ends = [int(number) for number in numbers.split()]
        to_x, to_y = ends if sign == "M" else (ends[0], y) if sign == "H" else (x, ends[0])
        if sign != "M":
            yield min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y)
        x, y = to_x, to_y


def test_a_size_in_pixels_stands_in_the_picture_and_no_rule_undoes_it_where_there_is_no_page() -> None:
    root = ElementTree.fromstring(plan_svg(chain(3)))

    assert root.attrib["width"].isdigit() and root.attrib["height"].isdigit() and "style" not in root.attrib
    style = root.findtext(f"{SVG}style") or ""
    assert re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*\}", "", style) == ""


def test_a_blocked_step_shows_a_sign_that_a_pending_one_lacks() -> None:
    blocked, pending = (plan_svg(chain(1), {"s0": word}) for word in ("blocked", "pending"))

    assert STOP in blocked and STOP not in pending


def test_names_that_differ_at_the_end_look_different() -> None:
    steps = tuple(Step(id="n" * 200 + end, objective="Go", tool="t" * 200 + end) for end in "ab")

    first, second = ElementTree.fromstring(plan_svg(Plan(steps=steps))).iter(f"{SVG}g")

    assert [t.text for t in first.iter(f"{SVG}text")][:2] != [t.text for t in second.iter(f"{SVG}text")][:2]


def dark(colour: str) -> tuple[float, ...]:
    """Return a colour as a dark page shows it: `invert(.93) hue-rotate(180deg)`, in shares of red, green and blue."""
    rgb = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    r, g, b = (0.93 + (1 - 2 * 0.93) * share for share in rgb)
    turned = (
        -0.574 * r + 1.43 * g + 0.144 * b,
        0.426 * r + 0.43 * g + 0.144 * b,
        0.426 * r + 1.43 * g - 0.856 * b,
    )
    return tuple(min(1.0, max(0.0, share)) for share in turned)


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    lights = []
    for colour in (one, other):
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in colour]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


@pytest.mark.parametrize("word", STATUSES)
def test_text_is_readable_on_light_and_on_dark_pages(word: str) -> None:
    look = LOOKS[word]
    badge = (look.strong, "#ffffff")
    pairs = [badge, (INK, look.pale), (FAINT, look.pale), ("#334155", look.pale)]
    pairs += [(picture.colour, look.pale) for picture in ICONS.values()]

    for shown in (lambda colour: tuple(int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)), dark):
        assert {
            pair: round(contrast(*map(shown, pair)), 1) for pair in pairs if contrast(*map(shown, pair)) < 4.4
        } == {}


def test_a_chain_stands_in_one_column() -> None:
    assert {box[0] for box in boxes(plan_svg(chain(6))).values()} == {24}


def test_labels_are_text_and_cannot_inject() -> None:
    evil = '</text></g></svg><script>alert("1")</script><!-- ]]> &amp; \x00\x1b\ufffe\u202e'
    step = Step(id="a", objective=evil, tool=evil, args={evil: evil}, success_criteria=evil)

    root = ElementTree.fromstring(plan_svg(Plan(steps=(step,), answer=evil), {"a": evil}))

    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg", "title", "desc", "style", "rect", "g", "circle", "text"
    }  # fmt: skip
    assert not any(name.startswith("on") or name == "href" for element in root.iter() for name in element.attrib)


def test_the_tooltip_holds_the_full_objective_and_what_the_step_waits_for() -> None:
    objective = "Decide which of the trends matters most for the years to come, " * 5
    steps = (Step(id="a", objective="Go"), Step(id="b", objective=objective, tools=("calculator",), depends_on=("a",)))

    root = ElementTree.fromstring(plan_svg(Plan(steps=steps), {"a": "failed", "b": "blocked"}))

    assert root.findall(f"{SVG}g")[1].findtext(f"{SVG}title") == "\n".join(
        ["b: blocked", objective.strip(), "model with tools: model(calculator)", "waits for: a"]
    )


def test_the_picture_says_what_it_is_to_a_screen_reader() -> None:
    root = ElementTree.fromstring(plan_svg(chain(3), {"s0": "succeeded", "s1": "running"}))

    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == "Plan of 3 steps: 1 pending, 1 running, 1 succeeded"
    assert root.findtext(f"{SVG}title") == root.attrib["aria-label"]
    assert root.findtext(f"{SVG}desc") == "s0 (model): Go on\ns1 (model, after s0): Go on\ns2 (model, after s1): Go on"


def test_nothing_in_the_picture_can_clash_with_another_picture_in_the_page() -> None:
    one, other = (ElementTree.fromstring(svg) for svg in (plan_svg(fan(3), {}), plan_svg(chain(200))))

    assert not [element for element in one.iter() if "id" in element.attrib]
    assert one.findtext(f"{SVG}style") == other.findtext(f"{SVG}style")


@pytest.mark.parametrize("word", STATUSES)
def test_a_status_is_a_word_in_the_box_not_a_colour_alone(word: str) -> None:
    root = ElementTree.fromstring(plan_svg(chain(1), {"s0": word}))

    assert word in [text.text for text in root.iter(f"{SVG}text")]


def test_the_three_kinds_of_steps_look_different() -> None:
    steps = (
        Step(id="a", objective="Go", tool="x"),
        Step(id="b", objective="Go", tools=("x",)),
        Step(id="c", objective="Go"),
    )

    groups = ElementTree.fromstring(plan_svg(Plan(steps=steps))).findall(f"{SVG}g")

    assert [group.attrib["data-kind"] for group in groups] == ["tool", "model", "reasoning"]
    assert len({tuple(element.tag for element in group) for group in groups}) == 3


def test_the_same_plan_gives_the_same_text() -> None:
    assert plan_svg(fan(9), {"s1": "failed"}) == plan_svg(fan(9), {"s1": "failed"})


def test_a_long_word_is_broken_and_cut_within_the_box() -> None:
    root = ElementTree.fromstring(plan_svg(Plan(steps=(Step(id="i" * 90, objective="m" * 900, tool="t" * 90),))))

    texts = [text.text or "" for text in root.iter(f"{SVG}text")]
    assert len(texts) == 5
    assert "i…i" in texts[0] and "t…t" in texts[1] and texts[4].endswith("…")
    assert all(len(text) < WIDTH / 7 for text in texts)


def test_a_plan_without_steps_shows_its_answer() -> None:
    root = ElementTree.fromstring(plan_svg(Plan(answer="Paris & <more>")))

    assert [text.text for text in root.iter(f"{SVG}text")] == ["No steps.", 'Answer: "Paris & <more>"']


@pytest.mark.parametrize("plan", [chain(1000), fan(1000)], ids=["deep", "wide"])
def test_a_thousand_steps_take_well_under_two_seconds(plan: Plan) -> None:
    started_s = time.process_time()
    plan_svg(plan, {})

    assert time.process_time() - started_s < 2
