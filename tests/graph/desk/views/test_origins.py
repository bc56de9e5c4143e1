"""Where the values of a step come from, and how far they are trusted."""

from typing import Any

from recorded_run import recorded

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.origins import Argument, Origins, input_label, origins_of
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.record.events import Draft
from planner_executor.graph.record.trust_label import PLAN, TrustLabel
from planner_executor.graph.testing import drafted, step

WEB = TrustLabel("untrusted", ("web",))
TOOLS = {
    "web": ToolSpec("web", "", {}, "read", trusted=False),
    "look": ToolSpec("look", "", {}, "read", trusted=True),
    "quiet": ToolSpec("quiet", "", {}, "read"),
    "send": ToolSpec("send", "", {}, trusted=True),
}
STEPS = [
    step("w", "web"),
    step("l", "look"),
    step("u", "quiet"),
    step("s", "send", to="{l_result}", text="{w_result} and {w_result} of {l_result}", sure="yes", more="{u_result}"),
    {
        **step("each", "send", to="{item_result}", text="{item_result} {l_result}", more="{u_result}"),
        "for_each": "{w_result}",
    },
    {**step("all", "send", to="{item_result}", sure="{l_result}", more="yes"), "for_each": ["ann", "ben"]},
    step("item", "look"),
    step("of_item", "send", to="{item_result}", text="{q_result}"),
    {"id": "m", "objective": "o", "tools": ["send"], "args": {"to": "ann"}, "depends_on": ["u"]},
    {"id": "q", "objective": "o", "ask": "Which?", "depends_on": ["w"]},
]


def run(*drafts: Draft, tainted: tuple[str, ...] = ()) -> ShownRun:
    planned = drafted("plan_revised", {"plan": {"steps": STEPS}, "tainted": list(tainted)})
    approved = [] if tainted else [drafted("decided")]
    return recorded(drafted("run_started"), planned, *approved, *drafts)


def found(shown: ShownRun, name: str, call: int | None = None) -> Origins:
    assert shown.run.plan is not None
    calls = shown.record.calls.of_step(name)
    return origins_of(shown, shown.run.plan, shown.run.plan.by_id[name], None if call is None else calls[call], TOOLS)


def told(argument: Argument) -> tuple[Any, ...]:
    origins = [f"{one.kind} {one.step}".rstrip() for one in argument.origins]
    return argument.name, argument.planned, argument.given, origins, argument.label.words, argument.label.is_warning


CALLED = drafted(
    "call_started",
    {"key": "k", "tool": "send", "args": {"to": "ann", "sure": "yes", "cc": 1}, "effect": "external"},
    "s",
)


def test_each_argument_names_the_steps_that_it_comes_from_and_the_least_trusted_of_them() -> None:
    arguments = found(run(), "s").arguments

    assert [told(one) for one in arguments] == [
        ("to", '"{l_result}"', None, ["step l"], "trusted", False),
        ("text", '"{w_result} and {w_result} of {l_result}"', None, ["step w", "step l"], "untrusted: web", True),
        ("sure", '"yes"', None, ["plan"], "from people", False),
        ("more", '"{u_result}"', None, ["step u"], "trust not declared: quiet", False),
    ]
    assert [one.is_labelled for one in arguments] == [True, True, False, True]
    assert not any(one.is_as_planned for one in arguments)


def test_a_call_has_what_it_was_given_and_defaults_that_the_plan_does_not_have() -> None:
    to, text, sure, more, cc = found(run(CALLED), "s", 0).arguments

    assert (to.given, text.given, sure.given, more.given) == ('"ann"', None, '"yes"', None)
    assert told(cc) == ("cc", None, "1", ["default"], "from people", False)
    assert [one.is_as_planned for one in (to, text, sure, cc)] == [False, False, True, False]


def test_an_item_comes_from_wherever_its_list_does() -> None:
    to, text, more = found(run(), "each").arguments

    assert told(to)[3:] == (["step w"], "untrusted: web", True)
    assert told(text)[3:] == (["step l", "step w"], "untrusted: web", True) and told(more)[3] == ["step u"]
    assert [told(one)[3] for one in found(run(), "all").arguments] == [["plan"], ["step l"], ["plan"]]
    assert [told(one)[3] for one in found(run(), "of_item").arguments] == [["step item"], ["step q"]]
    assert [one.is_labelled for one in found(run(), "of_item").arguments] == [True, True]


def test_a_model_gives_what_the_plan_leaves_open_from_what_it_has_read() -> None:
    called = drafted("call_started", {"key": "k", "tool": "send", "args": {"to": "ann", "text": "x"}, "call": 1}, "m")

    to, text = found(run(called), "m", 0).arguments

    assert told(to)[3:] == (["plan"], "from people", False)
    assert told(text) == ("text", None, '"x"', ["model"], "untrusted: quiet", True) and text.is_labelled


def held(**args: Any) -> Draft:
    labels = {"to": WEB.to_json()}
    return drafted("step_held", {"key": "k", "tool": "send", "args": args, "labels": labels}, "s")


def test_a_held_call_has_its_own_labels_before_it_is_made_and_after() -> None:
    waits = run(held(to="x@example", cc=1))
    made = run(held(to="x@example", cc=1), drafted("decided", {"decision": "settle"}), CALLED)

    for arguments, given in ((found(waits, "s").arguments, '"x@example"'), (found(made, "s", 0).arguments, '"ann"')):
        by_name = {one.name: one for one in arguments}
        assert told(by_name["to"]) == ("to", '"{l_result}"', given, ["step l"], "untrusted: web", True)
        assert (by_name["cc"].given, by_name["text"].given) == ("1", None)
    assert [told(one)[3:] for one in found(waits, "l").arguments] == []
    other = run(CALLED, drafted("step_held", {"key": "other", "tool": "send", "args": {"bcc": 1}, "labels": {}}, "s"))
    assert "bcc" not in {one.name for one in found(other, "s", 0).arguments}


def test_an_argument_that_a_person_gave_instead_is_the_persons() -> None:
    other = drafted("decided", {"decision": "settle", "replaced": {"k": {"to": "y@example", "sure": "yes", "bcc": 2}}})

    shown = run(held(to="x@example", sure="yes"), other, CALLED)
    arguments = found(shown, "s", 0).arguments
    by_name = {one.name: told(one) for one in arguments}

    assert by_name["to"] == ("to", '"{l_result}"', '"ann"', ["person"], "from people", False)
    assert by_name["bcc"] == ("bcc", None, None, ["person"], "from people", False)
    assert by_name["sure"][3] == ["plan"] and [one.name for one in arguments if one.is_as_planned] == ["sure"]


def test_the_result_of_a_step_is_as_trusted_as_its_tool_and_what_it_gets() -> None:
    assert [found(run(), name).result.words for name in ("w", "l", "s")] == [
        "untrusted: web",
        "trusted",
        "untrusted: web, quiet",
    ]


def test_a_step_gets_the_worst_of_its_arguments_or_of_what_its_model_reads() -> None:
    shown = run(tainted=("m",))
    plan = shown.run.plan
    assert plan is not None
    results = {"w": WEB, "l": TrustLabel("trusted", ("look",)), "u": TrustLabel("undeclared", ("quiet",))}

    labels = [input_label(shown.record, plan.by_id[name], results, waits) for name, waits in
              (("s", ("w", "l", "u")), ("m", ("u",)), ("q", ("w",)), ("l", ()))]  # fmt: skip

    assert [(label.trust, label.sources) for label in labels] == [
        ("untrusted", ("web", "quiet")), ("untrusted", (*PLAN.sources, "quiet")), ("user", ()), ("user", ())
    ]  # fmt: skip
    assert input_label(run().record, plan.by_id["m"], results, ("u",)) == results["u"]
    (marked,) = found(shown, "m").arguments
    assert told(marked)[3:] == (["plan"], f"untrusted: {PLAN.sources[0]}", True)
