import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from typer.testing import Result

Cli = Callable[..., Result]


@pytest.mark.e2e
def test_a_run_that_the_command_line_started_is_decided_at_the_desk_with_the_folders_that_it_recorded(
    command: Callable[..., list[str]], cli: Cli, waiting: str, folder: Path
) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    words = command("serve", "--port", "0", "--db", str(folder / "planner-executor.db"))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=elsewhere) as serving:
        assert serving.stdout is not None
        try:
            link = httpx.URL(serving.stdout.readline().split()[-1])
            other = httpx.URL(serving.stdout.readline().split()[-1])
            origin = f"http://{link.host}:{link.port}"
            here = {"Origin": origin, "Host": f"{link.host}:{link.port}"}  # a browser knows where *.localhost is
            with httpx.Client(base_url=f"http://127.0.0.1:{link.port}", headers=here, timeout=30) as browser:
                browser.get(link.raw_path.decode())
                page = browser.get("/run/review", params={"run": waiting}).text
                hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
                browser.post("/run/decide", params={"run": waiting}, data={**hidden, "decision": "approve"})
                while re.search("status +(waiting|running|paused)", shown := cli("show", waiting).stdout):
                    continue
                policy = browser.get("/policy").text
        finally:
            serving.terminate()

    assert re.fullmatch(r"desk-[0-9a-f]{16}\.localhost", link.host) and other == link.copy_with(host="127.0.0.1")
    assert "succeeded" in shown
    assert list((folder / "workspace").iterdir()) and not (elsewhere / "workspace").exists()
    assert "every plan, and every revision beyond what was approved" in policy


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--address", "0.0.0.0"], "--user-header"),
        (["--user-header", "X-User"], "--proxy"),
        (["--user-header", "X-User", "--proxy", "nowhere"], "--proxy"),
        (["--reviewer", "ann"], "--user-header"),
        (["--host-name", "a b/"], "--host-name"),
    ],
)
def test_a_desk_that_others_could_reach_without_signing_in_does_not_start(
    cli: Cli, options: list[str], why: str
) -> None:
    result = cli("serve", "--port", "0", *options)

    assert result.exit_code == 2 and why in result.output


def test_a_secret_that_can_be_guessed_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANNER_EXECUTOR_DESK_SECRET", "short")

    assert "32 characters" in cli("serve", "--port", "0").output


PROVIDER = """
[desk]
url = "http://127.0.0.1:8765"
reviewers = { roles = ["finance"] }

[desk.oidc]
issuer = "https://login.example.com"
client_id = "desk"
"""


def test_a_settings_file_says_who_signs_people_in_once_it_is_trusted(cli: Cli, folder: Path) -> None:
    (folder / "planner-executor.toml").write_text(PROVIDER)

    refused = cli("serve", "--port", "0")
    said = cli("trust", "--yes")
    both = cli("serve", "--port", "0", "--user-header", "X-User", "--proxy", "10.0.0.5")

    assert refused.exit_code == 2 and "not trusted" in refused.output
    assert "sign in to the review desk by oidc: https://login.example.com" in said.output
    assert "reviewers of the review desk: {'roles': ['finance']}" in said.output
    assert both.exit_code == 2 and "keep one" in both.output
