"""Playbooks on the desk: what is listed, what is trusted, and what a form starts."""

from pathlib import Path

from desk_server import decide, ended, query, served, tools_of_a_shop

from planner_executor.graph.settings.trust import trust

FILE = """\
name: refund-order
version: {version}
description: Refund {{param.to}}
parameters:
  to: {{type: string, title: Paid to, maxLength: 80}}
  amount: {{type: number, maximum: 500}}
  currency: {{enum: [EUR, USD], default: EUR}}
steps:
  - id: pay
    objective: Pay it back
    tool: refund
    args: {{to: '{{param.to}}', amount: '{{param.amount}}', currency: '{{param.currency}}'}}
"""


LOOK = {"id": "look", "objective": "Look", "tool": "look_up", "args": {"what": "it"}}


def write(folder: Path, version: int, *, trusted: bool) -> Path:
    folder.mkdir(exist_ok=True)
    file, content = folder / f"refund-{version}.yaml", FILE.format(version=version).encode()
    file.write_bytes(content)
    if trusted:
        trust(file, content)
    return file


def test_a_playbook_is_started_by_a_form_of_its_parameters_and_a_fault_is_named_and_starts_nothing(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "playbooks"
    write(folder, 1, trusted=False)
    write(folder, 2, trusted=True)
    (folder / "other.yaml").write_text("steps: 5")
    there = "/playbook?name=refund-order"
    with (
        served(tmp_path / "runs.db", tools=tools_of_a_shop, playbooks=lambda: folder) as server,
        server.visit() as visit,
    ):
        listed, page = visit.get("/playbooks").text, visit.get(there).text
        wrong = visit.send(there, there, **{"param:/to": "ann", "param:/amount": "501"})
        empty = visit.send(there, there, **{"param:/amount": "5"})
        stale = visit.send(there, there, digest="0" * 64)
        with server.agent() as agent:
            assert not agent.list()
        begun = visit.send(there, there, **{"param:/to": "ann", "param:/amount": "12.5"})
        run = begun.headers["location"].rpartition("run=")[2]
        waiting = ended(server, run)
        decide(visit, run, decision="approve")
        status, after = ended(server, run), visit.get(there).text

    assert "refund-order" in listed and "version 2" in listed and "other.yaml" in listed
    assert "Paid to" in page and "at most 500" in page and "&#34;EUR&#34;" in page and "refund-1.yaml" in page
    assert wrong.status_code == 422 and 'data-fault-name="param:/amount"' in wrong.text and 'value="ann"' in wrong.text
    assert empty.status_code == 422 and 'data-fault-name="param:/to"' in empty.text
    assert stale.status_code == 422 and "has changed since this page" in stale.text
    assert (waiting, status) == ("waiting", "succeeded") and server.tools.calls == [
        ("refund", {"to": "ann", "amount": 12.5, "currency": "EUR"})
    ]
    assert query("", run).replace("&", "&amp;") in after


def test_whoever_approves_its_plan_may_approve_further_runs_of_it_in_bounds(tmp_path: Path) -> None:
    folder, there = tmp_path / "playbooks", "/playbook?name=refund-order"
    write(folder, 1, trusted=True)
    bounds = {"ahead:bound:to": "any", "ahead:bound:amount": "maximum", "ahead:value:amount": "20"}

    def begun(amount: str) -> str:
        sent = visit.send(there, there, **{"param:/to": f"for {amount}", "param:/amount": amount})
        return sent.headers["location"].rpartition("run=")[2]

    with (
        served(tmp_path / "runs.db", tools=tools_of_a_shop, playbooks=lambda: folder) as server,
        server.visit() as visit,
    ):
        first = begun("5")
        assert ended(server, first) == "waiting"
        shown = visit.get(query("/review", first)).text
        edited = decide(visit, first, decision="edit", **{"ahead:at_most": "1", "edit_as": "text", "plan": "{}"})
        never = decide(visit, first, decision="approve", **{**bounds, "ahead:at_most": "0"})
        assert ended(server, first) == "waiting" and not server.tools.calls
        refused = visit.get(query("/review", first)).text
        decide(visit, first, decision="approve", **{**bounds, "ahead:at_most": "1"})
        statuses = [ended(server, run) for run in (first, begun("20.5"), begun("20"), begun("7"))]
        approvals = visit.get("/approvals").text
        with server.agent() as agent:
            plain = agent.start("Look", plan={"steps": [LOOK]})
        other = visit.get(query("/review", plain.id)).text

    assert "Approve further runs of this playbook" in shown and 'name="ahead:bound:currency"' in shown
    assert edited.status_code == 422 and "gives no approval of further runs" in edited.text
    assert "at_most must be an integer from 1 to 1000" in never.text + refused
    assert statuses == ["succeeded", "waiting", "succeeded", "waiting"] and "refund-order" in approvals
    assert 'value="approve"' in other and 'name="ahead:' not in other


def test_a_playbook_that_nobody_trusted_or_that_changed_is_shown_and_not_started(tmp_path: Path) -> None:
    folder, there = tmp_path / "playbooks", "/playbook?name=refund-order"
    file = write(folder, 1, trusted=True)
    with (
        served(tmp_path / "runs.db", tools=tools_of_a_shop, playbooks=lambda: folder) as server,
        server.visit() as visit,
    ):
        fields = {**visit.hidden(there), "param:/to": "ann", "param:/amount": "5"}
        file.write_text(FILE.format(version=1).replace("500", "50000"))
        page, sent = visit.get(there).text, visit.post(there, fields)

    assert "is not trusted" in page and 'name="param:/to"' not in page
    assert sent.status_code == 422 and "is not trusted" in sent.text and server.tools.calls == []


def test_a_desk_without_a_folder_says_how_to_name_one(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db", playbooks=lambda: None) as server, server.visit() as visit:
        assert "name no folder of playbooks" in visit.get("/playbooks").text
        assert "name no folder of playbooks" in visit.get("/playbook?name=x").text
