"""agent-chat-ui in a browser, read by its visible text as a person reads it.

The page is built from the template that npm holds. It draws buttons only for requests of an older kind
(`action_request` and `config`), and a message is a new goal, so a person decides with the command that the page names.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
GOAL = "Audit why the checkout service is failing and draft a fix"
WAIT_MS = 60_000
ENDED = re.compile(r"^14$|^rejected", re.MULTILINE)
"""How the run of two reviewers may have ended."""
CALL = re.compile("review_[0-9a-f]{24}")
COMMAND = re.compile(r"planner-executor (resume [0-9a-f-]+\.\d+)")
COLUMN_PX = 768
WAITS = 3
"""Exit code of a command whose run waits for a decision."""


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

    def decide(self, *answer: str) -> "subprocess.Popen[str]":
        """Start the command that the page names for a decision, with this answer, on the server's machine."""
        named = COMMAND.search(self.text)
        assert named is not None, self.text
        variables = self.server.environment()
        folders = ["--docs", variables["PLANNER_EXECUTOR_DOCS"], "--workspace", "workspace", "--db", "runs.db"]
        return subprocess.Popen(
            [sys.executable, "-m", "planner_executor", *named[1].split(), *answer, *folders],
            cwd=self.server.home, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

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


def ended(command: "subprocess.Popen[str]") -> tuple[int, str]:
    said, _ = command.communicate(timeout=WAIT_MS / 1000)
    return command.returncode, said


def test_the_incident_from_goal_to_end(chat: Callable[..., Chat], incident: Any) -> None:
    tab = chat(incident)

    tab.write(GOAL)
    tab.reads("Your decision is needed")
    tab.reads("Human Interrupt")
    first, widths = tab.text, [tab.widest()]
    waits, _ = ended(tab.decide("--approve"))
    tab.reload()
    tab.reads("step_7")
    revised, widths = tab.text, [*widths, tab.widest()]
    done, _ = ended(tab.decide("--approve"))
    tab.reload()
    tab.reads("service/delivery.py:25")

    assert (waits, done) == (WAITS, 0)
    assert GOAL in first and "write_report" in first and "run_plan" in first
    assert "step_2" in revised and len(CALL.findall(revised)) == 1
    assert "workspace/fix-draft.md" in tab.text and not tab.asks and not CALL.search(tab.text)
    assert (incident.home / "workspace" / "fix-draft.md").exists()
    assert max(*widths, tab.widest()) <= COLUMN_PX


def test_a_message_decides_nothing_while_a_request_is_open(chat: Callable[..., Chat], incident: Any) -> None:
    tab = chat(incident)
    tab.write(GOAL)
    tab.reads("Human Interrupt")
    assert "A message here decides nothing: it is a new goal." in tab.text

    tab.write("approve")

    tab.reads("No rule fits this goal")
    assert not tab.asks and not re.search("^Approved by", tab.text, re.MULTILINE)


def test_of_two_reviewers_one_wins_and_both_see_what_was_decided(chat: Callable[..., Chat], incident: Any) -> None:
    ann = chat(incident)
    ann.write("What is 2 * (3 + 4)?")
    ann.reads("Human Interrupt")
    bob = chat(incident, thread=ann.thread)
    bob.reads("Human Interrupt")

    said = [ended(one) for one in [bob.decide("--approve"), ann.decide("--reject")]]
    for tab in (ann, bob):
        tab.reload()
        tab.page.get_by_text(ENDED).wait_for(timeout=WAIT_MS)

    assert not ann.asks and not bob.asks
    assert ENDED.findall(ann.text) == ENDED.findall(bob.text) and len(set(ENDED.findall(bob.text))) == 1, said


def test_a_reload_in_mid_run_stops_it_and_continue_takes_it_up(
    chat: Callable[..., Chat], waiting_server: Any, waiting: Callable[..., Any]
) -> None:
    tab = chat(waiting_server, "unasked")

    tab.write("wait for it")
    tab.reads("1 of 3 steps done. Running: ask_first.")
    waiting_server.until(lambda: "ask" in waiting_server.effects(), "the tool is called")
    tab.reload()
    threads = waiting(tab.thread).client.threads
    waiting_server.until(lambda: threads.get(tab.thread)["status"] != "busy", "the run is cancelled")
    tab.write("continue")
    tab.reads("1 of 3 steps done. Running: ask_first.")
    waiting_server.open_gate("rain")
    tab.reads("2 of 3 steps done. Running: ask_again.")
    shown = tab.text
    waiting_server.open_gate("more rain")
    tab.page.get_by_text("more rain", exact=True).wait_for(timeout=WAIT_MS)

    progress = tab.page.get_by_text("steps done")
    progress.wait_for(state="detached", timeout=WAIT_MS)  # a moment after the answer has come
    assert "1 of 3" not in shown and shown.count("steps done") == 1
    assert waiting_server.effects().count("look") == 1
