"""A key is looked for in every file that a run leaves behind, in what it prints and logs, and is not there."""

import logging
from pathlib import Path
from typing import Any

import pytest

from graph import Agent, ModelSettings

KEY = "sk-secret-0123456789abcdef"
HEADER = "header-secret-0123456789"


def settings(replies: Any) -> ModelSettings:
    return replies.settings(options={"default_headers": {"X-Gateway-Key": HEADER}})  # type: ignore[no-any-return]


def test_no_file_of_a_run_holds_a_key(replies: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    echo = {"error": {"message": f"Incorrect API key provided: {KEY}; headers were {HEADER}, Bearer {KEY}"}}
    replies.reply(echo, 500, retry_after="0")
    replies.say({"steps": [{"id": "think", "objective": "Think"}]})
    replies.reply(echo, 400)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "openai")

    with Agent.open(tmp_path / "runs.db", planner=settings(replies), replan="never") as agent:
        run = agent.resume(agent.start("g").id, "approve")
        log = agent.log(run.id)

    assert run.status == "failed" and "[key]" in str(run.results["think"].error)
    assert all(sent["authorization"] == f"Bearer {KEY}" for _, sent, _ in replies.requests)
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    told = "".join([repr(run), repr(list(log)), repr(settings(replies)), caplog.text]).encode()
    for secret in (KEY, KEY[3:], HEADER):
        assert not [data for data in [*kept, told] if secret.encode() in data]
    assert any(b"Incorrect API key provided: [key]" in data for data in kept)
