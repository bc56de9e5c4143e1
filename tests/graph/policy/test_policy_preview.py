from dataclasses import replace
from typing import Any, Never

import pytest

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.policy_file import policy_from
from planner_executor.graph.policy.policy_preview import PolicyPreview, preview_policy
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.trust_label import USER, TrustLabel

MAIL = {"type": "object", "properties": {"to": {}, "text": {}}}
TOOLS = {
    tool.name: tool
    for tool in (
        ToolSpec("web", "", {}, "external", trusted=False),
        ToolSpec("crm", "", {}, "read", trusted=True),
        ToolSpec("quiet", "", {}, "read"),
        ToolSpec("mail", "", MAIL, "external", free_args=("text",)),
        ToolSpec("save", "", {"properties": {"text": {}}}, "write"),
    )
}


def step(name: str, tool: str | None = None, **fields: Any) -> Step:
    return Step(id=name, objective="o", tool=tool, **fields)


def found(*steps: Step, policy: dict[str, Any] | None = None, budget: Budget = NO_BUDGET, **more: Any) -> list[str]:
    terms = ExecutionTerms(TOOLS, more.get("mode", "never"), policy_from(policy or {}), budget)
    return [str(finding) for finding in preview_policy(Plan(steps=steps), terms)]


def shown(*steps: Step, policy: dict[str, Any] | None = None) -> list[str]:
    lines = found(*steps, policy=policy, mode="side_effects")
    return [line.removeprefix("asked: ") for line in lines if "its call of" in line]


def test_nothing_is_found_where_nothing_is_asked() -> None:
    assert found(step("a", "crm"), step("b", "quiet"), mode="side_effects") == []


def test_of_a_plan_of_which_something_is_denied_nothing_is_asked() -> None:
    policy = {"effects": {"write": "deny"}, "tools": {"mail": {"args": {"to": {"domains": ["example.com"]}}}}}

    lines = found(step("a", "save"), step("b", "mail", args={"to": "eve@evil.org"}), policy=policy, mode="always")

    assert lines[0] == "denied: a: tool: the policy denies save"
    assert lines[1].startswith("denied: b: args.to: the policy forbids this value to mail")
    assert len(lines) == 2


def test_why_a_plan_is_shown_is_told_for_each_step() -> None:
    policy = {"tools": {"crm": {"verdict": "review"}, "save": {"verdict": "allow"}}}
    steps = [step("a", "crm"), step("b", "save"), step("c", "mail"), step("d", "quiet")]

    assert found(*steps, policy=policy, mode="side_effects") == [
        "asked: a: the plan is shown, since the policy has crm reviewed",
        "asked: c: the plan is shown, since mail leaves this machine",
    ]
    assert found(*steps, policy=policy, mode="never") == [
        "asked: a: the plan is shown, since the policy has crm reviewed"
    ]


def test_questions_gates_and_what_is_refined_are_told() -> None:
    steps = [
        step("a", ask="Which?"),
        step("b", gate="Good?"),
        step("c", refine=True, tools=("save", "crm")),
        step("d", refine=True, tools=("crm",)),
    ]

    assert found(*steps, mode="side_effects")[1:] == [
        "asked: a: a question: Which?",
        "asked: b: a gate: Good?",
        "asked: c: its expansion is shown, if that has an effect",
    ]
    assert found(*steps, mode="never") == ["asked: a: a question: Which?", "asked: b: a gate: Good?"]


@pytest.mark.parametrize(
    ("before", "args", "whence"),
    [
        ([step("r", "web")], {"to": "{r_result.to}"}, "to comes from web"),
        ([step("r", "crm", args={"q": "{w_result}"}), step("w", "web")], {"to": "{r_result}"}, "to comes from web"),
        ([step("w", "web"), step("r", gather=["{w_result}"])], {"to": "{r_result}"}, "to comes from web"),
        ([step("w", "web"), step("r", depends_on=("w",))], {"to": "{r_result}"}, "to comes from web"),
        ([step("r", tools=("web",))], {"to": "{r_result}"}, "to comes from web"),
        ([step("r", refine=True, tools=("web",))], {"to": "{r_result}"}, "to comes from web"),
        ([step("r", "web")], {"text": "{r_result.to}"}, None),
        ([step("r", "web")], {"to": "ann"}, None),
        ([step("r", "crm")], {"to": "{r_result}"}, None),
        ([step("r", "quiet")], {"to": "{r_result}"}, None),
        ([step("w", "web"), step("r", ask="To whom?", depends_on=("w",))], {"to": "{r_result}"}, None),
    ],
    ids=str,
)
def test_a_call_with_an_effect_is_shown_where_untrusted_words_reach_it(
    before: list[Step], args: dict[str, Any], whence: str | None
) -> None:
    expected = [f"send: its call of mail is shown, since {whence}"] if whence else []

    assert shown(*before, step("send", "mail", args=args)) == expected


def test_items_of_an_untrusted_list_are_untrusted() -> None:
    each = step("send", "mail", args={"to": "{item_result}"}, for_each="{r_result}")

    assert shown(step("r", "web"), each) == ["send: its call of mail is shown, since to comes from web"]


def test_what_a_model_may_fill_in_is_told_unless_the_plan_pins_it() -> None:
    read = step("r", "web")
    model = {"tools": ("mail",), "depends_on": ("r",)}

    assert shown(read, step("m", **model)) == ["m: its call of mail is shown, since to may come from web"]
    assert shown(read, step("m", args={"to": "ann", "text": "{r_result}"}, **model)) == []
    assert shown(step("m", tools=("web", "mail"))) == ["m: its call of mail is shown, since to may come from web"]
    assert shown(step("m", tools=("quiet", "mail"))) == ["m: its call of mail is shown, since to may come from quiet"]


def test_a_condition_passes_on_how_far_the_values_that_it_reads_are_trusted() -> None:
    steps = [
        step("w", "web"),
        step("a", "crm", when={"of": "{param.n}", "condition": "@"}),
        step("b", "crm", when={"of": "{w_result}", "condition": "@"}),
        step("c", "crm", depends_on=("a",)),
        step("d", "crm"),
    ]
    raw = [one.to_json() for one in steps]
    plan = Plan.model_validate({"steps": raw, "params": {"n": {"value": 1, "label": "undeclared"}}})

    found = {name: label.sources for name, label in PolicyPreview.of(plan, TOOLS).decided_by.items()}

    assert found == {"w": (), "a": ("the parameter n",), "b": ("web",), "c": ("the parameter n",), "d": ()}


@pytest.mark.parametrize(("declared", "trust"), [(True, "untrusted"), (False, "undeclared")])
def test_a_model_that_read_undeclared_data_writes_untrusted_arguments_for_declared_tools(
    declared: bool, trust: str
) -> None:
    tools = {**TOOLS, "mail": replace(TOOLS["mail"], declared=declared)}
    one = step("m", tools=("quiet", "mail"))

    assert PolicyPreview.of(Plan(steps=(one,)), tools).of_call(one, "mail")["to"].trust == trust


IF_ANN = {"to": {"one_of": ["ann"]}}
ASKS_ANN = {
    "tools": {"mail": {"ask_when": {**IF_ANN, "text": {"pattern": "x"}}}},
    "effects": {"write": {"ask_when": IF_ANN}},
}


@pytest.mark.parametrize(
    ("one", "asked"),
    [
        (step("m", "mail", args={"to": "ann", "text": "{r_result}"}), ["shown, since the policy asks if to"]),
        (step("m", "mail", args={"to": "ann", "text": "y"}), ["with the plan"]),
        (step("m", "mail", args={"to": "bob", "text": "{r_result}"}), ["asks if text"]),
        (step("m", "mail", args={"to": "bob"}), []),
        (step("m", "mail"), []),
        (step("m", tools=("mail",)), ["asks if to", "asks if text"]),
        (step("m", tools=("mail",), args={"to": "bob"}), []),
        (step("m", tools=("save", "mail"), args={"to": "ann"}), ["its call of mail"]),
    ],
    ids=[
        "one is known",
        "all are known",
        "open",
        "not asked",
        "no arguments",
        "a models call",
        "a pinned argument",
        "of another tool",
    ],
)
def test_a_call_is_told_once_if_a_value_asks_for_it_and_else_for_each_that_may(one: Step, asked: list[str]) -> None:
    found = shown(step("r", "crm"), one, policy=ASKS_ANN)

    assert len(found) == len(asked) and all(words in line for words, line in zip(asked, found, strict=True))


def test_a_plan_that_is_not_shown_shows_no_call() -> None:
    (line,) = found(step("m", "mail", args={"to": "ann", "text": "y"}), policy=ASKS_ANN)

    assert line.startswith("asked: m: its call of mail is shown, since")


@pytest.mark.parametrize(("most", "trust"), [(None, "user"), (1, "user"), (2, "untrusted")])
def test_a_model_that_may_call_a_tool_again_writes_its_arguments_after_it_has_read_its_result(
    most: int | None, trust: str
) -> None:
    search = ToolSpec("search", "", {"properties": {"q": {}}}, "external", trusted=False)
    one = step("m", tools=("search",), max_calls=most)

    assert PolicyPreview.of(Plan(steps=(one,)), {"search": search}).of_call(one, "search")["q"].trust == trust


def test_a_call_has_the_arguments_that_its_tool_takes() -> None:
    for args in ({"to": "ann", "text": "{r_result}"}, {"to": "{r_result}", "text": "hello"}):
        one = step("m", tools=("save", "mail"), args=args)
        preview = PolicyPreview.of(Plan(steps=(step("r", "crm"), one)), TOOLS)

        assert [sorted(preview.of_call(one, tool)) for tool in ("save", "mail")] == [["text"], ["text", "to"]]


def test_a_step_that_is_planned_when_it_is_due_calls_nothing_itself() -> None:
    assert shown(step("r", "web"), step("m", refine=True, tools=("mail",), depends_on=("r",))) == []


def test_a_source_that_the_policy_lets_in_is_not_asked_about() -> None:
    policy = {"tools": {"mail": {"args": {"to": {"untrusted_from": ["web"]}}}}}

    assert shown(step("r", "web"), step("send", "mail", args={"to": "{r_result}"}), policy=policy) == []


def test_limits_that_the_plan_may_reach_are_told() -> None:
    each = step("b", "mail", args={"to": "{item_result}"}, for_each=["x"], max_items=3)
    budget = Budget(tool_calls=3, steps=1, tokens=5, calls={"mail": 2, "web": 9})

    assert found(step("a", "crm"), each, budget=budget, policy={"limits": {"calls": {"crm": 0}}}) == [
        "asked: the limit tool_calls of 3 may be reached: the plan takes up to 4",
        "asked: the limit steps of 1 may be reached: the plan takes up to 2",
        "asked: the limit calls.mail of 2 may be reached: the plan takes up to 3",
        "asked: the limit calls.crm of 0 may be reached: the plan takes up to 1",
    ]


def test_a_limit_that_is_enough_or_counts_something_else_is_not_told_of() -> None:
    one = step("m", tools=("crm",), max_calls=3)

    assert found(one, budget=Budget(tool_calls=3, steps=1, tokens=0)) == []
    assert found(one, budget=Budget(tool_calls=2)) == [
        "asked: the limit tool_calls of 2 may be reached: the plan takes up to 3"
    ]


def test_which_calls_an_answer_and_a_raised_limit_reach_is_told_with_who_decides_about_them() -> None:
    question = Step(id="q", objective="o", ask="To whom?")
    steps = [question, step("a", "mail", args={"to": "{q_result}"}), step("b", "save")]
    policy = {"approvers": {"tools": {"mail": {"names": ["ada"]}}}, "limits": {"tool_calls": 1}}

    lines = [line for line in found(*steps, policy=policy) if "reaches" in line]

    stands = "From anybody else it stands, and these calls are shown by themselves"
    said = f"It reaches calls of mail: ada has to approve. {stands}"
    assert lines == [f"asked: q: {said}", f"asked: a limit that is raised: {said}"]


def test_which_calls_a_supplied_result_reaches_is_told_even_if_nobody_is_asked() -> None:
    steps = [step("f", "crm"), step("r", "quiet"), step("a", "mail", args={"to": "{f_result}", "text": "{r_result}"})]
    policy = {"approvers": {"tools": {"mail": {"names": ["ada"]}}}}

    shown, unshown = (found(*steps, policy=policy, mode=mode) for mode in ("always", "never"))

    stands = "From anybody else it stands, and these calls are shown by themselves"
    said = f"if supplied: a result for f or r: It reaches calls of mail: ada has to approve. {stands}"
    assert [line for line in shown if "supplied" in line] == unshown == [said]


def test_until_when_one_decides_is_told_for_the_plan_and_for_calls_with_a_time_of_their_own() -> None:
    later = {"escalate_after": "1h", "escalate_to": {"roles": ["lead"]}}
    rules = {"decide_within": "2d", "tools": {"mail": {"decide_within": "1d", "on_expire": "end"}}}
    rules["effects"] = {"write": {"decide_within": "3d", **later}}

    lines = found(step("a", "mail"), step("b", "save"), step("c", "crm"), policy={"approvers": rules}, mode="always")

    lead = "after 1 hour the role lead decides too"
    until = [line.removeprefix("asked: a request about ") for line in lines if "a request about" in line]
    assert until == [
        f"the plan is to be decided within 1 day, or the run ends as rejected; {lead}",
        "a call of mail is to be decided within 1 day, or the run ends as rejected",
        f"a call of save is to be decided within 3 days, or it counts as rejected; {lead}",
        "a call of crm is to be decided within 2 days, or it counts as rejected",
        "anything else is to be decided within 2 days, or it counts as rejected",
    ]


@pytest.mark.parametrize(
    ("rule", "warned"),
    [
        ({"names": ["ada"], "four_eyes": True}, "ada"),
        ({"names": ["ada", "Ada", "bob"], "four_eyes": True, "quorum": 2}, "ada or Ada or bob"),
        ({"names": ["ada", "bob"], "four_eyes": True}, None),
        ({"names": ["ada"]}, None),
        ({"names": ["ada"], "roles": ["finance"], "four_eyes": True}, None),
        (
            {
                "names": ["ada"],
                "four_eyes": True,
                "decide_within": "2h",
                "escalate_after": "1h",
                "escalate_to": {"roles": ["x"]},
            },
            None,
        ),
    ],
)
def test_people_without_whom_nobody_could_decide_are_named(rule: Any, warned: str | None) -> None:
    lines = found(step("a", "mail"), policy={"approvers": {"tools": {"mail": rule}}}, mode="always")

    expected = [] if warned is None else [f"asked: if {warned} asks for it, too few are left to decide about the plan"]
    assert [line for line in lines if "too few" in line] == expected


def test_what_holds_for_the_plan_is_not_told_again_for_anything_else_and_a_longer_time_not_at_all() -> None:
    times = {"mail": {"decide_within": "1d"}, "quiet": {"decide_within": "4d"}}
    steps = [step("a", "mail"), step("b", "quiet")]

    every = found(step("a", "mail"), policy={"approvers": {"names": ["ada"]}}, mode="always")
    lines = found(*steps, policy={"approvers": {"tools": times}}, mode="always")

    assert [line for line in every if "ada" in line] == ["asked: ada has to approve the plan"]
    (plan,) = [line for line in lines if "a request about the plan" in line]
    assert plan.endswith("is to be decided within 1 day, or it counts as rejected")


class LookedUp(dict[str, TrustLabel]):
    """Labels of which nobody goes through all: a copy for each step would grow with the square of the plan."""

    def keys(self) -> Never:
        raise AssertionError("all labels were gone through")

    __iter__ = keys


def test_the_labels_of_a_call_are_looked_up_by_the_steps_that_it_names() -> None:
    mail = step("b", "mail", args={"text": "{a_result}"})
    preview = PolicyPreview(TOOLS, {"a": (), "b": ("a",)}, LookedUp(a=USER, z=USER))

    assert preview.of_call(mail, "mail") == {"text": USER}
