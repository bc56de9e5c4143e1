"""The words and the desk's tables for each field of a request, as files that were looked at: tests/data/review_words.

`make snapshots` writes them anew; look at each that changed before it is committed. Requests of whole runs are in
`tests/scenarios/test_review_snapshots.py`; here are also values that few runs have.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.desk.views.review_content import Table, Words, action_tables, people_table
from planner_executor.graph.review.content import ReviewContent
from planner_executor.graph.testing import step
from planner_executor.graph.text.review.description import description
from planner_executor.graph.text.review.people import people_paragraph

WORDS = Path(__file__).parents[3] / "data" / "review_words"
LONG = {"length": 9000, "digest": "d" * 64, "preview": '"begins', "end": 'ends"'}
PLAN = {"origin": "plan", "trust": "user"}
ANN, CFO, TWO = {"names": ["os:ann"]}, {"roles": ["cfo"]}, {"names": ["ann", "ben"], "quorum": 2, "four_eyes": True}
PAY = {"name": "pay", "effect": "external", "reversible": False, "steps": ["a"]}
SAVE = {"name": "save", "effect": "write", "reversible": True, "trust": "trusted", "folder": "/srv/out"}
MAIL = {"name": "mail", "effect": "external", "trust": "untrusted"}
PRINT = {"name": "print", "effect": "external", "declared": False}
LOOK = {"name": "look", "effect": "read", "trust": "trusted"}
QUIET = {"name": "quiet", "effect": "read"}
SEARCH = {"name": "search", "effect": "read", "reversible": True}
HOSTILE = "*x*\n# y"
GOAL = "Get *it* done"
ITEMS = {"e[0]": {"at": "y"}, "e[1]": {}}

Case = tuple[dict[str, Any], dict[str, Any]]
"""The content of an action, and its arguments."""


def of_plan(*steps: dict[str, Any], contents: tuple[dict[str, Any], ...] = (), **more: Any) -> Case:
    """Return a plan, with what a request says of its steps, by default that they only read."""
    told = contents or tuple({"id": one["id"], "status": "pending", "done_by": "tool"} for one in steps)
    content = {"name": "run_plan", "revision": 1, "digest": "d", "steps": told, **more}
    params = {name: {**one["value"], "label": one["trust"]} for name, one in more.get("params", {}).items()}
    return content, {"plan": {"steps": list(steps), "params": params}}


def said(name: str, by: str = "tool", **more: Any) -> dict[str, Any]:
    """Return what a request says of a step."""
    return {"id": name, "status": "pending", "done_by": by, **more}


def of_call(**more: Any) -> Case:
    args = more.pop("args", {"to": "ann"})
    return {"name": "run_step", "kind": "call", "step": "a", **more}, {"step": "a", "tool": "pay", "args": args}


def of_budget(limit: str, budget: dict[str, Any], spent: dict[str, Any], **more: Any) -> Case:
    return {"name": "raise_budget", "limit": limit, **more}, {"budget": budget, "spent": spent}


def of_gate(words: str, args: dict[str, Any], **more: Any) -> Case:
    return (
        {"name": "run_step", "kind": "gate", "step": "a", "words": words, **more},
        {"step": "a", "tool": "gate", "args": args},
    )


def of_question(question: str, **more: Any) -> Case:
    return {"name": "answer_question", "step": "a", **more}, {"step": "a", "question": question}


def of_uncertain(failure: str, **more: Any) -> Case:
    content = {"name": "settle_effect", "step": "a", "failure": failure, **more}
    return content, {"step": "a", "tool": "pay", "args": {"to": "ann"}}


A = step("a", "look")
ACTING = (
    step("a", "pay", to="ann", amount="{s_result}", note="for {param.who} by {param.who}, {param.when}"),
    {**step("each", "mail", to="{item_result}"), "for_each": "{s_result}"},
    {"id": "m", "objective": "Write", "tools": ["quiet", "mail", "print"], "args": {"to": "ann"}},
    {"id": "n", "objective": "Read", "tools": ["quiet", "look"]},
    {"id": "o", "objective": "Think", "tools": ["save"]},
    {"id": "b", "objective": "Save", "tool": "save"},
    step("s", "quiet", what={"a": 1}),
    {"id": "done", "objective": "It was", "tool": "look"},
)
FROM_S = {"origin": "result", "steps": ["s"], "trust": "untrusted", "sources": ["web", "quiet"], "asked": True}
TOLD = (
    said(
        "a",
        acts=True,
        does={"pay": "pay ann [s_result]"},
        args={
            "pay": {
                "to": PLAN,
                "amount": FROM_S,
                "note": {"origin": "plan", "params": ["who", "when"], "trust": "trusted", "sources": ["archive"]},
            }
        },
        unchecked=["search", "quiet"],
        when="@ > `1` of {s_result}",
        decided_by=["web", "quiet"],
    ),
    said(
        "each", acts=True, args={"mail": {"to": {"origin": "item", "trust": "user"}}}, most_items=5, unchecked=["quiet"]
    ),
    said(
        "m",
        "model",
        acts=True,
        args={
            "mail": {"to": PLAN, "text": {"origin": "model", "trust": "untrusted", "sources": ["web"], "asked": True}}
        },
    ),
    said("n", "model"),
    said("o", "model", acts=True),
    said("b", acts=True),
    said("s"),
    {"id": "done", "status": "succeeded", "done_by": "tool"},
)
TOOLS = [PAY, {**MAIL, "steps": ["each", "m"]}, PRINT, SAVE, {**SAVE, "name": "store"}, LOOK, QUIET, SEARCH]
PARAMS = {
    "who": {"value": {"value": "ann"}, "trust": "user"},
    "when": {"value": {"value": "May\nor June"}, "trust": "untrusted"},
}
CHANGES = [
    {"step": "b", "change": "added"},
    {
        "step": "each",
        "change": "changed",
        "fields": [
            {"field": "args.to", "was": {"value": "one two"}, "now": {"value": "one three"}},
            {"field": "objective", "was": {"value": "x"}},
            {"field": "tools", "now": {"value": ["a"]}},
        ],
    },
    {
        "step": "old",
        "change": "removed",
        "fields": [{"field": "tool", "was": {"value": "save"}}, {"field": "args.text", "was": LONG}],
    },
]

PLANS: dict[str, Case] = {
    "one step that reads": of_plan(A),
    "every effect, and what is known of its arguments": of_plan(
        *ACTING, contents=TOLD, tools=TOOLS, params=PARAMS, notes=["`a` is first.", "`b` is last."]
    ),
    "effects without an argument, each kind alone": of_plan(
        {"id": "a", "objective": "o", "tool": "pay"}, contents=(said("a", acts=True),), tools=[PAY]
    ),
    "an effect on one untrusted result": of_plan(
        step("a", "pay", to="{s_result}"),
        contents=(said("a", acts=True, unchecked=["quiet"], decided_by=["web"]),),
        tools=[PAY],
    ),
    "a revision": of_plan(
        *ACTING[:2],
        step("b", "save"),
        step("s", "quiet"),
        contents=(*TOLD[:2], said("b", acts=True), {"id": "s", "status": "succeeded", "done_by": "tool"}),
        tools=TOOLS[:4],
        params=PARAMS,
        revision=3,
        since=2,
        changes=CHANGES,
        comments=[
            {"step": "each", "text": "why?", "became": "changed", "says": "because"},
            {"step": "a", "text": "fine", "became": "unchanged"},
        ],
    ),
    "a revision of a plan that ran without a review": of_plan(
        A,
        step("p", "pay"),
        contents=({**said("a"), "status": "succeeded"}, said("p", acts=True)),
        tools=[PAY],
        revision=2,
        since=1,
        was_seen=False,
        changes=CHANGES,
    ),
    "a revision of a plan that was not begun": of_plan(
        A,
        step("p", "pay"),
        contents=(said("a"), said("p", acts=True)),
        tools=[PAY],
        revision=2,
        since=1,
        why={"author": "planner", "reason": "feedback: go on"},
    ),
    "a revision before anybody saw one": of_plan(A, revision=2, changes=[{"step": "a", "change": "added"}]),
    "effects of which a person saw some": of_plan(
        A,
        step("b", "pay"),
        contents=(said("a", acts=True), said("b", acts=True)),
        tools=[PAY, LOOK],
        revision=2,
        since=1,
        why={"author": "replanner", "reason": "more is known", "failed": {"c": "no"}},
        changes=[{"step": "b", "change": "added"}],
    ),
    "the calls that the policy asks about": of_plan(
        step("a", "pay", to="ann"),
        step("r", "look", at="x"),
        step("e", "look"),
        step("u", "pay", to="ann"),
        step("v", "look"),
        contents=(
            said("a", acts=True, asks={"pay": "w1"}, settled=True, settled_by=[CFO, ANN]),
            said("r", asks={"look": "w2"}, settled=True),
            said("e", acts=True, asks={"look": "w3"}, settled=True, settles=ITEMS, settled_by=[ANN]),
            said("u", acts=True, asks={"pay": "w4"}, asked_later="long"),
            said("v", asks={"look": "w5"}),
        ),
        tools=[PAY, LOOK],
    ),
    "steps that are done before others": of_plan(
        A, step("b", "look"), contents=({**said("a"), "status": "skipped"}, said("b"))
    ),
    "steps that code alone checks, some of them": of_plan(
        A, step("b", "look"), contents=(said("a", checks=["c1"]), said("b"))
    ),
    "a tool that a model may call, with declared trust alone": of_plan(
        {"id": "m", "objective": "o", "tools": ["print"]},
        contents=(said("m", "model", acts=True),),
        tools=[{**PRINT, "trust": "trusted"}],
    ),
    "what success is": of_plan(
        {**A, "success_criteria": "it is good"},
        {**step("b", "look"), "success_criteria": "b" * 600},
        {**step("c", "look")},
        {"id": "g", "objective": "o", "gate": "Go?", "success_criteria": "g is good"},
        contents=(
            said("a", judged_by="model", checks=["c1", "c2"]),
            said("b", judged_by="nobody"),
            said("c", judged_by="code", checks=["c3"]),
            said("g", "person", judged_by="nobody", left_out=["be brief", "be kind"]),
        ),
    ),
    "work, with previews, literal text and a step to refine": of_plan(
        step("a", "look", at="{{s_result}}"),
        previews=[
            {"place": "a", "tool": "look", "text": "it looks", "length": 90},
            {"place": "b[0]", "tool": "look", "none": "it failed", "was": "it looked"},
        ],
        unpreviewed=["c", "d"],
        work={
            "steps": 4, "longest_chain": 2, "tool_calls": 5, "further_attempts": 1, "model_steps": 1, "to_refine": 1,
            "budget_left": {"tool_calls": 3}, "takes": {"seconds": {"low": 2.0, "high": 5.0}},
        },
    ),
    "a plan that cannot run": of_plan(A, cannot_run=True, faults=["a is *bad*", "b is gone"], revision=4),
}  # fmt: skip
WHYS: list[tuple[int, dict[str, Any]]] = [
    (2, {"author": "replanner", "cause": "failure", "reason": "r", "failed": {"a": "no", "b": "*no*"}}),
    (2, {"author": "replanner", "cause": "failure", "reason": "a failed"}),
    (2, {"author": "replanner", "cause": "late", "reason": "it is late", "failed": {"a": "no"}}),
    (2, {"author": "planner", "cause": "failure", "reason": "more", "stalled": "nothing moved"}),
    (2, {"author": "planner", "cause": "refined", "stalled": "No progress: nothing moved"}),
    (2, {"author": "planner", "reason": "feedback: be brief"}),
    (1, {"author": "planner", "reason": "feedback: be brief", "rule": "always"}),
    (1, {"author": "planner", "rule": "policy", "tools": ["pay", "server/x"]}),
    (1, {"author": "planner", "rule": "effects", "tools": ["pay"]}),
    (1, {"author": "planner"}),
    (2, {"author": "caller", "reason": "r"}),
    (1, {"author": "caller", "rule": "always"}),
    (3, {"author": "state"}),
    (3, {"author": "person"}),
]
CALLS: dict[str, Case] = {
    "a call": of_call(),
    "a call that is held for many reasons": of_call(
        tool=PAY, does="pay ann", why="the policy asks", before=["x.1", "y.2"],
        args={"to": "ann", "note": "see {a_result}", "text": "a\nb"},
        given=[
            {"what": "limit", "by": ["ann"]},
            {"what": "plan", "by": ["ann", "ben"]},
            {"what": "gate", "by": ["ann"], "step": "g"},
            {"what": "gate", "by": ["ann"]},
            {"what": "answer", "by": ["ann"], "step": "q", "value": "42"},
            {"what": "other", "by": ["ann"], "value": "v"},
            {"what": "result", "by": ["ann"], "value": "9"},
        ],
        preview={"place": "a", "tool": "pay", "text": "it pays"}, criteria="it is paid", judged_by="model",
    ),
    "untrusted arguments of a call by a model": of_call(
        tool=MAIL, by_model=True, args={"to": "ann"}, checks=["c1", "c2"], judged_by="code",
    ),
    "a call that reads": of_call(tool=LOOK, criteria="good", args={}),
    "a call that can be undone": of_call(tool=SAVE),
    "a call that is declared to be reversible and reads": of_call(tool=SEARCH),
    "a new call": of_call(new=True),
    "a new call by a model, in all its words": of_call(
        new=True, tool=PAY, does="pay", by_model=True, most_calls=3, objective="Pay *ann*"
    ),
    "a new call by a model without arguments": of_call(new=True, tool=MAIL, by_model=True, args={}),
    "a new call that reads, for items": of_call(new=True, tool=LOOK, most_items=4),
    "a new call that can be undone": of_call(new=True, tool=SAVE),
    "a call that may have happened": of_uncertain("it was *cut off*", tool=PAY, does="pay ann", may_live=True),
    "a call that may have happened, more than once": of_uncertain("cut off", due_in=["b", "c"]),
    "a call of another run": of_uncertain("cut off", run="x.1", tool=MAIL),
    "a call whose result missed its checks": of_uncertain("it is *too* much", took_effect=True),
    "a call of another run whose result missed its checks": of_uncertain("too much", took_effect=True, run="x.1"),
}  # fmt: skip
ARGUMENTS = {
    "to": {"origin": "result", "steps": ["p", "q"], "trust": "untrusted", "sources": ["page", "web"]},
    "why": {"origin": "model", "trust": "undeclared", "sources": ["server/x"]},
}
CALLS["a call with untrusted arguments"] = (
    {**of_call(tool=PAY)[0], "args": ARGUMENTS},
    {"step": "a", "tool": "pay", "args": {"to": "ann", "why": HOSTILE, "n": 1}},
)
THROUGH = [
    {"step": "b", "tool": PAY, "does": "pay ann", "args": {"to": {"value": "ann"}, "text": LONG}, "items": 1},
    {"step": "c", "tool": MAIL, "items": 3},
    {"step": "d", "tool": SAVE},
]
PERSONS: dict[str, Case] = {
    "a gate": of_gate("Go on?", {}),
    "a gate with all that is behind it": of_gate(
        "Go *on*?", {"find": ["x"], "text": "a\nb"}, steps=["b", "c"], through=THROUGH
    ),
    "a gate of several lines": of_gate("Go\non?", {}, steps=["b"]),
    "a gate of exactly as many letters as stand in a line": of_gate("x" * 600, {}),
    "a gate of one more": of_gate("x" * 601, {}),
    "a question": of_question("Whom *now*?"),
    "a question on results": of_question(
        "Whom?", steps=["b"], results={"find": {"value": "x"}, "long": LONG}, answer={"type": "string"}
    ),
    "a question with many answers": of_question("Whom?", steps=["b", "c"], answer="json"),
    "a question of a tool": of_question(
        "Which?",
        tool="pay",
        answer={"type": "object", "properties": {"n": {"type": "integer"}}},
    ),
    "a limit that is reached": of_budget(
        "tool_calls", {"tool_calls": 2, "steps": 9}, {"tool_calls": 2, "steps": 1}, left=["a", "b"]
    ),
    "a limit of none": of_budget("tool_calls", {"tool_calls": 0}, {"tool_calls": 0}, hard={"tool_calls": 1}),
    "a limit that the next call would pass": of_budget("tokens", {"tokens": 100}, {"tokens": 99}),
    "a hard limit": of_budget("steps", {"steps": 2}, {"steps": 2}, hard={"steps": 2, "tool_calls": 9}),
    "a limit below a hard one": of_budget("steps", {"steps": 2}, {"steps": 2}, hard={"steps": 3}),
    "a limit with another hard one": of_budget("steps", {"steps": 2}, {"steps": 2}, hard={"tool_calls": 1}),
}
PEOPLE: dict[str, dict[str, Any]] = {
    "nobody in particular": {},
    "one person": {"people": {"rules": [ANN], "asked_by": ["os:ben"]}},
    "an approval with its reason": {"reason_for": ["pay", "server/x"]},
    "four eyes": {"people": {"rules": [CFO, TWO], "asked_by": ["os:ben", "*x*"], "takes_two": True}},
    "nobody is left": {"people": {"rules": [TWO], "nobody_left": ["ann", "ben"], "approved_by": ["carl", "dora"]}},
    "a time that ends the run": {
        "people": {
            "rules": [ANN],
            "until": 1800000000.0,
            "on_expire": "end",
            "escalations": [
                {"at": 1790000000.0, "names": ["carl"], "roles": ["lead", "cfo"]},
                {"at": 1795000000.0, "names": ["dora"]},
            ],
        }
    },
    "a time that rejects": {"people": {"until": 1800000000.0, "on_expire": "reject"}},
    "a time of which only half is on record": {"people": {"until": 1800000000.0}},
    "a time of which only the other half is": {"people": {"on_expire": "reject"}},
    "what else is decided": {"people": {"reach": {"tools": ["pay", "mail"], "rules": [CFO, ANN]}}},
}


def review(*actions: dict[str, Any], **more: Any) -> ReviewContent:
    return ReviewContent.model_validate({"version": 1, "goal": GOAL, "actions": actions, **more})


def read(about: str, case: Case, as_always: Sequence[str] = ()) -> Iterator[str]:
    """Yield what people read of an action: in a chat, and on the desk."""
    content, args = case
    (action,) = review(content).actions
    told = description(action, args, GOAL if content["name"] == "run_plan" else "").split("\n\n")
    yield from (f"==== {about}", "\n\n".join("..." if one in as_always else one for one in told))
    yield from map(table_text, action_tables(action, args))


def plans() -> Iterator[str]:
    """Yield what people read of plans; a paragraph of the first one is not repeated."""
    content, args = PLANS["one step that reads"]
    as_always = description(review(content).actions[0], args, GOAL).split("\n\n")
    for place, (about, case) in enumerate(PLANS.items()):
        yield from read(about, case, as_always if place else ())


def whys() -> Iterator[str]:
    """Yield each cause of a plan, without what is the same in all."""
    for revision, why in WHYS:
        content, args = of_plan(A, revision=revision, why=why)
        (action,) = review(content).actions
        plain = description(review(of_plan(A, revision=revision)[0]).actions[0], args).split("\n\n")
        told = [one for one in description(action, args).split("\n\n") if one not in plain]
        yield "\n".join([f"==== {revision} {why}", *told])
        yield from (table_text(one) for one in action_tables(action, args) if one.title in ("", "What failed before"))


def people() -> Iterator[str]:
    for about, told in PEOPLE.items():
        found = review(**told)
        yield from (f"==== {about}", people_paragraph(found.people, found.reason_for))
        yield table_text(people_table(found))


def table_text(table: Table) -> str:
    """Return a table of the desk as text, a row in a line."""
    rows = [" | ".join(cell_text(cell) for cell in row) for row in (table.heads, *table.rows)]
    return "\n".join([f"-- {table.title}{' (folded)' if table.is_folded else ''}", *rows])


def cell_text(cell: str | Words) -> str:
    if isinstance(cell, str):
        return cell.replace("\n", "⏎")
    return "".join(
        f"<{cell.mark}>{one.text}</{cell.mark}>" if one.kind == "changed" else one.text for one in cell.pieces
    )


GROUPS: dict[str, Callable[[], Iterator[str]]] = {
    "plans": plans,
    "whys": whys,
    "calls": lambda: chain.from_iterable(read(*one) for one in CALLS.items()),
    "persons": lambda: chain.from_iterable(read(*one) for one in PERSONS.items()),
    "people": people,
}


@pytest.mark.parametrize("group", GROUPS)
def test_every_field_of_a_request_is_shown_as_it_was_looked_at(group: str) -> None:
    file, text = WORDS / f"{group}.txt", "\n".join(GROUPS[group]()) + "\n"
    if os.environ.get("RENEW_SNAPSHOTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    assert file.read_text("utf-8") == text, f"{file} differs; `make snapshots` writes it anew"


def failures(count: int) -> Case:
    failed = {f"s{n}": "no" for n in range(count)}
    return of_plan(A, revision=2, why={"author": "replanner", "cause": "failure", "failed": failed})


LISTS: dict[str, tuple[int, Callable[[int], Case], str]] = {
    "failures": (10, failures, "- and 1 more failed"),
    "criteria": (
        60,
        lambda count: of_plan(
            *({**step(f"s{n}", "look"), "success_criteria": "good"} for n in range(count)),
        ),
        "- ... and 1 more step here",
    ),
    "calls of the policy": (
        60,
        lambda count: of_plan(
            *(step(f"s{n}", "look") for n in range(count)),
            contents=tuple(said(f"s{n}", asks={"look": "w"}, asked_later="new") for n in range(count)),
        ),
        "- ... and 1 more call here",
    ),
    "calls behind a gate": (
        20,
        lambda count: of_gate("Go?", {}, through=[{"step": f"s{n}", "tool": PRINT} for n in range(count)]),
        "And 1 more call.",
    ),
    "steps that read": (
        60,
        lambda count: of_plan(*(step(f"s{n}", "look") for n in range(count))),
        "-- Steps that only read: 61; the page of the plan has 1 more (folded)",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_whole_up_to_its_limit_and_says_how_many_are_left_out(name: str) -> None:
    most, case, told = LISTS[name]
    whole, cut = ("\n".join(read(name, case(count))).split("\n") for count in (most, most + 1))

    assert told in cut and not any(" 1 more " in line or " 0 more " in line for line in whole)
