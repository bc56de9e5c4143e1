"""A session with each server from the beginning of the block to its end; servers that die, hang, change and lie."""

import asyncio
import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from planner_executor import McpServers
from planner_executor.tools.call_progress import CallProgress, told_of_progress
from planner_executor.tools.errors import McpCallFailed, McpUnavailable, NothingHappened

Small = Any


def call(servers: McpServers, tool: str, **args: Any) -> Any:
    """Call a tool from a loop that lives for this call only, as `.invoke` does."""
    (found,) = (each for each in servers.tools() if each.name == tool)
    return asyncio.run(found.arun(args))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_all_calls_of_a_block_have_one_session_and_the_server_ends_with_the_block(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        said = [call(servers, "echo", text=text) for text in ("a", "b", "c")]
        assert [is_alive(process) for process in small.starts] == [True]

    assert said == ["a", "b", "c"]
    assert [is_alive(process) for process in small.starts] == [False]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("mcp")]


def test_calls_go_side_by_side(small: Small) -> None:
    async def many(servers: McpServers) -> list[Any]:
        echo = next(tool for tool in servers.tools() if tool.name == "echo")
        slow = next(tool for tool in servers.tools() if tool.name == "slow")
        waiting = asyncio.create_task(slow.arun({}))
        said = await asyncio.gather(*(echo.arun({"text": str(number)}) for number in range(20)))
        waiting.cancel()
        return said

    with McpServers({"small": small.entry()}) as servers:
        assert asyncio.run(many(servers)) == [str(number) for number in range(20)]


def test_the_servers_are_started_and_left_in_asynchronous_code_too_also_when_it_is_cancelled(small: Small) -> None:
    async def used(began: asyncio.Event) -> None:
        async with McpServers({"small": small.entry()}) as servers:
            began.set()
            await next(tool for tool in servers.tools() if tool.name == "slow").arun({})

    async def main() -> None:
        began = asyncio.Event()
        task = asyncio.create_task(used(began))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())

    assert [is_alive(process) for process in small.starts] == [False]


async def test_starting_that_is_cancelled_leaves_nothing_behind(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner_executor.tools.mcp.servers.START_TIMEOUT_S", 3_600.0)  # who waits for it hangs
    small.behave("deaf")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5), McpServers({"small": small.entry()}, start_timeout_s=3600):
            raise AssertionError("it never answers")
    assert [is_alive(process) for process in small.starts] == [False]


def test_an_error_is_never_a_result(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        with pytest.raises(McpCallFailed) as failed:
            call(servers, "fail", text="no such file")
        with pytest.raises(McpCallFailed) as refused:
            call(servers, "refuse")

    assert (failed.value.tool, failed.value.reason) == ("fail", "no such file")
    assert refused.value.reason == "it cannot be done"
    assert not isinstance(failed.value, NothingHappened)


def test_a_server_that_dies_in_a_call_fails_that_call_and_is_started_again_for_the_next(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        with pytest.raises(McpCallFailed, match="ended during the call") as lost:
            call(servers, "die")
        said = call(servers, "echo", text="still here")

    assert not isinstance(lost.value, NothingHappened)
    assert said == "still here"
    assert len(small.starts) == 2
    assert [tool for tool, _ in small.calls] == ["die", "echo"]


def test_a_server_that_dies_again_without_having_answered_is_given_up(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        for _ in range(2):
            with pytest.raises(McpCallFailed, match="ended during the call"):
                call(servers, "die")
        with pytest.raises(McpUnavailable):
            call(servers, "echo", text="anyone?")

    assert len(small.starts) == 2


def test_a_server_that_has_answered_since_may_be_started_again(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        for _ in range(3):
            with pytest.raises(McpCallFailed, match="ended during the call"):
                call(servers, "die")
            assert call(servers, "echo", text="back") == "back"

    assert len(small.starts) == 4


def test_several_calls_that_find_a_server_dead_start_it_once(small: Small) -> None:
    async def many(servers: McpServers) -> list[Any]:
        tools = {tool.name: tool for tool in servers.tools()}
        with pytest.raises(McpCallFailed, match="ended during the call"):
            await tools["die"].arun({})
        return await asyncio.gather(*(tools["echo"].arun({"text": str(number)}) for number in range(5)))

    with McpServers({"small": small.entry()}) as servers:
        assert asyncio.run(many(servers)) == ["0", "1", "2", "3", "4"]

    assert len(small.starts) == 2


def test_a_server_that_cannot_be_started_again_is_a_call_that_did_not_happen(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        small.behave("crash")
        with pytest.raises(McpCallFailed, match="ended during the call"):
            call(servers, "die")
        with pytest.raises(McpUnavailable):
            call(servers, "note", text="x")

    assert [tool for tool, _ in small.calls] == ["die"]


def test_a_tool_that_changes_its_arguments_is_not_called(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        call(servers, "note", text="before")
        call(servers, "swap")
        with pytest.raises(McpUnavailable) as changed:
            call(servers, "note", text="after")

    assert isinstance(changed.value, NothingHappened)
    assert "'note' has changed its arguments or its effect" in changed.value.reason
    assert [args for tool, args in small.calls if tool == "note"] == [{"text": "before"}]


def test_a_tool_that_changed_while_the_server_was_dead_is_not_called(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        with pytest.raises(McpCallFailed, match="ended during the call"):
            call(servers, "die")
        small.behave("swapped")
        with pytest.raises(McpUnavailable):
            call(servers, "note", text="after")


def test_a_server_that_does_not_answer_in_half_the_time_has_not_been_called(small: Small) -> None:
    with McpServers({"small": small.entry(timeout_s=0.4)}) as servers:
        small.behave("deaf")
        with pytest.raises(McpUnavailable):
            call(servers, "note", text="x")

    assert small.calls == []


async def test_tools_are_of_no_use_after_the_block(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        (echo,) = (tool for tool in servers.tools() if tool.name == "echo")

    with pytest.raises(McpUnavailable):
        await echo.arun({"text": "x"})


@pytest.mark.parametrize(
    ("how", "limit_s", "words"), [("crash", 60, "no configuration"), ("deaf", 0.5, "within 0.5 s")]
)
def test_a_server_that_does_not_start_is_named_with_its_last_words_and_the_others_are_left(
    small: Small, tmp_path: Path, how: str, limit_s: float, words: str
) -> None:
    small.behave(how)
    other = type(small)(tmp_path / "other")
    other.folder.mkdir()

    with (
        pytest.raises(McpUnavailable) as failed,
        McpServers({"small": small.entry(), "other": other.entry()}, start_timeout_s=limit_s),
    ):
        raise AssertionError("it started")

    assert failed.value.server == "small"
    assert words in failed.value.reason and "\x1b" not in failed.value.reason
    assert not any(is_alive(process) for process in small.starts + other.starts)


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(McpUnavailable) as failed, McpServers({"x": {"command": "no-such-command"}}):
        raise AssertionError("it started")

    assert failed.value.reason == "no such file or directory: no-such-command"


def test_two_servers_with_the_same_tools_are_told_apart_by_their_names(small: Small, tmp_path: Path) -> None:
    def own() -> None:
        """Swap, of the user's own."""

    own.__name__ = "swap"
    with McpServers({"a": small.entry(), "b": small.entry(disabled=True)}) as servers:
        alone = {tool.name for tool in servers.tools(beside=[own])}
    with McpServers({"a": small.entry(), "b": small.entry()}) as servers:
        both = {tool.name for tool in servers.tools()}
        assert call(servers, "b_echo", text="x") == "x"

    assert {"echo", "a_swap"} <= alone and "swap" not in alone
    assert {"a_echo", "b_echo"} <= both and "echo" not in both


def test_a_server_gets_its_configured_variables_and_the_least_of_our_environment(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("SMALL", "fills in")

    with McpServers({"small": small.entry(env={"GIVEN": "it ${SMALL}"})}) as servers:
        environment = json.loads(call(servers, "environment"))

    assert environment["GIVEN"] == "it fills in"
    assert set(environment) <= {"GIVEN", "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


def test_a_key_that_a_server_tells_is_in_no_result_no_error_and_no_log(
    small: Small, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-1234567890abcdef"
    monkeypatch.setenv("SMALL_TOKEN", key)
    entry = small.entry(env={"SMALL_TOKEN": "${SMALL_TOKEN}"})

    with caplog.at_level(logging.DEBUG), McpServers({"small": entry}) as servers:
        environment = call(servers, "environment")
        with pytest.raises(McpCallFailed) as failed:
            call(servers, "fail", text=f"wrong key {key}")
    small.behave("crash")
    with pytest.raises(McpUnavailable) as unavailable, McpServers({"small": entry}):
        raise AssertionError("it started")

    told = [environment, str(failed.value), str(unavailable.value), repr(servers), caplog.text]
    assert not [words for words in told if key in words]
    assert json.loads(environment)["SMALL_TOKEN"] == "***"
    assert "small: small server ***" in caplog.text


def test_the_standard_error_of_a_server_never_reaches_the_terminal(
    small: Small, capfd: pytest.CaptureFixture[str]
) -> None:
    with McpServers({"small": small.entry()}) as servers:
        call(servers, "echo", text="x")

    assert capfd.readouterr() == ("", "")


def test_output_outside_the_protocol_is_ignored(small: Small, capfd: pytest.CaptureFixture[str]) -> None:
    small.behave("chatty")

    with McpServers({"small": small.entry()}) as servers:
        assert call(servers, "echo", text="x") == "x"

    assert capfd.readouterr() == ("", "")


def test_a_tool_declares_the_rules_of_the_configuration(small: Small) -> None:
    rules = {"timeout_s": 5, "tools": {"note": {"effect": "external", "idempotent": True, "free_args": ["text"]}}}

    with McpServers({"small": small.entry(**rules)}) as servers:
        declared = {tool.name: tool.metadata or {} for tool in servers.tools()}

    note = {"effect": "external", "idempotent": True, "timeout_s": 5.0, "trusted": False, "free_args": ("text",)}
    assert note.items() <= declared["note"].items()
    assert {**note, "effect": "read", "free_args": ()}.items() <= declared["echo"].items()


def test_the_progress_that_a_server_reports_is_told_to_who_listens(small: Small) -> None:
    told: list[CallProgress] = []
    with McpServers({"small": small.entry()}) as servers, told_of_progress(told.append):
        call(servers, "steady")

    assert told == [CallProgress(done, 3, f"page {done}") for done in (1, 2, 3)]


def test_a_tool_that_is_a_task_only_is_left_out_by_name(small: Small, caplog: pytest.LogCaptureFixture) -> None:
    small.behave("tasks", '["research"]')
    with McpServers({"small": small.entry()}) as servers:
        names = {tool.name for tool in servers.tools()}

    assert "research" not in names and "echo" in names
    assert [line for line in caplog.messages if "'research' is left out" in line and '"disabled": true' in line]


def test_a_tool_that_became_a_task_only_is_not_called(small: Small) -> None:
    with McpServers({"small": small.entry()}) as servers:
        small.behave("tasks", '["note"]')
        with pytest.raises(McpUnavailable, match="'note' was not called: it can only be run as a task"):
            call(servers, "note", text="x")

    assert not small.calls


def test_a_tool_that_is_a_task_only_and_disabled_is_not_spoken_of(
    small: Small, caplog: pytest.LogCaptureFixture
) -> None:
    small.behave("tasks", '["research"]')
    with McpServers({"small": small.entry(tools={"research": {"disabled": True}})}):
        pass

    assert not [line for line in caplog.messages if "research" in line]
