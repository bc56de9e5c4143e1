"""The desk in a browser: whatever its content policy refuses, and every error of its scripts, fails the test."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from all_pages import PAGES, filled
from desk_server import HOSTILE, PLAN, REFUNDED, DeskServer, query, served, tools_of_a_shop, tools_of_every_kind
from oidc_provider import CLIENT, SECRET, provided

from planner_executor.graph.desk.security.claims import Oidc
from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.testing import LoggedTools, step

pytestmark = pytest.mark.e2e

OF_A_RUN = ("", "/review", "/timeline", "/results", "/revisions", "/effects", "/budget", "/audit", "/more")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_PHONES = ("color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block")
"""Rules whose outcome depends on the room that there is."""
ROOT = Path(__file__).parents[3]
PHONE = {"width": 360, "height": 740}


@contextmanager
def page_on(browser: Any, server: DeskServer, **context: Any) -> Iterator[Any]:
    """A page with a session."""
    with opened_page(browser, **context) as page:
        page.goto(f"{server.url}{server.at}/login?token={server.desk.door.links.issue()}")
        yield page


@contextmanager
def opened_page(browser: Any, **context: Any) -> Iterator[Any]:
    """A page of a new browser's; an answer such as 404 is no error of the page."""
    opened = browser.new_context(**context)
    opened.set_default_timeout(60_000)
    page = opened.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.on("dialog", lambda dialog: dialog.accept())
    yield page
    opened.close()
    assert [error for error in errors if "Failed to load resource" not in error] == []


@contextmanager
def two_reviewers(browser: Any, folder: Path, **options: Any) -> Iterator[tuple[DeskServer, Any, Any]]:
    """A desk behind a proxy, and pages of two people whom it names."""
    proxies = trusted_proxies(["127.0.0.1"], "--proxy")
    settings = DeskSettings(identity=proxy_identity("X-User", proxies, "--proxy"), links=False, proxies=proxies)
    with (
        served(folder / "runs.db", settings=settings, options=options) as server,
        opened_page(browser, extra_http_headers={"X-User": "ann"}) as ann,
        opened_page(browser, extra_http_headers={"X-User": "bob"}) as bob,
    ):
        yield server, ann, bob


def faults_of(page: Any, rules: Any = RULES) -> list[str]:
    """What axe finds wrong with a page."""
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("rules => axe.run({runOnly: rules})", rules)
    return [f"{page.url} {one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


def faults_of_all_looks(page: Any) -> list[str]:
    """What is wrong with a page in the light, in the dark, where only colours differ, and on a phone."""
    faults = faults_of(page)
    page.emulate_media(color_scheme="dark")
    faults += [f"dark: {one}" for one in faults_of(page, {"type": "rule", "values": ["color-contrast"]})]
    page.emulate_media(color_scheme="light")
    before = page.viewport_size
    page.set_viewport_size(PHONE)
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > PHONE["width"]:
        faults.append(f"{page.url} is {wide} pixels wide")
    faults += [f"phone: {one}" for one in faults_of(page, {"type": "rule", "values": list(OF_PHONES)})]
    page.set_viewport_size(before)
    return faults


def test_a_whole_run_from_goal_to_end_with_an_edit_and_a_replan(chat_browser: Any, tmp_path: Path) -> None:
    """Started, edited, replanned with feedback, approved, watched and read in one tab."""
    other = {"steps": [step("second", "read", what="sun"), step("send", "mail", after=["second"], to="ann")]}
    with served(tmp_path / "runs.db", PLAN, other) as server, page_on(chat_browser, server) as page:
        page.get_by_role("link", name="Start", exact=True).click()
        page.get_by_label("Goal").fill("send the news")
        page.get_by_role("button", name="Plan it").click()
        page.get_by_role("link", name="Review", exact=True).first.click()
        page.get_by_label("Why, or what to change").fill("look at the sun")
        page.get_by_role("button", name="Plan again").click()
        page.get_by_role("link", name="Review", exact=True).first.click()
        page.locator(".node[data-step=send]").click()
        page.locator("[data-edit-step=send]").get_by_label("Objective").fill("tell Ann")
        page.get_by_text("The plan is valid. Changes: changed: send").wait_for()
        page.get_by_role("button", name="Add a step").click()
        added = page.get_by_role("group", name="New step")
        added.get_by_label("Objective").fill("count the words")
        added.get_by_label("Tools", exact=True).fill("wordcount")
        added.get_by_text("unknown tool 'wordcount'").wait_for()
        added.get_by_label("Tools", exact=True).fill("read")
        added.get_by_role("button", name="Move the new step up").click()
        page.get_by_text("The plan is valid. Changes: added: step_1; changed: send").wait_for()
        page.get_by_role("button", name="Run the plan as edited").click()
        page.locator("#run-status [data-status=succeeded]").wait_for()
        page.locator(".node[data-step=send][data-status=succeeded]").wait_for()
        page.get_by_role("link", name="Revisions").click()

        assert page.locator("tbody tr").count() >= 3
        with server.agent() as agent:
            (run,) = agent.list()
            plan = agent.show(run.id).plan
        assert plan is not None and list(plan.by_id) == ["second", "step_1", "send"]
        assert server.tools.named("mail") == [{"to": "ann"}]


def test_alike_requests_fit_a_phone_and_one_is_unticked(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", tools=tools_of_every_kind) as server, server.agent() as agent:
        runs = [
            agent.start(f"tell {to}", plan={"steps": [step("send", "mail", to=f"{to}@example.com")]}, thread=to).id
            for to in ("ann", "bob", "mallory" * 4)
        ]
        with page_on(chat_browser, server) as page:
            page.goto(f"{server.url}{server.at}/alike")
            assert faults_of_all_looks(page) == []
            page.get_by_label(runs[-1]).uncheck()
            page.get_by_role("button", name="Approve those ticked").click()
            page.get_by_text("decided").nth(1).wait_for()

            assert faults_of_all_looks(page) == []
        assert [agent.show(run).status for run in runs] == ["succeeded", "succeeded", "waiting"]


@pytest.mark.slow
def test_300_nightly_plans_are_found_in_the_inbox_and_decided_by_keys_in_batches(
    chat_browser: Any, tmp_path: Path
) -> None:
    def pressed_to(page: Any, what: str) -> None:
        while page.evaluate("document.activeElement.textContent.trim()") != what:
            page.keyboard.press("Tab")

    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            for n in range(60):  # other plans, which have waited longer than any batch looks
                agent.start("by hand", plan={"steps": [step(f"s{n}", "mail", to="ann")]})
            for n in range(300):
                plan = {"steps": [step("send", "mail", to=f"c{n}@example.com")]}
                agent.start(f"remind {n}", plan=plan, tags=["nightly"])
        page.goto(server.url)
        page.get_by_text("360 requests wait").wait_for()
        page.keyboard.press("/")
        page.keyboard.type("nightly")
        pressed_to(page, "Filter")
        page.keyboard.press("Enter")
        page.get_by_text("300 requests wait").wait_for()
        pressed_to(page, "Decide alike plans together")
        page.keyboard.press("Enter")
        for left in range(250, -1, -50):
            page.get_by_text("50 requests for one plan").wait_for()
            page.keyboard.press("a")
            with page.expect_navigation():
                page.keyboard.press("Enter")
            assert page.locator(".notice", has_text="decided").count() == 50
            assert page.get_by_text("50 requests for one plan").count() == (left > 0)
        with server.agent() as agent:
            assert agent.inbox().total == 60 and len(agent.list(status="succeeded", limit=400)) == 300


OWNER = """
import sys
from planner_executor.graph.agent import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel

log = LoggedTools()
tools = [log.tool("read", lambda **_: sys.stdin.readline().strip(), effect="read"), log.tool("mail")]
with Agent.open(sys.argv[1], tools=tools, planner=ScriptedModel(())) as agent:
    agent.resume(sys.argv[2], "approve")
"""


def test_a_run_of_another_process_is_seen_live(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        page.goto(server.url + query("", run))
        words = [sys.executable, "-c", OWNER, str(server.database), run]
        with subprocess.Popen(words, stdin=subprocess.PIPE, text=True, cwd=ROOT) as owner:
            page.locator(".node[data-step=look][data-status=running]").wait_for(timeout=60_000)
            owner.communicate("calm\n", timeout=60)
        page.locator(".node[data-step=send][data-status=succeeded]").wait_for()
        page.locator("#run-status [data-status=succeeded]").wait_for()
        numbers = [int(one) for one in page.locator("#feed .seq").all_inner_texts()]

        assert owner.returncode == 0 and numbers == list(range(numbers[0], 0, -1))


def test_hostile_results_stay_text(chat_browser: Any, tmp_path: Path) -> None:
    def tools(log: LoggedTools) -> list[Any]:
        return [log.tool("read", lambda **_: {HOSTILE: HOSTILE}, effect="read")]

    with served(tmp_path / "runs.db", tools=tools) as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            agent.start(HOSTILE, plan={"steps": [step("a", "read", what=HOSTILE)]}, thread=HOSTILE)
            run = agent.resume(HOSTILE, "approve").id
        for path in (*OF_A_RUN, "/value"):
            page.goto(server.url + query(path, run))
            assert page.locator("main script, main style, main [onload]").count() == 0
        page.goto(server.url + query("/step", run, step="a"))
        assert "<script>alert(1)</script>" in page.get_by_role("region", name="Result", exact=True).inner_text()


def test_a_page_whose_request_was_decided_meanwhile_says_so_and_sends_no_decision(
    chat_browser: Any, tmp_path: Path
) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
            page.goto(server.url + query("/review", run))
            agent.resume(run, "reject")
        page.locator("#moved").wait_for()
        page.get_by_role("button", name="Approve").click()
        page.get_by_text("Nothing was decided").wait_for()

        assert server.tools.calls == []


def test_a_session_that_ends_under_a_page_decides_nothing_and_leads_back_by_the_login(
    chat_browser: Any, tmp_path: Path
) -> None:
    with (
        served(tmp_path / "runs.db") as server,
        page_on(chat_browser, server) as page,
        page_on(chat_browser, server) as inbox,
        server.agent() as agent,
    ):
        run = agent.start("send", plan=PLAN, thread="t").id
        inbox.goto(server.url)
        inbox.locator("#connection[data-state=live]").wait_for()
        page.goto(server.url + query("/review", run))
        door = server.desk.door
        door.settings = replace(door.settings, session_s=-1)
        page.get_by_role("button", name="Approve").click()
        page.get_by_role("heading", name="Your session has ended").wait_for()
        assert faults_of(page) == []
        agent.start("another", plan=PLAN, thread="other")  # the inbox is refreshed, by a stream that is open still
        inbox.get_by_role("heading", name="Sign in").wait_for()
        assert server.tools.calls == []

        door.settings = replace(door.settings, session_s=60)
        page.get_by_role("link", name="Sign in again").click()

        page.get_by_role("heading", name="Plan, revision 1").wait_for()


def test_a_stream_opens_however_late_its_script_comes(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page, server.agent() as agent:
        run = agent.start("send", plan=PLAN, thread="t").id

        def come_late(route: Any) -> None:
            page.wait_for_function("() => window.htmx")
            page.evaluate("async () => { for (let turn = 0; turn < 20; turn++) await new Promise(setTimeout); }")
            route.continue_()

        page.route("**/hx-sse*", come_late)
        page.goto(server.url + query("/review", run))

        page.locator("#connection[data-state=live]").wait_for()


def test_of_two_reviewers_one_decides_and_the_other_sees_who_did(chat_browser: Any, tmp_path: Path) -> None:
    with two_reviewers(chat_browser, tmp_path) as (server, ann, bob), server.agent() as agent:
        run = agent.start("send", plan=PLAN, thread="t").id
        for page in (ann, bob):
            page.goto(server.url + query("/review", run))
            page.locator("#connection[data-state=live]").wait_for()
        ann.get_by_role("button", name="Approve").click()
        bob.locator("#moved").wait_for()
        bob.get_by_role("button", name="End the run").click()

        bob.get_by_text("server:ann").wait_for()
        ann.locator("#run-status [data-status=succeeded]").wait_for()


def test_under_a_quorum_both_reviewers_count(chat_browser: Any, tmp_path: Path) -> None:
    two = {"approvers": {"quorum": 2}}
    with (
        two_reviewers(chat_browser, tmp_path, policy=two) as (server, ann, bob),
        server.agent(policy=two) as agent,
    ):
        run = agent.start("send", plan=PLAN, thread="t").id
        for page in (ann, bob):
            page.goto(server.url + query("/review", run))
        ann.get_by_role("button", name="Approve").click()
        ann.locator("#run-status [data-status=waiting]").wait_for()
        assert server.tools.calls == []
        bob.get_by_role("button", name="Approve").click()  # a vote from a page that was opened before the first counts

        bob.locator("#run-status [data-status=succeeded]").wait_for()
        bob.get_by_role("link", name="Audit").click()
        for name in ("server:ann", "server:bob"):
            assert bob.get_by_text(name).first.is_visible()


def test_signing_in_at_a_provider_of_another_site_leads_to_the_page_that_was_wanted_and_out_again(
    chat_browser: Any, tmp_path: Path
) -> None:
    """To a browser `localhost` is another site than 127.0.0.1: the session's cookie is left out on the way back."""
    with provided() as provider:
        provider.asks = True
        provider.discovered = {"end_session_endpoint": f"{provider.issuer}/end"}
        oidc = Oidc(provider.issuer, CLIENT, SECRET)
        with (
            served(tmp_path / "runs.db", settings=DeskSettings(oidc=oidc, links=False)) as server,
            opened_page(chat_browser) as page,
        ):
            server.desk.door.provider.redirect = f"{server.url}/login/callback"
            page.goto(f"{server.url}/runs?status=failed")
            assert faults_of(page) == []
            page.get_by_role("link", name="Sign in").click()
            page.get_by_role("link", name="Agree").click()
            page.get_by_role("heading", name="No run matches").wait_for()
            assert page.get_by_text("Ada@example.org").is_visible()
            page.route("**/end?*", lambda route: route.fulfill(status=204))  # the browser stays where it is
            page.get_by_role("button", name="Sign out").click()
            page.get_by_role("heading", name="Signed out").wait_for()
            assert faults_of_all_looks(page) == []
            page.unroute("**/end?*")
            page.get_by_role("link", name="Sign out at").click()
            page.get_by_role("link", name="Sign in").wait_for()
            page.goto(server.url)

            assert page.get_by_role("heading", name="Sign in").is_visible()


def test_a_run_is_found_read_and_approved_by_keys_alone(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            agent.start("send", plan=PLAN, thread="t")
        page.goto(server.url)
        page.keyboard.press("?")
        page.get_by_role("heading", name="Keys").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Plan, revision 1").wait_for()
        page.keyboard.press("r")
        assert page.evaluate("document.activeElement.name") == "message"
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("a")
        page.keyboard.press("Enter")
        page.locator("#run-status [data-status=succeeded]").wait_for()


def test_the_first_key_after_the_list_of_keys_is_closed_acts(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            agent.start("send", plan=PLAN, thread="t")
        page.goto(server.url)
        page.keyboard.press("?")
        at_once = """() => {
          document.querySelector("#help").close();  // as Escape does; the focus leaves it with the next frame
          document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}));
          return document.activeElement.textContent;
        }"""

        assert page.evaluate(at_once) == "send"


LIST = re.compile(r"/runs\??$")
CHOSEN = "document.activeElement.textContent"


def test_a_list_that_grows_under_the_keys_keeps_the_run_that_was_chosen(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page, server.agent() as agent:
        agent.start("first", plan=PLAN, thread="first")
        page.goto(f"{server.url}/runs")
        page.locator("#connection[data-state=live]").wait_for()
        page.keyboard.press("j")
        agent.start("second", plan=PLAN, thread="second")  # the latest comes first
        page.get_by_role("link", name="second").wait_for()
        assert page.evaluate(CHOSEN) == "first"
        page.keyboard.press("Enter")

        page.get_by_role("heading", name="first", exact=True).wait_for()


def test_an_inbox_from_which_others_decide_keeps_the_run_that_was_chosen_or_its_place(
    chat_browser: Any, tmp_path: Path
) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page, server.agent() as agent:
        for name in ("first", "second", "third"):
            agent.start(name, plan=PLAN, thread=name)
        page.goto(server.url)
        page.locator("#connection[data-state=live]").wait_for()
        page.keyboard.press("j")
        page.keyboard.press("j")
        for name, chosen in (("first", "second"), ("second", "")):
            agent.resume(name, "reject")
            page.get_by_role("link", name=name).wait_for(state="detached")
            assert (
                page.evaluate("document.activeElement.matches('a') ? document.activeElement.textContent : ''") == chosen
            )
        page.keyboard.press("j")

        assert page.evaluate(CHOSEN) == "third"


def test_a_step_that_changes_keeps_the_form_that_is_being_filled_in(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page, server.agent() as agent:
        run = agent.start("send", plan=PLAN, thread="t").id
        page.goto(server.url + query("/step", run, step="look"))
        page.locator("#connection[data-state=live]").wait_for()
        page.get_by_text("Skip it, or give").click()
        page.get_by_label("Why it is skipped").fill("no wind")
        with page.expect_response(lambda answer: "/run/step" in answer.url):
            page.evaluate("htmx.trigger(document.querySelector('#live'), 'desk:changed')")
        page.locator(".htmx-request").wait_for(state="detached")

        assert page.get_by_label("Why it is skipped").input_value() == "no wind"
        assert page.evaluate("document.activeElement.name") == "why:look"


def test_seven_tabs_load_since_a_tab_that_nobody_sees_keeps_no_stream(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        hide = "Object.defineProperty(document, 'hidden', {get: () => true})"
        for _ in range(7):
            tab = page.context.new_page()
            tab.add_init_script(hide)
            tab.goto(server.url + query("", run))
            tab.get_by_role("heading", name="Steps").wait_for()
        page.goto(server.url + query("", run))
        page.locator("#connection[data-state=live]").wait_for()

        assert sum(feed.readers for feed in server.desk.watch.feeds.values()) == 1


def test_a_list_that_cannot_be_refreshed_stays_and_one_that_nobody_saw_catches_up(
    chat_browser: Any, tmp_path: Path
) -> None:
    seen = "seen => Object.defineProperty(document, 'hidden', {configurable: true, get: () => !seen})"
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page, server.agent() as agent:
        agent.start("first", plan=PLAN, thread="first")
        page.goto(f"{server.url}/runs")
        page.locator("#connection[data-state=live]").wait_for()
        page.route(LIST, lambda route: route.fulfill(status=503, body="<p>locked</p>"))
        agent.start("second", plan=PLAN, thread="second")
        page.get_by_text("not up to date").wait_for()
        assert page.get_by_role("link", name="first").is_visible()
        page.unroute(LIST)
        page.get_by_role("link", name="second").wait_for()
        page.locator("#connection[data-state=live]").wait_for()
        for is_seen in (False, True):
            page.evaluate(seen, is_seen)
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
            if not is_seen:
                page.locator("#connection", has_text="paused").wait_for()
                agent.start("third", plan=PLAN, thread="third")

        page.get_by_role("link", name="third").wait_for()


def test_no_page_has_a_fault_that_axe_finds(chat_browser: Any, tmp_path: Path) -> None:
    """Light, dark, and 360 pixels wide."""
    with filled(tmp_path) as server, page_on(chat_browser, server) as page:
        faults = []
        for path in (path for paths in PAGES.values() for path in paths):
            page.goto(server.url + path)
            faults += faults_of_all_looks(page)
        page.goto(server.url + query("/review", "plan.1"))
        page.locator("#edit > summary").click()
        page.get_by_role("button", name="Add a step").click()
        page.get_by_text("is missing").or_(page.get_by_text("unknown")).first.wait_for(state="attached")
        faults += faults_of_all_looks(page)
        page.keyboard.press("Escape")
        page.locator("#help-button").click()
        faults += faults_of_all_looks(page)

    assert faults == []


def test_a_plan_of_1000_steps_is_read_by_keys_in_a_page_of_300(chat_browser: Any, tmp_path: Path) -> None:
    """Found, opened, resized and scrolled; what is out of trust or leaves the machine is marked."""
    steps = [step(f"s{n}", "read", after=[f"s{n - 20}"] if n >= 20 else []) for n in range(1_000)]
    steps[7] = step("s7", "fetch")
    steps[27] = step("s27", "mail", to="{s7_result}")
    with served(tmp_path / "runs.db", tools=tools_of_every_kind) as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("many", plan={"steps": steps}, thread="t").id
        page.goto(server.url + query("", run))
        page.locator("#connection[data-state=live]").wait_for()
        nodes = "document.querySelectorAll('.node, tr[data-row]').length"
        assert page.evaluate(nodes) <= 300
        page.keyboard.press("/")
        page.keyboard.type("s27")
        page.get_by_role("heading", name="Steps 11 of 1000").wait_for()
        assert page.evaluate(nodes) <= 300 and page.evaluate("document.activeElement.id") == "find"
        for words in ("leaves the machine", "untrusted input"):
            assert page.get_by_role("row", name="s27 ", exact=False).get_by_text(words).is_visible()
        assert page.locator(".node[data-step=s27] .mark-untrusted").count() == 1
        graph = page.get_by_role("region", name="Drawing of the plan")
        graph.focus()
        width = "Number(document.querySelector('.plan-graph').getAttribute('width'))"
        whole = page.evaluate(width)
        page.keyboard.press("+")
        assert page.evaluate(width) > whole
        page.keyboard.press("0")
        assert page.evaluate(f"{width} <= document.querySelector('.graph').clientWidth")
        page.keyboard.press("1")
        assert page.evaluate(width) == whole
        faults = faults_of_all_looks(page)
        page.goto(server.url + query("", run))
        page.locator("[data-fold]").first.click()
        page.get_by_role("link", name="Close all layers").wait_for()
        assert page.locator(".node[data-step=s7]").count() == 1 and page.evaluate(nodes) <= 300

    assert faults == []


def test_what_was_written_stays_until_the_decision_and_is_shown_beside_another_request(
    chat_browser: Any, tmp_path: Path
) -> None:
    other = {"steps": [step("other", "read", what="sun")]}
    kept = "Object.keys(sessionStorage).filter(name => name.startsWith('draft:')).length"
    with served(tmp_path / "runs.db", other, other) as server, page_on(chat_browser, server) as page:
        with server.agent(other) as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
            review, words = server.url + query("/review", run), page.get_by_label("Why, or what to change")
            page.goto(review)
            words.fill("look at the <b>moon</b>")
            page.goto(server.url)
            page.goto(review)
            assert words.input_value() == "look at the <b>moon</b>"
            agent.resume(run, "look at the sun")
            page.goto(review)
        assert words.input_value() == "" and page.locator("#draft").get_by_text("look at the <b>moon</b>").is_visible()
        faults = faults_of(page)
        page.get_by_role("button", name="Drop it").click()
        assert page.evaluate(kept) == 0
        words.fill("fine")
        assert page.evaluate(kept) == 1
        page.get_by_role("button", name="Approve and run").click()
        page.locator("#run-status [data-status=succeeded]").wait_for()

        assert page.evaluate(kept) == 0 and faults == []


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_an_argument_is_corrected_in_the_panel_of_its_step_and_the_draft_survives(
    chat_browser: Any, tmp_path: Path, width: int
) -> None:
    with (
        served(tmp_path / "runs.db", tools=tools_of_a_shop) as server,
        page_on(chat_browser, server, viewport={"width": width, "height": 860}) as page,
    ):
        with server.agent() as agent:
            run = agent.start("refund order 4711", plan=REFUNDED, thread="t").id
        review = server.url + query("/review", run)
        page.goto(review)
        page.locator(".node[data-step=pay]").click()
        panel = page.locator("[data-edit-step=pay]")
        assert panel.locator("summary").first.evaluate("one => one === document.activeElement")
        for _ in range(9):  # by keys alone, from the panel's head to the first argument
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.name") == "step:pay:args/to":
                break
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("ben@example.com")
        panel.get_by_label("amount").fill("501")
        panel.get_by_text("501 is greater than the maximum of 500").first.wait_for()
        invalid = panel.locator("[aria-invalid=true]").get_attribute("name")
        faults = faults_of_all_looks(page)
        page.goto(server.url)
        page.goto(review)
        assert panel.get_by_label("Paid to").input_value() == "ben@example.com" and invalid == "step:pay:args/amount"
        page.get_by_role("button", name="Add a step").click()
        added = page.get_by_role("group", name="New step")
        added.get_by_label("Tools", exact=True).fill("refund")
        added.get_by_label("Objective").click()
        added.get_by_label("Paid to").fill("cem@example.com")
        added.get_by_label("do pay").check()
        page.goto(server.url)
        page.goto(review)
        added.get_by_label("Paid to").wait_for()
        assert (
            added.get_by_label("Paid to").input_value() == "cem@example.com"
            and added.get_by_label("do pay").is_checked()
        )
        added.get_by_role("button", name="Remove this step").click()
        panel.get_by_label("amount").fill("12.5")
        page.locator("#faults td.after", has_text="12.5").wait_for()
        assert page.locator("#faults del", has_text="ann").count() == 1
        faults += faults_of_all_looks(page)
        page.get_by_role("button", name="Run the plan as edited").click()
        page.locator("#run-status [data-status=succeeded]").wait_for()

        assert server.tools.named("refund") == [{"to": "ben@example.com", "amount": 12.5, "currency": "EUR"}]
        assert faults == []


def test_what_was_written_last_is_checked_however_late_the_answer_before_it_comes(
    chat_browser: Any, tmp_path: Path
) -> None:
    with (
        served(tmp_path / "runs.db", tools=tools_of_a_shop) as server,
        page_on(chat_browser, server) as page,
    ):
        with server.agent() as agent:
            run = agent.start("refund order 4711", plan=REFUNDED, thread="t").id
        page.goto(server.url + query("/review", run))
        page.locator(".node[data-step=pay]").click()
        page.route("**/check*", lambda _: None, times=1)  # never answered
        for amount in ("501", "502", "12.5"):
            with page.expect_event("request", lambda request: "/check" in request.url):
                page.locator("[data-edit-step=pay]").get_by_label("amount").fill(amount)
        page.locator("#faults td.after", has_text="12.5").wait_for()


def test_a_panel_of_a_large_plan_is_found_by_words_and_fetched_when_it_is_opened(
    chat_browser: Any, tmp_path: Path
) -> None:
    steps = [step(f"s{n}", "read", after=[f"s{(n - 1) // 3}"] if n else []) for n in range(60)]
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("read a lot", plan={"steps": steps}, thread="t").id
        page.goto(server.url + query("/review", run))
        page.locator("#edit > summary").click()
        page.get_by_label("Find a step to edit").fill("s57")
        page.locator("[data-open-step=s57]").wait_for()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("[data-edit-step=s57]").get_by_label("Objective").fill("read it twice")
        page.get_by_text("Changes: changed: s57").wait_for()
        faults = faults_of_all_looks(page)
        page.evaluate("""() => {
            const name = sessionStorage.key(0), draft = JSON.parse(sessionStorage.getItem(name));
            for (let n = 50; n < 56; n += 1) draft.fields[`step:s${n}:objective `] = `read page ${n}`;
            sessionStorage.setItem(name, JSON.stringify(draft));
        }""")
        page.reload()
        page.locator("[data-edit-step=s55]").wait_for()

        objectives = [
            page.locator(f"[data-edit-step=s{n}]").get_by_label("Objective").input_value() for n in (50, 55, 57)
        ]
        assert objectives == ["read page 50", "read page 55", "read it twice"]
        assert faults == []


def test_nothing_that_was_written_is_left_for_the_next_person_or_after_signing_out(
    chat_browser: Any, tmp_path: Path
) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        page.goto(server.url)
        page.evaluate('sessionStorage.setItem(\'draft:["bob","t.1"]\', \'{"digest": "", "fields": {}}\')')
        page.goto(server.url + query("/review", run))
        assert page.evaluate("sessionStorage.length") == 0
        page.get_by_label("Why, or what to change").fill("mine")
        assert page.evaluate("sessionStorage.length") == 1
        page.get_by_role("button", name="Sign out").click()
        page.get_by_role("heading", name="Sign in").wait_for()

        assert page.evaluate("sessionStorage.length") == 0


def test_a_server_that_is_gone_and_a_session_that_has_ended_are_said_as_such(chat_browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, page_on(chat_browser, server) as page:
        with server.agent() as agent:
            run = agent.start("send", plan=PLAN, thread="t").id
        page.goto(server.url + query("/review", run))
        page.locator("#connection[data-state=live]").wait_for()
        for answer, said in (
            (lambda route: route.abort(), "the server does not answer"),
            (lambda route: route.fulfill(status=401), "sign in again"),
        ):
            page.route("**/run/review*", answer)
            page.evaluate("document.dispatchEvent(new CustomEvent('htmx:sse:error'))")
            page.locator("#connection", has_text=said).wait_for()
            page.unroute("**/run/review*")


@pytest.mark.parametrize("size", [(1440, 900), (1024, 768), (390, 844)], ids=str)
def test_what_is_paid_to_whom_and_the_buttons_stay_in_sight_however_far_one_scrolls(
    chat_browser: Any, tmp_path: Path, size: tuple[int, int]
) -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "string"}, "to": {"type": "string"}}}

    def tools(log: LoggedTools) -> list[Any]:
        words = {"summary": "refund {amount} EUR to {to}", "reversible": False}
        return [log.tool("read", effect="read"), log.tool("refund", schema=schema, effect="external", **words)]

    steps = [step(f"s{n}", "read") for n in range(30)] + [step("pay", "refund", amount="129.90", to="ann@example.com")]
    view = {"width": size[0], "height": size[1]}
    with served(tmp_path / "runs.db", tools=tools) as server, page_on(chat_browser, server, viewport=view) as page:
        with server.agent() as agent:
            run = agent.start("refund", plan={"steps": steps}, thread="t").id
        page.goto(server.url + query("/review", run))
        chip = page.get_by_text("refund 129.90 EUR to ann@example.com").first
        button = page.get_by_role("button", name="Approve and run")
        for place in (0, 2_000):
            page.mouse.wheel(0, place)
            page.wait_for_function("least => scrollY >= least", arg=min(place, 200))
            for one in (chip, button):
                box = one.bounding_box()
                assert box["y"] >= 0 and box["y"] + box["height"] <= size[1]
        assert page.get_by_text("cannot be undone").first.is_visible()
        faults = faults_of_all_looks(page)

    assert faults == []


def test_no_answer_to_a_form_has_a_fault_that_axe_finds(chat_browser: Any, tmp_path: Path) -> None:
    with filled(tmp_path) as server, page_on(chat_browser, server) as page:
        page.goto(server.url + query("/review", "plan.1"))
        page.get_by_label("Why, or what to change").fill("shorter")
        page.evaluate("document.querySelector('[name=digest]').value = 'another'")
        page.get_by_role("button", name="Approve and answer").click()
        page.get_by_role("heading", name="Nothing was decided").wait_for()
        faults = faults_of_all_looks(page)
        page.goto(server.url + query("/review", "budget.1"))
        page.get_by_label("New limit of tool_calls").fill("none")
        page.get_by_role("button", name="Go on with the new limit").click()
        page.locator("#wrong").wait_for()
        faults += faults_of_all_looks(page)
        page.goto(f"{server.url}/start")
        page.get_by_label("Goal").fill(" ")
        page.get_by_role("button", name="Plan it").click()
        page.get_by_text("say what is to be done").wait_for()
        faults += faults_of_all_looks(page)
        page.get_by_label("Goal").fill("tell Ann")
        page.get_by_text("Bring a plan").click()
        page.get_by_label("Plan as YAML or JSON").fill('{"steps": [{"id": "a", "objective": "Go", "tool": "nobody"}]}')
        page.get_by_role("button", name="Show its steps").click()
        page.get_by_text("The plan that you bring").wait_for()
        faults += faults_of_all_looks(page)

    assert faults == []


def test_no_page_before_the_desk_has_a_fault_that_axe_finds(chat_browser: Any, tmp_path: Path) -> None:
    proxies = trusted_proxies(["127.0.0.1"], "--proxy")
    by_proxy = DeskSettings(identity=proxy_identity("X-User", proxies, "--proxy"), links=False)
    faults = []
    for name, settings in (("link", DeskSettings()), ("proxy", by_proxy)):
        with served(tmp_path / f"{name}.db", settings=settings) as server, opened_page(chat_browser) as page:
            for path in ("/", "/login?token=used"):
                page.goto(server.url + path)
                page.get_by_role("heading", name="Sign in").wait_for()
                faults += faults_of_all_looks(page)
            if name == "link":
                page.get_by_role("button", name="Write a new link to the terminal").click()
                page.get_by_text("A new link was written").wait_for()
                faults += faults_of_all_looks(page)

    assert faults == []
