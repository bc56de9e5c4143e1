"""The files in `deploy/` name files, settings, commands and routes that exist."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner_executor.graph.serving.guard import OPEN_PATHS

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
OWN = re.compile(r"PLANNER_EXECUTOR_[A-Z_]+")


def test_there_are_two_servers_and_two_workers_beside_their_stores() -> None:
    assert set(SERVICES) == {"postgres", "redis", "server-1", "server-2", "work-1", "work-2"}
    assert all(needed in SERVICES for one in SERVICES.values() for needed in one.get("depends_on", {}))
    assert SERVICES["server-2"]["depends_on"]["server-1"] == {"condition": "service_healthy"}


@pytest.mark.parametrize("file", ["compose.yaml", "Dockerfile", ".env.example"])
def test_every_setting_is_a_documented_one(file: str) -> None:
    documented = set(OWN.findall("".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))))

    assert set(OWN.findall((DEPLOY / file).read_text())) <= documented


def test_what_has_to_be_given_is_in_the_example() -> None:
    given = set(re.findall(r"^([A-Z_]+)=", (DEPLOY / ".env.example").read_text(), re.MULTILINE))

    assert set(re.findall(r"\$\{([A-Z_]+)", (DEPLOY / "compose.yaml").read_text())) <= given


@pytest.mark.parametrize("name", ["server-1", "server-2", "work-1", "work-2"])
def test_a_setting_that_the_compose_file_does_not_name_is_written_beside_it(name: str) -> None:
    assert SERVICES[name]["env_file"] == [".env"]


def test_each_database_that_is_named_is_made() -> None:
    made = re.findall(r"CREATE DATABASE (\w+)", (DEPLOY / "databases.sql").read_text())
    server = SERVICES["server-1"]["environment"]

    assert {server[name].rpartition("/")[2] for name in ("DATABASE_URL", "PLANNER_EXECUTOR_DB")} == set(made)
    assert any(volume.startswith("./databases.sql:") for volume in SERVICES["postgres"]["volumes"])


def test_no_secret_is_written_down() -> None:
    written = {name: value for one in SERVICES.values() for name, value in one.get("environment", {}).items()}

    secrets = {name: value for name, value in written.items() if re.search("PASSWORD|TOKEN|KEY", name)}
    assert len(secrets) == 3
    assert all(value.startswith("${") for value in secrets.values())


@pytest.mark.parametrize("name", ["server-1", "server-2"])
def test_the_health_of_a_server_needs_no_token_and_its_stop_has_time_to_drain(name: str) -> None:
    server = SERVICES[name]
    (path,) = re.findall(r"127\.0\.0\.1:2026(/\w+)", server["healthcheck"]["test"][-1])
    drain_s, open_requests_s = int(server["environment"]["WORKER_DRAIN_TIMEOUT"]), _graceful_shutdown_s()

    assert path in OPEN_PATHS
    assert int(server["stop_grace_period"].removesuffix("s")) > drain_s + open_requests_s
    assert {name, "server-1", "server-2"} <= set(server["environment"]["PLANNER_EXECUTOR_HOSTS"].split())


@pytest.mark.parametrize("name", ["work-1", "work-2"])
def test_a_worker_asks_a_server_that_lets_it_in(name: str) -> None:
    program, command, option, url = SERVICES[name]["command"]
    host = re.fullmatch(r"http://([\w-]+):2026", url)

    assert (program, command, option) == ("planner-executor", "work", "--server")
    assert host is not None and host[1] in SERVICES[name]["depends_on"]
    assert (
        SERVICES[name]["environment"]["PLANNER_EXECUTOR_TOKEN"]
        == (SERVICES[host[1]]["environment"]["PLANNER_EXECUTOR_TOKEN"])
    )


def test_ports_are_open_to_this_machine_alone() -> None:
    assert all(port.startswith("127.0.0.1:") for one in SERVICES.values() for port in one.get("ports", ()))


def test_the_image_is_made_of_files_that_are_there_and_runs_as_nobody_special() -> None:
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()]
    kept = re.findall(r"^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE)

    assert copied and all((ROOT / name).exists() for name in copied)
    assert set(copied) == set(kept)
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE, re.MULTILINE)


def test_the_docs_name_the_extras_that_the_image_lacks() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (installed,) = re.findall(r"'\.\[(.+)\]'", DOCKERFILE)
    (told,) = re.findall(r"The image lacks the extras ([^:]+):", (ROOT / "docs" / "deployment.md").read_text())

    assert set(installed.split(",")) | set(re.findall(r"`(\w+)`", told)) | {"dev", "studio"} == set(extras)


def _graceful_shutdown_s() -> int:
    (found,) = re.findall(r'"--timeout-graceful-shutdown", "(\d+)"', DOCKERFILE)
    return int(found)
