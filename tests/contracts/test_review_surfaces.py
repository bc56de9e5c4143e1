"""Every surface shows each field of a review's value, or says what it folds away; and what an approval binds.

Chat and Studio show the description, terminal and notebook lay it out anew, the desk has a page. A field that changes
without changing what is shown is hidden: it has to stand in a table below, with the place where a reader finds it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from fnmatch import fnmatch
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from desk_server import panel_of
from pydantic import ValidationError
from rich.console import Console

from planner_executor.graph.cli.request_view import show_request
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.review.content import ReviewContent, review_schema
from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.text.review.bound import NOT_SHOWN
from planner_executor.graph.text.review.description import description
from planner_executor.graph.text.review.people import people_paragraph
from planner_executor.graph.text.review.screen import screen_descriptions
from planner_executor.graph.text.run_view import RunView

Show = Callable[[ReviewContent, dict[str, Any]], object]

PLAN = {
    "params": {"customer": {"value": "ann", "label": "user"}},
    "steps": [
        {"id": "done", "objective": "o", "tool": "look"},
        {"id": "look", "objective": "look it up", "tool": "look", "args": {"q": "x"}},
        {"id": "pay", "objective": "pay it", "tool": "pay", "args": {"to": "{param.customer}", "sum": "{look_result}"},
         "checks": [{"matches": "x"}], "success_criteria": "paid"},
        {"id": "each", "objective": "tell", "tool": "pay", "args": {"to": "{item_result}"}, "for_each": ["a", "b"]},
        {"id": "think", "objective": "think", "tools": ["pay"]},
    ]
}  # fmt: skip
PAY = {"name": "pay", "effect": "external", "declared": False, "reversible": False, "folder": "/out", "steps": ["pay"]}
OF_CALL = {"name": "pay", "effect": "external", "reversible": False}
UNTRUSTED = {"origin": "result", "trust": "untrusted", "sources": ["look"]}
RESULT = {"origin": "result", "steps": ["look"], "trust": "untrusted", "sources": ["look"], "asked": True}
LARGE = {"length": 9000, "digest": "d" * 64, "preview": '"begins', "end": 'ends"'}
ACTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plan": (
        {
            "name": "run_plan", "decisions": ["approve", "edit", "reject"], "revision": 2, "digest": "e" * 64,
            "why": {"author": "replanner", "cause": "failure", "reason": "because", "failed": {"look": "no answer"},
                    "stalled": "no way", "rule": "effects", "tools": ["pay"]},
            "tools": [PAY, {"name": "look", "effect": "read", "trust": "trusted"}],
            "steps": [
                {"id": "done", "status": "succeeded", "done_by": "tool"},
                {"id": "look", "status": "pending", "done_by": "tool", "args": {"look": {"q": {"origin": "plan",
                 "trust": "user"}}}, "asks": {"look": "it asks"}, "settled": True, "settled_by": [{"roles": ["cfo"]}]},
                {"id": "pay", "status": "pending", "done_by": "tool", "acts": True, "does": {"pay": "pays ann"},
                 "args": {"pay": {"to": {"origin": "plan", "trust": "user", "params": ["customer"]}, "sum": RESULT}},
                 "checks": ["matches x"], "judged_by": "model", "left_out": ["be brief"], "unchecked": ["look"],
                 "asks": {"pay": "it asks of pay"}, "asked_later": "unknown"},
                {"id": "each", "status": "pending", "done_by": "tool", "acts": True, "most_items": 7,
                 "when": "it rains", "decided_by": ["look"],
                 "asks": {"pay": "it asks each"}, "settled": True, "settles": {"each[0]": {"to": "a"}}},
                {"id": "think", "status": "pending", "done_by": "model", "acts": True},
            ],
            "params": {"customer": {"value": {"value": "ann"}, "trust": "user"}},
            "since": 1, "was_seen": False,
            "changes": [{"step": "pay", "change": "changed", "fields": [
                {"field": "args.to", "was": {"value": "ben"}, "now": LARGE}]},
                {"step": "gone", "change": "removed", "fields": [{"field": "tool", "was": {"value": "old"}}]}],
            "comments": [{"step": "gone", "text": "why?", "became": "gone", "says": "not needed"}],
            "notes": ["a note"],
            "previews": [{"place": "pay", "tool": "pay", "text": "sends 9", "length": 7000},
                         {"place": "each[0]", "tool": "pay", "none": "it failed"}],
            "unpreviewed": ["each[1]"],
            "work": {"steps": 4, "tool_calls": 5, "model_steps": 1, "longest_chain": 3, "further_attempts": 2,
                     "to_refine": 1, "budget_left": {"tool_calls": 2}, "takes": {"unknown": ["pay"]}},
        },
        {"plan": PLAN},
    ),
    "first plan": (
        {"name": "run_plan", "decisions": ["approve"], "revision": 1, "digest": "e" * 64,
         "why": {"author": "planner", "rule": "policy", "tools": ["pay"]},
         "steps": [{"id": "look", "status": "pending", "done_by": "tool"}]},
        {"plan": {"steps": PLAN["steps"][1:2]}},
    ),
    "a plan that cannot run": (
        {"name": "run_plan", "decisions": ["reject"], "revision": 1, "digest": "e" * 64, "cannot_run": True,
         "faults": ["look: no tool"]},
        {"plan": {"steps": PLAN["steps"][1:2]}},
    ),
    "call": (
        {"name": "run_step", "kind": "call", "decisions": ["approve"], "step": "pay", "tool": OF_CALL, "does": "pays",
         "why": "the policy asks", "args": {"to": UNTRUSTED}, "before": ["t.1"], "by_model": True, "criteria": "paid",
         "given": [{"what": "answer", "by": ["ann"], "step": "q", "value": "9"}], "checks": ["c"],
         "judged_by": "model",
         "preview": {"place": "pay", "tool": "pay", "text": "sends 9", "was": "sends 8"}},
        {"tool": "pay", "args": {"to": "ann"}},
    ),
    "new call": (
        {"name": "run_step", "kind": "call", "decisions": ["approve"], "step": "pay", "digest": "f" * 64,
         "tool": OF_CALL, "does": "pays", "new": True,
         "by_model": True, "objective": "pay it", "most_calls": 3, "most_items": 4},
        {"tool": "pay", "args": {"to": "ann"}},
    ),
    "gate": (
        {"name": "run_step", "kind": "gate", "decisions": ["approve"], "step": "g", "words": "ok?", "steps": ["pay"],
         "through": [{"step": "pay", "tool": OF_CALL, "does": "pays", "args": {"to": LARGE}, "items": 12}]},
        {"tool": "gate", "args": {"look": 7}},
    ),
    "question": (
        {"name": "answer_question", "decisions": ["edit"], "step": "q", "steps": ["pay"],
         "results": {"look": {"value": 7}}, "answer": {"type": "integer"}},
        {"question": "how many?"},
    ),
    "question of a tool": (
        {"name": "answer_question", "decisions": ["edit"], "step": "q", "tool": "pay",
         "answer": {"properties": {"n": {"type": "integer"}}}},
        {"question": "how many?"},
    ),
    "uncertain": (
        {"name": "settle_effect", "decisions": ["edit"], "step": "pay", "tool": OF_CALL, "does": "pays",
         "failure": "it timed out", "may_live": True, "run": "t.1", "due_in": ["pay"]},
        {"tool": "pay", "args": {"to": "ann"}},
    ),
    "effect that missed its checks": (
        {"name": "settle_effect", "decisions": ["edit"], "step": "pay", "failure": "it is too much",
         "took_effect": True},
        {"tool": "pay", "args": {"to": "ann"}},
    ),
    "budget": (
        {"name": "raise_budget", "decisions": ["edit"], "limit": "tool_calls", "left": ["pay"],
         "hard": {"tool_calls": 5}},
        {"budget": {"tool_calls": 5}, "spent": {"tool_calls": 5}},
    ),
}  # fmt: skip
PEOPLE = {
    "rules": [{"roles": ["cfo"], "four_eyes": True}], "asked_by": ["ann"], "approved_by": ["ben"], "takes_two": True,
    "nobody_left": ["ann"], "reach": {"tools": ["pay"], "rules": [{"names": ["eve"]}]}, "until": 9e8,
    "on_expire": "end", "escalations": [{"at": 8e8, "names": ["kim"], "roles": ["lead"]}],
}  # fmt: skip

BUTTONS = "the ways to answer"
FORM = "which question it is, and what is read with it"
WORDS = {
    "version": "the form of the value",
    "* name": FORM,
    "* kind": FORM,
    "* decisions": BUTTONS,
    "run_plan tools.steps": "each effect names its step",
    "run_plan tools.trust": "told of the tools whose results are not to be trusted, with what uses them",
    "run_plan steps.args.*": "the arguments with their references, and what is not to be trusted of them",
    "run_plan why.reason": "the failures themselves",
    "run_step args.*.origin": "told of all that are not to be trusted",
    "run_step args.*.trust": "told of all that are not to be trusted",
    "* digest": "the last line, see `graph.review.request`",
    "* tool.name": "the action beside the value",
    "settle_effect tool.reversible": "told when the call is to be made again",
}
DESK = {
    "version": "the form of the value",
    "goal": "the heading of the run",
    "* name": FORM,
    "* kind": FORM,
    "run_plan revision": "the heading of the plan",
    "* digest": "beside the buttons, that of the whole request, which covers it",
}
FOLDED = {"description": WORDS, "terminal": WORDS, "notebook": WORDS, "desk": DESK}


def request_of(review: ReviewContent, args: dict[str, Any]) -> dict[str, Any]:
    """Return the request that says this value in its words."""
    content = review.actions[0]
    action = ReviewAction(content.name, args, description(content, args, review.goal), content=content)
    people = people_paragraph(review.people, review.reason_for)
    return ReviewRequest("r.1", 2, "e" * 64, "b", (action,), people=people).to_json()


def plan_in(args: dict[str, Any]) -> Plan | None:
    return Plan.model_validate(args["plan"]) if "plan" in args else None


def shown_by_description(review: ReviewContent, args: dict[str, Any]) -> object:
    return [action["description"] for action in request_of(review, args)["action_requests"]]


def shown_by_terminal(review: ReviewContent, args: dict[str, Any]) -> object:
    console = Console(file=StringIO(), width=80, force_terminal=True, color_system=None, markup=False, highlight=False)
    run: Any = SimpleNamespace(open_request=request_of(review, args), plan=plan_in(args), results={})
    show_request(Screen(console, console), run)
    return console.file.getvalue()  # type: ignore[attr-defined]


def shown_by_notebook(review: ReviewContent, args: dict[str, Any]) -> object:
    told = screen_descriptions(request_of(review, args))
    view = RunView("r.1", "g", (), "waiting", None, None, plan_in(args), {}, {}, asked=told)
    return view.bundle()["text/html"]


def shown_by_desk(review: ReviewContent, args: dict[str, Any]) -> object:
    """Return the page below the head of the run, as a reviewer sees it, without the form of the plan."""
    step = {"step": getattr(review.actions[0], "step", "")}
    request = request_of(review, args if "plan" in args else {**step, **args})
    run = SimpleNamespace(id="r.1", request={**request, "review": review.to_json()}, plan=plan_in(args))
    shown: Any = SimpleNamespace(run=run, record=SimpleNamespace(asking_calls=()), seq=9)
    return panel_of(shown)


SURFACES: dict[str, Show] = {
    "description": shown_by_description,
    "terminal": shown_by_terminal,
    "notebook": shown_by_notebook,
    "desk": shown_by_desk,
}


GONE = object()
OTHERS = (
    GONE, "other", 99, True, False, "succeeded", "read", "write", "model", "nobody", "plan", "item", "trusted",
    "untrusted", "user", "added", "removed", "unchanged", "changed", "effects", "always", "new", "reject", "end",
)  # fmt: skip
"""What may stand in the place of something."""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each thing in the value that says something."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from leaves(one, (*path, key)) if isinstance(one, dict | list) else [(*path, key)]


def changed(review: dict[str, Any], path: tuple[Any, ...]) -> Iterator[ReviewContent]:
    """Yield the value with something else at this path, or nothing, as far as the types allow it."""
    for other in OTHERS:
        made = deepcopy(review)
        holder: Any = made
        for key in path[:-1]:
            holder = holder[key]
        if other is GONE:
            del holder[path[-1]]
        else:
            holder[path[-1]] = other
        with suppress(ValidationError):
            yield ReviewContent.model_validate(made)


def value_of(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    content, args = ACTIONS[kind]
    return {"version": 1, "goal": "the goal", "actions": [content], "people": PEOPLE, "reason_for": ["pay"]}, args


def named(path: tuple[Any, ...], content: dict[str, Any]) -> str:
    """Return the name of a field, one of an action after the name of that."""
    name = ".".join(key for key in path if isinstance(key, str) and key != "actions")
    return f"{content['name']} {name}" if path[0] == "actions" else name


def differs(review: ReviewContent, args: dict[str, Any], show: Show, whole: object) -> bool:
    """Whether a value is shown in another way; one that names what the action does not have has been read."""
    try:
        return show(review, args) != whole
    except (KeyError, AttributeError):
        return True


@pytest.mark.parametrize("surface", SURFACES)
def test_each_field_of_the_value_is_shown_or_said_to_be_folded_away(surface: str) -> None:
    show, hidden, seen = SURFACES[surface], set(), set()
    for kind in ACTIONS:
        value, args = value_of(kind)
        whole = show(ReviewContent.model_validate(value), args)
        for path in leaves(value):
            if (name := named(path, ACTIONS[kind][0])) not in seen:
                is_seen = any(differs(other, args, show, whole) for other in changed(value, path))
                (seen if is_seen else hidden).add(name)

    folded = FOLDED[surface]
    assert [one for one in sorted(hidden - seen) if not any(fnmatch(one, pattern) for pattern in folded)] == []
    assert [pattern for pattern in folded if not any(fnmatch(one, pattern) for one in hidden - seen)] == []


def test_the_values_here_have_every_field_that_the_schema_knows() -> None:
    found = {key for kind in ACTIONS for path in leaves(value_of(kind)[0]) for key in path if isinstance(key, str)}
    schema = review_schema()
    known = {name for model in (schema, *schema["$defs"].values()) for name in model.get("properties", {})}

    assert known - found == set()


def bound_parts() -> dict[str, Any]:
    """Return what an approval covers of a plan whose references are read by the rules of today."""
    plan = Plan.model_validate({"steps": [{"id": "a", "objective": "o", "tool": "look", "args": {"q": "x"}},
        {"id": "b", "objective": "o", "tool": "look", "args": {"q": "{len(a_result)}"}}]})  # fmt: skip
    assert plan.is_read_anew
    return ExecutionTerms({"look": ToolSpec("look", "d", {}, "read")}).bound(plan)


@pytest.mark.parametrize("surface", SURFACES)
def test_each_part_of_what_an_approval_binds_is_shown_or_named(surface: str) -> None:
    value, args = value_of("plan")
    told = " ".join(str(SURFACES[surface](ReviewContent.model_validate(value), args)).replace("\\n", " ").split())

    assert set(bound_parts()) == {"plan", *NOT_SHOWN}
    assert [name for name in NOT_SHOWN.values() if name not in told] == []
    assert "pay it" in told
