from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import KnownPlaybook
from planner_executor.graph.plan.params import NO_PARAMS
from planner_executor.graph.plan.playbook_expansion import read_expanded, uses_playbook
from planner_executor.graph.plan.reading import ParsedPlan
from planner_executor.graph.plan.revision import read_revision


def known(name: str, *steps: dict[str, Any], answer: Any = None, **parameters: Any) -> KnownPlaybook:
    return KnownPlaybook(name, 1, f"d-{name}", f"How to {name}", parameters, steps, answer)


ANY = {"type": "object", "properties": {}, "additionalProperties": True}
TOOLS = {name: ToolSpec(name, f"{name} it", ANY) for name in ("find", "send")}
FIND = {"id": "find", "objective": "Find {param.topic}", "tool": "find", "args": {"q": "on {param.topic}"}}
SEND = {
    "id": "send",
    "objective": "Send it",
    "tool": "send",
    "args": {"to": "{param.to}", "text": "{find_result.text}", "q": "x"},
}
TELL = known(
    "tell", FIND, SEND, answer="{send_result}", topic={"type": "string"}, to={"type": "string", "minLength": 3}
)
LIBRARY = {one.name: one for one in (TELL,)}


def read(raw: Any, library: Any = LIBRARY, label: Any = "user") -> ParsedPlan:
    return read_expanded(raw, TOOLS, library, label, 50, NO_PARAMS)


def test_a_playbook_for_the_whole_goal_is_its_plan_with_values() -> None:
    parsed = read({"playbook": "tell", "params": {"topic": "{find_result}", "to": "ana@x"}})

    assert parsed.plan is not None, parsed.issues
    assert [step.id for step in parsed.plan.steps] == ["find", "send"]
    assert parsed.plan.params["topic"].value == "{find_result}"
    assert parsed.playbooks == ({"name": "tell", "version": 1, "digest": "d-tell", "step": None},)


def test_a_playbook_as_a_step_is_expanded_and_the_step_has_its_answer() -> None:
    use = {"id": "s", "objective": "Tell Ana", "playbook": "tell", "depends_on": ["who"]}
    who = {"id": "who", "objective": "Find Ana", "tool": "find", "args": {"q": "ana"}}
    params = {"topic": "wind", "to": "{who_result.mail}"}

    parsed = read({"steps": [who, {**use, "params": params}], "answer": "{s_result}"}, label="untrusted")

    assert parsed.plan is not None, parsed.issues
    steps = parsed.plan.by_id
    assert list(steps) == ["who", "s_params", "s_find", "s_send", "s"]
    assert steps["s_params"].gather == {"to": "{who_result.mail}"}
    assert steps["s_params"].checks[0]["schema"]["properties"]["to"]["minLength"] == 3
    assert steps["s_find"].args == {"q": "on {param.s_topic}"} and steps["s_find"].depends_on == ("who",)
    assert steps["s_send"].args == {"to": "{s_params_result.to}", "text": "{s_find_result.text}", "q": "x"}
    assert (steps["s"].gather, steps["s"].depends_on) == ("{s_send_result}", ("who", "s_send"))
    assert parsed.plan.params["s_topic"].model_dump() == {"value": "wind", "label": "untrusted"}
    assert parsed.playbooks[0]["step"] == "s"


def test_playbooks_stand_in_playbooks_three_deep() -> None:
    def around(name: str, inner: str, **more: str) -> KnownPlaybook:
        params = {"topic": "{param.topic}", **more}
        step = {"id": "in", "objective": "Go on", "playbook": inner, "params": params}
        return known(name, step, topic={"type": "string"})

    made = (around("a", "tell", to="bob"), around("b", "a"), around("c", "b"), around("self", "self"))
    library = {"tell": TELL} | {one.name: one for one in made}

    parsed = read({"playbook": "a", "params": {"topic": "wind"}}, library)
    assert parsed.plan is not None, parsed.issues
    assert [step.id for step in parsed.plan.steps] == ["in_params", "in_find", "in_send", "in"]
    assert parsed.plan.by_id["in_params"].gather == {"topic": "{param.topic}"}
    assert parsed.plan.params["in_to"].value == "bob" and parsed.plan.params["topic"].value == "wind"
    assert "3 deep at most" in str(read({"playbook": "c", "params": {"topic": "x"}}, library).issues[0])
    assert "cannot stand within itself" in str(read({"playbook": "self", "params": {"topic": "x"}}, library).issues[0])


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"playbook": "tel", "params": {}}, "tell"),
        ({"playbook": "tell", "params": {"topic": "x"}}, "tell needs a value of it"),
        ({"playbook": "tell", "params": {"topic": 1, "to": "ana"}}, "params.topic"),
        ({"playbook": "tell", "params": {"topic": "x", "to": "an", "cc": 1}}, "no such parameter"),
        ({"playbook": "tell", "params": [], "steps": []}, "stands beside"),
        (
            {"steps": [{"id": "s", "playbook": "tell", "params": {"topic": "x", "to": "ana"}, "tool": "find"}]},
            "does not go",
        ),
        ({"steps": [{"playbook": "tell"}]}, "needs an id"),
        (
            {
                "steps": [{"id": "s", "playbook": "tell", "params": {"topic": "x", "to": "ana"}}],
                "params": {"mine": {"value": 1, "label": "user"}},
            },
            "parameters stay as they are",
        ),
        ({"steps": [{"id": "s", "playbook": "tell", "params": {"topic": "x", "to": "{no_result}"}}]}, "no_result"),
    ],
)
def test_a_playbook_that_cannot_be_used_so_is_named(raw: Any, words: str) -> None:
    parsed = read(raw)

    assert parsed.plan is None and words in "; ".join(map(str, parsed.issues))


def test_a_question_takes_no_reference() -> None:
    asks = known("asks", {"id": "q", "objective": "Ask", "ask": "Is {param.who} right?"}, who={"type": "string"})
    first = {"id": "f", "objective": "Find", "tool": "find", "args": {"q": "x"}}
    use = {"id": "s", "objective": "Ask", "playbook": "asks", "params": {"who": "{f_result}"}}

    assert "take values there" in str(read({"steps": [first, use]}, {"asks": asks}).issues[0])
    use["params"] = {"who": "Ana"}
    assert read({"steps": [first, use]}, {"asks": asks}).plan is not None


def test_what_cannot_use_playbooks_says_so_with_the_next_move() -> None:
    use = {"id": "s", "objective": "Tell Ana", "playbook": "tell", "params": {"topic": "wind", "to": "ana@x"}}
    current = read({"steps": [{"id": "a", "objective": "a", "tool": "find", "args": {}}]}).plan
    assert current is not None

    revised = [
        read_revision(raw, current, (), TOOLS) for raw in ({"keep": ["a"], "steps": [use]}, {"playbook": "tell"})
    ]
    branch = read({"steps": [{**use, "when": {"of": "{param.x}", "condition": "@"}}]})

    assert all("give the steps themselves here" in str(one.issues) and one.plan is None for one in revised)
    assert branch.issues[0].step == "s" and "write it at the steps of the playbook" in branch.issues[0].message


def test_a_playbook_for_the_whole_goal_has_its_answer_and_the_trust_of_who_gave_each_value() -> None:
    one = known("one", FIND, topic={"type": "string", "default": "{find_result}"})

    given, left = (
        read({"playbook": "one", **more}, {"one": one}, "untrusted") for more in ({"params": {"topic": "x"}}, {})
    )

    assert given.plan is not None and left.plan is not None
    assert given.plan.params["topic"].model_dump() == {"value": "x", "label": "untrusted"}
    assert left.plan.params["topic"].model_dump() == {"value": "{find_result}", "label": "user"}
    assert left.plan.answer is None and left.notes == ()
    whole = read({"playbook": "tell", "params": {"topic": "x", "to": "ana"}}).plan
    assert whole is not None and whole.answer == "{send_result}"


def steps_of(
    *inner: dict[str, Any], use: Mapping[str, Any] = MappingProxyType({}), **parameters: Any
) -> dict[str, Any]:
    """The steps of a plan that uses a playbook of these steps as its step `s`, after a step `f`."""
    library = {"p": known("p", *inner, **parameters)}
    raw = {"steps": [{"id": "f", "objective": "o", "tool": "find", "args": {}}, {"id": "s", "playbook": "p", **use}]}
    parsed = read(raw, library)
    assert parsed.plan is not None, parsed.issues
    return {step["id"]: step for step in parsed.plan.to_json()["steps"][1:]}


def test_a_playbook_without_an_answer_gives_what_no_step_of_it_waits_for() -> None:
    after_find = {"id": "b", "objective": "o", "tool": "send", "depends_on": ["a"]}
    a, c = ({"id": name, "objective": "o", "tool": "find", "args": {}} for name in "ac")

    one, two = steps_of(a, after_find), steps_of(a, after_find, c, use={"depends_on": ["f"], "objective": "All"})

    assert (one["s"]["gather"], one["s"]["objective"], one["s"]["depends_on"]) == ("{s_b_result}", "How to p", ["s_b"])
    assert "depends_on" not in one["s_a"]
    assert two["s"]["gather"] == {"s_b": "{s_b_result}", "s_c": "{s_c_result}"} and two["s"]["objective"] == "All"
    waits = {name: step.get("depends_on") for name, step in two.items()}
    assert waits == {"s_a": ["f"], "s_b": ["s_a"], "s_c": ["f"], "s": ["f", "s_b", "s_c"]}
    reading = {"id": "b", "objective": "o", "tool": "send", "args": {"q": "{a_result}"}}
    answered = steps_of(a, reading, use={"depends_on": ["f"]}, answer="{a_result}")
    assert answered["s"]["gather"] == "{s_a_result}" and "depends_on" not in answered["s_b"]
    assert "run_if" not in two["s"]


def test_a_step_that_is_a_playbook_with_branches_waits_for_any_of_them() -> None:
    branch = {"id": "b", "objective": "o", "tool": "send", "args": {}, "when": {"of": "{a_result}", "condition": "@"}}

    found = steps_of(
        {"id": "a", "objective": "o", "tool": "find", "args": {}}, branch, use={"checks": [{"non_empty": True}]}
    )

    assert found["s"]["run_if"] == "any" and found["s_b"]["when"]["of"] == "{s_a_result}"
    assert found["s"]["checks"] == [{"non_empty": True}]


def test_other_names_of_fields_are_understood_in_playbooks_and_at_them() -> None:
    use = {"id": "in", "description": "Go on", "playbook": "tell", "parameters": {"topic": "{param.t}", "to": "ana"}}
    around = known(
        "around",
        {"subgoal_id": "x", "description": "o", "tool": "find", "parameters": {"q": "{param.t}"}},
        use,
        t={},
        d={"default": 1},
    )
    raw = {
        "steps": [{"id": "s", "objective": "o", "playbook": "around", "parameters": {"t": "wind"}, "dependencies": []}]
    }

    parsed = read(raw, {"tell": TELL, "around": around}, "untrusted")

    assert parsed.plan is not None, parsed.issues
    assert parsed.plan.by_id["s_x"].args == {"q": "{param.s_t}"}
    assert parsed.plan.by_id["s_in_params"].gather == {"topic": "{param.s_t}"}
    labels = {name: value.label for name, value in parsed.plan.params.items()}
    assert labels == {"s_t": "untrusted", "s_d": "user", "s_in_to": "user"}


def test_a_model_that_is_told_a_value_from_the_run_waits_for_it_and_literal_text_stays() -> None:
    ask = {"id": "m", "objective": "Write to {param.to}", "depends_on": ["a"], "success_criteria": "It is short"}
    a = {"id": "a", "objective": "o", "tool": "send", "args": {"t": "{a_result}", "q": "{param.to}"}, "literal": ["t"]}
    gather = {"id": "params", "objective": "o", "gather": {"to": "{param.to}", "n": "{param.n}"}}
    use = {"params": {"to": "{f_result}", "n": 1}, "depends_on": ["f"]}

    found = steps_of(
        a, ask, gather, use=use, to={"type": "integer"}, n={"type": "integer"}, d={"default": "{x_result}"}
    )

    assert list(found) == ["s_params_", "s_a", "s_m", "s_params", "s"]
    assert found["s_params_"]["gather"] == {"to": "{f_result}"} and found["s_params_"]["depends_on"] == ["f"]
    assert found["s_a"]["args"] == {"t": "{a_result}", "q": "{s_params__result.to}"}
    assert found["s_m"]["depends_on"] == ["s_a", "s_params_"] and "{s_params__result.to}" in found["s_m"]["objective"]
    assert found["s_params"]["gather"] == {"to": "{s_params__result.to}", "n": "{param.s_n}"}


def test_parameters_of_a_plan_stand_beside_those_of_its_playbooks() -> None:
    raw = {
        "steps": [{"id": "s", "playbook": "tell", "params": {"topic": "x", "to": "ana"}}],
        "params": {"mine": {"value": 1, "label": "user"}},
    }

    parsed = read_expanded(raw, TOOLS, LIBRARY, "user", 50)

    assert parsed.plan is not None and list(parsed.plan.params) == ["s_topic", "s_to", "mine"]


@pytest.mark.parametrize(
    ("most", "issue"), [(1, "2 steps with those of playbooks are too many; at most 1 are"), (2, "")]
)
def test_the_steps_of_playbooks_count(most: int, issue: str) -> None:
    whole = {"playbook": "tell", "params": {"topic": "x", "to": "ana"}}
    parsed = read_expanded(whole, TOOLS, LIBRARY, "user", most, NO_PARAMS)

    assert issue in str(parsed.issues) and (parsed.plan is None) is bool(issue)
    twice = {"steps": [{"id": one, **whole} for one in ("a", "b")]}
    assert "4 steps with those" in str(read_expanded(twice, TOOLS, LIBRARY, "user", 3).issues)


ODD = "s_a.literal: 'x' is not among its args; it has none"
GOOD = {"topic": "x", "to": "ana"}
USE = {"id": "s", "playbook": "tell", "params": GOOD}
ONLY = "id, objective, playbook, params, depends_on, success_criteria, checks"


@pytest.mark.parametrize(
    ("raw", "issue"),
    [
        ({"playbook": ["tell"]}, "playbook: no playbook ['tell']; did you mean tell?"),
        ({"playbook": "tell", "params": []}, "params: must be an object: parameter -> value"),
        ({"playbook": "odd", "params": {"n": "{a_result}"}}, "params.n: '{a_result}' is not of type 'integer'"),
        ({"playbook": "none", "params": {"a": 1}}, "params.a: none has no such parameter; there are none"),
        ({"playbook": "tell", "params": {"a": 1, **GOOD}}, "params.a: tell has no such parameter; there are topic, to"),
        ({"playbook": "tell", "params": {**GOOD, "to": float("nan")}}, "params.to: nan is not a JSON number"),
        ({"playbook": "tell", "params": {**GOOD, "to": 1}}, "params.to: 1 is not of type 'string'"),
        ({"steps": [{**USE, "params": {**GOOD, "to": 1}}, 5]}, "s.params.to: 1 is not of type 'string'"),
        ({"steps": [{**USE, "tool": "find"}]}, f"s.tool: does not go with a playbook; such a step has {ONLY}"),
        ({"steps": [{**USE, "playbook": "odd", "params": {"n": 1}}]}, ODD),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_use_of_a_playbook_is_told(raw: Any, issue: str) -> None:
    odd = known("odd", {"id": "a", "objective": "o", "literal": ["x"]}, n={"type": "integer"})

    assert list(map(str, read(raw, LIBRARY | {"none": known("none", FIND), "odd": odd}).issues)) == [issue]


@pytest.mark.parametrize(
    ("raw", "does"),
    [
        ({"playbook": "tell"}, True),
        ({"steps": [5, {"playbook": "tell"}]}, True),
        ({"steps": [{"tool": "find"}]}, False),
        ({"steps": ["a playbook"]}, False),
        ({"steps": "a playbook"}, False),
        ("a playbook", False),
        (["a playbook"], False),
        (5, False),
        ({}, False),
    ],
)
def test_a_plan_uses_a_playbook_by_name_or_in_a_step(raw: Any, does: bool) -> None:
    assert uses_playbook(raw) is does
