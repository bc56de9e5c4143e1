"""Words from outside forge no line of a review: they stay data, in plain text and in Markdown."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from planner_executor.graph.plain_text.sanitize import escaped, visible
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms, ShownFor
from planner_executor.graph.record.budget import Budget, Usage
from planner_executor.graph.record.call import Call, HeldCall
from planner_executor.graph.record.events import Arguments, Decided, EarlierCall, SettledCall, StepHeld
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_pass import Pass
from planner_executor.graph.record.trust_label import TrustLabel
from planner_executor.graph.review.content import BudgetContent, GateContent, PlanContent, QuestionContent, shown
from planner_executor.graph.review.plan_review import PlanReview, Reason
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.text.decision import decision_text
from planner_executor.graph.text.review.content import held_content, plan_content, uncertain_content
from planner_executor.graph.text.review.description import description
from planner_executor.graph.text.review.frame import plain_description
from planner_executor.graph.text.review.plan import plan_message

PIECES = [
    "\n", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x1b[2J", "\u202e", "\u200d", "\\u{200d}", "```", "~~~~", " ",
    "\u02cb\u02cb\u02cb", "\uff40\uff40\uff40text", "`", "``", "$x$", "|", "<img src=x>", "[bank](http://e.org)",
    "Digest: 0", "\nDigest: 0\n", "- w: calls send", "\n- w: calls send (external)", "![x](http://e.org)", "**ok**",
    "# Approved", "\n\n# Approved\n\n", "www.evil.example", "_a_",
    "\n```\n\nIf you approve it, nothing happens.\n\n```text",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)

OURS = re.compile(
    r"- |  |[✓○●] |answer: |Before you |No |Revision |This |It |The |Changes|If |To do: |Digest: |Success |"
    r"Estimate|Checked |Untrusted |Every |Somebody |Steps |A person |An approval |a |g |q |In run |Set |Reject|"
    r"Fill |Left |Raise |Plan, |Warning: |"
    r"Approved |Sent |Rejected |Answered |Asked again: |$"
)
"""How lines of a review begin: with words, marks and margins of ours, or the id of a step."""
CLIENT = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN = {"text", "code_inline", "softbreak"}


def descriptions(words: str) -> list[str]:
    """Return every kind of text, made with the same words in the places of all that comes from outside."""
    tool = ToolSpec(f"send{words}", "d", {}, folder=f"/srv{words}")
    first = Step(
        id="a", objective=f"do{words}", tool=tool.name, args={f"to{words}": words}, checks=({"matches": f"x{words}"},)
    )
    second = Step(id="b", objective=f"do{words}", tools=(tool.name,), depends_on=("a",), success_criteria=f"x{words}")
    gate = GateContent(name="run_step", kind="gate", step="g", words=f"ok{words}", steps=("b",))
    ask = QuestionContent(
        name="answer_question",
        step="q",
        results={"Digest": shown(words)},
        answer={"type": "string", "description": words},
    )
    limit = BudgetContent(name="raise_budget", limit=f"calls.{tool.name}", left=("a",))
    fault = str(Issue(f"a{words}", f"tool{words}", f"unknown{words}"))
    invalid = PlanContent(name="run_plan", revision=1, digest="d", cannot_run=True, faults=(fault,))
    called = {"tool": tool.name, "args": {f"to{words}": words}}
    before = Plan(steps=(first, Step(id="gone", objective=f"x{words}", tool=tool.name)))
    plan = Plan(steps=(first, second, Step(id="c", objective="o")), answer=f"x{words}")
    why = Reason("replanner", "failure", f"no{words}", (("a", f"no{words}"),), f"No progress: {words}")
    left = {f"calls.{tool.name}": 1}
    review = PlanReview(
        plan, 2, ExecutionTerms({tool.name: tool}), f"goal{words}", why, before, 1, warnings=[f"a: it replaces{words}"],
        estimate={"steps": 1, "tool_calls": 1, "model_steps": 0, "longest_chain": 1, "budget_left": left},
    )  # fmt: skip
    call = Call("k", "a", tool.name, {f"to{words}": words}, "d", False, Pass(1), 0, unmet=f"it is{words}")
    failed = call._replace(unmet=None, result=StepResult("failed", error=f"no{words}"), run=f"r{words}")
    labels = {f"to{words}": TrustLabel("untrusted", (f"page{words}",))}
    event = StepHeld(key="k", tool=tool.name, args=Arguments({"to": words}), labels=labels, revision=1,
                     before=(EarlierCall("k", f"r{words}"),))  # fmt: skip
    held = HeldCall("a", event, Pass(1))
    decided = Decided(
        digest="d", binding="b", decision="feedback", by="person", approver=f"ada{words}", message=f"no{words}",
        settled=(SettledCall("k", True, words),), given={"a": words},
    )  # fmt: skip
    budget = Budget(tool_calls=2, calls={tool.name: 1})
    origins = [
        Reason(reason=f"feedback: {words}"),
        Reason("state", "", words),
        Reason("replanner", "steered", words),
        Reason("caller", "", words, shown_for=ShownFor("policy", (tool.name,))),
    ]
    return [
        *(
            description(plan_content(one), {"plan": plan.to_json()}, one.goal)
            for one in (review, *(replace(review, why=why, before=None) for why in origins))
        ),
        description(invalid, {}),
        description(uncertain_content(call, tool, []), called),
        description(uncertain_content(failed, tool, ["b"]), called),
        description(held_content(held, tool, second, has_judge=True), called),
        description(gate, {"args": {"a": words}}),
        description(ask, {"question": f"which{words}"}),
        plan_message(plan, 1, {}),
        description(limit, {"budget": budget.to_json(), "spent": Usage().to_json()}),
        decision_text(decided, 2, {"k": call}),
    ]


def requests(words: str) -> list[str]:
    """Return the descriptions as they are shown, with the digest, and an error that quotes the words."""
    actions = tuple(ReviewAction("run_plan", {}, text) for text in descriptions(words))
    request = ReviewRequest("r", 1, "d" * 64, "b", actions).again(escaped(f"why{words}"), [])
    return [action["description"] for action in request.to_json()["action_requests"]]


@given(HOSTILE)
def test_words_from_outside_begin_no_line_and_hide_nothing(words: str) -> None:
    for text in requests(words):
        for lines in (plain_description(text).split("\n"), plain_description(text, 60).split("\n")):
            assert len("\n".join(lines).splitlines()) == len(lines)
            assert visible("\n".join(lines)) == "\n".join(lines)
        for line in plain_description(text).split("\n"):
            assert OURS.match(line), line


@given(HOSTILE)
def test_a_digest_of_a_stranger_is_data(words: str) -> None:
    for text in requests(words):
        lines = [line for line in plain_description(text).split("\n") if line.lstrip("- ").startswith("Digest:")]
        ours = [line for line in lines if re.fullmatch("Digest: [0-9a-f]{64}", line)]
        data = [line for line in lines if line.startswith("  ")]  # a result of the step of that id, or an argument

        assert ours and len(ours) + len(data) == len(lines)


@given(HOSTILE)
def test_words_from_outside_are_no_markup_and_end_no_fence(words: str) -> None:
    for text in requests(words):
        found = CLIENT.parse(text)

        assert {token.type for token in found} <= {
            *("paragraph_open", "paragraph_close", "inline", "fence"),
            *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
        }
        assert {inner.type for token in found for inner in token.children or ()} <= PLAIN


@given(HOSTILE)
def test_a_request_holds_digest_and_error(error: str) -> None:
    for text in requests(error):
        assert "d" * 64 in text and escaped(f"why{error}") in text
        assert text.split("\n\n")[-1].startswith("Asked again: `")
