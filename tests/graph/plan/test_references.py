"""Section 4, "References are text": found and filled in one pass, and only text that matches is special."""

import json
import re
import time
from typing import Any

import jmespath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner_executor.graph.errors import UnresolvedReferenceError
from planner_executor.graph.plan.expressions import MAX_CHARACTERS
from planner_executor.graph.plan.reference_spans import spans
from planner_executor.graph.plan.references import (
    SKIPPED,
    Reference,
    escape_references,
    is_read_anew,
    join_pieces,
    needs_evaluation,
    pieces,
    references_in,
    renamed,
    resolve,
)

RESULT = {
    "items": [{"url": "u0", "n": 0}, {"url": "u1"}],
    "Exchange Rate": 1.25,
    'say "}"': "quoted",
    "none": None,
    "text": '{"inner": 1}',
    "flag": True,
    "é": "accent",
}
RESULTS: dict[str, Any] = {"s": RESULT, "t": '{"a": 1}', "list": [10, 20, 30]}


def value(reference: str) -> Any:
    return resolve(reference, RESULTS)


def joined(parts: tuple[str | Reference, ...]) -> tuple[str | Reference, ...]:
    """Return pieces with neighbouring texts put together."""
    found: list[str | Reference] = []
    for part in parts:
        if found and isinstance(part, str) and isinstance(found[-1], str):
            found[-1] += part
        else:
            found.append(part)
    return tuple(found)


def ids(text: Any) -> list[str]:
    return [str(reference) for reference in references_in(text)]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("{s_result}", RESULT),
        ("{s_result.items}", RESULT["items"]),
        ("{s_result.items[0].url}", "u0"),
        ("{s_result.items[-1].url}", "u1"),
        ('{s_result."Exchange Rate"}', 1.25),
        ('{s_result."say \\"}\\""}', "quoted"),
        ('{s_result."\\u00e9"}', "accent"),
        ("{s_result.items[*].url}", ["u0", "u1"]),
        ("{s_result.items[*].n}", [0]),
        ("{s_result.items[?url=='u1'].url | [0]}", "u1"),
        ("{s_result.none}", None),
        ("{s_result.flag}", True),
        ("{list_result[1]}", 20),
        ("{list_result[::-1]}", [30, 20, 10]),
        ("{list_result | length(@)}", 3),
        ("{t_result}", '{"a": 1}'),
    ],
)
def test_alone_in_a_string_a_reference_keeps_its_type(reference: str, expected: Any) -> None:
    found = value(reference)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is {s_result.items[0].url}!", "is u0!"),
        ("{s_result.items[0].url}{s_result.items[1].url}", "u0u1"),
        ("{list_result}.", "[10, 20, 30]."),
        ("{s_result.none} ", "null "),
        (" {s_result.flag}", " true"),
        ('rate {s_result."Exchange Rate"}', "rate 1.25"),
        ("{s_result.items[1]}\n", '{"url": "u1"}\n'),
        ("{t_result}{t_result}", '{"a": 1}{"a": 1}'),
    ],
)
def test_inside_text_strings_go_in_as_they_are_and_the_rest_as_json(text: str, expected: str) -> None:
    assert value(text) == expected


def test_a_letter_beyond_ascii_stays_itself_inside_text() -> None:
    assert resolve("-{a_result}", {"a": ["é", "\U0001f600"]}) == '-["é", "\U0001f600"]'


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{0}",
        "$5 #9 <h1> {{x}}",
        '{"a": {"b": [1]}}',
        "{s}",
        "{s_result",
        "s_result}",
        "{ s_result}",
        "{s_results}",
        "{s_result2}",
        "{s_result_}",
        "{1_result}",
        "{_result}",
        "{_s_result}",
        "{é_result}",
        "{s-1_result}",
        "{S_RESULT}",
        "${s_resul}",
        '{s_result."unclosed}',
        "{s_result.'unclosed}",
        "{s_result.`unclosed}",
        "",
        "{",
        "}",
        "}{",
    ],
)
def test_other_braces_and_signs_stay_as_they_are(text: str) -> None:
    assert ids(text) == []
    assert value(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{s_result}}", "{s_result}"),
        ("{{s_result.items[0]}}", "{s_result.items[0]}"),
        ('{{s_result."}"}}', '{s_result."}"}'),
        ("{{{s_result}}}", "{{s_result}}"),
        ("{{nobody_result}}", "{nobody_result}"),
        ("{{s_result}} is {list_result[0]}", "{s_result} is 10"),
        ("{{s_result}}{{t_result}}", "{s_result}{t_result}"),
        ("{{list_result[0]}", "{10"),
        ("{list_result[0]}}", "10}"),
        ("{{list_result[0]} }", "{10 }"),
    ],
)
def test_doubled_braces_are_the_literal_form(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("{step_1_result_result}", ["{step_1_result_result}"]),
        ("{a_result.b_result}", ["{a_result.b_result}"]),
        ("{a_result}_result}", ["{a_result}"]),
        ("{a_result{b_result}", ["{a_result{b_result}"]),
        ('{a_result."x}y"}{b_result}', ['{a_result."x}y"}', "{b_result}"]),
        ("{a_result[?x=='}']}", ["{a_result[?x=='}']}"]),
        ('{a_result[?x==`"}"`]}', ['{a_result[?x==`"}"`]}']),
        ("{a_result.{x: y}}", ["{a_result.{x: y}"]),
        ("{a_result }", ["{a_result }"]),
        ("{a_result\n.x}", ["{a_result\n.x}"]),
    ],
)
def test_a_reference_goes_from_the_longest_id_to_the_first_brace_outside_quotes(
    text: str, references: list[str]
) -> None:
    assert ids(text) == references


def test_the_longest_step_id_wins() -> None:
    (reference,) = references_in("{a_result_result.x_result}")

    assert reference == Reference("a_result", ".x_result")


def test_references_are_looked_for_in_values_and_never_in_keys() -> None:
    args = {"{a_result}": ["{b_result}", {"{c_result}": "x {d_result.y}"}], "n": 1, "none": None}

    assert ids(args) == ["{b_result}", "{d_result.y}"]


def test_keys_are_never_filled_in() -> None:
    assert resolve({"{s_result}": "{list_result[0]}"}, RESULTS) == {"{s_result}": 10}


@pytest.mark.parametrize("scalar", [None, True, 0, 1.5, [], {}, [None, {"a": []}]])
def test_what_is_no_text_stays_as_it_is(scalar: Any) -> None:
    assert resolve(scalar, RESULTS) == scalar


def test_a_result_is_never_scanned_again() -> None:
    results = {"a": "{b_result}", "b": "secret", "c": {"x": "{{b_result}}", "{b_result}": "{b_result}"}}

    assert resolve("{a_result}", results) == "{b_result}"
    assert resolve("-{a_result}-", results) == "-{b_result}-"
    assert resolve({"x": "{c_result}"}, results) == {"x": results["c"]}


def test_two_results_do_not_grow_together_to_a_reference() -> None:
    assert resolve("{a_result}{b_result}{c_result}", {"a": "{x_res", "b": "ult", "c": "}"}) == "{x_result}"


@pytest.mark.parametrize(
    ("reference", "named"),
    [
        ("{s_result.missing}", ".missing"),
        ("{s_result.items[2]}", "[2]"),
        ("{s_result.items[-3]}", "[-3]"),
        ("{s_result.items.url}", ".url"),
        ("{s_result[0]}", "[0]"),
        ("{s_result.items[0].url.more}", ".more"),
        ("{s_result.none.more}", ".more"),
        ("{s_result.none[0]}", "[0]"),
        ("{s_result.text.inner}", ".inner"),
        ("{s_result.flag[0]}", "[0]"),
        ('{s_result."exchange rate"}', "exchange rate"),
        ('{s_result."\\ud800"}', "\\ud800"),
        ("{list_result[99999999999999999999]}", "[99999999999999999999]"),
    ],
)
def test_a_plain_chain_that_leads_nowhere_fails_and_names_the_path(reference: str, named: str) -> None:
    with pytest.raises(UnresolvedReferenceError) as caught:
        value(reference)

    assert caught.value.reference == reference
    assert named in str(caught.value)
    str(caught.value).encode()


@pytest.mark.parametrize("reference", ["{t_result.a}", "{t_result[0]}", "{t_result[*]}", "{t_result[?a]}"])
def test_a_path_into_a_text_result_fails_even_if_the_text_is_json(reference: str) -> None:
    with pytest.raises(UnresolvedReferenceError):
        value(reference)


@pytest.mark.parametrize("text", ["{gone_result}", "x {gone_result.a} y"])
def test_a_step_without_a_result_fails(text: str) -> None:
    with pytest.raises(UnresolvedReferenceError):
        value(text)


@pytest.mark.parametrize(
    "path", [".items[*].missing", ".missing[*]", ".items[?n==`5`]", ".none[*].a", ".text[*].inner", ".items[5:9]"]
)
def test_any_other_expression_gives_what_jmespath_gives(path: str) -> None:
    assert value(f"{{s_result{path}}}") == jmespath.search("@" + path, RESULT)


@pytest.mark.parametrize(
    "path",
    [
        "|`NaN`",
        "|`[1e999]`",
        "|to_number('nan')",
        "|to_number('-inf')",
        '|`"\\ud800"`',
        "|&a",
        "|sort(@)",
        "|nonsense(@)",
        "|avg(items)",
    ],
)
def test_an_expression_without_a_json_value_fails_the_reference(path: str) -> None:
    with pytest.raises(UnresolvedReferenceError):
        value(f"{{s_result{path}}}")


@pytest.mark.parametrize("path", ["", ".a", '."a b"[0]', "[*].a", "[?a].b | [0]", " | length(@)", ".a || 'b'"])
def test_a_path_that_can_be_read_has_no_fault(path: str) -> None:
    assert Reference("s", path).fault is None


@pytest.mark.parametrize("path", [".", "..a", "[", "[a", ".a b", '"a"', ".{a: b", ".a-b", "|" + "(" * 5000])
def test_a_path_that_cannot_be_read_has_one(path: str) -> None:
    fault = Reference("s", path).fault

    assert fault is not None
    assert "{s_result" in fault


HOSTILE = [
    "{a_result'",
    "{a_result",
    '{a_result"\\',
    "{a_result`}",
    "{{a_result}",
    "{a_result'\\'",
    "$${a_result}",
    "{a_result'\"`",
]


def seconds_to_read(text: str) -> float:
    begun = time.process_time()
    pieces(text)
    return time.process_time() - begun


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("end", ["", "'}", "}"])
def test_hostile_text_is_read_in_time_in_proportion_to_its_length(hostile: str, end: str) -> None:
    assert seconds_to_read(hostile * 20_000 + end) < 100 * (seconds_to_read(hostile * 1_000 + end) + 0.005)


PATTERN = re.compile(
    r"""\{([A-Za-z][A-Za-z0-9_]*)_result(?![A-Za-z0-9_])"""
    r"""((?:[^}"'`]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)*+)\}""",
    re.DOTALL,
)
"""What a reference is, as one regular expression; it may take time that grows with the square of the text."""

texts = st.lists(
    st.sampled_from(
        ["{", "}", "{{", "}}", "$", "$$", "a_result", "b_result", "_result", ".x", "[0]", '"', "'", "`", "\\", " ", "é"]
    ),
    max_size=24,
).map("".join)


@given(texts)
def test_references_end_at_the_first_brace_outside_quotes(text: str) -> None:
    found = [(span.start, span.stop, span.step, span.path) for span in spans(text)]

    assert found == [(*match.span(), *match.groups()) for match in PATTERN.finditer(text)]


@given(texts)
def test_what_is_split_into_pieces_can_be_put_together_again(text: str) -> None:
    assert joined(pieces(join_pieces(pieces(text)))) == joined(pieces(text))


@given(texts)
def test_references_renamed_there_and_back_are_what_they_were(text: str) -> None:
    there = renamed(text, {"a": "c", "b": "d"})

    assert joined(pieces(str(renamed(there, {"c": "a", "d": "b"})))) == joined(pieces(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$${list_result[0]}", "$10"),
        ("{t_result}: $${list_result[0]} or $$${list_result[1]}", '{"a": 1}: $10 or $$20'),
        ("$$$${list_result[0]}", "$$10"),
        ("$5 $$ {list_result[0]}", "$5 $$ 10"),
        ("{list_result[0]}$${list_result[1]}", "10$20"),
        ("${{s_result}} $${{s_result}}", "${s_result} $${s_result}"),
    ],
)
def test_of_the_dollars_directly_before_a_reference_each_pair_gives_one(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize("count", [10, 200])
def test_the_references_of_one_step_share_a_bound_on_what_they_give(count: int) -> None:
    args: Any = {"a": ["{big_result} and {big_result}"] * count}

    if count == 10:
        resolve(args, {"big": "x" * 1_000_000})
    else:
        with pytest.raises(UnresolvedReferenceError, match="refer to a smaller part"):
            resolve(args, {"big": "x" * 1_000_000})


def test_a_reference_that_doubles_at_every_part_fails_in_words() -> None:
    path = " | [@,@]" * 40

    assert Reference("a", path).fault is None
    with pytest.raises(UnresolvedReferenceError, match="refer to a smaller part"):
        resolve(f"{{a_result{path}}}", {"a": "x"})


@pytest.mark.parametrize(
    ("reference", "is_whole"),
    [
        (Reference("a", ""), True),
        (Reference("b", ""), False),
        (Reference("a", ".x"), False),
        (Reference("a", "", "length(a_result)"), False),
    ],
)
def test_only_a_bare_reference_stands_for_the_whole_result(reference: Reference, is_whole: bool) -> None:
    assert reference.is_whole("a") is is_whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a_result}", None),
        ("{a_result.x}", None),
        ("{a_result || c_result}", None),
        ("{a_result || b_result}", 2),
        ("{[a_result, b_result]}", [None, 2]),
        ("{a_result} and {b_result}", "null and 2"),
    ],
)
def test_a_skipped_result_is_null_and_so_is_each_part_of_it(text: str, expected: Any) -> None:
    assert resolve(text, {"a": SKIPPED, "b": 2, "c": SKIPPED}) == expected


@pytest.mark.parametrize("path", [".a", "[0]", ".a" * (MAX_CHARACTERS // 2)])
def test_a_part_of_a_text_fails_for_being_one_however_long_its_path(path: str) -> None:
    with pytest.raises(UnresolvedReferenceError, match="the result is text, which has no fields"):
        resolve(f"{{t_result{path}}}", RESULTS)


@pytest.mark.parametrize("text", ["{s_result.}", "{s_result.items[}", "{list_result | }"])
def test_what_is_no_expression_has_no_value(text: str) -> None:
    with pytest.raises(UnresolvedReferenceError, match="is not a JMESPath"):
        resolve(text, RESULTS)


@pytest.mark.filterwarnings("ignore:deprecated string literal syntax")
def test_a_literal_without_quotes_is_read_as_the_library_reads_it() -> None:
    reference = Reference("s", ".items[?url == `u1`]")

    assert reference.fault is None
    assert reference.value_in(RESULTS) == [{"url": "u1"}]


@pytest.mark.parametrize("reference", [Reference("a", ".b" * 2_000), Reference("a", "", f"length({'a' * 4_000})")])
def test_the_fault_of_a_long_reference_is_short(reference: Reference) -> None:
    assert "} is longer than 2000 characters" in str(reference.fault)
    assert len(str(reference.fault)) < 100


@pytest.mark.parametrize(
    ("text", "is_new"),
    [
        ("{a_result.b}", False),
        ("{a_result[?b]}", False),
        ("{a_result.b} {c", False),
        ("{length(a_result)}", True),
        ("{a_result[?b]} {length(a_result)}", True),
        ("{a_result.b} {a_result.}", True),
        ("{x: a_result}", True),
        ("{x: c_result}", False),
    ],
)
def test_functions_faults_and_names_in_other_places_are_read_anew(text: str, is_new: bool) -> None:
    assert is_read_anew(["", {"x": text}], ["a", "b"]) is is_new


@pytest.mark.parametrize(
    ("path", "word"),
    [(".a" * 1_001, "longer"), (" | [@,@]" * 60, "deeper"), ("|" + "(" * 500 + "@" + ")" * 500, "deeper")],
)
def test_a_path_that_is_too_long_or_too_deep_is_a_fault(path: str, word: str) -> None:
    fault = Reference("a", path).fault

    assert fault is not None
    assert word in fault


@given(texts | st.text())
@example('{a_result"{b_result}"}')
@example("{a_result'{b_result}")
@example("{{{a_result}}}")
def test_escaped_text_resolves_to_itself(text: str) -> None:
    assert resolve(escape_references(text), {}) == text


@given(texts, st.lists(texts, max_size=3), texts)
def test_what_is_substituted_is_never_scanned(marker: str, inner: list[str], value_text: str) -> None:
    results: dict[str, Any] = {"v": value_text, "w": [*inner, {marker: value_text}]}

    assert resolve("{v_result}", results) == value_text
    assert resolve("<{v_result}>", results) == f"<{value_text}>"
    assert resolve(["{w_result}", "<{w_result}>"], results) == [
        results["w"],
        f"<{json.dumps(results['w'], ensure_ascii=False)}>",
    ]


@given(texts)
def test_reading_is_the_same_for_checking_and_for_filling_in(text: str) -> None:
    found = {reference.step for reference in references_in(text)}

    try:
        resolve(text, {})
    except UnresolvedReferenceError:
        assert found
    else:
        assert not found


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_result_comes_through_a_reference_unchanged(result: Any) -> None:
    assert resolve({"x": ["{a_result}"]}, {"a": result}) == {"x": [result]}


chains = st.lists(st.sampled_from(["a", "b c", '"}', "é\\", 0, 1, -1]), max_size=4)


@given(chains)
def test_a_chain_walks_as_python_would(chain: list[Any]) -> None:
    result: Any = "end"
    for link in reversed(chain):
        result = {link: result} if isinstance(link, str) else [result, result]
    path = "".join(f"[{link}]" if isinstance(link, int) else f".{json.dumps(link)}" for link in chain)

    assert resolve(f"{{a_result{path}}}", {"a": result}) == "end"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{list_result[0]}}{", "10}{"), ("x{list_result[0]}}", "x10}"), ("${list_result[0]}}", "$10}")],
)
def test_braces_are_doubled_only_if_one_stands_before_the_reference(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(("characters", "is_chain"), [(MAX_CHARACTERS, True), (MAX_CHARACTERS + 2, False)])
def test_a_chain_may_be_as_long_as_any_expression(characters: int, is_chain: bool) -> None:
    reference = Reference("a", ".b" * (characters // 2))

    assert reference.is_chain is is_chain
    assert (reference.fault is None) is is_chain


def test_the_part_of_a_chain_that_is_not_there_is_named_as_it_is_written() -> None:
    with pytest.raises(
        UnresolvedReferenceError, match=re.escape(": .gone is not there; the value is an object with b")
    ):
        resolve("{a_result.gone}", {"a": {"b": 1}})
    with pytest.raises(UnresolvedReferenceError, match=re.escape("[5] is not there; the value is a list of 1")):
        resolve("{a_result.b[5]}", {"a": {"b": [1]}})


@pytest.mark.parametrize(("value", "kind"), [(None, "null"), (4, "a number"), ({}, "an object with no fields")])
def test_what_a_chain_ends_in_too_early_is_named(value: Any, kind: str) -> None:
    with pytest.raises(UnresolvedReferenceError, match=re.escape(f".gone is not there; the value is {kind}")):
        resolve("{a_result.b.gone}", {"a": {"b": value}})


def test_only_expressions_take_evaluation() -> None:
    assert needs_evaluation(["{a_result.b}", "{a_result[?b].c}"])
    assert not needs_evaluation(["{a_result.b}", "{a_result[0]}", "text"])


def test_references_are_renamed_and_all_else_is_left() -> None:
    given = {
        "x": ["{a_result.b} and {{a_result}}", "{b_result}"],
        "y": 5,
        "z": "{ }",
        "n": "n $$$$$${a_result}, $${a_result}",
    }

    assert renamed(given, {"a": "c"}) == {
        "x": ["{c_result.b} and {{a_result}}", "{b_result}"],
        "y": 5,
        "z": "{ }",
        "n": "n $$$$$${c_result}, $${c_result}",
    }


def test_no_text_has_no_pieces() -> None:
    assert pieces("") == ()
    assert pieces("text") == ("text",)
