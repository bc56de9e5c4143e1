import re
import threading
from pathlib import Path

from desk_server import PLAN, DeskServer, Visit, decide, query, served

from planner_executor.graph.record.events import Draft, ReviewExpired, cancelled
from planner_executor.graph.record.projection import project
from planner_executor.graph.runs.runs import open_runs
from planner_executor.graph.testing import step


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


def test_a_faulty_edit_is_told_at_its_step_while_it_is_typed_and_approves_nothing_when_it_is_sent(
    server: DeskServer, visit: Visit, waiting: str
) -> None:
    fields = {"step:send:does": "telegram", "edit_as": "form"}

    typed = visit.send(query("/review", waiting), query("/check", waiting), **fields)
    sent = decide(visit, waiting, decision="edit", **fields)

    assert 'data-fault-step="send"' in typed.text and "telegram" in typed.text
    assert sent.status_code == 422 and 'data-fault-step="send"' in sent.text and 'value="telegram"' in sent.text
    assert 'id="approve"' in sent.text and 'id="approve"' in visit.get(query("/review", waiting)).text
    assert server.tools.calls == []


def test_what_the_policy_denies_is_told_while_it_is_typed_as_it_is_when_it_is_sent(tmp_path: Path) -> None:
    denied = {"step:send:does": "read", "step:send:args": "", "edit_as": "form"}
    with served(tmp_path / "runs.db") as server:
        with server.agent(policy={"tools": {"read": {"verdict": "deny"}}}) as agent:
            run = agent.start("send the news", plan={"steps": [step("send", "mail", to="ann@example.com")]}).id
        with server.visit() as visit:
            typed = visit.send(query("/review", run), query("/check", run), **denied).text
            sent = decide(visit, run, decision="edit", **denied)

    (told,) = {line.strip() for line in typed.split("\n") if "denies" in line}
    assert 'data-fault-step="send"' in told and sent.status_code == 422 and told in sent.text


def test_a_removed_step_that_another_needs_is_a_fault(server: DeskServer, visit: Visit, waiting: str) -> None:
    fields = {"step:look:remove": "1", "edit_as": "form"}

    typed = visit.send(query("/review", waiting), query("/check", waiting), **fields)

    assert 'data-fault-step="send"' in typed.text


def test_a_valid_edit_is_told_with_what_it_changes(visit: Visit, waiting: str) -> None:
    fields = {"step:send:objective": "tell Ann", "edit_as": "form"}

    typed = visit.send(query("/review", waiting), query("/check", waiting), **fields)

    assert "The plan is valid" in typed.text and "changed: send" in typed.text


async def test_an_answer_after_the_end_decides_nothing_and_the_page_tells_why(tmp_path: Path) -> None:
    rules = {"approvers": {"roles": ["ops"], "decide_within": "1d"}}
    with served(tmp_path / "runs.db") as server:
        with server.agent(policy=rules) as agent:
            agent.start("send the news", plan=PLAN, thread="news")
            other = agent.start("again", plan=PLAN, thread="again").id
        with server.visit() as visit:
            inbox, mine, run = visit.get("/").text, visit.get("/?for=me").text, "news.1"
            seen = visit.hidden(query("/review", run))
            await closed(server.database, run)
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
        assert record.review_state.request is not None and record.review_state.request.shown.deadline is not None
        deadline = record.review_state.request.shown.deadline
        expired = ReviewExpired(request=1, subject="s", expired_at=deadline.until, on_expire="end", ends=True)
        async with runs.ledger.owned(key) as lease:
            await runs.ledger.append(lease, [Draft(expired), Draft(cancelled())])


def test_comments_on_steps_have_the_run_planned_again_and_the_next_page_says_what_became_of_them(
    tmp_path: Path,
) -> None:
    changed = {"steps": [step("look", "read", what="last year"), *PLAN["steps"][1:]]}
    with served(tmp_path / "runs.db", changed) as server:
        with server.agent() as agent:
            run = agent.start("send the news", plan=PLAN, thread="news").id
        first = PLAN["steps"][0]["id"]
        with server.visit() as visit:
            page = visit.get(query("/review", run)).text
            empty = decide(visit, run, decision="feedback", **{f"comment:{first}": " "})
            decide(visit, run, decision="feedback", **{f"comment:{first}": "only last year"})
            for future in server.desk.drives._going.values():
                future.result(20)
            after = visit.get(query("/review", run)).text

    assert f'name="comment:{first}"' in page and "comment on its steps" in page
    assert "say what to change" in empty.text
    assert "only last year" in after and "Comments on the plan before" in after


def test_a_comment_stays_on_the_page_whose_plan_cannot_be_read(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server:
        with server.agent() as agent:
            run = agent.start("send the news", plan=PLAN, thread="news").id
        with server.visit() as visit:
            said = {"comment:look": "only last year", "message": "shorter", "edit_as": "text", "plan": "{"}
            page = decide(visit, run, decision="edit", **said).text

    assert 'name="comment:look" value="only last year"' in page and "shorter" in page
    assert re.search(r'id="edit-look"[^>]* open', page) and re.search(r'id="edit"[^>]* open', page)
