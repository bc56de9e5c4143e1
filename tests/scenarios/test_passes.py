"""A pass is a revision of the plan since the run was reopened last: what failed in it is made again in the next."""

from collections import Counter
from collections.abc import Callable
from itertools import cycle, product
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from planner_executor import Agent
from planner_executor.graph.runs.run import Run
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step
from planner_executor.tools.errors import NothingHappened

PEOPLE = ["ada", "bo", "cy"]
FAILURES: dict[str, Callable[[], Exception]] = {
    "raised": lambda: ConnectionError("reset"),
    "timed out": lambda: TimeoutError("no answer"),
    "nothing happened": lambda: NothingHappened("refused at the door"),
}
KINDS = ["tool", "tool for each", "model", "model for each"]
WAYS = ["retry", "retry with a limit", "feedback", "edit", "fork", "retry twice"]
PAIRS = [
    (kind, list(FAILURES)[(row + column) % len(FAILURES)], way)
    for row, kind in enumerate(KINDS)
    for column, way in enumerate(WAYS)
]
"""Each kind with each way, each kind with each failure, and each way with each failure."""
SQUARES = list(product(enumerate(KINDS), enumerate(["resume", "retry", "feedback", "edit", "fork"])))
WHITE, BLACK = ([(kind, way) for (row, kind), (column, way) in SQUARES if (row + column) % 2 == at] for at in (0, 1))
"""Each kind with each way, in one of the two: for calls that were refused, and for calls whose results will not do."""


class Post:
    """Sends mail to everybody but bo, as long as it is out; `sent` counts what arrived."""

    def __init__(self, failure: str) -> None:
        self.failure, self.is_out = FAILURES[failure], True
        self.calls: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()

    def mail(self, to: str) -> str:
        self.calls[to] += 1
        if to == "bo" and self.is_out:
            raise self.failure()
        self.sent[to] += 1
        return f"sent to {to}"


def wants(to: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "mail", "args": {"to": to}, "id": to}])


def mails(kind: str) -> dict[str, Any]:
    people = step("people", "people")
    each: dict[str, Any] = {"for_each": "{people_result}", "depends_on": ["people"]}
    match kind:
        case "tool":
            return {"steps": [people, *(step(f"to_{name}", "mail", to=name, after=["people"]) for name in PEOPLE)]}
        case "tool for each":
            return {"steps": [people, {**step("sent", "mail", to="{item_result}"), **each}]}
        case "model":
            return {"steps": [people, {"id": "sent", "objective": "o", "tools": ["mail"], "max_calls": 5}]}
        case _:
            return {"steps": [people, {"id": "sent", "objective": "o", "tools": ["mail"], "max_calls": 5, **each}]}


class Clerk(ScriptedModel):
    """Mails whoever its prompt names, in the reverse order after it has failed; may give up while bo has no mail."""

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> Any:
        answered = {message.tool_call_id: message.status for message in messages if message.type == "tool"}
        times = {name: str(messages[1].text).count(name) for name in PEOPLE}  # an item stands beside the list
        named = [name for name in self.people if times[name] == max(times.values())]
        left = [name for name in named if name not in answered]
        if not left and "error" in answered.values() and self.gives_up:
            self.people = list(reversed(PEOPLE))
            raise ValueError("the model is out")  # not tried again, after seconds, as a lost connection is
        said = wants(left[0]) if left else AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=said)])

    people: list[str] = PEOPLE
    gives_up: bool = True

    def bind_tools(self, *_: Any, **__: Any) -> "Clerk":
        return self

    async def _agenerate(self, messages: list[Any], *_: Any, **__: Any) -> Any:
        return self._generate(messages)


class PatientClerk(Clerk):
    """Comes to bo last, and says that it is done although bo has no mail."""

    people: list[str] = ["ada", "cy", "bo"]  # noqa: RUF012  (a field)
    gives_up: bool = False


def to_the_end(
    agent: Agent, run: Run, announced: Counter[str], happened: Callable[[str], bool] = lambda _: False
) -> Run:
    """Approve what is shown, and say of what is uncertain whether it `happened`; count what was announced."""
    for _ in range(12):
        if run.request is None:
            break
        actions = run.request["action_requests"]
        announced.update(one["args"]["args"]["to"] for one in actions if one["name"] in ("settle_effect", "run_step"))
        uncertain = [happened(one["args"]["args"]["to"]) for one in actions if one["name"] == "settle_effect"]
        plain = any(one["name"] != "settle_effect" for one in actions)
        run = agent.resume(run.id, run.decide(approve=bool(plain), happened=uncertain))
    return run


def edited(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan with another objective for what bo's mail belongs to."""
    steps = [{**one, "objective": "again"} if one["id"] in ("to_bo", "sent") else one for one in plan["steps"]]
    return {"steps": steps}


def own_tools(tools: LoggedTools, post: Post) -> list[Any]:
    return [
        tools.tool("people", lambda: PEOPLE, effect="read", trusted=True),
        tools.tool("mail", post.mail, effect="external", free_args=["to"]),
    ]


def gone_on(agent: Agent, run: Run, way: str, plan: dict[str, Any]) -> Run:
    match way:
        case "retry" | "retry twice":
            return agent.retry(run.id)
        case "retry with a limit":
            return agent.retry(run.id, limits={"tool_calls": 90})
        case "feedback":
            return agent.retry(run.id, feedback="try again")
        case "edit":
            return agent.retry(run.id, plan=edited(plan))
        case _:
            return agent.fork(run.id, plan["steps"][-1]["id"])


@pytest.mark.parametrize(("kind", "failure", "way"), PAIRS)
def test_what_failed_is_made_again_and_nothing_else_unannounced(
    database: str, tools: LoggedTools, kind: str, failure: str, way: str
) -> None:
    post, plan, announced = Post(failure), mails(kind), Counter[str]()
    planner, options = ScriptedModel([plan] * 3), {"replan": "never", "executor": Clerk([])}
    with Agent.open(database, planner=planner, tools=own_tools(tools, post), **options) as agent:
        run = to_the_end(agent, agent.start("g", plan=plan), announced)
        assert run.status in ("failed", "partial") and post.calls == Counter(PEOPLE), (run.status, post.calls)
        if way == "retry twice":
            run = to_the_end(agent, agent.retry(run.id), announced)
            assert run.status in ("failed", "partial") and post.calls["bo"] == 2
        post.is_out = False
        ended = to_the_end(agent, gone_on(agent, run, way, plan), announced)
        assert agent.replay(ended.id).is_same and agent.verify(ended.id).is_whole

    assert ended.status == "succeeded", ended.reason
    allowed = Counter(PEOPLE) + announced
    if failure == "nothing happened":
        allowed["bo"] += 2
    assert all(post.calls[name] <= allowed[name] for name in PEOPLE), (post.calls, announced)
    if way.startswith("retry"):
        assert post.sent == Counter(PEOPLE)
        assert announced == Counter({"bo": 0 if failure == "nothing happened" else post.calls["bo"] - 1}), announced


@pytest.mark.parametrize(("kind", "failure"), list(zip(KINDS, cycle(FAILURES), strict=False)))
def test_a_plain_resume_makes_no_call_again_and_keeps_the_end(
    database: str, tools: LoggedTools, kind: str, failure: str
) -> None:
    post = Post(failure)
    options: dict[str, Any] = {"tools": own_tools(tools, post), "replan": "never", "executor": Clerk([])}
    with Agent.open(database, planner=ScriptedModel([]), **options) as agent:
        run = to_the_end(agent, agent.start("g", plan=mails(kind)), Counter())
        post.is_out = False
        resumed = agent.resume(run.id)

    assert (resumed.status, resumed.request, post.calls) == (run.status, None, Counter(PEOPLE))


@pytest.mark.parametrize(("kind", "failure"), list(product(KINDS, FAILURES)))
def test_a_revision_makes_what_failed_again_and_nothing_else_unannounced(
    database: str, tools: LoggedTools, kind: str, failure: str
) -> None:
    post, announced = Post(failure), Counter[str]()
    steps = mails(kind)["steps"]
    again = [{**one, "objective": "again"} for one in steps if one["id"] in ("to_bo", "sent")]
    revision = {"keep": [one["id"] for one in steps if one["id"] not in ("to_bo", "sent")], "steps": again}

    def happened(to: str) -> bool:
        return post.sent[to] > 0

    models = {"planner": ScriptedModel([]), "executor": Clerk([]), "replanner": ScriptedModel([revision])}
    with Agent.open(database, tools=own_tools(tools, post), **models) as agent:
        run = agent.resume(agent.start("g", plan=mails(kind)).id, "approve")
        assert run.request is not None and set(post.calls) == set(PEOPLE)
        first = post.calls["bo"]  # what did nothing is made again within the scope that was approved
        post.is_out = False
        ended = to_the_end(agent, run, announced, happened)
        assert ended.status == "succeeded" and agent.replay(ended.id).is_same, ended.reason

    assert set(post.sent) == set(PEOPLE) and post.calls["bo"] == first + 1
    unannounced = Counter(PEOPLE) + announced + Counter({"bo": first if failure == "nothing happened" else 0})
    assert all(post.calls[name] <= unannounced[name] for name in PEOPLE), (post.calls, announced)


@pytest.mark.parametrize(("kind", "way"), list(product(KINDS, ["resume", "steer", "edit", "fork"])))
def test_a_call_whose_process_ended_in_it_is_settled_before_it_is_made_again(
    database: str, tools: LoggedTools, kind: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(BaseException):
        """The process is no more; the tools of a next one work."""

    monkeypatch.setitem(FAILURES, "ended", Ended)  # type: ignore[arg-type]
    post, plan, announced = Post("ended"), mails(kind), Counter[str]()
    options: dict[str, Any] = {"tools": own_tools(tools, post), "replan": "never"}

    def happened(to: str) -> bool:
        return post.sent[to] > 0

    with Agent.open(database, planner=ScriptedModel([]), executor=Clerk([]), **options) as agent:
        run = agent.start("g", plan=plan)
        with pytest.raises(BaseException):  # noqa: B017  (a group, or the one in it)
            agent.resume(run.id, "approve")
    post.is_out = False
    with Agent.open(database, planner=ScriptedModel([plan]), executor=Clerk([]), **options) as agent:
        match way:
            case "steer":
                agent.steer(run.id, add=["be kind"])
            case "edit":
                agent.edit(run.id, edited(plan))
            case "fork":
                run = agent.fork(run.id, plan["steps"][-1]["id"])
        ended = to_the_end(agent, agent.resume(run.id), announced, happened)
        assert ended.status == "succeeded" and agent.replay(ended.id).is_same, ended.reason

    assert announced["bo"] >= 1 and set(post.sent) == set(PEOPLE)
    assert all(post.calls[name] <= 1 + announced[name] for name in PEOPLE), (post.calls, announced)
    if way == "resume":
        assert post.sent == Counter(PEOPLE)


@pytest.mark.parametrize(("kind", "way"), WHITE)
def test_a_call_that_a_policy_refuses_is_never_made_on_whatever_way(
    database: str, tools: LoggedTools, kind: str, way: str
) -> None:
    post, plan, announced = Post("raised"), mails(kind), Counter[str]()
    post.is_out = False
    for one in plan["steps"]:  # the plan does not show it, so the call is refused when it is due
        if one.get("args", {}).get("to") == "bo":
            one["args"] = {"to": "{people_result[1]}"}
    policy = {"tools": {"mail": {"args": {"to": {"one_of": ["ada", "cy"]}}}}}
    options: dict[str, Any] = {"replan": "never", "executor": PatientClerk([]), "policy": policy}
    planner = ScriptedModel([plan] * 3)
    with Agent.open(database, planner=planner, tools=own_tools(tools, post), **options) as agent:
        run = to_the_end(agent, agent.start("g", plan=plan), announced)
        assert run.status in ("failed", "partial")
        went_on = agent.resume(run.id) if way == "resume" else gone_on(agent, run, way, plan)
        ended = to_the_end(agent, went_on, announced)
        assert agent.replay(ended.id).is_same and agent.verify(ended.id).is_whole

    assert ended.status in ("failed", "partial") and post.calls["bo"] == 0
    assert all(post.calls[name] <= 1 + announced[name] for name in ("ada", "cy")), (post.calls, announced)


@pytest.mark.parametrize("kind", KINDS)
def test_a_retry_asks_again_about_a_call_that_a_person_rejected_and_about_no_other(
    database: str, tools: LoggedTools, kind: str
) -> None:
    post, asked = Post("raised"), Counter[str]()
    post.is_out = False
    policy = {"tools": {"mail": {"verdict": "ask"}}}

    def answered(agent: Agent, run: Run, **rejects: bool) -> Run:
        while run.request is not None:
            decisions: list[dict[str, Any]] = []
            for one in run.request["action_requests"]:
                to = one["args"]["args"]["to"] if one["name"] == "run_step" else ""
                asked[to] += one["name"] == "run_step"
                rejected = {"type": "reject", "message": "not him"}
                decisions.append(rejected if rejects.get(to) else {"type": "approve"})
                if one["name"] == "run_plan":
                    steps = run.request["review"]["actions"][0]["steps"]
                    decisions[-1]["ask_later"] = [step["id"] for step in steps if step.get("settled")]
            run = agent.resume(run.id, {"decisions": decisions})
        return run

    options: dict[str, Any] = {"replan": "never", "executor": Clerk([]), "policy": policy}
    with Agent.open(database, planner=ScriptedModel([]), tools=own_tools(tools, post), **options) as agent:
        run = answered(agent, agent.start("g", plan=mails(kind)), bo=True)
        assert run.status in ("failed", "partial") and post.sent == Counter(["ada", "cy"])
        run = answered(agent, agent.retry(run.id))

    assert (run.status, post.sent, asked) == ("succeeded", Counter(PEOPLE), Counter([*PEOPLE, "bo"]))


@pytest.mark.parametrize(("kind", "way"), BLACK)
def test_a_call_whose_result_missed_the_checks_is_not_made_again_unannounced(
    database: str, tools: LoggedTools, kind: str, way: str
) -> None:
    post, plan, announced = Post("raised"), mails(kind), Counter[str]()
    post.is_out = False
    for one in plan["steps"]:
        if one["id"] in ("to_bo", "sent"):
            one["checks"] = [{"matches": "never"}]
    options: dict[str, Any] = {"replan": "never", "executor": Clerk([])}
    planner = ScriptedModel([plan] * 3)
    with Agent.open(database, planner=planner, tools=own_tools(tools, post), **options) as agent:
        run = to_the_end(agent, agent.start("g", plan=plan), announced)
        assert run.status in ("failed", "partial") and post.sent == Counter(PEOPLE)
        went_on = agent.resume(run.id) if way == "resume" else gone_on(agent, run, way, plan)
        ended = to_the_end(agent, went_on, announced, lambda _: True)

    assert ended.status in ("failed", "partial")
    assert all(post.calls[name] <= 1 + announced[name] for name in PEOPLE), (post.calls, announced)


@pytest.mark.parametrize(("happened", "calls"), [(True, 1), (False, 2)])
def test_a_call_whose_result_missed_its_checks_is_judged_again_and_settled_before_another_step_makes_it(
    database: str, tools: LoggedTools, happened: bool, calls: int
) -> None:
    mail = tools.tool("mail", lambda **_: f"letter {len(tools.named('mail'))}", effect="external")
    checked = {**step("sent", "mail", to="bo"), "checks": [{"matches": "letter 2"}]}
    with Agent.open(database, planner=ScriptedModel([]), tools=[mail], replan="never") as agent:
        run = to_the_end(agent, agent.start("g", plan={"steps": [checked]}), Counter())
        retried = agent.retry(run.id)
        assert (retried.status, retried.request, len(tools.named("mail"))) == ("failed", None, 1)

        run = agent.retry(run.id, plan={"steps": [{**step("again", "mail", to="bo")}]})
        asked = []
        while run.request is not None:
            (action,) = run.request["action_requests"]
            asked.append(action["name"])
            doubts = [happened] if action["name"] == "settle_effect" else []
            run = agent.resume(run.id, run.decide(approve=not doubts, happened=doubts))

    assert asked[-1] == "settle_effect" and "It took effect, but its result will not do" in action["description"]
    assert (run.status, len(tools.named("mail"))) == ("succeeded", calls)


def test_a_plan_with_other_checks_takes_the_result_of_a_call_that_missed_its_checks(
    database: str, tools: LoggedTools
) -> None:
    mail = tools.tool("mail", lambda **_: "letter 1", effect="external")
    checked = {**step("sent", "mail", to="bo"), "checks": [{"matches": "letter 2"}]}
    with Agent.open(database, planner=ScriptedModel([]), tools=[mail], replan="never") as agent:
        run = to_the_end(agent, agent.start("g", plan={"steps": [checked]}), Counter())
        run = agent.retry(run.id, plan={"steps": [{**checked, "checks": [{"matches": "letter 1"}]}]})
        run = to_the_end(agent, run, Counter())

    assert (run.status, len(tools.named("mail"))) == ("succeeded", 1)
