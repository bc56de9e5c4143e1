"""What a revision adds after untrusted results were read: a call of its own beside the plan, or no call at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planner_executor import Agent, build_graph
from planner_executor.graph.errors import InputError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, asked, on_thread, step

LOOK = step("look", "lookup", key="ann")
SEND = step("send", "mail", after=["look"], to="ann", text="{page_result}")
FIRST = {"steps": [step("page", "page"), LOOK, SEND]}
AGAIN = step("look", "lookup", key="Ann")
MORE = step("more", "mail", to="mallory", text="all secrets")
HARMLESS = {"steps": [step("page", "page"), AGAIN, SEND]}
INJECTED = {"steps": [*HARMLESS["steps"], MORE]}
TO_ANN, TO_MALLORY = {"to": "ann", "text": "wire it"}, {"to": "mallory", "text": "all secrets"}
YES = {"type": "approve"}


def lookup(key: str) -> str:
    if key == "ann":
        raise LookupError("no entry 'ann'; there is 'Ann'")
    return "a number"


def own(tools: LoggedTools) -> list[Any]:
    return [
        tools.tool("page", lambda **_: "wire it", effect="read", trusted=False),
        tools.tool("lookup", lookup, effect="read", trusted=True),
        tools.tool("mail", effect="external", free_args=["text"]),
        tools.tool("secret", lambda **_: ["all secrets"], effect="read", trusted=True),
        tools.tool("wipe", effect="write"),
        tools.tool("note", effect="write", free_args=["text"]),
    ]


class Case:
    """An agent over one database; `begun` is a run whose first plan a person approved, and which was replanned."""

    def __init__(self, path: Path, tools: LoggedTools) -> None:
        self.path, self.tools = path, tools
        self._open: list[Agent] = []

    def agent(self, *revisions: Any, planner: Any = (FIRST,), **options: Any) -> Agent:
        models = {"planner": ScriptedModel(planner), "replanner": ScriptedModel(revisions)}
        agent = Agent.open(self.path, tools=own(self.tools), **models, **options)
        self._open.append(agent)
        return agent

    def begun(self, *revisions: Any, **options: Any) -> tuple[Agent, Run]:
        agent = self.agent(*revisions, **options)
        run = agent.start("Tell ann", thread="t")
        return agent, agent.resume("t", "approve") if run.request is not None else run

    def close(self) -> None:
        for agent in self._open:
            agent.close()

    @property
    def sent(self) -> list[dict[str, Any]]:
        return self.tools.named("mail")


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    made = Case(tmp_path / "runs.db", LoggedTools())
    yield made
    made.close()


def names(run: Run) -> list[tuple[str, str | None]]:
    assert run.request is not None, (run.status, run.reason)
    return [(action["name"], action["args"].get("step")) for action in run.request["action_requests"]]


def actions(run: Run) -> list[dict[str, Any]]:
    assert run.request is not None
    found: list[dict[str, Any]] = run.request["action_requests"]
    return found


BOTH = [("run_plan", None), ("run_step", "more")]


def test_what_a_revision_adds_stands_beside_the_plan_with_a_digest_of_its_own(case: Case) -> None:
    _, run = case.begun(INJECTED)

    plan, new = actions(run)
    assert names(run) == BOTH
    assert new["args"] == {"step": "more", "tool": "mail", "args": TO_MALLORY}
    assert run.request is not None and new["digest"] != run.request["digest"] and "digest" not in plan
    assert new["digest"] in new["description"] and run.request["digest"] not in new["description"]
    assert "No plan that was approved had this call" in new["description"]
    assert "more adds mail" in plan["description"].replace("`", "")


@pytest.mark.parametrize("word", ["approve", "yes", True, {"type": "approve"}])
def test_one_bare_yes_does_not_answer_it(case: Case, word: Any) -> None:
    agent, _ = case.begun(INJECTED)

    run = agent.resume("t", word)

    assert run.request is not None and "2 decisions" in run.request["error"]
    assert case.sent == []


def test_a_yes_to_the_plan_in_python_leaves_it_open_and_says_how_to_decide_it(case: Case) -> None:
    _, run = case.begun(INJECTED)

    with pytest.raises(InputError, match=r"undecided: more with mail .*; decide each of them, .* by name \(more\)"):
        run.decide(approve=True)


def test_both_are_approved_and_nobody_is_asked_again(case: Case) -> None:
    agent, run = case.begun(INJECTED)

    run = agent.resume("t", run.decide(approve=True, approved=["more"]))

    assert run.status == "succeeded"
    assert case.sent == [TO_MALLORY, TO_ANN] or case.sent == [TO_ANN, TO_MALLORY]


def test_it_is_rejected_with_words_and_the_rest_of_the_plan_runs(case: Case) -> None:
    agent, run = case.begun(INJECTED, max_replans=1)

    run = agent.resume("t", run.decide(approve=True, rejected={"more": "I do not know mallory"}))

    assert case.sent == [TO_ANN]
    assert run.results["more"].status == "failed" and "I do not know mallory" in str(run.results["more"].error)
    assert run.status == "partial"


def test_it_is_rejected_without_words_and_the_run_ends(case: Case) -> None:
    agent, run = case.begun(INJECTED)

    run = agent.resume("t", {"decisions": [YES, {"type": "reject"}]})

    assert (run.status, case.sent) == ("rejected", [])


def test_its_arguments_are_edited_and_the_plan_is_a_persons(case: Case) -> None:
    agent, run = case.begun(INJECTED)

    run = agent.resume("t", run.decide(approve=True, args={"more": {"to": "bob", "text": "hello"}}))

    assert run.status == "succeeded"
    assert {"to": "bob", "text": "hello"} in case.sent and TO_MALLORY not in case.sent
    assert [event.payload["author"] for event in agent.log("t") if event.kind == "plan_revised"][-1] == "person"


def test_the_same_arguments_as_an_edit_approve_it(case: Case) -> None:
    agent, run = case.begun(INJECTED)

    run = agent.resume("t", run.decide(approve=True, args={"more": TO_MALLORY}))

    assert run.status == "succeeded" and TO_MALLORY in case.sent


def test_what_a_person_writes_into_the_plan_is_theirs(case: Case) -> None:
    agent, run = case.begun(INJECTED)
    written = {"steps": [*HARMLESS["steps"], step("also", "mail", to="carl", text="hi")]}

    run = agent.resume("t", run.decide(plan=written, rejected={"more": "not mallory"}))

    assert run.status == "succeeded" and {"to": "carl", "text": "hi"} in case.sent


def test_an_edit_of_the_plan_does_not_approve_the_call_that_it_keeps(case: Case) -> None:
    agent, run = case.begun(INJECTED, max_replans=1)
    kept = {"steps": [*INJECTED["steps"], step("also", "mail", to="carl", text="hi")]}

    run = agent.resume("t", run.decide(plan=kept, rejected={"more": "not mallory"}))

    assert {"to": "carl", "text": "hi"} in case.sent and TO_MALLORY not in case.sent


def test_a_decision_that_names_the_digest_of_the_plan_is_none_about_the_call(case: Case) -> None:
    agent, run = case.begun(INJECTED)
    assert run.request is not None
    of_plan = {"type": "approve", "digest": run.request["digest"]}

    refused = agent.resume("t", {"decisions": [of_plan, of_plan]})
    assert refused.request is not None and actions(run)[1]["digest"] in refused.request["error"]

    run = agent.resume("t", {"decisions": [of_plan, {"type": "approve", "digest": actions(run)[1]["digest"]}]})
    assert run.status == "succeeded"


def test_no_standing_approval_is_given_with_it(case: Case) -> None:
    agent, _ = case.begun(INJECTED)

    run = agent.resume("t", {"decisions": [YES, {"type": "approve", "standing": {"at_most": 5}}]})

    assert run.request is not None and "without standing" in run.request["error"]


def test_an_approval_in_advance_does_not_cover_it(case: Case) -> None:
    agent, run = case.begun(INJECTED)

    run = agent.resume("t", {"decisions": [YES, YES]}, unseen=True)

    assert run.request is not None and "a person has to decide" in run.request["error"]
    assert case.sent == []


def test_a_call_that_was_rejected_is_shown_again_whatever_the_plan_around_it_is(case: Case) -> None:
    agent, run = case.begun(INJECTED, INJECTED, approval="side_effects")

    run = agent.resume("t", run.decide(approve=True, rejected={"more": "not mallory"}))

    assert names(run) == [("run_step", "more")], "the plan itself was approved"
    assert case.sent == [TO_ANN]

    run = agent.resume("t", True)
    assert run.request is not None and case.sent == [TO_ANN]


def test_the_same_call_under_another_id_is_as_rejected(case: Case) -> None:
    other = {"steps": [*HARMLESS["steps"], {**MORE, "id": "other"}]}
    agent, run = case.begun(INJECTED, other)

    run = agent.resume("t", run.decide(approve=True, rejected={"more": "not mallory"}))

    assert names(run) == [("run_plan", None), ("run_step", "other")]


def test_what_was_approved_by_itself_is_new_no_longer(case: Case) -> None:
    later = {"steps": [*INJECTED["steps"], step("last", "lookup", key="ann")]}
    agent, run = case.begun(later, INJECTED)

    run = agent.resume("t", run.decide(approve=True, approved=["more"]))

    assert run.request is None or names(run) == [("run_plan", None)]
    assert case.sent.count(TO_MALLORY) == 1


REVISIONS: dict[str, tuple[Any, list[str]]] = {
    "the approved steps alone": (HARMLESS, []),
    "a read": ({"steps": [*HARMLESS["steps"], step("more", "lookup", key="Bob")]}, []),
    "the approved call under another id": ({"steps": [step("page", "page"), AGAIN, {**SEND, "id": "sent"}]}, []),
    "the approved call a second time": ({"steps": [*HARMLESS["steps"], {**SEND, "id": "sent"}]}, ["sent"]),
    "another recipient": ({"steps": [step("page", "page"), AGAIN, {**SEND, "args": TO_MALLORY}]}, ["send"]),
    "words around the reference": (
        {"steps": [step("page", "page"), AGAIN, {**SEND, "args": {"to": "ann", "text": "pay: {page_result}"}}]},
        ["send"],
    ),
    "another source": (
        {"steps": [step("page", "page"), AGAIN, {**SEND, "args": {"to": "ann", "text": "{look_result}"}}]},
        ["send"],
    ),
    "no arguments": ({"steps": [*HARMLESS["steps"], step("more", "wipe")]}, ["more"]),
    "arguments that may come from anywhere": (
        {"steps": [*HARMLESS["steps"], step("more", "note", text="x")]},
        ["more"],
    ),
    "a tool for a model": (
        {"steps": [*HARMLESS["steps"], {"id": "more", "objective": "tidy", "tools": ["lookup", "wipe"]}]},
        ["more"],
    ),
    "a list": (
        {"steps": [*HARMLESS["steps"], {**step("more", "mail", to="{item_result}"), "for_each": ["m", "n"]}]},
        ["more"],
    ),
    "a step to refine": (
        {"steps": [*HARMLESS["steps"], {"id": "more", "objective": "tidy", "refine": True, "tools": ["wipe"]}]},
        ["more"],
    ),
}


@pytest.mark.parametrize("what", REVISIONS)
def test_each_call_with_an_effect_that_no_approved_plan_had_is_asked_about(case: Case, what: str) -> None:
    revision, new = REVISIONS[what]

    _, run = case.begun(revision)

    assert names(run) == [("run_plan", None), *(("run_step", name) for name in new)]


FOUND = step("send", "mail", to="{look_result}", text="hi")
NOTED = step("send", "note", place="a", text="{look_result}")
GATHERED = {"id": "all", "objective": "put together", "gather": ["{look_result}"]}
SOURCES: dict[str, tuple[list[Any], Any, list[str]]] = {
    "the same, under another number of tries": ([LOOK, FOUND], {**LOOK, "attempts": 2}, []),
    "other arguments": ([LOOK, FOUND], step("look", "lookup", key="Mallory"), ["send"]),
    "another tool": ([LOOK, FOUND], step("look", "secret"), ["send"]),
    "another tool, two steps before": (
        [LOOK, GATHERED, step("send", "mail", to="{all_result[0]}", text="hi")],
        step("look", "secret"),
        ["send"],
    ),
    "of the items of a list": (
        [LOOK, {**step("send", "mail", to="{item_result}", text="hi"), "for_each": "{look_result}"}],
        step("look", "secret"),
        ["send"],
    ),
    "what a model reads": (
        [LOOK, {"id": "send", "objective": "write to them", "tools": ["mail"], "depends_on": ["look"]}],
        step("look", "secret"),
        ["send"],
    ),
    "of an argument that may come from anywhere": ([LOOK, NOTED], step("look", "secret"), []),
    "of nothing that the call gets": ([LOOK, SEND], step("look", "secret"), []),
}


@pytest.mark.parametrize("what", SOURCES)
def test_an_approved_call_that_gets_something_else_is_new(case: Case, what: str) -> None:
    (_, *later), changed, new = SOURCES[what]
    first, then = ({"steps": [step("page", "page"), source, *later]} for source in (LOOK, changed))

    _, run = case.begun(then, planner=[first])

    assert names(run) == [("run_plan", None), *(("run_step", name) for name in new)]


def test_an_approved_call_gets_nothing_else_on_a_yes_to_the_plan(case: Case) -> None:
    first, then = ({"steps": [step("page", "page"), source, FOUND]} for source in (LOOK, step("look", "secret")))
    agent, run = case.begun(then, planner=[first])

    run = agent.resume("t", run.decide(approve=True, rejected={"send": "not to them"}))

    assert case.sent == [] and run.status != "succeeded"


def test_what_was_approved_with_one_source_is_new_with_another_one(case: Case) -> None:
    first = {"steps": [step("page", "page"), LOOK]}
    bad, worse = ({"steps": [step("page", "page"), one, FOUND]} for one in (LOOK, step("look", "secret")))
    agent, run = case.begun(bad, worse, planner=[first])
    assert names(run) == [("run_plan", None), ("run_step", "send")]

    run = agent.resume("t", run.decide(approve=True, approved=["send"]))

    assert names(run) == [("run_plan", None), ("run_step", "send")] and case.sent == []


def test_a_model_step_that_is_told_something_else_is_new(case: Case) -> None:
    wiping = {"id": "tidy", "objective": "tidy up", "tools": ["wipe"], "depends_on": ["page"]}
    first = {"steps": [step("page", "page"), LOOK, wiping]}
    kept, other = ({"steps": [step("page", "page"), AGAIN, {**wiping, **more}]} for more in ({}, {"objective": "all"}))
    agent, run = case.begun(kept, planner=[first])
    assert names(run) == [("run_plan", None)]
    agent.close()

    case.path = case.path.with_name("other.db")
    _, run = case.begun(other, planner=[first])
    assert names(run) == [("run_plan", None), ("run_step", "tidy")]


def test_without_an_untrusted_read_a_yes_to_the_plan_is_enough(case: Case) -> None:
    safe = [step("page", "lookup", key="page"), LOOK, {**SEND, "args": {"to": "ann", "text": "hi"}}]
    revised = {"steps": [safe[0], AGAIN, safe[2], MORE]}
    agent, run = case.begun(revised, planner=[{"steps": safe}])

    assert names(run) == [("run_plan", None)]
    assert agent.resume("t", True).status == "succeeded"


def test_the_plan_of_feedback_is_a_models_too(case: Case) -> None:
    agent, run = case.begun(HARMLESS, planner=[FIRST, INJECTED])

    run = agent.resume("t", "tell somebody more")

    assert names(run) == BOTH


def test_step_by_step_each_effect_after_an_untrusted_read_is_one(case: Case) -> None:
    page, mail = [step("page", "page")], step("send", "mail", to="ann", text="x")
    answers = [{"steps": page}, {"steps": [*page, mail]}, {"steps": [*page, mail], "answer": "done"}]
    agent, run = case.begun(planner=answers, horizon=1)
    assert names(run) == [("run_plan", None), ("run_step", "send")]

    run = agent.resume("t", run.decide(approve=True, approved=["send"]))

    assert run.status == "succeeded" and case.sent == [{"to": "ann", "text": "x"}]
    stops = [event.kind for event in agent.log("t")].count("review_requested")
    assert stops == 2, "as many as there are plans: both decisions are one answer"


def test_step_by_step_before_any_untrusted_read_a_yes_is_enough(case: Case) -> None:
    look, mail = [step("look", "lookup", key="Ann")], step("send", "mail", to="ann", text="x")
    answers = [{"steps": look}, {"steps": [*look, mail]}, {"steps": [*look, mail], "answer": "done"}]
    agent, _ = case.begun(planner=answers, horizon=1)

    assert agent.resume("t", "yes").status == "succeeded"


def test_the_items_of_a_list_are_covered_by_one_decision(case: Case) -> None:
    each = {**step("more", "mail", to="{item_result}", text="x"), "for_each": ["m", "n"]}
    agent, run = case.begun({"steps": [*HARMLESS["steps"], each]})

    run = agent.resume("t", run.decide(approve=True, approved=["more"]))

    assert run.status == "succeeded" and {"to": "n", "text": "x"} in case.sent


def test_a_model_is_told_why_its_new_tool_was_rejected(case: Case) -> None:
    tidy = {"id": "more", "objective": "tidy", "tools": ["wipe"]}
    calls = AIMessage("", tool_calls=[{"name": "wipe", "args": {}, "id": "1"}])
    executor = ScriptedModel([calls, "I could not"])
    agent, run = case.begun({"steps": [*HARMLESS["steps"], tidy]}, executor=executor)

    run = agent.resume("t", run.decide(approve=True, rejected={"more": "keep all files"}))

    assert case.tools.named("wipe") == []
    assert "keep all files" in str(executor.prompts[-1])


@pytest.mark.parametrize("approval", ["never", "side_effects"])
def test_what_the_policy_lets_through_without_a_person_stays_so(case: Case, approval: Any) -> None:
    """A recipient that a model made up after reading is shown by the label of the argument, as ever."""
    policy = {"effects": {"external": "allow", "write": "allow"}}
    noted = {"steps": [*HARMLESS["steps"], step("more", "note", text="x")]}

    _, run = case.begun(noted, approval=approval, policy=policy)

    assert run.status == "succeeded" and case.tools.named("note") == [{"text": "x"}]


def test_a_plan_that_the_policy_has_reviewed_is_asked_with_what_it_adds_under_never(case: Case) -> None:
    policy = {"tools": {"wipe": {"verdict": "review"}}}
    revision = {"steps": [*INJECTED["steps"], step("clean", "wipe")]}

    _, run = case.begun(revision, approval="never", policy=policy)

    assert names(run) == [*BOTH, ("run_step", "clean")]


DENY = {"new_effects": "deny"}


def test_under_deny_the_replanner_is_told_and_keeps_to_what_was_approved(case: Case) -> None:
    agent, run = case.begun(INJECTED, HARMLESS, policy=DENY)
    assert names(run) == [("run_plan", None)]

    run = agent.resume("t", True)

    assert run.status == "succeeded" and case.sent == [TO_ANN]


@pytest.mark.parametrize("approval", ["always", "never", "side_effects"])
def test_under_deny_a_replanner_that_insists_changes_nothing(case: Case, approval: Any) -> None:
    agent, run = case.begun(*[INJECTED] * 8, policy=DENY, approval=approval)
    for _ in range(6):
        if run.request is None:
            break
        run = agent.resume("t", {"decisions": [YES for _ in actions(run)]})

    assert run.status in ("failed", "partial") and TO_MALLORY not in case.sent
    assert "no approved plan has this call of mail" in str([event.payload for event in agent.log("t")])


def test_a_policy_that_became_stricter_meanwhile_is_kept_to(case: Case) -> None:
    agent, _ = case.begun(INJECTED)
    agent.close()

    stricter = case.agent(policy=DENY)
    run = stricter.resume("t", {"decisions": [YES, YES]})

    assert TO_MALLORY not in case.sent
    assert run.request is not None and "no approved plan has this call of mail" in str(run.request["action_requests"])


def test_a_fork_shows_it_by_itself_too(case: Case) -> None:
    agent, _ = case.begun(INJECTED, replan="failure")

    forked = agent.fork("t.1", "send")

    assert names(forked) == BOTH


def test_a_fork_shows_a_call_that_gets_something_else_too(case: Case) -> None:
    first, then = ({"steps": [step("page", "page"), source, FOUND]} for source in (LOOK, step("look", "secret")))
    agent, _ = case.begun(then, planner=[first], replan="failure")

    forked = agent.fork("t.1", "look")

    assert names(forked) == [("run_plan", None), ("run_step", "send")]


def test_a_retry_asks_again_about_a_call_that_was_rejected(case: Case) -> None:
    agent, run = case.begun(INJECTED, max_replans=1)
    run = agent.resume("t", run.decide(approve=True, rejected={"more": "not mallory"}))

    run = agent.retry(run.id)

    assert case.sent == [TO_ANN] and run.request is not None
    assert [action["args"].get("step") for action in run.request["action_requests"]] == ["more"]


async def test_in_the_compiled_graph_a_yes_asks_again_and_two_decisions_answer(tmp_path: Path) -> None:
    tools = LoggedTools()
    models = {"planner": ScriptedModel([FIRST]), "replanner": ScriptedModel([INJECTED])}
    graph = build_graph(**models, tools=own(tools), checkpointer=InMemorySaver())

    await graph.ainvoke({"goal": "g"}, on_thread())
    await graph.ainvoke(Command(resume=True), on_thread())
    state = await graph.ainvoke(Command(resume=True), on_thread())
    assert "2 decisions" in asked(state)["error"] and tools.named("mail") == []
    assert (await graph.ainvoke(Command(resume={"decisions": [YES, YES]}), on_thread()))["status"] == "succeeded"
    assert len(tools.named("mail")) == 2
