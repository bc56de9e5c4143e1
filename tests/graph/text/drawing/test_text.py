import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plain_text.columns import columns
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.gutter import rails, steps_in_order
from planner_executor.graph.text.drawing.text import plan_text

REPORT = Plan(
    steps=(
        Step(
            id="search",
            objective="Find what the documents say about offshore wind",
            tool="search_documents",
            args={"query": "offshore wind cost"},
        ),
        Step(id="summary", objective="Summarise it", tool="summarize", args={"passages": "{search_result.passages}"}),
        Step(id="prices", objective="Fetch spot prices", tool="fetch_prices", args={"region": "North Sea", "days": 30}),
        Step(
            id="decide",
            objective="Decide which trend matters most",
            tools=("search_documents", "calculator"),
            depends_on=("summary", "prices"),
        ),
        Step(id="risk", objective="Weigh the risks", depends_on=("search", "prices")),
    ),
    answer="{decide_result}",
)


def test_a_plan_reads_as_a_graph() -> None:
    assert plan_text(REPORT).splitlines() == [
        '●      search   Find what the documents say about of…                     search_documents query="o…',
        "├─●    summary  Summarise it                           ← search           summarize passages={searc…",
        '│ │ ●  prices   Fetch spot prices                                         fetch_prices region="Nort…',
        "│ ●─┤  decide   Decide which trend matters most        ← summary, prices  model(search_documents, c…",
        "●───╯  risk     Weigh the risks                        ← search, prices   model",
        "answer: {decide_result}",
    ]


def test_a_running_plan_shows_each_status_and_counts_them() -> None:
    lines = plan_text(REPORT, {"search": "succeeded", "summary": "running", "prices": "failed", "decide": "blocked"})

    assert [line.split()[0] for line in lines.splitlines()[:2]] == ["✓", "├─►"]
    assert lines.splitlines()[-2] == "○ 1 pending   ► 1 running   ✓ 1 succeeded   ✗ 1 failed   ⊘ 1 blocked"


def test_steps_stand_after_what_they_wait_for_and_otherwise_in_plan_order() -> None:
    assert steps_in_order({"last": ("b", "a"), "b": (), "a": ("b",), "free": ()}) == ["b", "a", "last", "free"]


def test_too_many_edges_for_rails_show_levels() -> None:
    regions = tuple(Step(id=f"region_{n}", objective="Fetch its prices", tool="fetch_prices") for n in range(12))
    join = Step(id="join", objective="Compare all", depends_on=tuple(step.id for step in regions))

    lines = plan_text(Plan(steps=(*regions, join))).splitlines()

    assert lines[0].startswith("1 ●  region_0 ")
    assert lines[12].startswith("2 ●  join       Compare all       ← region_0, +11")


def test_a_line_that_passes_a_join_is_no_part_of_it() -> None:
    waits = {"a": (), "b": (), "c": (), "join": ("a", "c"), "end": ("b", "join")}

    assert rails(waits, list(waits), lambda step: "o") == ["o", "│ o", "│ │ o", "o─│─╯", "o─╯"]


def test_line_breaks_terminal_escapes_and_hidden_letters_are_shown_as_escapes() -> None:
    step = Step(id="a", objective="wipe\x1b[2J\r\nthe \u202escreen\u202c\u200b", tool="t\x07", args={"x": "\x9b1m\n"})

    assert plan_text(Plan(steps=(step,)), width=200) == (
        '●  a  wipe\\u{1b}[2J\\u{d}\\u{a}the \\u{202e}screen\\u{202c}\\u{200b}  t\\u{7} x="\\u{9b}1m\\n"'
    )


def test_a_plan_without_steps_shows_its_answer() -> None:
    assert plan_text(Plan(answer="Paris")) == 'no steps; answer: "Paris"'
    assert plan_text(Plan()) == "no steps; answer: none"


@given(st.lists(st.text(min_size=1), min_size=1, max_size=8), st.integers(40, 160))
def test_no_line_is_wider_than_asked(objectives: list[str], width: int) -> None:
    steps = tuple(
        Step(
            id=f"step_{n}" + "x" * 30 * n,
            objective=text,
            tool=text,
            args={"text": text * n},
            depends_on=("step_0",) if n else (),
        )
        for n, text in enumerate(objectives)
    )

    lines = plan_text(Plan(steps=steps, answer=objectives[0] * 9), {}, width=width).split("\n")

    assert len(lines) >= len(steps) + 2
    assert all(columns(line) <= width for line in lines)


def test_a_plan_is_a_list_where_its_columns_do_not_fit() -> None:
    assert plan_text(
        REPORT, {"search": "succeeded", "summary": "failed", "decide": "blocked"}, width=60
    ).splitlines() == [
        "✓ search: succeeded",
        "    Find what the documents say about offshore wind",
        '    search_documents query="offshore wind cost"',
        "✗ summary: failed",
        "    Summarise it",
        "    summarize passages={search_result.passages}",
        "    after search",
        "○ prices: pending",
        "    Fetch spot prices",
        '    fetch_prices region="North Sea" days=30',
        "⊘ decide: blocked",
        "    Decide which trend matters most",
        "    model(search_documents, calculator)",
        "    after summary, prices",
        "○ risk: pending",
        "    Weigh the risks",
        "    model",
        "    after search, prices",
        "○ 2 pending   ✓ 1 succeeded   ✗ 1 failed   ⊘ 1 blocked",
        "answer: {decide_result}",
    ]


def test_where_the_columns_fit_what_is_cut_loses_its_middle_and_ends_with_whole_words() -> None:
    assert plan_text(REPORT, width=100).splitlines()[0] == (
        '●      search   Find what the … about offshore wind                     search_documents… wind cost"'
    )


def test_a_plan_without_a_given_width_is_drawn_in_columns_whatever_they_take() -> None:
    wide = Plan(steps=tuple(Step(id=f"{'n' * 200}{n}", objective="o") for n in range(2)))

    assert plan_text(wide).splitlines()[0].startswith(f"●  {'n' * 200}0  o")
    assert plan_text(REPORT) != plan_text(REPORT, width=100)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_long_names_that_differ_look_different_at_every_width(width: int) -> None:
    steps = tuple(Step(id="n" * 200 + end, objective="o" * 200 + end, tool="t" * 200 + end) for end in "ab")

    lines = plan_text(Plan(steps=steps), width=width).splitlines()

    assert len(lines) == len(set(lines)) == 6 and all(columns(line) <= width for line in lines)


@pytest.mark.parametrize("width", [40, 60])
def test_words_are_not_broken_in_the_middle(width: int) -> None:
    objective = (
        "Décrire en détail ce que disent les documents sur le vent — תאר את הרוח ואת המחיר — 計画 を 説明 する " * 3
    )
    words = {*objective.split(), "model", "a", "…", "●"}

    assert set(plan_text(Plan(steps=(Step(id="a", objective=objective),)), width=width).split()) <= words


@pytest.mark.parametrize("value", ["ok\n" + "x" * 80, "https://example.org/" + "a/" * 40])
def test_a_long_argument_keeps_its_name_and_both_ends(value: str) -> None:
    plan = Plan(steps=(Step(id="a", objective="o", tool="send_mail", args={"to": f"{value} end", "body": "x"}),))

    line = plan_text(plan, width=60)

    assert "send_mail to=" in line and line.endswith('end" body="x"') and columns(line) > 50


@pytest.mark.parametrize("count", [3, 30, 300, 1004])
def test_every_step_of_a_list_is_named(count: int) -> None:
    steps = tuple(
        Step(id=f"s{n}", objective="o " * 60, tool="t" * 40, depends_on=(f"s{n - 1}",) if n else ())
        for n in range(count)
    )

    lines = plan_text(Plan(steps=steps), {"s0": "succeeded"}, width=60).splitlines()

    assert [line for line in lines if line[0] in "✓○"][:-1] == [
        "✓ s0: succeeded", *(f"○ s{n}: pending" for n in range(1, count))
    ]  # fmt: skip
