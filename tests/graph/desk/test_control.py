import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from desk_server import PLAN, DeskServer, Visit, behind, ended, query, served

from planner_executor.graph.testing import LoggedTools, step


def act(visit: Visit, run: str, name: str, **fields: str) -> str:
    """Do something to a run, and return the page that the desk leads to."""
    answer = visit.post(query("/control", run), {"token": visit.hidden(query("", run))["token"], "act": name, **fields})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def done(server: DeskServer) -> None:
    for future in list(server.desk.drives._going.values()):
        future.result(20)


def test_a_goal_becomes_a_run_that_waits_for_its_review(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", PLAN) as server, server.visit() as visit:
        token = visit.hidden("/start")["token"]
        fields = {"token": token, "goal": "send the news", "constraints": "be kind\nbe short", "tags": "a b"}
        answer = visit.post("/start", fields)
        done(server)
        page = visit.get(answer.headers["location"]).text
        (run,) = visit.get("/").text.split("data-row ")[1:]

    assert answer.status_code == 303 and "be kind" in page and "be short" in page
    assert "send the news" in run and ">b</span>" in run


@pytest.mark.parametrize(
    ("goal", "tags", "plan", "why"),
    [(" ", "", "", "say what is to be done"), ("x", "t" * 99, "", "list of at most"), ("x", "", "a: [", "line 1")],
)
def test_a_start_that_cannot_be_says_why_and_keeps_the_form(
    visit: Visit, goal: str, tags: str, plan: str, why: str
) -> None:
    fields = {"token": visit.hidden("/start")["token"], "goal": goal, "tags": tags, "plan": plan}

    answer = visit.post("/start", {**fields, "constraints": "be short"})

    assert answer.status_code == 422 and why in answer.text and "be short" in answer.text


def test_a_plan_that_is_brought_is_shown_step_by_step_and_changed_there_before_it_starts(
    server: DeskServer, visit: Visit
) -> None:
    text = """steps:\n- {id: send, objective: tell Ann, tool: mail, args: {to: "ann@example.com", text: "<b>"}}"""
    fields = {"token": visit.hidden("/start")["token"], "goal": "send the news", "plan": text}

    shown = visit.post("/start", {**fields, "act": "look"})
    faulty = visit.post("/start", {**fields, "panels": "1", "step:send:does": "telegram"})
    changed = {"panels": "1", "step:send:objective": "tell Bob", "step:send:args/to": "bob@example.com"}
    begun = visit.post("/start", {**fields, **changed})

    assert shown.status_code == 200 and 'name="step:send:objective"' in shown.text and "&lt;b&gt;" in shown.text
    assert faulty.status_code == 422 and 'data-fault-name="step:send:does"' in faulty.text
    assert begun.status_code == 303
    where = httpx.URL(begun.headers["location"])
    assert ended(server, where.params["run"]) == "waiting"
    page = visit.get(str(where)).text
    assert "tell Bob" in page and "tell Ann" not in page


def test_a_waiting_run_is_cancelled(server: DeskServer, visit: Visit, waiting: str) -> None:
    act(visit, waiting, "cancel")

    with server.agent() as agent:
        assert agent.show(waiting).status == "cancelled"


def test_a_waiting_run_is_steered_and_asks_again(tmp_path: Path) -> None:
    other = {"steps": [step("other", "read", what="sun")]}
    with served(tmp_path / "runs.db", other) as server:
        with server.agent() as agent:
            run = agent.start("send", constraints=["old"], plan=PLAN, thread="t").id
        with server.visit() as visit:
            act(visit, run, "steer", add="only look", withdraw="0")
            done(server)
            page = visit.get(query("/review", run)).text

    assert "only look" in page and "other" in page
    assert '<li dir="auto">old</li>' not in page


def test_a_step_is_skipped_or_its_result_given(server: DeskServer, visit: Visit, waiting: str) -> None:
    panel = visit.get(query("/review", waiting)).text
    empty = visit.send(query("/review", waiting), query("/control", waiting, step="look"), act="supply")
    for fields in ({"act": "supply", "supply:look": '"stormy"'}, {"act": "skip", "why:send": "nobody reads it"}):
        name = "look" if fields["act"] == "supply" else "send"
        page = query("/step", waiting, step=name)
        assert visit.send(page, query("/control", waiting, step=name), **fields).status_code == 303

    with server.agent() as agent:
        run = agent.show(waiting)
    assert (
        'If it is skipped, so are: <span dir="auto">do send</span>' in panel and "give the result of look" in empty.text
    )
    assert run.step_status == {"look": "succeeded", "send": "skipped"} and run.results["look"].value == "stormy"


def test_a_finished_run_is_forked_with_a_result_of_ones_own(server: DeskServer, visit: Visit) -> None:
    plan = {"steps": [step("look", "read", what="wind"), step("more", "read", after=["look"], what="{look_result}")]}
    with server.agent() as agent:
        agent.start("look", plan=plan, thread="t")
        run = agent.resume("t", "approve").id

    there = act(visit, run, "fork", step="more", value='"mine"')
    done(server)
    fork = visit.get(there).text

    assert "fork of" in fork and "mine" in visit.get(there.replace("/run?", "/run/results?")).text


def test_what_the_desk_does_not_do_is_refused_in_a_sentence(visit: Visit, waiting: str) -> None:
    answer = visit.post(query("/control", waiting), {"token": visit.hidden("/")["token"], "act": "explode"})

    assert answer.status_code == 400 and "explode" in answer.text


def test_runs_are_filtered_and_paged_without_losing_the_filter(server: DeskServer, visit: Visit) -> None:
    with server.agent() as agent:
        for number in range(52):
            agent.start(f"goal {number}", tags=["many"], plan={"steps": [], "answer": number}, thread=f"t{number}")
        agent.start("another", plan={"steps": [], "answer": 1}, thread="other")

    first = visit.get("/runs?tag=many").text
    second = visit.get("/runs?tag=many&before=t2.1").text

    assert first.count("data-row") == 50 and "tag=many&amp;before=t2.1" in first and "another" not in first
    assert second.count("data-row") == 2 and "goal 0" in second
    assert visit.get("/runs?status=strange").status_code == 400
    assert "No run matches" in visit.get("/runs?text=nowhere").text


def test_a_run_that_another_owner_executes_is_paused_before_its_next_call_and_continued_here(tmp_path: Path) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def waits(**_: object) -> str:
        begun.set()
        assert may_end.wait(20)
        return "calm"

    def tools(log: LoggedTools) -> list[Any]:
        return [log.tool("read", waits, effect="read"), log.tool("mail")]

    with served(tmp_path / "runs.db", tools=tools) as server, server.visit() as visit, server.agent() as agent:
        run = agent.start("send", plan=PLAN, thread="t").id
        other = threading.Thread(target=agent.resume, args=(run, "approve"))
        other.start()
        assert begun.wait(20)
        act(visit, run, "pause")
        may_end.set()
        other.join(20)
        paused, mails = agent.show(run).status, list(server.tools.named("mail"))
        act(visit, run, "continue")
        done(server)

        assert (paused, mails) == ("paused", []) and agent.show(run).status == "succeeded"


def test_an_ended_run_is_retried_with_a_raised_limit(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        with server.agent(budget={"tool_calls": 1}) as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
            agent.resume(run, "approve")
            agent.resume(run, agent.show(run).decide(finish=True))
        form = visit.get(query("/more", run)).text
        act(visit, run, "retry", **{"limit:tool_calls": "5"})
        done(server)
        with server.agent() as agent:
            assert agent.show(run).status == "succeeded"

    assert "New limit of tool_calls" in form and len(server.tools.named("mail")) == 1


def test_a_waiting_run_is_steered_for_whoever_carries_it_on(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", agents=None) as server, server.visit() as visit:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        act(visit, run, "steer", add="only look")
        refused = visit.post(
            query("/control", run), {"token": visit.hidden("/")["token"], "act": "fork", "step": "look"}
        )
        with server.agent() as agent:
            record = agent.log(run)

    assert record.events[-1].kind == "steered" and refused.status_code == 400 and "continues no run" in refused.text


@pytest.mark.parametrize(
    ("what", "words", "is_waiting"),
    [
        ("pause", "paused: asked to pause by ", False),
        ("cancel", "cancelled by ", False),
        ("cancel", "cancelled by ", True),
    ],
)
def test_who_pauses_and_who_cancels_is_named_on_record(tmp_path: Path, what: str, words: str, is_waiting: bool) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def waits(**_: object) -> str:
        begun.set()
        assert may_end.wait(20)
        return "calm"

    def tools(log: LoggedTools) -> list[Any]:
        return [log.tool("read", waits, effect="read"), log.tool("mail")]

    with served(tmp_path / "runs.db", tools=tools, settings=behind("127.0.0.1")) as server, server.agent() as agent:
        run = agent.start("send", plan=PLAN, thread="t").id
        other = threading.Thread(target=agent.resume, args=(run, "approve"))
        if not is_waiting:
            other.start()
            assert begun.wait(20)
        with server.visit(**{"X-User": "ann"}) as visit:
            act(visit, run, what)
            may_end.set()
            if not is_waiting:
                other.join(20)
            done(server)
            audit = visit.get(query("/audit", run)).text
        said = [event.payload.get("by") for event in agent.log(run).events if event.kind in ("paused", "run_ended")]

    assert said == ["server:ann"] and f"{words}server:ann" in audit and server.tools.named("mail") == []
