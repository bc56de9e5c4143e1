import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
from desk_server import PLAN, DeskServer, Visit, query, served

from graph.record.events import Draft, ReviewExpired, cancelled
from graph.record.projection import project
from graph.runs import open_runs
from graph.testing import LoggedTools, step


def decide(visit: Visit, run: str, **fields: str) -> httpx.Response:
    return visit.send(query("/review", run), query("/decide", run), **fields)


def ended(server: DeskServer, run: str) -> str:
    """Wait until the desk has carried a run on, and return its status."""
    for future in list(server.desk.drives._going.values()):
        future.result(20)
    with server.agent() as agent:
        return agent.show(run).status


def test_an_approval_carries_out_the_plan_that_another_owner_started(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    answer = decide(visit, waiting, decision="approve")

    assert answer.status_code == 303
    assert ended(server, waiting) == "succeeded"
    assert server.tools.named("mail") == [{"to": "ann@example.com", "text": "calm"}]


def test_a_decision_about_a_request_that_changed_since_decides_nothing_and_tells_what_happened(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    seen = visit.hidden(query("/review", waiting))
    with server.agent({"steps": [step("other", "read", what="sun")]}) as agent:
        agent.resume(waiting, "look at the sun instead")

    answer = visit.post(query("/decide", waiting), {**seen, "decision": "approve"})

    assert answer.status_code == 409
    assert "Nothing was decided" in answer.text and "look at the sun instead" in answer.text
    assert "other" in answer.text and "removed" in answer.text
    assert server.tools.calls == []


def test_of_two_reviewers_at_once_one_decides_and_the_other_learns_it(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    seen, answers = visit.hidden(query("/review", waiting)), []

    def press(decision: str) -> None:
        with server.visit() as other:
            token = other.hidden("/")["token"]
            fields = {**seen, "token": token, "decision": decision}
            answers.append(other.post(query("/decide", waiting), fields).status_code)

    pressed = [threading.Thread(target=press, args=(decision,)) for decision in ("approve", "stop")]
    for thread in pressed:
        thread.start()
    for thread in pressed:
        thread.join()

    assert sorted(answers) == [303, 409]
    assert len(server.tools.named("mail")) <= 1


def test_a_rejection_with_words_has_the_run_planned_again(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", {"steps": [step("ask_first", "read", what="addresses")]}) as server:
        with server.agent() as agent:
            run = agent.start("send the news", plan=PLAN, thread="news").id
        with server.visit() as visit:
            decide(visit, run, decision="feedback", message="ask before you send")
            for future in server.desk.drives._going.values():
                future.result(20)
            page = visit.get(query("/review", run)).text

    assert "ask_first" in page and "ask before you send" in page


def test_an_edit_in_the_form_is_the_plan_that_runs(server: DeskServer, visit: Visit, waiting: str) -> None:
    fields = {"step:send:args": "to: bob@example.com\ntext: '{look_result}'", "edit_as": "form"}

    answer = decide(visit, waiting, decision="edit", **fields)

    assert answer.status_code == 303
    assert ended(server, waiting) == "succeeded"
    assert server.tools.named("mail") == [{"to": "bob@example.com", "text": "calm"}]


def test_an_edit_as_text_is_the_plan_that_runs(server: DeskServer, visit: Visit, waiting: str) -> None:
    text = "steps:\n  - id: only\n    objective: look\n    tool: read\n    args: {what: sun}\n"

    decide(visit, waiting, decision="edit", edit_as="text", plan=text)

    assert ended(server, waiting) == "succeeded"
    assert server.tools.calls == [("read", {"what": "sun"})]


def test_a_faulty_edit_is_told_at_its_step_while_it_is_typed_and_approves_nothing_when_it_is_sent(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    fields = {"step:send:does": "telegram", "edit_as": "form"}

    typed = visit.send(query("/review", waiting), query("/check", waiting), **fields)
    sent = decide(visit, waiting, decision="edit", **fields)

    assert 'data-fault-step="send"' in typed.text and "telegram" in typed.text
    assert sent.status_code == 303 and "telegram" in visit.get(query("/review", waiting)).text
    assert server.tools.calls == []


def test_a_removed_step_that_another_needs_is_a_fault(server: DeskServer, visit: Visit, waiting: str) -> None:
    fields = {"step:look:remove": "1", "edit_as": "form"}

    typed = visit.send(query("/review", waiting), query("/check", waiting), **fields)

    assert 'data-fault-step="send"' in typed.text


def test_a_valid_edit_is_told_with_what_it_changes(visit: Visit, waiting: str) -> None:
    fields = {"step:send:objective": "tell Ann", "edit_as": "form"}

    typed = visit.send(query("/review", waiting), query("/check", waiting), **fields)

    assert "The plan is valid" in typed.text and "changed: send" in typed.text


def test_a_question_is_answered_by_the_form_of_its_schema(server: DeskServer, visit: Visit) -> None:
    schema = {
        "type": "object",
        "properties": {"size": {"type": "string", "enum": ["S", "M"]}, "count": {"type": "integer"}},
        "required": ["size"],
    }
    asks = {"id": "ask", "objective": "which?", "ask": "Which size?", "output": schema}
    plan = {"steps": [asks, step("buy", "mail", size="{ask_result.size}", count="{ask_result.count}")]}
    with server.agent() as agent:
        run = agent.start("buy", plan=plan, thread="shop").id

    lacking = decide(visit, run, decision="approve")
    decide(visit, run, decision="approve", **{"answer:ask:size": '"M"', "answer:ask:count": "2"})

    assert lacking.status_code == 422 and "undecided" in lacking.text
    assert ended(server, run) == "succeeded"
    assert server.tools.named("mail") == [{"size": "M", "count": 2}]


def test_an_uncertain_call_is_settled_by_what_a_person_says_of_it(tmp_path: Path) -> None:
    def fails(**_: object) -> None:
        raise ConnectionError("cut off")

    with served(tmp_path / "runs.db", tools=lambda log: [log.tool("mail", fails)]) as server:
        with server.agent() as agent:
            agent.start("send", plan={"steps": [step("send", "mail", to="ann")]}, thread="post")
            agent.resume("post", "approve")
            run = agent.resume("post", "approve").id  # the revision, which repeats the call
        with server.visit() as visit:
            page = visit.get(query("/review", run)).text
            decide(visit, run, decision="answer", **{"happened:0": "true", "result:0": '"sent"'})
            status = ended(server, run)

    assert "Did the call of" in page
    assert status == "succeeded" and len(server.tools.calls) == 1


def test_a_spent_budget_is_raised_and_the_run_goes_on(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server:
        with server.agent(budget={"tool_calls": 1}) as agent:
            agent.start("send the news", plan=PLAN, thread="news")
            run = agent.resume("news", "approve").id
        with server.visit() as visit:
            decide(visit, run, decision="answer", **{"limit:tool_calls": "5"})
            status = ended(server, run)

    assert status == "succeeded"


def test_a_gate_waits_until_it_is_approved_here(server: DeskServer, visit: Visit) -> None:
    gate = {"id": "gate", "objective": "consent", "gate": "Send it now?", "depends_on": ["look"]}
    plan = {"steps": [PLAN["steps"][0], gate, step("send", "mail", after=["gate"], to="ann")]}
    with server.agent() as agent:
        agent.start("send", plan=plan, thread="gated")
        run = agent.resume("gated", "approve").id
    before = list(server.tools.named("mail"))

    decide(visit, run, decision="approve")

    assert before == []
    assert ended(server, run) == "succeeded" and len(server.tools.named("mail")) == 1


def test_ending_a_run_leaves_it_rejected(server: DeskServer, visit: Visit, waiting: str) -> None:
    decide(visit, waiting, decision="stop")

    assert ended(server, waiting) == "rejected"


def held(server: DeskServer) -> str:
    """A run that waits with a call of its own, whose arguments come from an untrusted result."""
    plan = {"steps": [step("page", "fetch"), step("send", "mail", to="ann", text="{page_result}")]}
    with server.agent() as agent:
        agent.start("send", plan=plan, thread="held")
        run = agent.resume("held", "approve")
    assert run.request is not None and run.request["action_requests"][0]["name"] == "run_step"
    return run.id


def risky(log: LoggedTools) -> list[Any]:
    untrusted = log.tool("fetch", lambda **_: "click here", effect="read", trusted=False)
    return [untrusted, log.tool("mail", effect="external")]


def test_a_held_call_is_made_with_the_arguments_that_a_person_gives_it(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", tools=risky) as server:
        run = held(server)
        with server.visit() as visit:
            args = '{"to": "ann", "text": "harmless"}'
            decide(visit, run, decision="approve", **{"call:send": "edit", "call:send:args": args})
            status = ended(server, run)

    assert status == "succeeded" and server.tools.named("mail") == [{"to": "ann", "text": "harmless"}]


def test_a_held_call_alone_is_rejected_with_a_reason(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", tools=risky) as server:
        run = held(server)
        with server.visit() as visit:
            lacking = decide(visit, run, decision="approve", **{"call:send": "reject"})
            decide(visit, run, decision="approve", **{"call:send": "reject", "call:send:why": "a trick"})
            ended(server, run)

    assert lacking.status_code == 422 and "say why" in lacking.text
    assert server.tools.named("mail") == []


def test_an_answer_after_the_end_decides_nothing_and_the_page_tells_why(tmp_path: Path) -> None:
    rules = {"approvers": {"roles": ["ops"], "decide_within": "1d"}}
    with served(tmp_path / "runs.db") as server:
        with server.agent(policy=rules) as agent:
            agent.start("send the news", plan=PLAN, thread="news")
            other = agent.start("again", plan=PLAN, thread="again").id
        with server.visit() as visit:
            inbox, mine, run = visit.get("/").text, visit.get("/?for=me").text, "news.1"
            seen = visit.hidden(query("/review", run))
            asyncio.run(closed(server.database, run))
            answer = visit.post(query("/decide", run), {**seen, "decision": "approve"})

    assert inbox.count("decide until") == 2 and inbox.index("send the news") < inbox.index(other)
    assert "at most 2 tool calls" in inbox and "Nothing waits for you" in mine
    assert answer.status_code == 409 and "nobody decided until" in answer.text
    assert "an answer to request 1 was not accepted" in answer.text and server.tools.calls == []


async def closed(database: Path | str, run: str) -> None:
    """Close a request as a worker does once its time is over."""
    async with open_runs(database) as runs:
        key = await runs.find(run)
        record = project(await runs.ledger.events(key))
        assert record.review_state.request is not None and record.review_state.request.deadline is not None
        deadline = record.review_state.request.deadline
        expired = ReviewExpired(request=1, subject="s", expired_at=deadline.until, on_expire="end", ends=True)
        async with runs.ledger.owned(key) as lease:
            await runs.ledger.append(lease, [Draft(expired), Draft(cancelled())])
