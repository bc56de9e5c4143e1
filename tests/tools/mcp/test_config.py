import json
from pathlib import Path
from typing import Any

import pytest

from planner_executor.tools.errors import ConfigInvalid
from planner_executor.tools.mcp.config import HttpServer, Server, StdioServer, read_config, servers_of

FILES = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}


def server(entry: dict[str, Any], folder: Path = Path("/here")) -> Any:
    (made,) = servers_of({"one": entry}, "mcpServers", folder)
    return made


def fault(entry: Any) -> str:
    with pytest.raises(ConfigInvalid) as refused:
        servers_of({"one": entry}, "mcpServers", Path("/here"))
    assert "'one'" in refused.value.reason
    return refused.value.reason


def test_a_program_is_read_with_its_arguments_environment_and_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_TODAY", "0123456789")

    made = server({**FILES, "type": "stdio", "env": {"T": "${TOKEN_OF_TODAY}"}, "cwd": "notes"})

    assert isinstance(made, StdioServer)
    assert (made.name, made.command, made.args) == ("one", "npx", tuple(FILES["args"]))
    assert (made.env, made.cwd, made.secrets) == ({"T": "0123456789"}, Path("/here/notes"), {"0123456789"})


@pytest.mark.parametrize("kind", [{}, {"type": "http"}, {"type": "streamable-http"}, {"transport": "streamable_http"}])
def test_an_address_is_read_with_its_headers(kind: dict[str, str]) -> None:
    made = server({"url": "https://example.com/mcp", "headers": {"X-Team": "a"}, **kind})

    assert isinstance(made, HttpServer)
    assert (made.url, made.headers) == ("https://example.com/mcp", {"X-Team": "a"})


def test_a_program_starts_in_the_folder_of_the_file_or_one_that_is_named_from_there(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"a": FILES, "b": {**FILES, "cwd": "/tmp"}}, "theme": "dark"}))

    a, b = read_config(file)

    assert isinstance(a, StdioServer) and isinstance(b, StdioServer)
    assert (a.cwd, b.cwd) == (tmp_path, Path("/tmp"))


def test_only_a_server_on_this_machine_is_here() -> None:
    assert server(FILES).is_here
    assert server({"url": "http://127.0.0.1:8000/mcp"}).is_here
    assert not server({"url": "https://example.com/mcp"}).is_here
    assert not server({"url": "http://localhost.example.com/mcp"}).is_here


def test_the_place_of_a_server_changes_with_its_address_and_not_with_its_key() -> None:
    here = server({**FILES, "env": {"ROOT": "/a", "API_KEY": "0123456789"}})

    same = server({**FILES, "env": {"ROOT": "/a", "API_KEY": "9876543210"}, "trusted": True})
    others = [
        server({**FILES, "env": {"ROOT": "/b", "API_KEY": "0123456789"}}),
        server({**FILES, "args": ["/elsewhere"], "env": here.env}),
        server({**FILES, "env": here.env}, Path("/elsewhere")),
        server({"url": "https://example.com/mcp"}),
    ]

    assert same.place == here.place
    assert len({each.place for each in (here, *others)}) == 5


def test_rules_for_a_tool_override_rules_for_its_server() -> None:
    rules = {"effect": "external", "timeout_s": 5, "tools": {"read": {"effect": "read", "trusted": True}}}

    made = server({**FILES, **rules})

    read, other = made.rules_for("read"), made.rules_for("write")
    assert (read.effect, read.trusted, read.timeout_s) == ("read", True, 5)
    assert (other.effect, other.trusted, other.timeout_s) == ("external", None, 5)


def test_a_server_that_is_disabled_is_left_out_with_all_that_it_lacks() -> None:
    assert servers_of({"off": {"command": "${NOT_SET}", "disabled": True}}, "mcpServers", Path()) == []


def test_keys_of_other_programs_have_no_effect() -> None:
    assert server({**FILES, "autoApprove": ["write_file"], "alwaysAllow": ["move"], "description": "files"}) == server(
        FILES
    )


def test_variables_that_are_not_set_are_named_for_every_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_1", raising=False)
    entries = {"a": {"command": "${NOT_SET_1}", "args": ["${NOT_SET_2}"]}, "b": {"url": "https://${NOT_SET_3}/mcp"}}

    with pytest.raises(ConfigInvalid) as refused:
        servers_of(entries, "servers.json", Path())

    assert refused.value.source == "servers.json"
    assert "server 'a' needs NOT_SET_1, NOT_SET_2; server 'b' needs NOT_SET_3" in refused.value.reason


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "either a command to start or a url"),
        ({"command": "x", "url": "https://example.com"}, "either a command to start or a url"),
        ("npx", "is not an object"),
        ({**FILES, "type": "sse"}, "it can be stdio"),
        ({"url": "https://example.com/sse", "type": "sse"}, "it can be http or streamable-http"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({**FILES, "idempotant": True}, "idempotant"),
        ({**FILES, "headers": {}}, "headers"),
        ({**FILES, "effect": "harmless"}, "effect"),
        ({**FILES, "timeout_s": 0}, "timeout_s"),
        ({**FILES, "attempts": 0}, "attempts"),
        ({**FILES, "args": "-y"}, "args"),
        ({**FILES, "env": {"PORT": 8000}}, "env.PORT"),
        ({**FILES, "tools": {"read": {"command": "x"}}}, "tools.read.command"),
    ],
)
def test_an_invalid_entry_is_refused_and_its_field_is_named(entry: Any, words: str) -> None:
    assert words in fault(entry)


def test_no_secret_is_in_an_error_or_the_repr_of_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "sk-0123456789")

    words = fault({"command": "x", "env": {"A": "${API_TOKEN}"}, "effect": "${API_TOKEN}"})
    shown = repr(server({"url": "https://x/?k=${API_TOKEN}", "headers": {"Authorization": "${API_TOKEN}"}}))

    assert "sk-0123456789" not in words + shown


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"mcpServers": []}', "\x00", "[" * 100_000])
def test_a_file_of_another_form_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "servers.json"
    file.write_text(text)

    with pytest.raises(ConfigInvalid) as refused:
        read_config(file)

    assert refused.value.source == f"MCP servers in {file}"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        read_config(tmp_path / "nowhere.json")

    assert "no such file" in refused.value.reason.lower()


def test_rules_say_nothing_by_themselves() -> None:
    assert set(Server(name="x").rules_for("any").model_dump().values()) == {False, None}
