import re
from pathlib import Path

import pytest

from planner_executor.graph.desk.desk_table import with_table
from planner_executor.graph.desk.security.visitor import Role
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.record.person import Person

OIDC = """
[desk]
url = "https://desk.example.com/"

[desk.reviewers]
roles = ["finance"]

[desk.oidc]
issuer = "https://login.example.com"
client_id = "desk"
client_secret = "env:DESK_CLIENT_SECRET"
roles = "groups"
"""
HEADERS = """
[desk]
proxies = ["10.0.0.5"]
readers = { names = ["*"] }
reviewers = { names = ["Ann@example.com"] }
headers = { name = "X-Forwarded-Email", roles = "X-Forwarded-Groups" }
"""


def settings_by(folder: Path, text: str) -> DeskSettings:
    file = folder / "named.toml"
    file.write_text(text)
    return with_table(DeskSettings(), file)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_CLIENT_SECRET", "secret")


def test_a_provider_signs_people_in_and_only_those_named_come_in(tmp_path: Path) -> None:
    settings = settings_by(tmp_path, OIDC)

    assert settings.oidc is not None and settings.oidc.client_secret == "secret" and settings.oidc.name == "email"
    assert settings.url == "https://desk.example.com" and settings.secure and not settings.links
    assert [host.name for host in settings.hosts] == ["desk.example.com"]
    assert settings.permissions.role_of(Person("bob", ["finance"])) is Role.REVIEWER
    assert settings.permissions.role_of(Person("bob", ["staff"])) is None
    assert "secret" not in repr(settings)


def test_a_proxys_headers_name_people_and_their_roles(tmp_path: Path) -> None:
    settings = settings_by(tmp_path, HEADERS)

    assert settings.identity is not None and not settings.links and settings.secure
    assert settings.permissions.role_of(Person("ann@Example.com")) is Role.REVIEWER
    assert settings.permissions.role_of(Person("bob@example.com")) is Role.READER


def test_where_only_readers_are_named_nobody_decides(tmp_path: Path) -> None:
    settings = settings_by(tmp_path, HEADERS.replace('reviewers = { names = ["Ann@example.com"] }', ""))

    assert settings.permissions.role_of(Person("ann@example.com")) is Role.READER


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("desk = 1", "desk must be a table"),
        ("[desk]\nport = 1", "desk.port is unknown"),
        ("[desk]\nsession_s = 5", "60 or more"),
        ('[desk]\nurl = "http://desk.example.com"', "https"),
        ('[desk]\nproxies = ["nowhere"]', "desk.proxies"),
        ("[desk]\nreviewers = { groups = [] }", "desk.reviewers.groups is unknown"),
        (changed(HEADERS, ('proxies = ["10.0.0.5"]', "")), "desk.proxies"),
        (changed(HEADERS, ('name = "X-Forwarded-Email", ', "")), "desk.headers.name"),
        (HEADERS + OIDC.replace("[desk]", "").replace("[desk.reviewers]\nroles", "#"), "keep one"),
        (changed(OIDC, ('url = "https://desk.example.com/"', "")), "needs desk.url"),
        (changed(OIDC, ("[desk.reviewers]\nroles", "#")), "desk.reviewers"),
        (changed(OIDC, ("https://login", "http://login")), "issuer"),
        (changed(OIDC, ('client_id = "desk"', "")), "client_id is missing"),
        (changed(OIDC, ("env:DESK_CLIENT_SECRET", "written-here")), "client_secret"),
        (changed(OIDC, ("env:DESK_CLIENT_SECRET", "env:NO_SUCH")), "NO_SUCH"),
    ],
)
def test_what_could_let_the_wrong_people_in_is_refused_with_the_name_of_the_setting(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        settings_by(tmp_path, text)

    assert words in str(refused.value)


DOCS = Path(__file__).parents[3] / "docs" / "review-desk.md"


@pytest.mark.parametrize("shown", re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL))
def test_what_the_docs_show_signs_people_in(tmp_path: Path, shown: str) -> None:
    settings = settings_by(tmp_path, shown)

    assert not settings.links and settings.permissions.role_of(Person("x", ["finance"])) is Role.REVIEWER


def test_a_file_that_nobody_named_or_trusted_lets_nobody_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "planner-executor.toml").write_text(HEADERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    with pytest.raises(ConfigError, match="not trusted"):
        with_table(DeskSettings(), None)
