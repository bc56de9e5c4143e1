import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.text.drawing.labels import plain
from planner_executor.graph.text.drawing.mermaid import plan_mermaid

NODE = re.compile(
    r'^    s\d+(?:\["|\(\["|\(")([^"\[\](){}`<>&]*(?:<br/>[^"\[\](){}`<>&]*){2})(?:"\]|"\]\)|"\))(?::::[a-z]+)?$'
)


def shown(label: str) -> str:
    """Return the label as Mermaid shows it."""
    return unescape(re.sub(r"#(\d+);", r"&#\1;", label)).replace("\u200b", "")


def test_a_plan_becomes_a_flowchart_with_a_class_per_status() -> None:
    plan = Plan(
        steps=(
            Step(id="find", objective="Find the passages", tool="search_documents"),
            Step(id="weigh", objective="Weigh them", depends_on=("find",)),
            Step(id="end", objective="Check", tools=("calculator",), args={"text": "{weigh_result}"}),
        )
    )

    assert plan_mermaid(plan, {"find": "succeeded", "weigh": "running", "end": "no such word"}).splitlines() == [
        "flowchart TD",
        '    s1["find<br/>search#95;documents<br/>Find the passages"]:::succeeded'.replace("#95;", "_"),
        '    s2("weigh<br/>model<br/>Weigh them"):::running',
        '    s3(["end<br/>model#40;calculator#41;<br/>Check"]):::pending',
        "    s1 --> s2",
        "    s2 --> s3",
        "    classDef pending fill:#ffffff,stroke:#64748b,color:#0f172a",
        "    classDef running fill:#eff6ff,stroke:#1d4ed8,color:#0f172a",
        "    classDef succeeded fill:#f0fdf4,stroke:#15803d,color:#0f172a",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '"]; click s1 "javascript:alert(1)"',
        "`md **bold** _it_ __x__`",
        '%%{init: {"theme": "dark"}}%%',
        "<img src=x onerror=alert(1)> &lt;script&gt;",
        "#quot; #35; [x] {y} |z|",
        "end\nclass s1 failed",
        "www.example.org fa:fa-car $$x$$ C:\\new",
    ],
)
def test_no_text_is_markup_and_all_of_it_is_shown(text: str) -> None:
    line = plan_mermaid(Plan(steps=(Step(id="a", objective=text),))).splitlines()[1]

    label = NODE.match(line)
    assert label is not None
    assert shown(label[1]) == f"a<br/>model<br/>{plain(text)}"


@pytest.mark.parametrize("text", ["fa:fa-car", "$$x$$", "a\\nb"])
def test_icons_formulas_and_breaks_are_kept_apart(text: str) -> None:
    assert "#8203;" in plan_mermaid(Plan(steps=(Step(id="a", objective=text),)))


@given(st.text(min_size=1), st.text(min_size=1), st.sampled_from(["end", "graph", "subgraph", "click", "o__x_"]))
def test_every_node_line_is_one_label_whatever_the_texts(objective: str, tool: str, name: str) -> None:
    lines = plan_mermaid(Plan(steps=(Step(id=name, objective=objective, tool=tool),)), {}).split("\n")

    label = NODE.match(lines[1])
    assert label is not None
    assert shown(label[1]).split("<br/>")[0] == name
    assert len(lines) == 4


def test_a_plan_without_steps_shows_its_answer() -> None:
    assert plan_mermaid(Plan(answer=42)) == 'flowchart TD\n    answer["no steps#59; answer#58; 42"]\n'


def test_a_dotted_edge_leads_from_what_decides_about_a_branch() -> None:
    when = {"of": "{a_result.n}", "condition": "@ > `9` && \"x]\" == '--> end'"}
    steps = (Step(id="a", objective="o"), Step(id="c", objective="o"))

    chart = plan_mermaid(Plan(steps=(*steps, Step(id="b", objective="o", depends_on=("c",), when=when))))

    (dotted,) = re.findall(r'^    s1 -\. "([^"]+)" \.-> s3$', chart, re.MULTILINE)
    assert unescape(re.sub(r"#(\d+);", r"&#\1;", dotted)).startswith("if @ > `9` && ")
    assert "    s2 --> s3" in chart.split("\n")
