"""agent-chat-ui in a browser, read by its visible text as a person reads it.

The page is built from the template that npm holds. Its buttons are of an older kind than our requests, so decisions are
sent from the page as its newer versions send them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
GOAL = "Audit why the checkout service is failing and draft a fix"
APPROVE = {"decisions": [{"type": "approve"}]}
REJECT = {"decisions": [{"type": "reject", "message": "stop"}]}
WAIT_MS = 60_000
ENDED = re.compile(r"^14$|^rejected", re.MULTILINE)
"""How the run of two reviewers may have ended."""
CALL = re.compile("review_[0-9a-f]{24}")
WAITS = {
    "steps": [
        {"id": "look_around", "objective": "look", "tool": "look"},
        {"id": "ask_first", "objective": "wait", "tool": "ask", "depends_on": ["look_around"]},
        {"id": "ask_again", "objective": "wait", "tool": "ask", "depends_on": ["ask_first"]},
    ]
}
DECIDE = """async ([url, assistant, command, waits]) => {
    const body = JSON.stringify({assistant_id: assistant, command, on_disconnect: "cancel"});
    const request = fetch(url, {method: "POST", headers: {"Content-Type": "application/json"}, body});
    if (!waits) return null;
    const answer = await request;
    await answer.text();
    return answer.status;
}"""


@dataclass
class Chat:
    """A tab of agent-chat-ui."""

    page: Any
    server: Any
    address: str
    graph: str = "planner_executor"

    def open(self, thread: str | None = None) -> None:
        chosen = f"&threadId={thread}" if thread else ""
        self.page.goto(f"{self.address}/?apiUrl={self.server.url}&assistantId={self.graph}{chosen}")

    def write(self, words: str) -> None:
        box = self.page.get_by_placeholder("Type your message...")
        box.fill(words)
        box.press("Enter")

    def reads(self, words: str) -> None:
        """Wait until the page shows these words."""
        self.page.get_by_text(words).last.wait_for(timeout=WAIT_MS)

    @property
    def text(self) -> str:
        return str(self.page.inner_text("body"))

    @property
    def thread(self) -> str:
        found = re.search("threadId=([0-9a-f-]+)", self.page.url)
        assert found is not None, self.page.url
        return found[1]

    @property
    def asks(self) -> bool:
        return bool(self.page.get_by_text("Human Interrupt").count())

    def decide(self, answer: Any, *, waits: bool = True) -> int | None:
        """Answer the open request; return the status once the server is done, or None at once."""
        url = f"{self.server.url}/threads/{self.thread}/runs/wait"
        status: int | None = self.page.evaluate(DECIDE, [url, self.graph, {"resume": answer}, waits])
        return status

    def reload(self) -> None:
        self.page.reload()
        self.page.get_by_placeholder("Type your message...").wait_for(timeout=WAIT_MS)

    def widest(self) -> int:
        """Return the width of the widest thing in the column of messages, in pixels."""
        wide = "() => Math.max(...[...document.querySelectorAll('.max-w-3xl *')].map(e => e.scrollWidth))"
        return int(self.page.evaluate(wide))


@pytest.fixture
def chat(chat_browser: Any, chat_page: str) -> Iterator[Callable[..., Chat]]:
    """Return how to open a tab of a browser of its own."""
    contexts = []

    def open_tab(server: Any, graph: str = "planner_executor", thread: str | None = None, **headers: str) -> Chat:
        contexts.append(chat_browser.new_context(viewport={"width": 1100, "height": 900}, extra_http_headers=headers))
        tab = Chat(contexts[-1].new_page(), server, chat_page, graph)
        tab.open(thread)
        return tab

    yield open_tab
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def incident(serve: Callable[..., Any]) -> Any:
    """A server over the documents of the incident."""
    return serve(PLANNER_EXECUTOR_DOCS=str(REPOSITORY / "examples" / "incident"))


def test_the_incident_from_goal_to_end(chat: Callable[..., Chat], incident: Any) -> None:
    tab = chat(incident)

    tab.write(GOAL)
    tab.reads("Your decision is needed")
    tab.reads("Human Interrupt")
    first = tab.text
    assert tab.decide(APPROVE) == 200
    tab.reload()
    tab.reads("step_7")
    revised = tab.text
    assert tab.decide(APPROVE) == 200
    tab.reload()
    tab.reads("service/delivery.py:25")

    assert GOAL in first and "write_report" in first and "run_plan" in first
    assert "step_2" in revised and len(CALL.findall(revised)) == 1
    assert "workspace/fix-draft.md" in tab.text and not tab.asks and not CALL.search(tab.text)
    assert (incident.home / "workspace" / "fix-draft.md").exists()


def test_of_two_reviewers_one_wins_and_both_see_what_was_decided(chat: Callable[..., Chat], incident: Any) -> None:
    ann = chat(incident)
    ann.write("What is 2 * (3 + 4)?")
    ann.reads("Human Interrupt")
    bob = chat(incident, thread=ann.thread)
    bob.reads("Human Interrupt")

    bob.decide(APPROVE, waits=False)
    ann.decide(REJECT)
    bob.decide(REJECT)
    for tab in (ann, bob):
        tab.reload()
        tab.page.get_by_text(ENDED).wait_for(timeout=WAIT_MS)

    assert not ann.asks and not bob.asks
    assert ENDED.findall(ann.text) == ENDED.findall(bob.text) and len(set(ENDED.findall(bob.text))) == 1


def test_a_reload_in_mid_run_stops_it_and_continue_takes_it_up(
    chat: Callable[..., Chat], waiting_server: Any, waiting: Callable[..., Any]
) -> None:
    thread = waiting()
    thread.run({"messages": [{"role": "user", "content": "wait for it"}], "plan": WAITS})
    tab = chat(waiting_server, "waiting", thread.id)
    tab.reads("Human Interrupt")

    tab.decide(APPROVE, waits=False)
    waiting_server.until(lambda: "ask" in waiting_server.effects(), "the tool is called")
    tab.reload()
    waiting_server.until(lambda: thread.client.threads.get(thread.id)["status"] != "busy", "the run is cancelled")
    tab.write("continue")
    tab.reads("1 of 3 steps done. Running: ask_first.")
    waiting_server.open_gate("rain")
    tab.reads("2 of 3 steps done. Running: ask_again.")
    shown = tab.text
    waiting_server.open_gate("more rain")
    tab.page.get_by_text("more rain", exact=True).wait_for(timeout=WAIT_MS)

    assert "1 of 3" not in shown and shown.count("steps done") == 1
    assert waiting_server.effects().count("look") == 1 and "steps done" not in tab.text
