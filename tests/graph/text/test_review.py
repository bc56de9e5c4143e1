"""What a review says of values: nothing in them hides, be it another value, the end, or what cannot be seen."""

import json

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graph.markdown import unfenced
from graph.plan.catalog import ToolSpec
from graph.plan.issues import Issue
from graph.plan.schema import Plan, Step
from graph.record.call import Call, HeldCall
from graph.record.results import StepResult
from graph.record.trust_label import TrustLabel
from graph.review.request import ReviewAction, ReviewRequest
from graph.sanitize import escaped, visible
from graph.text.review import (
    MAX_CHARACTERS,
    gate_description,
    held_description,
    invalid_description,
    plan_description,
    plan_message,
    question_description,
    shown,
    uncertain_description,
)

ARGS = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=8), st.integers(0, 9_000), min_size=1, max_size=8)


@given(ARGS)
def test_each_argument_is_named_with_its_beginning_and_how_much_is_missing_however_long_the_others_are(
    lengths: dict[str, int],
) -> None:
    args = {name: "x" * length for name, length in lengths.items()}

    text = shown(args)

    assert len(text) <= MAX_CHARACTERS + 60 * len(args)
    for name, value in args.items():
        assert f'"{name}":"{value[:100]}' in text
    assert (text == json.dumps(args, separators=(",", ":"))) is ("more characters" not in text)


def test_a_short_value_stands_whole_beside_a_long_one() -> None:
    text = shown({"to": "x" * 90_000, "body": "b" * 1_500, "cc": "mallory@example.com"})

    assert '"body":"' + "b" * 1_500 + '"' in text and '"cc":"mallory@example.com"' in text
    assert "more characters" in text and len(text) < MAX_CHARACTERS + 100


def test_what_cannot_be_seen_is_written_out() -> None:
    assert shown({"to": "ann\u202emoc.live@", "\u200b": 1}) == '{"to":"ann\\u{202e}moc.live@","\\u{200b}":1}'
    assert shown("ann\\u{202e}") == '"ann\\\\u{202e}"'  # JSON doubles a backslash that was there


def test_a_long_text_says_how_much_more_there_is() -> None:
    text = shown("x" * (MAX_CHARACTERS + 8))

    assert text.endswith("... and 10 more characters")  # the quotes are counted


PIECES = [
    "\n",
    "\r\n",
    "\u2028",
    "\u2029",
    "\x85",
    "\x0b",
    "\x1b[2J",
    "\u202e",
    "\u200d",
    "\\u{200d}",
    "```",
    "~~~~",
    " ",
]
HOSTILE = st.lists(st.sampled_from([*PIECES, "Digest: 0", "- w: send {}", "![x](http://e.org)", "**ok**"]), max_size=9)


def descriptions(words: str) -> list[str]:
    """Return every kind of description, made with the same words in the places of all that comes from outside."""
    tool = ToolSpec(f"send{words}", "d", {}, folder=f"/srv{words}")
    steps = (
        Step(
            id="a",
            objective=f"do{words}",
            tool=f"send{words}",
            args={f"to{words}": words},
            checks=({"non_empty": True},),
        ),
        Step(id="b", objective=f"do{words}", tools=(f"send{words}",), depends_on=("a",), success_criteria=f"x{words}"),
    )
    before, plan = Plan(steps=steps[:1]), Plan(steps=(*steps[1:], Step(id="c", objective="o")), answer=f"x{words}")
    specs = {tool.name: tool}
    call = Call("k", "a", tool.name, {"to": words}, "d", False, 1, 0, unmet=f"it is{words}")
    failed = Call("k", "a", tool.name, {"to": words}, "d", False, 1, 0, StepResult("failed", error=f"no{words}"))
    held = HeldCall("k", "a", tool.name, {"to": words}, {f"to{words}": TrustLabel("untrusted", (f"page{words}",))}, 1)
    gate, ask = Step(id="g", objective="o", gate=f"ok{words}"), Step(id="q", objective="o", ask=f"which{words}")
    return [
        plan_description(plan, 2, before, specs, warnings=[f"no progress{words}"]),
        invalid_description(1, [Issue(f"a{words}", f"tool{words}", f"unknown{words}")]),
        uncertain_description(call),
        uncertain_description(failed),
        held_description(held),
        gate_description(gate, {"a": words}),
        question_description(ask, {"Digest": words}),
        unfenced(plan_message(plan, 1).split("\n\n", 1)[1]),
    ]


@given(HOSTILE.map("".join))
def test_words_from_outside_begin_no_line_of_a_review_and_hide_nothing(words: str) -> None:
    for hostile, tame in zip(descriptions(words), descriptions(""), strict=True):
        lines, ours = hostile.split("\n"), tame.split("\n")

        assert [line.split(" ")[0] for line in lines] == [line.split(" ")[0] for line in ours]
        assert visible(hostile) == hostile


@given(HOSTILE.map("".join), HOSTILE.map("".join))
def test_a_request_is_one_block_of_code_to_a_chat_and_holds_digest_and_error(words: str, error: str) -> None:
    actions = tuple(ReviewAction("run_plan", {}, text) for text in descriptions(words))
    request = ReviewRequest("r", 1, "d" * 64, "b", actions).again(escaped(f"why{error}"), [])

    for action in request.to_json()["action_requests"]:
        (block,) = MarkdownIt("commonmark").parse(action["description"])
        assert block.type == "fence" and block.content.rstrip("\n") == unfenced(action["description"])
        assert block.content.split("\n")[0].startswith("Asked again: why")
        assert request.digest in action["description"] and str(request.error) in action["description"]
