"""A database with a run of every kind, and the address of every page of the desk, for tests that go through all."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from desk_server import DeskServer, query, served, tools_of_every_kind

from planner_executor.graph.settings.trust import trust
from planner_executor.graph.testing import step

LONG = "n" * 200
ARABIC = "ابحث عن الرياح في الملاحظات ثم أرسل الخبر"
SIZES = {"type": "object", "properties": {"size": {"enum": ["S", "M"]}, "count": {"type": "integer"}}}
MAIL = step("send", "mail", to="ann@example.com", text="{page_result}")
CHECKED = {**step("look", "read", what="wind"), "success_criteria": "a result", "checks": [{"non_empty": True}]}
ASKS = {"id": LONG, "objective": ARABIC, "ask": "من؟", "output": SIZES}
STEPS: Mapping[str, list[Any]] = {
    "plan": [CHECKED, ASKS, step("send", "mail", after=["look", LONG], to="ann", text="{look_result}")],
    "ended": [CHECKED],
    "long": [step(f"s{n}", "read", after=[f"s{n - 1}"] if n % 7 else []) for n in range(210)],
    "held": [step("page", "fetch"), MAIL],
    LONG: [ASKS],
    "gate": [{"id": "gate", "objective": "consent", "gate": "Send it?"}, step("send", "mail", after=["gate"])],
    "uncertain": [step("send", "fax", to="ann")],
    "budget": [step("look", "read"), step("again", "read", after=["look"])],
    "quorum": [step("send", "mail", to="ann")],
}
APPROVED = {"ended": 1, "long": 1, "held": 1, "gate": 1, "uncertain": 2, "budget": 1, "quorum": 1}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "budget": {"budget": {"tool_calls": 1}},
    "quorum": {"policy": {"approvers": {"quorum": 2}}},
}
WAITING = tuple(name for name in STEPS if name not in ("ended", "long"))

PAGES: Mapping[str, tuple[str, ...]] = {
    "inbox.html": (
        "/",
        "/?for=me",
        "/?asks=failed&asks=run_plan&order=deadline&group=who",
        "/?find=nothing+of+that+kind",
    ),
    "runs.html": ("/runs", "/runs?status=failed&status=waiting&order=cost&by=os", "/runs?text=nothing+of+that+kind"),
    "start.html": ("/start",),
    "playbooks.html": ("/playbooks",),
    "playbook.html": ("/playbook?name=send-news",),
    "policy.html": ("/policy",),
    "alike.html": ("/alike",),
    "approvals.html": ("/approvals", "/approvals?before=nowhere"),
    "error.html": ("/nowhere", "/runs?since=never", query("", "nowhere.1")),
    "run_plan.html": (
        query("", "plan.1"),
        query("", "ended.1"),
        query("", "held.1", find="send"),
        query("", "long.1", status="succeeded", part="2"),
    ),
    "run_step.html": (
        query("/step", "ended.1", step="look"),
        query("/step", "plan.1", step=LONG),
        query("/step", "uncertain.1", step="send"),
    ),
    "run_timeline.html": (
        query("/timeline", "plan.1"),
        query("/timeline", "long.1", part="2"),
        query("/timeline", "ended.1"),
    ),
    "run_results.html": (query("/results", "ended.1"), query("/results", "long.1", part="2")),
    "run_value.html": (
        query("/value", "ended.1"),
        query("/value", "ended.1", step="look"),
        query("/event", "ended.1", seq="3"),
    ),
    "run_revisions.html": (query("/revisions", "plan.1"), query("/revisions", "ended.1")),
    "run_effects.html": (query("/effects", "uncertain.1"), query("/effects", "ended.1"), query("/effects", "held.1")),
    "run_budget.html": (query("/budget", "budget.1"), query("/budget", "ended.1")),
    "run_audit.html": (query("/audit", "ended.1"), query("/audit", "quorum.1", section="decisions")),
    "run_review.html": tuple(query("/review", f"{name}.1") for name in WAITING),
    "run_more.html": (query("/more", "plan.1"), query("/more", "ended.1")),
}
"""Templates of whole pages, and addresses that show them."""
ELSEWHERE = {
    "login.html": "test_no_page_before_the_desk_has_a_fault_that_axe_finds",
    "signed_out.html": "test_signing_in_at_a_provider_of_another_site_leads_to_the_page_that_was_wanted_and_out_again",
    "run_stale.html": "test_no_answer_to_a_form_has_a_fault_that_axe_finds",
}
"""Pages that no address shows to a visitor with a session, and the test that reads them."""
NO_PAGES = ("/next", "/live", "/run/live", "/run/download", "/run/audit.txt", "/run/edit", "/health", "/login/callback")


PLAYBOOK = f"""\
name: send-news
version: 1
description: {ARABIC}
parameters:
  to: {{type: string, title: {LONG}}}
  size: {{enum: [S, M], default: S}}
  on: {{type: string, format: date}}
steps:
  - id: send
    objective: o
    tool: mail
    args: {{to: '{{param.to}}', size: '{{param.size}}', on: '{{param.on}}'}}
"""


@contextmanager
def filled(folder: Path) -> Iterator[DeskServer]:
    """A desk over a run of every kind; each is on a thread of its name."""
    playbook = folder / "playbooks" / "send-news.yaml"
    playbook.parent.mkdir()
    playbook.write_text(PLAYBOOK)
    trust(playbook, PLAYBOOK.encode())
    with served(folder / "runs.db", tools=tools_of_every_kind, playbooks=lambda: playbook.parent) as server:
        for name, steps in STEPS.items():
            with server.agent(**OPTIONS.get(name, {})) as agent:
                words = ["be short", ARABIC, LONG * 2]
                agent.start(f"{name}: {ARABIC}", constraints=words, tags=["news"], plan={"steps": steps}, thread=name)
                for _ in range(APPROVED.get(name, 0)):
                    agent.resume(name, "approve")
        yield server
