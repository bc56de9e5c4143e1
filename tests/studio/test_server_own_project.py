"""A project of one's own, whose `langgraph.json` names attributes of the package alone."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from planner_executor.graph.cli.commands.new import write_project


@pytest.fixture
def own(server: Any, tmp_path: Path) -> Iterator[Any]:
    """The project, served beside the repository's own server."""
    home = tmp_path / "bills"
    write_project(home)
    variables = {"PLANNER_EXECUTOR_CONFIG": "planner-executor.toml"}
    found = replace(server, home=home, config=home / "langgraph.json", port=server.port + 1, variables=variables)
    found.start()
    yield found
    found.kill()
    assert "BlockingError" not in found.log


def test_its_tools_and_its_policy_are_those_of_the_server_and_the_desk_is_there(own: Any) -> None:
    with get_sync_client(url=own.url) as client:
        thread = client.threads.create()["thread_id"]
        plan = json.loads((own.home / "plan.json").read_text())
        given = {"goal": "Pay the invoice of Harbour Cranes", "plan": plan}
        asked: Any = client.runs.wait(thread, "planner_executor", input=given)
        assert asked["__interrupt__"][0]["value"]["action_requests"][0]["name"] == "run_plan"
        asked = client.runs.wait(thread, "planner_executor", command={"resume": "approve"})
        assert asked["__interrupt__"][0]["value"]["action_requests"][0]["name"] == "run_step"

    assert "pay 480.5 EUR" in json.dumps(asked) and not (own.home / "bank.csv").exists()
    assert httpx.get(f"{own.url}/desk").status_code == 308
