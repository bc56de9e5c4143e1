"""The table [notify] of the settings file."""

from pathlib import Path

import pytest

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.notices.addresses import KINDS, NOTIFY, Address, Addresses, addresses_of
from planner_executor.graph.record.run_key import RunKey

GOOD = """
[notify]
secret = "env:NOTIFY_SECRET"
link = "env:NOTIFY_LINK"
waits = ["ops", "ada"]
failed = ["ops"]
[notify.addresses]
ops = "https://hooks.example.org/abc"
ada = "mailto://ada:s3cret@example.org"
"""


def read(folder: Path, text: str) -> object:
    file = folder / "settings.toml"
    file.write_text(text)
    return addresses_of(file)


def test_addresses_are_named_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SECRET", "0123456789abcdef")
    monkeypatch.setenv("NOTIFY_LINK", "https://desk.example.org/runs/{run}")
    found = read(tmp_path, GOOD)
    assert (
        found is not None and "s3cret" not in repr(found) and "0123" not in repr(found) and "hooks" not in repr(found)
    )
    told = {kind: names for kind, names in found.names.items() if names}  # type: ignore[attr-defined]
    assert told == {"waits": ("ops", "ada"), "failed": ("ops",)}
    assert [address.is_webhook for address in found.by_name.values()] == [True, False]  # type: ignore[attr-defined]
    assert found.link_to(RunKey("a/b", 2)) == "https://desk.example.org/runs/a%2Fb.2"  # type: ignore[attr-defined]


def test_an_address_is_named_with_its_host_or_its_kind_and_no_more_of_it() -> None:
    assert Address("ops", "https://ann:s3cret@hooks.example/s3cret").place == "ops (https://hooks.example)"
    assert Address("ada", "mailto://ann:s3cret@mail.example").place == "ada (mailto)"
    assert Addresses({}, {}).link_to(RunKey("t", 1)) is None


def test_without_a_table_nobody_is_told(tmp_path: Path) -> None:
    assert read(tmp_path, "") is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("notify = 3", "line 1: notify must be a table"),
        ("[notify]\nwait = []", "line 2: notify.wait is unknown; did you mean waits?"),
        ("[notify]\nwaits = ['ops']", "line 2: notify.waits has 'ops', which is no address; there are none"),
        ("[notify]\nwaits = 'ops'", "notify.waits must be a list of names of addresses"),
        ("[notify]\naddresses = 3", "notify.addresses must be a table: a name for each address"),
        ("[notify.addresses]\nops = ''", "notify.addresses.ops must be text"),
        (
            "[notify.addresses]\nops = 'env:NOT_SET_AT_ALL'",
            "notify.addresses.ops is the value of NOT_SET_AT_ALL, which is not set",
        ),
        (
            "[notify.addresses]\nops = 'https://x'",
            "notify.secret must have at least 16 characters: webhooks are signed with it",
        ),
        (
            "[notify.addresses]\nops = 'https://x'\nada = 'mailto://x'",
            "notify.secret must have at least 16 characters: webhooks are signed with it",
        ),
        ("[notify]\nlink = 'https://x'", "notify.link has no {run}; write {run} where the name of the run belongs"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert fault in str(refused.value)


@pytest.mark.parametrize("rest", ["h:99999/s3cret", "[::1/s3cret", "/s3cret", "\u2100.example/s3cret", "h:0", ":8/x"])
def test_a_webhook_that_no_client_can_reach_is_refused_before_anything_is_sent(tmp_path: Path, rest: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, f"[notify]\nsecret = '0123456789abcdef'\n[notify.addresses]\nops = 'HTTPS://{rest}'")
    assert "notify.addresses.ops is not the address of a webhook" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_an_address_that_is_no_webhook_needs_no_host_and_no_secret(tmp_path: Path) -> None:
    assert read(tmp_path, "[notify.addresses]\nada = 'syslog://'") is not None


def test_a_folder_cannot_have_notices_sent_before_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("planner-executor.toml").write_text("[notify.addresses]\nops = 'mailto://x'")
    with pytest.raises(ConfigError, match="is not trusted, and \\[notify\\] sends notices"):
        addresses_of()


def test_what_a_table_does_is_told_without_its_secrets() -> None:
    ops, ada = Address("ops", "https://h.example/s3cret"), Address("ada", "mailto://s3cret@x")
    names = {**dict.fromkeys(KINDS, ()), "failed": ("ops",), "waits": ("ops", "ada")}

    assert NOTIFY.acts(Addresses({"ops": ops, "ada": ada}, names, b"s3cret", "https://desk/{run}")) == [
        "[notify] sends notices of runs to ops (https://h.example): waits, failed",
        "[notify] sends notices of runs to ada (mailto): waits",
        "[notify] puts links to https://desk/{run} into notices",
        "[notify] signs notices with its secret",
    ]
    assert NOTIFY.acts(Addresses({}, names)) == []
