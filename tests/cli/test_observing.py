import json
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError

import pytest
from typer.testing import Result

from planner_executor.graph.cli.metrics_server import listening
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.observing.prometheus import registry_of

Cli = Callable[..., Result]


def lines(result: Result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_run_is_lines_of_json_and_ends_with_what_is_asked(cli: Cli) -> None:
    result = cli("run", "add", "--plan", "plan.json", "--json")

    told = lines(result)
    assert result.exit_code == 3 and told[0]["event"] == "run_started" and told[-1]["event"] == "waiting"
    assert told[-1]["payload"]["action_requests"][0]["name"] == "run_plan"


def test_a_run_that_goes_on_is_lines_of_json_to_its_end(cli: Cli, waiting: str) -> None:
    result = cli("resume", waiting, "--approve", "--json")

    assert result.exit_code == 0 and lines(result)[-1]["event"] == "run_ended"
    assert lines(result)[-1]["payload"]["status"] == "succeeded"


def test_metrics_are_printed_for_prometheus(cli: Cli, waiting: str) -> None:
    result = cli("metrics")

    assert result.exit_code == 0 and "planner_executor_runs_total 1.0\n" in result.stdout


@pytest.mark.slow
def test_metrics_can_be_scraped(command: Callable[..., list[str]], cli: Cli, waiting: str, folder: Path) -> None:
    with subprocess.Popen(command("metrics", "--listen", "0"), stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        try:
            address = serving.stdout.readline().strip()
            with urllib.request.urlopen(f"{address}?name=all", timeout=30) as answer:
                words = answer.read().decode()
            (folder / "planner-executor.db").write_bytes(b"no database" * 100)
            with pytest.raises(HTTPError) as refused:
                urllib.request.urlopen(address, timeout=30)
            with refused.value as answer:
                reason = answer.read().decode()
        finally:
            serving.terminate()

    assert "planner_executor_runs_total 1.0\n" in words
    assert refused.value.code == 503 and "not a database" in reason


@pytest.fixture
def scraped(cli: Cli, waiting: str, folder: Path) -> Iterator[Callable[..., int]]:
    """Serve the counts and return how to ask for them, with which status they are answered."""
    registry = registry_of(lambda: with_runs(folder / "planner-executor.db", lambda runs: runs.counters()))
    with listening(0, registry) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()

        def ask(*hosts: str) -> int:
            connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
            with closing(connection):
                connection.putrequest("GET", "/metrics", skip_host=True)
                for host in hosts:
                    connection.putheader("Host", host)
                connection.endheaders()
                return connection.getresponse().status

        yield ask
        server.shutdown()
        thread.join()


def test_metrics_are_told_to_no_other_host(scraped: Callable[..., int]) -> None:
    assert [scraped(host) for host in ("localhost:9", "127.0.0.1", "[::1]:9")] == [200] * 3
    assert [scraped(host) for host in ("evil.example", "localhost.evil.example", "0.0.0.0", "")] == [421] * 4
    assert scraped() == 421 and scraped("localhost", "evil.example") == 421


def test_a_port_that_another_program_has_is_one_sentence(cli: Cli, waiting: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = cli("metrics", "--listen", str(taken.getsockname()[1]))

    assert result.exit_code == 2 and "name another, or 0 for any" in result.stderr
