"""What the pages of a run show of runs that are large."""

import re
from html import escape
from pathlib import Path

import httpx
from all_pages import ELSEWHERE, NO_PAGES, PAGES
from desk_server import Visit, query, served
from langchain_core.messages import AIMessage
from starlette.routing import Route

from planner_executor.graph.desk.application import ROUTES
from planner_executor.graph.desk.templates import environment
from planner_executor.graph.testing import LoggedTools, step

LONG = "wind " * 10_000


def whole(visit: Visit, path: str, run: str, **more: str) -> str:
    answer = visit.get(query(path, run, **more))
    assert answer.status_code == 200, answer.text
    return answer.text


def test_long_audits_and_results_are_shown_a_part_at_a_time(tmp_path: Path) -> None:
    steps = [step(f"s{number}", "read", what=number) for number in range(120)]

    def tools(log: object) -> list[object]:
        return [log.tool("read", lambda **_: LONG, effect="read")]  # type: ignore[attr-defined]

    with served(tmp_path / "runs.db", tools=tools) as server:
        with server.agent() as agent:
            agent.start("read a lot", plan={"steps": steps}, thread="t")
            run = agent.resume("t", "approve").id
        with server.visit() as visit:
            last, first = whole(visit, "/audit", run), whole(visit, "/audit", run, part="1")
            decisions = whole(visit, "/audit", run, section="decisions")
            parts = [whole(visit, "/value", run, step="s1", part=str(number)) for number in (1, 3)]
            plan = whole(visit, "", run)
            story = visit.get(query("/audit.txt", run))

    assert "Page 2 of 2" in last and "ended as succeeded" in last and "Earlier" in last
    assert "Page 1 of 2" in first and "started for the goal" in first and "Later" in first
    assert "decided" in decisions or "approved" in decisions
    assert "Page 1 of 3" in parts[0] and "Page 3 of 3" in parts[1] and len(parts[0]) < 40_000
    assert plan.count('class="node') == 120 and plan.count("<tr data-row") == 100 and "Page 1 of 2" in plan
    assert story.headers["content-disposition"] == 'attachment; filename="audit.txt"' and "read a lot" in story.text


def test_the_whole_of_what_was_looked_at_is_a_link_of_the_review(tmp_path: Path) -> None:
    def tools(log: object) -> list[object]:
        head = log.tool("head", lambda **_: LONG, effect="read", look=True, trusted=False)  # type: ignore[attr-defined]
        return [head, log.tool("mail")]  # type: ignore[attr-defined]

    with served(tmp_path / "runs.db", tools=tools) as server:
        with server.agent({"look": [{"tool": "head", "args": {}}]}, {"steps": [step("a", "mail", to="x")]}) as agent:
            run = agent.start("write of the wind", thread="t").id
        with server.visit() as visit:
            review, look = whole(visit, "/review", run), whole(visit, "/value", run, step="look 1")

    assert "Looked at before planning (look 1): head" in review and "step=look%201" in review
    assert "wind wind wind" in look and "Page 1 of 3" in look


def test_every_page_is_among_those_that_are_read_with_axe() -> None:
    whole_pages = {name for name in environment().list_templates() if not name.startswith("_") and "base" not in name}
    pages = {route.path for route in ROUTES if isinstance(route, Route) and route.methods and "GET" in route.methods}
    read = {path.partition("?")[0] for paths in PAGES.values() for path in paths}
    in_browser = Path(__file__).with_name("test_in_browser.py").read_text()

    assert whole_pages == {*PAGES, *ELSEWHERE}
    assert pages - {*NO_PAGES, "/login", "/login/start"} <= read
    assert all(f"def {name}(" in in_browser for name in ELSEWHERE.values())


def test_a_run_that_is_not_there_is_a_page_that_says_so(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        for path in ("", "/review", "/audit", "/live", "/step"):
            answer = visit.get(query(path, "nowhere.1"))
            assert answer.status_code == 404 and "nowhere.1" in answer.text
        assert visit.get("/run").status_code == 404


def test_a_plan_of_a_thousand_steps_is_shown_in_parts_and_its_form_is_fetched_when_it_is_opened(tmp_path: Path) -> None:
    steps = [step("s0", "read"), *(step(f"s{n}", "read", after=[f"s{(n - 1) // 3}"]) for n in range(1, 1_000))]
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        with server.agent() as agent:
            run = agent.start("read a lot", plan={"steps": steps}, thread="t").id
        plan, review, form = (
            whole(visit, "", run),
            whole(visit, "/review", run),
            whole(visit, "/edit", run, step="s998"),
        )
        found, linked = whole(visit, "/edit", run, **{"find-step": "S99"}), whole(visit, "/review", run, step="s998")
        one, later = whole(visit, "/revisions", run), whole(visit, "/revisions", run, left="0", right="1", part="20")
        fields = {"edit_as": "form", "step:s999:objective": "read on"}
        typed = visit.send(query("/review", run), query("/check", run), **fields)

    assert plan.count("<tr data-row") == 100 and plan.count('class="node') <= 200 and "Page 1 of 10" in plan
    assert "data-edit-step" not in review.split('<template id="new-step">')[0] and form.count("data-faults-of") == 1
    assert found.count("data-open-step") == 11 and 'id="edit-s998" data-edit-step="s998" data-key="s998" open' in linked
    assert one.count('class="change"') == 50 and "1000 steps differ. Page 1 of 20" in one and "Page 20 of 20" in later
    assert "changed: s999" in typed.text


def test_a_step_says_where_each_value_comes_from_and_how_each_attempt_ended(tmp_path: Path) -> None:
    failures = iter([ConnectionError("cut off")])

    def fetch(**_: object) -> str:
        if error := next(failures, None):
            raise error
        return "news"

    def tools(log: LoggedTools) -> list[object]:
        return [
            log.tool("fetch", fetch, effect="read", trusted=False),
            log.tool("read", lambda **_: "calm", effect="read", trusted=True),
            log.tool("mail", effect="external"),
        ]

    steps = [
        {**step("get", "fetch"), "attempts": 2},
        step("look", "read", what="wind"),
        {"id": "who", "objective": "whom?", "ask": "Whom?"},
        step("send", "mail", to="{who_result}", subject="wind", text="{get_result} {look_result}"),
    ]
    with served(tmp_path / "runs.db", tools=tools) as server, server.visit() as visit:
        with server.agent() as agent:
            run = agent.start("send", plan={"steps": steps}, thread="t")
            agent.resume("t", run.decide(approve=True, answers={"who": "ann"}))
        sent, got = whole(visit, "/step", run.id, step="send"), whole(visit, "/step", run.id, step="get")

    to, subject, text = (re.sub("<[^>]+>|\\s+", " ", one) for one in sent.split('<p class="argument">')[1:])
    assert re.match(r" +to +from people +from +who", to) and "&#34;ann&#34;" in to
    assert re.match(r" +subject +written in the plan", subject) and "untrusted" not in subject
    assert re.match(r" +text +untrusted: fetch +from +get +and +look", text) and "{get_result}" in text
    assert "news calm" in text and "held" not in got
    assert "failed" in got and "cut off" in got and got.count("<code>fetch</code>") >= 2


def test_the_budget_of_an_ended_run_says_what_was_expected(tmp_path: Path) -> None:
    counts = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
    thoughts = [AIMessage(text, usage_metadata=counts) for text in ("one", "two")]
    with served(tmp_path / "runs.db") as server, server.agent(*thoughts) as agent, server.visit() as visit:
        for thread in ("first", "second"):
            agent.start("think", plan={"steps": [{"id": "a", "objective": "think"}]}, thread=thread)
            shown = whole(visit, "/budget", agent.show(thread).id), agent.resume(thread, "approve")

        assert "<p>Expected" not in shown[0] and shown[1].compared.startswith("expected ")
        assert f"<p>E{shown[1].compared[1:]}.</p>" in whole(visit, "/budget", shown[1].id)


def test_calls_of_a_step_that_a_revision_changed_stand_under_before_this_revision(tmp_path: Path) -> None:
    def tools(log: object) -> list[object]:
        def lookup(key: str) -> str:
            raise LookupError(f"no {key}")

        return [log.tool("lookup", lookup, effect="read", trusted=True)]  # type: ignore[attr-defined]

    with served(tmp_path / "runs.db", tools=tools) as server:
        with server.agent({"steps": [step("look", "lookup", key="here")]}) as agent:
            agent.start("look", plan={"steps": [step("look", "lookup", key="gone")]}, thread="t")
            run = agent.resume("t", "approve").id
        with server.visit() as visit:
            page, plan = whole(visit, "/step", run, step="look"), whole(visit, "", run)

    assert page.count("before this revision") == 1 and "no gone" in page
    assert "not called yet" in page and 'data-status="pending"' in page
    assert 'data-status="failed"' not in plan


def test_what_needs_a_person_is_found_and_counted_and_the_next_request_follows(tmp_path: Path) -> None:
    def cut(**_: object) -> None:
        raise ValueError("cut off")

    def tools(log: object) -> list[object]:
        return [
            log.tool("read", effect="read"),  # type: ignore[attr-defined]
            log.tool("cut", cut, effect="read"),  # type: ignore[attr-defined]
            log.tool("pay", effect="external"),  # type: ignore[attr-defined]
        ]

    with served(tmp_path / "runs.db", tools=tools) as server, server.visit() as visit:
        with server.agent() as agent:
            first = agent.start("pay the invoice", plan={"steps": [step("a", "pay", to="ann")]}, thread="pay").id
            agent.start("read the news", plan={"steps": [step("a", "read")]}, thread="news")
        with server.agent(approval="never") as agent:
            agent.start("tear", plan={"steps": [step("a", "cut")]}, thread="torn")
        pages = {query: visit.get(query).text for query in ("/", "/?find=pay", "/?asks=failed", "/?asks=run_plan")}
        following, skipped = visit.get("/next"), visit.get(f"/next?after={first}")
        past_all = visit.get("/next?after=news.1")
        grouped = visit.get("/?group=who&order=cost&asks=run_plan&asks=failed").text
        costly = visit.get("/runs?order=duration&by=os").text
        wrong_order = visit.get("/?order=odd"), visit.get("/runs?order=odd")
        several = visit.get("/runs?status=failed&status=waiting").text
        wrong = visit.get("/runs?status=odd")
        words, of_words = "find=the&order=deadline", {"inbox": "find=the&order=deadline"}
        found = visit.get(f"/?{words}").text
        narrowed = [visit.get(str(httpx.URL("/next", params={**of_words, "after": one}))) for one in (first, "news.1")]
        opened = visit.get(query("/review", first, **of_words)).text
        decided = visit.send(query("/review", first), query("/decide", first, **of_words), decision="stop")

    assert "2 requests wait" in pages["/"] and "ended with less than it was to do" in pages["/"]
    shown = {
        query: [name for name in ("pay", "news", "torn") if f"<code>{name}.1" in page] for query, page in pages.items()
    }
    assert list(shown.values()) == [["pay", "news", "torn"], ["pay"], ["torn"], ["pay", "news"]]
    assert '<span dir="auto">pay to: ann</span>' in pages["/"] and "1 run stopped" in pages["/"]
    assert following.headers["location"] == query("/review", first)
    assert skipped.headers["location"] == query("/review", "news.1") and past_all.headers["location"] == "/?for=me"
    assert escape(query("/review", first, **of_words)) in found and escape("/next?inbox=find%3Dthe%26order") in found
    assert [one.headers["location"] for one in narrowed] == [query("/review", "news.1", **of_words), f"/?{words}"]
    assert escape(query("/decide", first, **of_words)) in opened and f"&amp;after={first}" in opened
    assert decided.headers["location"] == query("", first, **of_words)
    assert grouped.count("<h2 dir") == 1 and all(f"<code>{name}.1" in grouped for name in ("pay", "news", "torn"))
    assert costly.count("<tr data-row") == 3 and {one.status_code for one in wrong_order} == {400}
    assert several.count("<tr data-row") == 3 and wrong.status_code == 400


def test_a_run_that_ended_opens_on_its_answer_the_files_that_it_wrote_and_what_else_it_changed(tmp_path: Path) -> None:
    def tools(log: object) -> list[object]:
        written, work = {"path": "notes/<wind>.md", "bytes": 12}, str(tmp_path / "work")
        return [
            log.tool("keep", lambda **_: "kept", effect="write", folder=work),  # type: ignore[attr-defined]
            log.tool("write", lambda **_: written, effect="write", folder=work),  # type: ignore[attr-defined]
        ]

    steps = [step("a", "keep", path="sun.md"), step("b", "write", to="x"), step("c", "write", to="y", after=["b"])]
    plan = {"steps": steps, "answer": "it blows: {a_result}"}
    with served(tmp_path / "runs.db", tools=tools) as server, server.visit() as visit:
        with server.agent() as agent:
            agent.start("keep it", plan=plan, thread="t")
            before, run = visit.get(query("", "t.1")).text, agent.resume("t", "approve").id
        after = whole(visit, "", run)

    assert "it blows: kept" in after and after.index("it blows") < after.index("Drawing of the plan")
    files, _, others = after.partition("The record does not say which files")
    assert files.count("notes/&lt;wind&gt;.md") == 1 and "12 bytes" in files and str(tmp_path / "work") in files
    assert "sun.md" in others and "sun.md" not in files and "The record does not say" not in before
