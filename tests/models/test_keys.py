"""A key is looked for in every file that a run leaves behind, in what it prints and logs, and is not there."""

import json
import logging
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from warm_process import run_warm

from planner_executor import Agent

ROOT = Path(__file__).parents[2]
KEY = "sk-secret-0123456789abcdef"
HEADER = "header-secret-0123456789"
TENANT = "tenant-0123456789"
SIGNED = "signed-0123456789"
SECRETS = (KEY, KEY[3:], HEADER, TENANT, SIGNED)
HEADERS = {"default_headers": {"X-Gateway-Key": HEADER, "X-Tenant": TENANT}}
OPTIONS = {**HEADERS, "default_query": {"sig": SIGNED}}
WORDS = f"Incorrect API key {KEY}; asked with {HEADER}, {TENANT}, Bearer {KEY}"
QUOTE = f"{WORDS} for /v1?sig={SIGNED}"
ECHO = {"error": {"message": QUOTE}}


def test_no_file_of_a_run_holds_a_key(replies: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    replies.reply({"error": {"message": WORDS}}, 500, retry_after="0")
    replies.say({"steps": [{"id": "think", "objective": "Think"}]})
    replies.reply({"error": {"message": WORDS}}, 400)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "openai")

    with Agent.open(tmp_path / "runs.db", planner=replies.settings(options=HEADERS), replan="never") as agent:
        run = agent.resume(agent.start("g").id, "approve")
        log = agent.log(run.id)

    assert run.status == "failed" and "[key]" in str(run.results["think"].error)
    assert all(sent["authorization"] == f"Bearer {KEY}" for _, sent, _ in replies.requests)
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    told = "".join([repr(run), repr(list(log)), repr(replies.settings(options=HEADERS)), caplog.text]).encode()
    assert not [data for data in [*kept, told] if holds_a_secret(data)]
    assert any(b"Incorrect API key [key]" in data for data in kept)


FAILURES: dict[str, tuple[Any, int, str]] = {
    "refused": (ECHO, 401, "the server refuses the key (401)"),
    "too many": (ECHO, 429, "too many requests (429)"),
    "failed": (ECHO, 500, "the server failed (500)"),
    "failed with success": (ECHO, 200, "the server failed"),
    "a page": (f"<html>{QUOTE}</html>".encode(), 200, "not a chat completion"),
    "broken JSON": (f'{{"choices": "{QUOTE}'.encode(), 200, "not a chat completion"),
    "a broken stream": (QUOTE.encode(), 200, "the stream ended before the answer did"),
    "no answer": (b"", 0, "no answer in time"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failure", "place"), [*((failure, "environment") for failure in FAILURES), ("refused", "file")]
)
def test_no_file_and_no_word_of_a_failed_command_holds_a_key(
    replies: Any, tmp_path: Path, failure: str, place: str
) -> None:
    body, status, sentence = FAILURES[failure]
    streams, replies.hangs = failure == "a broken stream", not status
    if streams:
        replies.stream(QUOTE, finish=None, role="assistant")
    else:
        replies.reply(body, status, retry_after="0")
    said = {"base_url": replies.base_url, "timeout_s": 5 if status else 0.3, "max_attempts": 1}

    done = run(tmp_path / "home", {**said, "options": {**OPTIONS, "streaming": streams}}, place)

    assert done.returncode == 1 and sentence in done.stdout, done.stdout + done.stderr
    ((path, headers, _),) = replies.requests
    assert SIGNED in path and (headers["authorization"], headers["x-tenant"]) == (f"Bearer {KEY}", TENANT)
    kept = [file.read_bytes() for file in (tmp_path / "home").rglob("*") if file.is_file()]
    assert kept and not [data for data in [*kept, done.stdout.encode(), done.stderr.encode()] if holds_a_secret(data)]


def holds_a_secret(data: bytes) -> bool:
    return any(secret.encode() in data for secret in SECRETS)


def run(home: Path, said: dict[str, Any], place: str) -> "subprocess.CompletedProcess[str]":
    """Run a goal in a folder of its own, with the planner that a file beside it or the environment names."""
    home.mkdir()
    file, variables = home.with_name("settings.toml"), dict(os.environ, PYTHONPATH=str(ROOT), LANGSMITH_TRACING="false")
    if place == "file":
        file.write_text(table("models.planner", {"model": "openai:m", "api_key": KEY, **said}))
    else:
        file.write_text("")
        variables |= {"GATEWAY": KEY, "PLANNER_EXECUTOR_PLANNER": "openai:m"}
        for name, value in {**said, "api_key_env": "GATEWAY"}.items():
            text = value if isinstance(value, str) else json.dumps(value)
            variables[f"PLANNER_EXECUTOR_PLANNER_{name.upper()}"] = text
    command = ["-m", "planner_executor", "run", "g", "--yes", "--config", str(file)]
    return run_warm(command, cwd=home, env=variables)


def table(name: str, values: dict[str, Any]) -> str:
    """Return a table of TOML with the tables in it."""
    rows = [f"{key} = {json.dumps(value)}" for key, value in values.items() if not isinstance(value, dict)]
    inner = [table(f"{name}.{key}", value) for key, value in values.items() if isinstance(value, dict)]
    return "\n".join([f"[{name}]", *rows, *inner])
