from typing import Any

from desk_server import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.desk.views.edit_faults import by_step
from planner_executor.graph.desk.views.looked import Looked
from planner_executor.graph.desk.views.plan_folds import DRAWN, around, by_layers, opened, unfolded, waits_of
from planner_executor.graph.desk.views.plan_form import plan_of_form
from planner_executor.graph.desk.views.plan_graph import Links, Shown, drawn_plan
from planner_executor.graph.desk.views.review_content import READING_STEPS, action_tables, review_of
from planner_executor.graph.desk.views.revisions import step_changes
from planner_executor.graph.desk.views.step_form import step_forms
from planner_executor.graph.desk.views.step_marks import EFFECTS, HELD, UNTRUSTED
from planner_executor.graph.desk.views.timeline import UNITS, spans_of_people, timeline
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.plan.schedule import cycles
from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import Event
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.review.content import PlanContent
from planner_executor.graph.testing import LEAST, step
from planner_executor.graph.text.drawing.labels import waits_within

LINKS = Links("/step?run=x&step=", "/plan?fold=")


def plan_of(*steps: dict[str, object], **more: object) -> Plan:
    return Plan.model_validate({"steps": steps, **more})


def test_a_graph_has_each_step_once_with_its_status_and_no_markup_from_outside() -> None:
    hostile = {"id": "a", "objective": HOSTILE, "tool": HOSTILE}
    plan = plan_of(hostile, step("b", "read", after=["a"]))

    drawing = str(drawn_plan(plan, LINKS, unfolded(waits_within(plan))).drawn(Shown({"a": "failed", "b": "blocked"})))

    assert drawing.count("data-step=") == 2 and 'data-status="blocked"' in drawing
    assert "<script" not in drawing and " style=" not in drawing and "\u202e" not in drawing


def test_a_plan_of_500_steps_is_drawn_in_folds_that_open() -> None:
    plan = plan_of(step("s0", "read"), *(step(f"s{n}", "read", after=[f"s{(n - 1) // 3}"]) for n in range(1, 500)))
    whole = Looked().folds(plan, None)
    last = whole[-1]

    opened = Looked(open=(last[0],)).folds(plan, None)
    drawing = str(drawn_plan(plan, LINKS, opened).drawn(Shown({last[0]: "failed"})))

    assert len(opened) == len(whole) - 1 + len(last) <= DRAWN
    assert drawing.count('class="node') == len(opened) and drawing.count("data-step=") > len(last)
    assert f'data-step="{last[0]}"' in drawing and "/plan?fold=" + whole[-2][0] in drawing


LAYERED = st.integers(0, 700).flatmap(
    lambda count: st.tuples(
        st.just(count), st.integers(1, 90), st.lists(st.integers(0, max(0, count - 1)), max_size=45)
    )
)


@given(LAYERED)
def test_folds_have_each_step_once_wait_in_no_circle_and_fit_a_page(made: tuple[int, int, list[int]]) -> None:
    count, width, found = made
    waits = {f"s{n}": (f"s{n - width}",) if n >= width else () for n in range(count)}
    by_layer = by_layers(waits)
    for folds in (
        by_layer,
        opened(by_layer, [fold[0] for fold in by_layer]),
        around(by_layer, {f"s{n}" for n in found}),
    ):
        assert sorted(step for fold in folds for step in fold) == sorted(waits)
        assert len(folds) <= DRAWN and cycles(waits_of(folds, waits)) == []


def test_steps_are_found_by_words_and_status() -> None:
    plan = plan_of(step("wind", "read"), step("send", "mail"), step("tell", "mail"))
    statuses = {"wind": "succeeded", "send": "failed"}

    def found(**look: Any) -> list[str]:
        return list(Looked(**look).found(plan, statuses) or ())

    assert found(words="MAIL") == ["send", "tell"] and found(words="mail tell") == ["tell"]
    assert found(statuses=("pending", "succeeded")) == ["wind", "tell"] and found(
        words="mail", statuses=("failed",)
    ) == ["send"]
    assert Looked().found(plan, statuses) is None and Looked(words="nothing").found(plan, statuses) == {}


def test_marks_stand_on_steps_and_on_folds_by_shape_and_those_not_looked_for_are_dim() -> None:
    plan = plan_of(step("a", "read"), step("b", "mail", after=["a"]), step("c", "mail", after=["a"]))
    marks = {"a": (EFFECTS["read"],), "b": (EFFECTS["external"], UNTRUSTED), "c": (HELD,)}

    drawing = str(drawn_plan(plan, LINKS, (("a",), ("b", "c"))).drawn(Shown({"c": "failed"}, marks, {"a": None})))
    step_a, fold = drawing.split('data-fold="b"')

    assert EFFECTS["read"].path in step_a and UNTRUSTED.path not in step_a
    assert all(mark.path in fold for mark in (EFFECTS["external"], UNTRUSTED, HELD))
    assert 'data-status="failed"' in fold and "✗ 1" in fold and "○ 1" in fold
    assert drawing.count(" dim") == 1 and 'class="node fold dim"' in step_a


def test_the_timeline_marks_the_chain_that_sets_the_time() -> None:
    plan = plan_of(step("slow", "read"), step("fast", "read"), step("last", "read", after=["slow", "fast"]))
    results = {
        "slow": StepResult("succeeded", started_at=10.0, ended_at=14.0),
        "fast": StepResult("succeeded", started_at=10.0, ended_at=11.0),
        "last": StepResult("running", started_at=14.0),
    }

    drawn = timeline(plan, {step: result.status for step, result in results.items()}, results, now=20.0)

    assert [bar.critical for bar in drawn.bars] == [True, False, True]
    assert drawn.span_s == 10.0 and drawn.critical_s == 10.0
    assert drawn.bars[2].left == UNITS * 0.4 and drawn.bars[2].width == UNITS * 0.6


def test_the_timeline_has_the_spans_in_which_people_were_waited_for() -> None:
    plan = plan_of(step("a", "read"), step("b", "read", after=["a"]))
    results = {
        "a": StepResult("succeeded", started_at=10.0, ended_at=12.0),
        "b": StepResult("succeeded", started_at=18.0, ended_at=20.0),
    }
    kinds = {5: "review_requested", 9: "decided", 13: "review_requested", 14: "review_requested", 17: "decided"}
    events = [Event(at, kind, None, float(at), LEAST[kind]) for at, kind in kinds.items()]

    drawn = timeline(plan, {}, results, 30.0, spans_of_people(events, 30.0))

    assert drawn.waits == [(UNITS * 0.3, UNITS * 0.4)] and drawn.waited_s == 4.0


def test_revisions_side_by_side_name_each_field_that_differs() -> None:
    before = plan_of(step("a", "read", what="wind"), step("b", "mail"))
    after = plan_of(step("a", "read", what="sun"), step("c", "read"), answer="{a_result}")

    found = {change.step: change for change in step_changes(before, after)}

    assert {name: change.how for name, change in found.items()} == {
        "c": "added",
        "a": "changed",
        "b": "removed",
        "answer": "changed",
    }
    (field,) = found["a"].fields
    assert (field.field, field.before, field.after) == ("args.what", "wind", "sun")


SCHEMAS: dict[str, dict[str, Any]] = {
    "mail": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["text"],
    },
    "read": {"properties": {"what": {"type": "string"}}, "required": ["what"]},
}


def test_an_untouched_form_leaves_the_plan_as_it_is() -> None:
    plan = plan_of(
        {"id": "a", "objective": "x", "tools": ["read", "mail"], "output": "json", "max_calls": 2},
        {"id": "b", "objective": "y", "gate": "Go?", "depends_on": ["a"]},
        {"id": "c", "objective": "z", "tool": "mail", "args": {"n": 1, "text": "{a_result}"}},
    ).to_json()
    tools = {name: ToolSpec(name, "", schema) for name, schema in SCHEMAS.items()}
    fields = {}
    for one in step_forms(plan["steps"], frozenset(), tools, {}):
        texts = {"objective": one.objective, "success_criteria": one.success_criteria, "depends_on": ""}
        texts |= {"question": one.question} if one.asks else {"does": one.does}
        texts |= {f"args{field.name}": field.text for field in one.args}
        texts |= {f"after:{before}": "1" for before in one.depends_on}
        fields |= {f"step:{one.id}:{name}": text for name, text in texts.items()}

    assert plan_of_form(plan, fields, tools) == plan


def test_another_tool_keeps_the_arguments_that_it_takes_and_a_fault_stands_at_its_field() -> None:
    tools = {name: ToolSpec(name, "", schema) for name, schema in SCHEMAS.items()}
    plan = {"steps": [step("a", "read", what="x", text="hello")]}
    fields = {
        "step:a:does": "mail",
        "step:a:args/n": "many",
        "new:1:id": "b",
        "new:1:does": "mail",
        "new:1:args/n": "1",
        "new:1:objective": "o",
    }

    edited = plan_of_form(plan, fields, tools)
    issues = read_plan(edited, tools).issues
    found = [one.name for faults in by_step(issues, edited, tools, {"b": "new:1:"}).values() for one in faults]

    assert [one["args"] for one in edited["steps"]] == [{"text": "hello", "n": "many"}, {"n": 1}]
    assert sorted(found) == ["new:1:args/text", "step:a:args/n"]


def test_steps_are_added_removed_and_put_in_order_in_the_form() -> None:
    plan = plan_of(step("a", "read"), step("b", "mail", to="ann"), answer="{a_result}").to_json()
    fields = {
        "order": "new:2,b,a,new:1",
        "step:a:remove": "1",
        "new:1:id": "ask",
        "new:1:kind": "gate",
        "new:1:question": "Go?",
        "new:1:does": "mail",
        "new:2:id": "think",
        "new:2:kind": "model",
        "new:2:objective": "Think it over",
        "new:2:does": "read, mail",
        "new:2:depends_on": "",
        "new:2:after:b": "1",
        "new:1:depends_on": "",
        "new:1:after:new:2": "1",
        "new:2:question": "left over from another kind",
        "new:3:kind": "tool",
        "new:3:id": "",
        "plan-answer": "{think_result}",
    }

    assert plan_of_form(plan, fields) == {
        "steps": [
            {"id": "think", "objective": "Think it over", "tools": ["read", "mail"], "depends_on": ["b"]},
            step("b", "mail", to="ann"),
            {"id": "ask", "gate": "Go?", "depends_on": ["think"]},
        ],
        "answer": "{think_result}",
    }


def test_a_request_of_an_earlier_release_or_a_redacted_one_has_no_value() -> None:
    assert review_of({}) is None and review_of({"review": {"version": "[redacted]"}}) is None


def test_a_plan_with_many_steps_shows_each_effect_and_says_how_many_more_only_read() -> None:
    steps = [step(f"s{n}", "look") for n in range(READING_STEPS + 3)] + [step("pay", "pay", to="ann\nben")]
    done_by: dict[str, object] = {"status": "pending", "done_by": "tool"}
    content = PlanContent.model_validate(
        {
            "name": "run_plan",
            "revision": 1,
            "digest": "d",
            "steps": [{"id": one["id"], "acts": one["id"] == "pay", **done_by} for one in steps],
        }
    )

    *_, effects, reading = action_tables(content, {"plan": {"steps": steps}})

    assert [row[4:6] for row in effects.rows] == [("to", "ann\nben")] and not effects.is_folded
    assert reading.title.endswith(f"{READING_STEPS + 3}; the page of the plan has 3 more") and reading.is_folded
    assert len(reading.rows) == READING_STEPS
