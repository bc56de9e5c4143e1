"""Section 5, the answers to a review: what is no decision for sure is asked again, never an accidental yes."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.review.content import PlanContent, StepContent
from planner_executor.graph.review.decision import Decision, InvalidResponse, read_answer, rejection
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import ActionName

DIGEST = "d" * 64
PLAN = {"steps": [{"id": "a", "objective": "o"}]}
ARGS: dict[ActionName, dict[str, Any]] = {
    "run_plan": {"plan": PLAN},
    "run_step": {"step": "a", "tool": "send", "args": {"to": "x"}},
    "answer_question": {"step": "a", "question": "Which?", "answer": None},
    "settle_effect": {"step": "a", "tool": "send", "args": {"to": "x"}, "happened": None, "result": None},
    "raise_budget": {"budget": {"usd": 1}, "spent": {"usd": 1}},
}
OTHERS: list[ActionName] = ["run_step", "answer_question", "settle_effect", "raise_budget"]


class Unreadable:
    """An object of no JSON type, equal to itself alone; its name is the same in every process."""

    def __repr__(self) -> str:
        return "Unreadable()"


def request(*names: ActionName) -> ReviewRequest:
    actions = tuple(ReviewAction(name, ARGS[name], name) for name in names)
    return ReviewRequest(run="t.1", revision=1, digest=DIGEST, binding="b" * 64, actions=actions)


def read(answer: Any, *names: ActionName) -> tuple[Decision, ...]:
    return read_answer(answer, request(*(names or ("run_plan",))))


def one(answer: Any, *names: ActionName) -> Decision:
    (decision,) = read(answer, *names)
    return decision


def refused(answer: Any, *names: ActionName) -> str:
    with pytest.raises(InvalidResponse) as caught:
        read(answer, *names)
    return str(caught.value)


def edit(name: str, **args: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


YES = [True, "approve", "yes", "y", "ok", "APPROVE", " Yes\n", "\tY", "Ok ", "oK", {"type": "approve"}]
LISTED = [{"decisions": [{"type": "approve"}]}]


@pytest.mark.parametrize("answer", [*YES, *LISTED, "true", ' {"type": "approve"} ', '"yes"'])
def test_the_listed_forms_approve(answer: Any) -> None:
    assert one(answer) == Decision("approve")


@pytest.mark.parametrize("answer", [False, "reject", "no", "n", "NO", " Reject ", "N\n", "false", {"type": "reject"}])
def test_a_rejection_without_words_ends_the_run(answer: Any) -> None:
    assert one(answer) == Decision("reject", final=True)


@pytest.mark.parametrize("word", ["stop", "cancel", "reject", "no", "n", " STOP ", "Cancel"])
def test_a_rejection_whose_whole_message_stops_ends_the_run(word: str) -> None:
    assert one({"type": "reject", "message": word}).final


@pytest.mark.parametrize("word", ["stop", "cancel", "Stop "])
def test_such_a_message_as_bare_text_ends_the_run_too(word: str) -> None:
    assert one(word).final


@pytest.mark.parametrize("message", ["", "  ", "\n", None])
def test_a_blank_message_is_none(message: str | None) -> None:
    assert one({"type": "reject", "message": message}) == Decision("reject", final=True)


@pytest.mark.parametrize("words", ["use less money", "stop it please", "no, the other one", "not ok", "yes but later"])
def test_a_rejection_with_words_is_feedback(words: str) -> None:
    feedback = Decision("reject", message=words)

    assert one({"type": "reject", "message": words}) == feedback
    assert one(words) == feedback


def test_final_ends_the_run_whatever_the_words() -> None:
    assert one({"type": "reject", "message": "too dear", "final": True}) == Decision(
        "reject", message="too dear", final=True
    )


def test_final_false_leaves_feedback_feedback() -> None:
    assert not one({"type": "reject", "message": "too dear", "final": False}).final


@pytest.mark.parametrize(
    "words", ["5 steps are too many", "{not json", "True", "[1", "NaN", "Infinity", "yes!", "1e5x"]
)
def test_other_text_that_is_not_blank_is_feedback(words: str) -> None:
    assert one(words) == Decision("reject", message=words)


def test_words_that_no_record_can_hold_are_kept_as_far_as_they_can_be() -> None:
    message = one({"type": "reject", "message": "a\ud800\0b"}).message

    assert message is not None
    json.dumps(message, ensure_ascii=False).encode()
    assert message.startswith("a")
    assert message.endswith("b")


@pytest.mark.parametrize("plan", [PLAN, PLAN["steps"], {"steps": []}, {"steps": [], "answer": "x"}, [{}]])
def test_an_object_with_steps_or_a_list_of_steps_is_an_edited_plan(plan: Any) -> None:
    assert one(plan) == Decision("edit", args={"plan": plan})
    assert one(json.dumps(plan)) == Decision("edit", args={"plan": plan})


ODD = [
    "",
    " ",
    "\n\t",
    [],
    0,
    1,
    1.0,
    -1,
    2,
    None,
    {},
    [True],
    ["yes"],
    [[]],
    [None],
    "[]",
    "1",
    "0",
    "null",
    "{}",
    '""',
]
ODD += [Unreadable()]
ODD += [b"yes", {"approve": True}, {"answer": "yes"}, {"plan": PLAN}, {"message": "x"}, ("approve",), {True}]
ODD += [{"decision": "approve"}, {"action": "approve"}, {"Type": "approve"}, {"response": "yes"}, float("nan")]


@pytest.mark.parametrize("answer", ODD, ids=repr)
@pytest.mark.parametrize("name", ["run_plan", *OTHERS])
def test_everything_else_is_asked_again(answer: Any, name: ActionName) -> None:
    assert refused(answer, name)


@pytest.mark.parametrize(
    "kind",
    ["Approve", "APPROVE", " approve", "yes", "ok", "accept", "ignore", "response", "", "respond", 1, True, None, []],
)
def test_an_unknown_type_is_asked_again(kind: Any) -> None:
    assert refused({"type": kind})
    assert refused({"decisions": [{"type": kind}]})


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("answer", [True, False, "yes", "approve", "ok", "no", "reject", PLAN, [PLAN], "words"])
def test_short_forms_serve_for_a_plan_only(name: ActionName, answer: Any) -> None:
    assert refused(answer, name)


@pytest.mark.parametrize("answer", [True, "yes", "no", {"type": "approve"}, {"type": "reject"}, PLAN])
def test_short_forms_and_bare_decisions_serve_for_one_request_only(answer: Any) -> None:
    assert refused(answer, "run_plan", "settle_effect")
    assert refused(answer, "run_plan", "run_plan")


@pytest.mark.parametrize("name", ["run_plan", *OTHERS])
def test_a_bare_decision_serves_for_any_single_request(name: ActionName) -> None:
    assert one({"type": "reject"}, name).type == "reject"


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("run_plan", {"approve", "edit", "reject"}),
        ("run_step", {"approve", "reject"}),
        ("answer_question", {"edit", "reject"}),
        ("settle_effect", {"edit", "reject"}),
        ("raise_budget", {"edit", "reject"}),
    ],
)
def test_a_request_takes_the_decisions_of_the_table_and_no_others(name: ActionName, allowed: set[str]) -> None:
    answers = {
        "approve": {"type": "approve"},
        "reject": {"type": "reject"},
        "edit": edit(name, **({"answer": "x"} if name == "answer_question" else {})),
    }

    taken = set()
    for kind, answer in answers.items():
        try:
            taken.add(one(answer, name).type)
        except InvalidResponse:
            assert kind not in allowed

    assert taken == allowed
    assert set(request(name).actions[0].allowed) == allowed


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_wrong_number_of_decisions_is_asked_again(count: int) -> None:
    message = refused({"decisions": [{"type": "reject"}] * count}, "run_plan", "settle_effect")

    assert "run_plan, settle_effect" in message


@pytest.mark.parametrize(
    "decisions", [None, {}, "approve", True, {"type": "approve"}, [[]], ["approve"], [True], [None]]
)
def test_decisions_are_a_list_of_objects(decisions: Any) -> None:
    assert refused({"decisions": decisions})


@pytest.mark.parametrize("beside", [{"type": "approve"}, {"message": "x"}, {"steps": []}])
def test_nothing_stands_beside_the_decisions(beside: dict[str, Any]) -> None:
    assert refused({"decisions": [{"type": "approve"}], **beside})


def test_decisions_are_read_in_order() -> None:
    answer = {"decisions": [{"type": "approve"}, edit("settle_effect", happened=True), {"type": "reject"}]}

    kinds = [decision.type for decision in read(answer, "run_plan", "settle_effect", "run_step")]

    assert kinds == ["approve", "edit", "reject"]


def test_one_decision_that_cannot_be_read_spoils_all() -> None:
    assert refused({"decisions": [{"type": "approve"}, {"type": "approve"}]}, "run_plan", "settle_effect")


def test_a_json_object_that_breaks_off_is_asked_again_with_the_place_and_is_no_feedback() -> None:
    why = refused('{"decisions": [{"type": "approve"')

    assert why.startswith("the answer is not valid JSON: line 1, column 3") and why.endswith("where the text ends")
    assert one("{docs} first, please").message == "{docs} first, please"


def test_json_text_is_read_as_json() -> None:
    answer = json.dumps({"decisions": [{"type": "approve", "digest": DIGEST}]})

    assert one(f"\n {answer} ") == Decision("approve")


@pytest.mark.parametrize("kind", ["approve", "reject", "edit"])
def test_the_digest_beside_the_type_is_the_one_shown(kind: str) -> None:
    decision = edit("run_plan", plan=PLAN) if kind == "edit" else {"type": kind}

    assert one({**decision, "digest": DIGEST}).type == kind
    assert one({**decision, "digest": None}).type == kind
    for stale in ("e" * 64, DIGEST[:12], DIGEST.upper(), "", 0, [DIGEST], {}):
        assert DIGEST in refused({**decision, "digest": stale})


def test_a_digest_beside_the_decisions_counts_too() -> None:
    assert read({"decisions": [{"type": "approve"}], "digest": DIGEST})
    assert "'stale'" in refused({"decisions": [{"type": "approve"}], "digest": "stale"})


def test_a_key_that_nobody_knows_beside_the_decisions_is_named() -> None:
    assert refused({"decisions": [{"type": "approve"}], "reason": "x"}) == (
        "unknown keys beside decisions: reason; remove them"
    )


@pytest.mark.parametrize(
    "decision",
    [
        {"type": "approve", "message": "but only half of it"},
        {"type": "approve", "final": True},
        {"type": "approve", "args": {}},
        {"type": "approve", "edited_action": {"name": "run_plan", "args": {"plan": PLAN}}},
        {"type": "reject", "edited_action": {}},
        {**edit("run_plan", plan=PLAN), "message": "x"},
        {"type": "reject", "message": 5},
        {"type": "reject", "message": ["x"]},
        {"type": "reject", "final": "yes"},
        {"type": "reject", "final": 1},
    ],
)
def test_a_decision_that_says_two_things_is_asked_again(decision: dict[str, Any]) -> None:
    assert refused(decision)


def test_null_beside_a_decision_says_nothing() -> None:
    assert one({"type": "approve", "message": None, "args": None, "edited_action": None}) == Decision("approve")


@pytest.mark.parametrize(
    "edited",
    [
        None,
        {},
        "x",
        {"name": "run_plan"},
        {"name": "run_plan", "args": None},
        {"name": "run_plan", "args": [PLAN]},
        {"name": "run_step", "args": {"plan": PLAN}},
        {"args": {"plan": PLAN}},
        {"name": "run_plan", "args": {"plan": PLAN, "policy": {}}},
    ],
)
def test_an_edit_names_its_action_and_only_arguments_it_has(edited: Any) -> None:
    assert refused({"type": "edit", "edited_action": edited})


@pytest.mark.parametrize("plan", [PLAN, json.dumps(PLAN), f"\n{json.dumps(PLAN)} "])
def test_an_edited_plan_may_be_an_object_or_its_json_text(plan: Any) -> None:
    assert one(edit("run_plan", plan=plan)).args == {"plan": PLAN}


def test_a_plan_that_is_no_json_stays_text_for_the_validation_to_refuse() -> None:
    assert one(edit("run_plan", plan="{broken")).args == {"plan": "{broken"}


@pytest.mark.parametrize(
    ("text", "happened"),
    [("true", True), ("TRUE", True), (" False ", False), ("false", False), (True, True), (False, False)],
)
def test_happened_is_true_or_false_in_any_case(text: Any, happened: bool) -> None:
    args = one(edit("settle_effect", happened=text), "settle_effect").args

    assert args == {"happened": happened}


@pytest.mark.parametrize("odd", ["yes", "1", 1, "", " ", "null", None, "tru", "approve", [], 0])
def test_nothing_else_says_that_it_happened(odd: Any) -> None:
    args = one(edit("settle_effect", happened=odd), "settle_effect").args

    assert args is not None
    assert not isinstance(args["happened"], bool)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("sent", "sent"),
        ("5", 5),
        ('{"id": 7}', {"id": 7}),
        ("null", None),
        ("true", True),
        ("NaN", "NaN"),
        ("{x", "{x"),
    ],
)
def test_a_result_is_read_as_json_where_it_is_json_and_stays_text_elsewhere(text: str, result: Any) -> None:
    args = one(edit("settle_effect", happened="true", result=text), "settle_effect").args

    assert args == {"happened": True, "result": result}


def test_where_the_request_had_text_text_stays_text() -> None:
    assert one(edit("settle_effect", step="a", happened=True), "settle_effect").args == {"step": "a", "happened": True}


@pytest.mark.parametrize("other", [{"step": "b"}, {"step": "5"}, {"tool": "pay"}, {"args": {"to": "y"}}, {"args": {}}])
def test_an_edit_about_another_call_is_none(other: dict[str, Any]) -> None:
    assert f"another {next(iter(other))}" in refused(edit("settle_effect", happened=True, **other), "settle_effect")


def test_an_edit_about_another_question_is_none() -> None:
    assert "another question" in refused(edit("answer_question", question="Why?", answer="x"), "answer_question")


def test_an_object_that_came_as_text_is_an_object_again() -> None:
    assert one(edit("raise_budget", budget='{"usd": 5}'), "raise_budget").args == {"budget": {"usd": 5}}
    assert one(edit("settle_effect", args='{"to": "x"}'), "settle_effect").args == {"args": {"to": "x"}}


@pytest.mark.parametrize(("answer", "read_as"), [("the first", "the first"), ("0", 0), ("false", False), (5, 5)])
def test_a_question_is_answered_with_text_or_json(answer: Any, read_as: Any) -> None:
    assert one(edit("answer_question", answer=answer), "answer_question").args == {"answer": read_as}


@pytest.mark.parametrize("args", [{}, {"answer": None}, {"answer": ""}, {"answer": " \n"}, {"answer": "null"}])
def test_blank_or_unchanged_null_is_no_answer(args: dict[str, Any]) -> None:
    assert refused(edit("answer_question", **args), "answer_question")


@pytest.mark.parametrize(
    "result", ["a\ud800", "\0", float("nan"), 2**64, {"x": [float("inf")]}, '"\\ud800"', Unreadable()]
)
def test_a_result_that_no_record_can_hold_is_asked_again(result: Any) -> None:
    refused(edit("settle_effect", happened=True, result=result), "settle_effect").encode()


@pytest.mark.parametrize(
    "answer",
    [
        {"type": "approve", "digest": "\ud800"},
        {"type": "\ud800"},
        {"type": "approve", "\ud800": 1},
        edit("\ud800", plan=PLAN),
        edit("run_plan", **{"\ud800": 1}),
    ],
)
def test_what_is_said_of_an_odd_answer_can_be_stored(answer: Any) -> None:
    refused(answer).encode()


def test_text_of_a_hundred_thousand_brackets_is_no_crash() -> None:
    assert one("[" * 100_000).type == "reject"
    assert one(edit("run_plan", plan="[" * 100_000)).args == {"plan": "[" * 100_000}
    assert one("9" * 10_000).type == "reject"


WORDS = {"approve", "yes", "y", "ok"}
odd_json = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3) | st.sampled_from(sorted(WORDS)),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "decisions", "digest", "message", "final", "edited_action", "steps", "plan"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def is_listed_yes(answer: Any) -> bool:
    """The yes-forms of the contract, written down a second time."""
    if isinstance(answer, str):
        try:
            return is_listed_yes_value(json.loads(answer))
        except ValueError:
            return answer.strip().lower() in WORDS
    return is_listed_yes_value(answer)


def is_listed_yes_value(answer: Any) -> bool:
    if isinstance(answer, str):
        return answer.strip().lower() in WORDS
    if isinstance(answer, dict) and isinstance(answer.get("decisions"), list) and len(answer["decisions"]) == 1:
        if not set(answer) <= {"decisions", "digest"} or answer.get("digest") not in (None, DIGEST):
            return False
        (decision,) = answer["decisions"]
        return isinstance(decision, dict) and is_plain_approval(decision)
    return answer is True or (isinstance(answer, dict) and "decisions" not in answer and is_plain_approval(answer))


def is_plain_approval(decision: dict[str, Any]) -> bool:
    said = {key: value for key, value in decision.items() if value is not None}
    return said.get("type") == "approve" and set(said) <= {"type", "digest"} and said.get("digest", DIGEST) == DIGEST


@given(st.one_of(odd_json, odd_json.map(json.dumps), st.text(), st.sampled_from(sorted(WORDS)).map(str.title)))
def test_no_answer_beyond_the_listed_forms_reads_as_an_approval(answer: Any) -> None:
    try:
        (decision,) = read(answer)
    except InvalidResponse:
        assert not is_listed_yes(answer)
        return

    assert (decision.type == "approve") == is_listed_yes(answer)


@given(st.one_of(odd_json, odd_json.map(json.dumps), st.text()), st.sampled_from(OTHERS))
def test_no_short_answer_ever_settles_answers_or_raises_anything(answer: Any, name: ActionName) -> None:
    try:
        (decision,) = read(answer, name)
    except InvalidResponse:
        return

    assert decision.type == "reject" or isinstance(answer, dict | str)
    assert decision.type != "approve" or name == "run_step"


def test_a_decision_is_kept_with_what_it_says_and_without_the_plan_beside_it() -> None:
    both = Decision("edit", args={"plan": PLAN, "to": None}, message="m", final=True)

    assert both.to_json() == {"type": "edit", "args": {"to": None}, "message": "m", "final": True}
    assert Decision("approve").to_json() == {"type": "approve"}


def test_a_decision_ends_nothing_by_itself() -> None:
    assert not Decision("approve").final and not Decision("approve").finishes


@pytest.mark.parametrize("kind", [5, None, ["approve"]])
def test_a_type_that_is_no_text_is_none(kind: Any) -> None:
    assert refused({"decisions": [{"type": kind}]}) == 'a decision must be an object with "type"'


def test_values_of_an_edited_plan_are_left_to_its_validation() -> None:
    args = one(edit("run_plan", plan={"steps": [float("inf")]})).args

    assert args == {"plan": {"steps": [float("inf")]}}


@pytest.mark.parametrize("step", ["true", "null"])
def test_text_that_looks_like_json_stays_text_if_text_was_shown(step: str) -> None:
    action = ReviewAction("answer_question", {"step": step, "question": "5", "answer": None}, "")
    request = ReviewRequest("t.1", 1, DIGEST, "b", (action,))
    (decision,) = read_answer(edit("answer_question", step=step, question="5", answer="6"), request)

    assert decision.args == {"step": step, "question": "5", "answer": 6}


@pytest.mark.parametrize("result", ["TRUE", "False", " sent "])
def test_a_result_that_is_no_json_is_kept_as_it_was_written(result: str) -> None:
    args = one(edit("settle_effect", happened=True, result=result), "settle_effect").args

    assert args == {"happened": True, "result": result}


def test_a_list_is_a_plan_only_if_all_of_it_are_steps() -> None:
    assert one(PLAN["steps"]).type == "edit"
    assert refused([*PLAN["steps"], "and so on"])


def held(answer: Any) -> Decision:
    """Read the answer about a held call, which unlike a gate can be edited."""
    action = ReviewAction("run_step", ARGS["run_step"], "", key="k")
    (decision,) = read_answer(answer, ReviewRequest("t.1", 1, DIGEST, "b" * 64, (action,)))
    return decision


def test_a_held_call_is_approved_with_further_ones_and_the_wish_is_kept() -> None:
    decision = held({"type": "approve", "standing": {"at_most": 5}})

    assert (decision.type, decision.standing) == ("approve", {"at_most": 5})
    assert decision.to_json() == {"type": "approve", "standing": {"at_most": 5}}


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ("5", "standing must be an object"),
        ({"at_most": float("nan")}, "standing.at_most: nan is not a JSON number"),
    ],
)
def test_a_wish_for_further_calls_that_is_no_object_of_json_is_refused(wish: Any, words: str) -> None:
    with pytest.raises(InvalidResponse, match=words):
        held({"type": "approve", "standing": wish})


def test_no_gate_is_passed_with_further_ones() -> None:
    assert "a standing approval covers calls of a tool" in refused({"type": "approve", "standing": {}}, "run_step")


def test_a_held_call_is_edited_in_its_arguments_alone() -> None:
    assert held(edit("run_step", args={"to": "y"})).args == {"args": {"to": "y"}}
    for change in ({"step": "b"}, {"tool": "pay"}):
        with pytest.raises(InvalidResponse, match="is about another"):
            held(edit("run_step", args={"to": "y"}, **change))


@pytest.mark.parametrize("args", [{}, {"args": "to=y"}, {"args": ["y"]}])
def test_an_edit_of_a_call_has_arguments(args: dict[str, Any]) -> None:
    with pytest.raises(InvalidResponse, match="arguments to call it with"):
        held(edit("run_step", **args))


@pytest.mark.parametrize("beside", [[], [{"id": "a", "objective": "o"}]], ids=["alone", "beside a step"])
def test_a_bare_list_of_decisions_is_no_plan_and_its_error_names_the_form(beside: list[Any]) -> None:
    with pytest.raises(InvalidResponse, match=r"decisions.*in order: run_plan"):
        read([{"type": "approve"}, *beside])


def test_a_value_that_json_cannot_hold_is_named_in_a_sentence() -> None:
    edited = {"name": "raise_budget", "args": {"budget": {"tool_calls": float("inf")}}}
    with pytest.raises(InvalidResponse, match=r"^budget\.tool_calls: inf is not a JSON number$"):
        read({"type": "edit", "edited_action": edited}, "raise_budget")


def test_a_rejection_carries_comments_and_an_approval_its_reason_and_what_is_asked_later() -> None:
    sent_back = one({"type": "reject", "message": "comment a: y", "comments": [{"step": "a", "text": "x"}]})
    approved = one({"type": "approve", "reason": " small ", "ask_later": ["a", "a"]})

    assert (sent_back.feedback, sent_back.final) == ("on a: x; on a: y", False)
    assert sent_back.to_json()["comments"] == [{"step": "a", "text": "x"}, {"step": "a", "text": "y"}]
    assert approved.to_json() == {"type": "approve", "reason": "small", "ask_later": ["a"]}


@pytest.mark.parametrize(
    ("answer", "names", "words"),
    [
        ({"type": "reject", "comments": [{"step": "z", "text": "x"}]}, ["run_plan"], "no step 'z'"),
        ({"type": "reject", "comments": [{"step": "a", "text": "x"}]}, ["run_step"], "run_step shows none"),
        ({"type": "reject", "comments": False}, ["run_step"], "run_step shows none"),
        ({"type": "approve", "reason": 1}, ["run_plan"], "must be text"),
        ({"type": "approve", "ask_later": "a"}, ["run_plan"], "must be a list"),
        ({"type": "approve", "ask_later": ["z"]}, ["run_plan"], "no step 'z'"),
        ({"type": "approve", "ask_later": ["a"]}, ["run_step"], "run_step shows none"),
    ],
)
def test_comments_and_reasons_of_another_form_are_refused(answer: Any, names: list[ActionName], words: str) -> None:
    assert words in refused(answer, *names)


THREE = {"steps": [{"id": name, "objective": "o"} for name in "abc"]}
SETTLED, LATER = {"settled": True}, {"asked_later": "unknown"}


def about_three(**kinds: Any) -> ReviewRequest:
    """Return a request about a plan of three steps, of which some are of these kinds."""
    steps = [StepContent(id=name, status="pending", done_by="tool", **kinds.get(name, {})) for name in "abc"]
    content = PlanContent(name="run_plan", revision=1, digest=DIGEST, steps=tuple(steps))
    action = ReviewAction("run_plan", {"plan": THREE}, "", content=content)
    return ReviewRequest(run="t.1", revision=1, digest=DIGEST, binding="b" * 64, actions=(action,))


def test_lines_below_an_approval_name_steps_whose_calls_are_asked_about_later() -> None:
    (approved,) = read_answer("approve: as in May\nask later b\nask later a", about_three(a=SETTLED, b=LATER))

    assert (approved.reason, approved.ask_later) == ("as in May", ("b", "a"))
    assert one("approve\nask later a").ask_later == ("a",)
    assert one("ask later a").type == one("yes: as in May").type == "reject"


@pytest.mark.parametrize(
    ("kinds", "words"), [({"b": SETTLED}, "no call of c; it asks about those of b"), ({}, "no call of c; remove it")]
)
def test_only_steps_whose_calls_the_policy_asks_about_are_asked_about_later(kinds: Any, words: str) -> None:
    with pytest.raises(InvalidResponse, match=words):
        read_answer({"type": "approve", "ask_later": ["c"]}, about_three(**kinds))


def test_a_word_approves_no_plan_that_cannot_run() -> None:
    asked = request("run_plan")
    broken = replace(asked, actions=(replace(asked.actions[0], cannot_run=True),))

    with pytest.raises(InvalidResponse, match="takes edit, reject, not 'approve'"):
        read_answer("yes", broken)


def test_a_plan_is_approved_with_further_runs_and_a_call_that_is_new_alone() -> None:
    further = {"type": "approve", "standing": {"at_most": 5}}
    new = ReviewAction("run_step", ARGS["run_step"], "", key="k", digest="c" * 64)

    assert one(further).standing == {"at_most": 5}
    with pytest.raises(InvalidResponse, match="new in this plan: decide it without standing"):
        read_answer(further, replace(request("run_step"), actions=(new,)))


def test_words_send_a_plan_back_and_a_bare_no_ends_the_run() -> None:
    assert (rejection("less").final, rejection(None).final, rejection("less", final=True).final) == (False, True, True)
