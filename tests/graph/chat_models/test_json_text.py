"""JSON out of what models write around it and do to it: never chosen from, never completed where it was cut off."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.chat_models.json_scan import Piece
from planner_executor.graph.chat_models.json_text import NoJson, json_from, objects_with, plans_in, value_from
from planner_executor.graph.chat_models.lenient_json import MAX_DEPTH, lenient_json
from planner_executor.graph.chat_models.thoughts import after_thoughts
from planner_executor.graph.plan.fragments import PlanShape

PLAN: dict[str, Any] = {
    "steps": [
        {"id": "step_1", "objective": "Search", "tool": "search", "args": {"query": "wind"}, "depends_on": []},
        {"id": "step_2", "objective": "Write", "tool": "write", "args": {"text": "{step_1_result}"}},
    ],
    "answer": "{step_2_result}",
}
TEXT = json.dumps(PLAN)
TOOLS = ("search", "write", "mail")
STEPS = json.dumps({"steps": PLAN["steps"]})
DRAFT = json.dumps({"steps": [{"id": "step_1", "objective": "Delete", "tool": "delete"}]})
FINAL = "<|start|>assistant<|channel|>final<|message|>"


def pieces(answer: str) -> list[Piece]:
    return plans_in(answer, PlanShape(frozenset(TOOLS)))


def plan_in(answer: str) -> Any:
    (found,) = pieces(answer)
    return found.value


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
    assert plan_in(answer) == PLAN


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
    assert plan_in(f"The steps are: {json.dumps(PLAN['steps'])}") == PLAN["steps"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("I am sorry, I cannot do that.", "holds no JSON object"),
        ("The plan would be to {search} and then write.", "holds no JSON object"),
        ("<think>{'steps': []} would do, but", "holds no JSON object"),
        (TEXT[:150], "is not closed"),
        (TEXT[: TEXT.index(', {"id": "step_2"')], "is not closed"),
        (TEXT.replace("Search", 'Search "wind" now'), 'near \'"objective": "Search "wind" now'),
        (TEXT.replace("}, {", "} {"), "Expecting ',' delimiter"),
        (TEXT.replace("[]", "[...]"), "cannot be read"),
        ('{"steps": __import__("os")}', "cannot be read"),
        ('{"steps": {1, 2}}', "cannot be read"),
        ("[" * 5000, "nested deeper than"),
        ("{'a': " * 500 + "1" + "}" * 500, "nested deeper than"),
    ],
)
def test_what_is_cut_off_or_cannot_be_read_is_refused_with_the_reason(answer: str, why: str) -> None:
    with pytest.raises(NoJson, match="JSON") as caught:
        plan_in(answer)

    assert why.replace('near \'"objective"', "near") in str(caught.value).replace("near 'bjective\"", "near")


def test_parts_of_a_broken_plan_are_no_plan() -> None:
    broken = TEXT.replace('"answer": "{step_2_result}"', '"answer": "the "report" is there"')

    with pytest.raises(NoJson):
        plan_in(broken)


@pytest.mark.parametrize("said", ["{}", "<think>short</think>\n{}", "```json\n{}\n```"])
@pytest.mark.parametrize(
    "objective", ["strip <think>them</think> from it", "find each <think>", "close </thinking> tags"]
)
def test_what_a_plan_says_of_thoughts_stays_in_it(said: str, objective: str) -> None:
    plan = {"steps": [{"objective": objective}]}

    assert plan_in(said.replace("{}", json.dumps(plan))) == plan


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
    text = json.dumps({"steps": [value]})
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 2))

    with pytest.raises(NoJson):
        json_from(text[:cut])


# One bracket too many or too few at the end


@pytest.mark.parametrize(
    ("answer", "value", "note"),
    [
        (TEXT[:-1], PLAN, "missing"),
        (f"```json\n{TEXT[:-1]}\n```\nI hope this helps.", PLAN, "missing"),
        (STEPS[:-2] + "}", json.loads(STEPS), "missing"),
        (STEPS[:-3] + "]}", json.loads(STEPS), "missing"),
        (TEXT + "}", PLAN, "too many"),
        (f"```\n{TEXT}]\n```", PLAN, "too many"),
        (STEPS[:-2] + "}]}", json.loads(STEPS), "too many"),
        (STEPS[:-1] + "]}", json.loads(STEPS), "too many"),
        (TEXT[:-1].replace('"', "'"), PLAN, "missing"),
    ],
)
def test_one_closing_bracket_too_many_or_too_few_at_the_end_is_mended_and_told(
    answer: str, value: Any, note: str
) -> None:
    (found,) = pieces(answer)

    assert found.value == value
    assert note in found.notes[-1]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(
            '{"steps": [{"id": "a", "args": {"q": 1, "depends_on": ["b"]}]}', id="it may belong before the comma"
        ),
        pytest.param('{"answer": {"x": 1, "y": 2}', id="the last value may be two"),
        pytest.param('{"steps": [{"id": "a", "args": {"q": 1}, "x": 2}}]}', id="the one before may be too many"),
        pytest.param('[{"id": "a", "objective": "o"}, {"id": "b", "objective": "o"}', id="more items may follow"),
        pytest.param('{"answer": 4', id="a number may go on"),
        pytest.param('{"steps": [{"id": "a"}', id="two are missing"),
        pytest.param('{"steps": [], "answer": "x', id="the quote is missing too"),
    ],
)
def test_brackets_that_could_be_mended_in_two_ways_are_not(answer: str) -> None:
    with pytest.raises(NoJson):
        pieces(answer)


@given(JSON, st.data())
def test_a_mended_text_is_what_was_meant_whatever_bracket_of_its_end_is_missing(
    value: Any, data: st.DataObject
) -> None:
    """Of all texts that lack one bracket somewhere and are read, the reading is the only one there is."""
    text = json.dumps({"steps": [value]})
    body = text.rstrip("]}")
    place = data.draw(st.integers(min_value=len(body), max_value=len(text) - 1))
    try:
        found = json_from(text[:place] + text[place + 1 :])
    except NoJson:
        return

    assert found == {"steps": [value]}


@pytest.mark.parametrize(
    ("answer", "cut_off"),
    [
        (TEXT[:120], True),
        (TEXT[: TEXT.index(', {"id": "step_2"')], True),
        (TEXT[:-1] + "\nI hope this helps.", False),
        (TEXT.replace('"Search"', '"Search'), False),
        (TEXT.replace('"{step_2_result}"', '"{step_2_result}'), False),
        (TEXT.replace("}, {", "} {"), False),
        (TEXT.replace('"Search"', '"Search 5" pipes"'), False),
        (STEPS[:-4] + "]}", False),
    ],
)
def test_cut_off_is_said_only_of_what_ends_in_the_middle(answer: str, cut_off: bool) -> None:
    with pytest.raises(NoJson) as caught:
        pieces(answer)

    assert ("cut off" in str(caught.value)) == cut_off


# Several values


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        (f"Draft: {DRAFT}\nFinal: {TEXT}", 2),
        (f"{TEXT}\n{DRAFT}", 2),
        (",\n".join(json.dumps([step]) for step in PLAN["steps"]), 2),
        (f'{TEXT} or {{"answer": "Paris"}}', 2),
        (f"{TEXT}\n{TEXT}", 1),
        (f"{TEXT}\n{json.dumps(dict(reversed(PLAN.items())))}", 1),
        (f'A result looks like [{{"title": "wind"}}], {{"n": 3}} or {{"answer": 3, "unit": "m"}}. {TEXT}', 1),
        (f'In the form {{"steps": [...], "answer": ...}}: {TEXT}', 1),
    ],
)
def test_differing_plans_are_all_returned_and_other_json_is_not(answer: str, count: int) -> None:
    assert len(pieces(answer)) == count


@pytest.mark.parametrize("broken", [DRAFT.replace("}", ""), DRAFT[:-4], DRAFT.replace("[", "("), DRAFT + DRAFT[:20]])
def test_a_plan_beside_one_that_cannot_be_read_is_not_taken(broken: str) -> None:
    for answer in (f"{TEXT}\n{broken}", f"{broken}\n{TEXT}"):
        with pytest.raises(NoJson):
            pieces(answer)


def test_what_stands_within_json_that_cannot_be_read_is_never_the_plan() -> None:
    with pytest.raises(NoJson):
        pieces('{"note": "he said "yes"", "inner": {"steps": [], "answer": "x"}}')


def test_a_key_that_is_there_twice_is_never_chosen_from() -> None:
    with pytest.raises(NoJson, match="twice"):
        pieces('{"steps": [], "answer": "a", "answer": "b"}')

    assert plan_in('{"answer": "a", "answer": "a"}') == {"answer": "a"}


@pytest.mark.parametrize("read", [json_from, value_from])
def test_values_of_any_kind_are_never_chosen_from(read: Callable[[str], Any]) -> None:
    with pytest.raises(NoJson, match="2 differing"):
        read('{"n": 1}\n{"n": 2}')
    assert read('{"n": 1}\n```json\n{"n": 1}\n```') == {"n": 1}


@pytest.mark.parametrize("text", ["1,234", '"a" "b"', 'r"x"', "1 2"])
def test_a_bare_value_is_not_put_together_from_parts(text: str) -> None:
    with pytest.raises(NoJson):
        value_from(text)


def test_an_opinion_beside_one_that_cannot_be_read_is_none() -> None:
    assert objects_with("met", 'It says {"met": true}. {"met": false, "why": "no "proof""}') == []


# Thoughts


@pytest.mark.parametrize(
    "answer",
    [
        "<think>{}</think>",
        "<thought>{}</thought>",
        "<Thinking>{}</THINKING>",
        "<reasoning effort='high'>{}</reasoning>",
        "<seed:think>{}</seed:think>",
        "◁think▷{}◁/think▷",
        "[THINK]{}[/THINK]",
        "<|START_THINKING|>{}<|END_THINKING|>",
        "<|begin_of_thought|>{}<|end_of_thought|>",
        "{}</think>",
        "<think>a <think>b</think> {}</think>",
        "<think>I use <reasoning> tags {}</think>",
        "<think>a</think> {}</think>",
        "<|channel|>analysis<|message|>{}<|end|>",
        "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>",
        "<|start|>user<|message|>{}<|end|>",
    ],
)
def test_a_plan_in_thoughts_is_none_and_the_one_after_them_is_read(answer: str) -> None:
    thoughts = answer.replace("{}", DRAFT)

    with pytest.raises(NoJson, match="thoughts"):
        pieces(thoughts)
    assert plan_in(f"{thoughts}\n{TEXT}") == PLAN


@pytest.mark.parametrize("opening", ["<think>", "<think>a</think><think>", "<|channel|>analysis<|message|>"])
def test_thoughts_without_an_end_go_on_to_the_end(opening: str) -> None:
    with pytest.raises(NoJson, match="thoughts"):
        pieces(f"{opening} {TEXT}")


def test_of_channels_only_the_final_one_holds_the_answer() -> None:
    leaked = f"<|channel|>analysis<|message|>{DRAFT}<|end|>{FINAL}{TEXT}<|return|>"

    assert plan_in(leaked) == PLAN
    assert plan_in(f"I think of {DRAFT}<|end|>{FINAL}{TEXT}") == PLAN
    assert plan_in(f"analysisI think of {DRAFT}.assistantfinal{TEXT}") == PLAN
    assert len(pieces(f"{FINAL}{DRAFT}<|end|>{FINAL}{TEXT}")) == 2


@pytest.mark.parametrize(
    "tag", ["<think>", "</think>", "◁/think▷", "[THINK]", FINAL, "<|channel|>analysis<|message|>", "</seed:think>"]
)
def test_markup_of_thoughts_in_a_text_of_the_plan_is_content(tag: str) -> None:
    plan = {"steps": [{"id": "a", "objective": f"find {tag} in it", "tools": []}]}

    assert plan_in(f"Here it is: {json.dumps(plan, ensure_ascii=False)}") == plan


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<think>A capital.</think> Paris", "Paris"),
        ("<seed:think>a</seed:think><think>b <think>c</think></think>\nParis", "Paris"),
        ("A capital.</think> Paris", "Paris"),
        ("<think>A capital", ""),
        (f"<|channel|>analysis<|message|>A capital.<|end|>{FINAL}Paris<|return|>", "Paris"),
        ("<|channel|>final<|message|>Paris", "Paris"),
        ("<|channel|>analysis<|message|>A capital", ""),
        ("analysisA capital.assistantfinalParis", "Paris"),
        ("Close it with `</think>`, as ever.", "Close it with `</think>`, as ever."),
        ("The tags <think> and </think> come in pairs.", "The tags <think> and </think> come in pairs."),
    ],
)
def test_words_are_taken_without_the_thoughts_they_begin_with(text: str, words: str) -> None:
    assert after_thoughts(text) == words


# Bounds

HOSTILE = (
    *("{[{[", "[", "[1,", "{ ", "{'a': ", '{"a": (', '{"a": [}', '{"a" b} ', '{"a":1}', "['a'", '```{"a":'),
    *('{"', '["\\"', '"""', '["""', "\\", "/* ", "{/* "),
    *('{"id":1,"tool":2}', '1, "a": ', '"id": 1, ', '"] } ', '"a": }]', '{"steps":[]} "x"'),
    *("<think>", "<think></think>", "</think>", "<think ", "◁think▷", "<|channel|>", "<|start|>x"),
)


@pytest.mark.parametrize("part", HOSTILE)
def test_the_work_grows_with_the_length_of_a_hostile_text_alone(part: str) -> None:
    text = "[" + part * (60_000 // len(part))
    begun = time.process_time()

    for read in (pieces, value_from, after_thoughts, partial(objects_with, "met")):
        with suppress(NoJson):
            read(text)

    assert time.process_time() - begun < 5


@pytest.mark.parametrize("read", [json_from, value_from, pieces])
@pytest.mark.parametrize("opening", ['{"steps":', "{'steps':", "[", "["])
def test_what_is_nested_too_deep_is_refused_in_words(read: Callable[[str], Any], opening: str) -> None:
    for depth in (MAX_DEPTH + 1, 900, 3_000, 100_000):
        text = opening * depth + "1" + ("]" if opening == "[" else "}") * depth
        with pytest.raises(NoJson, match=f"nested deeper than {MAX_DEPTH}"):
            read(text)
