from typing import Any

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import KnownPlaybook
from planner_executor.graph.plan.params import NO_PARAMS
from planner_executor.graph.plan.playbook_expansion import read_expanded
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
