"""Panels of steps: fields made of the tool's schema, with the origin of each value, and faults at their fields."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from desk_server import REFUNDED, DeskServer, Visit, decide, ended, query, served, tools_of_a_shop

PAGES = Path(__file__).parents[3] / "graph/desk/pages/html"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskServer]:
    with served(tmp_path_factory.mktemp("shop") / "runs.db", tools=tools_of_a_shop) as server:
        yield server


@pytest.fixture
def visitor(shop: DeskServer) -> Iterator[Visit]:
    with shop.visit() as visit:
        yield visit


def begun(shop: DeskServer, thread: str) -> str:
    with shop.agent() as agent:
        return agent.start("refund order 4711", plan=REFUNDED, thread=thread).id


def field(page: str, name: str) -> str:
    """The text around a field of a page."""
    at = page.index(f'name="{name}"')
    return unescape(page[page.rindex("<label", 0, at) : page.index("</label>", at)])


def test_a_panel_has_a_field_for_each_argument_with_its_origin_and_says_what_is_wrong_where(
    shop: DeskServer, visitor: Visit
) -> None:
    run = begun(shop, "panel")
    edit = {"edit_as": "form", "step:pay:args/amount": "501", "step:pay:args/to": ""}
    edit |= {"step:pay:args/currency": '"EUR"', "step:order:does": "refund"}

    page = visitor.get(query("/review", run)).text
    typed = visitor.send(query("/review", run), query("/check", run), **edit).text
    sent = decide(visitor, run, decision="edit", **edit)
    other = visitor.get(query("/edit", run, step="order", key="step:order:", does="refund")).text

    assert "Paid to" in field(page, "step:pay:args/to") and "ann@example.com" in field(page, "step:pay:args/to")
    amount = field(page, "step:pay:args/amount")
    assert "result of order" in amount and "{order_result.total}" in amount and "at most 500" in amount
    assert '<option value="&#34;EUR&#34;" selected>' in page
    assert 'data-fault-name="step:pay:args/amount"' in typed and "501" in typed
    assert 'data-fault-name="step:order:args/to"' in typed and 'data-fault-name="step:order:args/what"' not in typed
    assert (sent.status_code == 422 and ">501</textarea>" in sent.text) or 'value="501"' in sent.text
    assert 'name="step:order:args/to"' in sent.text and 'name="step:order:args/to"' in other
    assert shop.tools.named("refund") == []


def test_what_an_edit_changes_is_shown_word_by_word_before_it_runs_and_approve_runs_nothing_else(
    shop: DeskServer, visitor: Visit
) -> None:
    run = begun(shop, "edit")
    edit = {"edit_as": "form", "step:pay:args/amount": "12.5", "step:pay:args/to": "ben@example.com"}

    shown = decide(visitor, run, decision="preview", **edit)
    approved = decide(visitor, run, decision="approve", **edit)
    with shop.agent() as agent:
        before = agent.show(run).status
    decide(visitor, run, decision="edit", **edit)

    assert shown.status_code == 200 and "<del>ann</del>" in shown.text and "<ins>ben</ins>" in shown.text
    assert approved.status_code == 422 and "run the plan as edited" in approved.text and before == "waiting"
    assert ended(shop, run) == "succeeded"
    assert {"to": "ben@example.com", "amount": 12.5, "currency": "EUR"} in shop.tools.named("refund")


def test_a_held_call_is_corrected_in_fields_and_a_fault_is_named_and_sends_nothing(
    shop: DeskServer, visitor: Visit
) -> None:
    run = begun(shop, "held")
    decide(visitor, run, decision="approve")
    ended(shop, run)
    call = {"decision": "approve", "call:pay": "edit", "call:pay:args/to": "cem@example.com"}

    page = visitor.get(query("/review", run)).text
    wrong = {**call, "call:pay:args/amount": "much"}
    typed = visitor.send(query("/review", run), query("/check", run, call="pay"), **wrong).text
    told = visitor.send(query("/review", run), query("/check", run, call="pay"), **call).text
    seen = visitor.hidden(query("/review", run))["seen"]
    refused = decide(visitor, run, **wrong)
    after = visitor.hidden(query("/review", run))["seen"]
    decide(visitor, run, **call)

    assert "untrusted, by look_up" in field(page, "call:pay:args/amount") and "120" in field(
        page, "call:pay:args/amount"
    )
    assert 'data-fault-name="call:pay:args/amount"' in typed and "<ins>cem</ins>" in told
    assert refused.status_code == 422 and "amount:" in refused.text and after == seen
    assert ended(shop, run) == "succeeded"
    assert {"to": "cem@example.com", "amount": 120, "currency": "EUR"} in shop.tools.named("refund")


def test_a_request_about_what_is_being_written_replaces_the_one_before() -> None:
    """Otherwise htmx drops a third request while two are under way, and what was written last is not checked."""
    tags = [tag for page in PAGES.glob("*.html") for tag in re.findall(r"<[^<>]*hx-trigger=[^<>]*>", page.read_text())]
    written = [tag for tag in tags if 'hx-trigger="input' in tag]

    assert len(written) == 4 and [tag for tag in written if 'hx-sync="replace"' not in tag] == []
