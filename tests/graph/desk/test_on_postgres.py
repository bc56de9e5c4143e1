"""The desk on PostgreSQL: a run is shown with its request, and decided."""

import pytest
from desk_server import PLAN, query, served
from postgres_server import new_schema

pytestmark = pytest.mark.e2e


def test_a_run_in_postgresql_is_shown_and_decided() -> None:
    with served(new_schema()) as server:
        with server.agent() as agent:
            run = agent.start("send the news", plan=PLAN, thread="news").id
        with server.visit() as visit:
            inbox = visit.get("/").text
            answer = visit.send(query("/review", run), query("/decide", run), decision="approve")
            for future in list(server.desk.drives._going.values()):
                future.result(30)
            page = visit.get(query("/results", run)).text

    assert "send the news" in inbox and answer.status_code == 303
    assert server.tools.named("mail") == [{"to": "ann@example.com", "text": "calm"}]
    assert 'data-status="succeeded"' in page
