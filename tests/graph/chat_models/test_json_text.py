"""JSON out of what models write around it and do to it; nothing that is cut off is ever completed."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.chat_models.json_text import NoJson, json_from
from graph.chat_models.lenient_json import lenient_json

KEYS = ("steps", "answer", "plan", "keep")
PLAN: dict[str, Any] = {
    "steps": [
        {"id": "step_1", "objective": "Search", "tool": "search", "args": {"query": "wind"}, "depends_on": []},
        {"id": "step_2", "objective": "Write", "tool": "write", "args": {"text": "{step_1_result}"}},
    ],
    "answer": "{step_2_result}",
}
TEXT = json.dumps(PLAN)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(TEXT, id="plain"),
        pytest.param(f"```json\n{TEXT}\n```", id="fenced"),
        pytest.param(f"```{TEXT}```", id="fence on the same line"),
        pytest.param(f"```json\n{TEXT}", id="fence that is not closed"),
        pytest.param(f"Sure! Here is the plan [draft]:\n{TEXT}\nLet me know {{if}} it's ok.", id="between words"),
        pytest.param(f'<think>maybe {{"steps": []}}? no</think>{TEXT}', id="thoughts"),
        pytest.param(f'I consider {{"steps": []}}.</think>\n{TEXT}', id="thoughts without a beginning"),
        pytest.param(f'{{"thought": "{"x" * 1000}"}}\n{TEXT}', id="another object that is longer"),
        pytest.param(TEXT.replace("}]", "},]").replace('"wind"}', '"wind",}'), id="trailing commas"),
        pytest.param(TEXT.replace('"', "'"), id="single quotes"),
        pytest.param(repr(PLAN), id="python"),
        pytest.param(TEXT.replace('"steps": [', '"steps": [ // first\n'), id="comments"),
        pytest.param(TEXT.replace('"steps": [', '"steps": [ # first\n /* and */'), id="other comments"),
        pytest.param(TEXT.replace('"id":', "id:"), id="keys without quotes"),
    ],
)
def test_a_plan_is_found_whatever_stands_around_it_and_whatever_its_quotes(answer: str) -> None:
    assert json_from(answer, KEYS) == PLAN


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"a": None, "b": True, "c": false}', {"a": None, "b": True, "c": False}),
        ("{'text': \"it's\"}", {"text": "it's"}),
        ("{'text': 'it\\'s'}", {"text": "it's"}),
        ('{"text": "two\nlines"}', {"text": "two\nlines"}),
        ("{'text': 'two\nlines \\ud83d\\ude00 a\\/b \\d'}", {"text": "two\nlines 😀 a/b \\d"}),
        ("[-1, 2.5, (3, 4),]", [-1, 2.5, [3, 4]]),
        ("as [1] says: {'url': 'https://host/a#b'}", {"url": "https://host/a#b"}),
    ],
)
def test_values_are_read_as_they_are_meant(answer: str, value: Any) -> None:
    assert json_from(answer) == value


def test_a_bare_list_of_objects_is_one() -> None:
    assert json_from(f"The steps are: {json.dumps(PLAN['steps'])}", KEYS) == PLAN["steps"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("I am sorry, I cannot do that.", "holds no JSON object"),
        ("The plan would be to {search} and then write.", "holds no JSON object"),
        ("<think>{'steps': []} would do, but", "holds no JSON object"),
        (TEXT[:-1], "is not closed"),
        (TEXT[:150], "is not closed"),
        (TEXT[: TEXT.index(', {"id": "step_2"')], "is not closed"),
        (TEXT.replace("Search", 'Search "wind" now'), 'near \'"objective": "Search "wind" now'),
        (TEXT.replace("}, {", "} {"), "Expecting ',' delimiter"),
        (TEXT.replace("[]", "[...]"), "cannot be read"),
        ('{"steps": __import__("os")}', "cannot be read"),
        ('{"steps": {1, 2}}', "cannot be read"),
        ("[" * 5000, "nested too deep"),
        ("{'a': " * 500 + "1" + "}" * 500, "cannot be read"),
    ],
)
def test_what_is_cut_off_or_cannot_be_read_is_refused_with_the_reason(answer: str, why: str) -> None:
    with pytest.raises(NoJson, match="JSON") as caught:
        json_from(answer, KEYS)

    assert why.replace('near \'"objective"', "near") in str(caught.value).replace("near 'bjective\"", "near")


def test_parts_of_a_broken_plan_are_no_plan() -> None:
    broken = TEXT.replace('"answer": "{step_2_result}"', '"answer": "the "report" is there"')

    with pytest.raises(NoJson):
        json_from(broken, KEYS)


@pytest.mark.parametrize("said", ["{}", "<think>short</think>\n{}", "```json\n{}\n```"])
@pytest.mark.parametrize(
    "objective", ["strip <think>them</think> from it", "find each <think>", "close </thinking> tags"]
)
def test_what_a_plan_says_of_thoughts_stays_in_it(said: str, objective: str) -> None:
    plan = {"steps": [{"objective": objective}]}

    assert json_from(said.replace("{}", json.dumps(plan)), KEYS) == plan


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_what_python_writes_is_read_back(value: Any) -> None:
    assert lenient_json(repr({"a": value})) == {"a": value}


@given(st.dictionaries(st.text(max_size=8), JSON, min_size=1, max_size=4), st.data())
def test_no_beginning_of_a_text_is_taken_for_the_whole(value: Any, data: st.DataObject) -> None:
    text = json.dumps({"steps": value})
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 1))

    with pytest.raises(NoJson):
        json_from(text[:cut], KEYS)


@pytest.mark.parametrize(
    "text",
    ["[" * 20_000, "a" + " " * 200_000 + "b", "{'a': " * 20_000, "['a' " * 5_000 + "]" * 5_000, '{"a" b} ' * 20_000],
)
def test_a_hostile_text_costs_little(text: str) -> None:
    begun = time.perf_counter()

    with pytest.raises(NoJson):
        json_from(text)

    assert time.perf_counter() - begun < 10
