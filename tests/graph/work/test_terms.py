"""Whether a worker has what a run was begun with, and what it lacks."""

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from graph.ledger.memory.ledger import MemoryLedger
from graph.record.events import Configuration, Content
from graph.record.values import keep
from graph.work.terms import lacking

SETTINGS = {"timeout_s": None, "attempts": None, "backoff_s": None, "approval": "always", "max_check_attempts": 2}
TOOLS: list[Any] = [{"name": "mail", "effect": "external"}, {"name": "web", "effect": "read"}]
HERE = Configuration(settings=SETTINGS, models={"planner": ["gpt-5"]}, executors={"small": "gpt-5-mini"})


class Fixed:
    """Services with a configuration, of which nothing on record is the same."""

    configuration = HERE, keep(TOOLS)

    def __init__(self, is_same: bool) -> None:
        self.is_configured_as = lambda _: is_same


def lacks(*, is_same: bool = False, tools: Any = TOOLS, **change: Any) -> str | None:
    """Return what a worker lacks for a run that was begun with these tools, and with the rest changed."""

    async def main() -> str | None:
        ledger, content = MemoryLedger(), Content(tools) if tools is not None else None
        try:
            return await lacking(cast("Any", Fixed(is_same)), ledger, replace(HERE, tools=content, **change))
        finally:
            await ledger.close()

    return asyncio.run(main())


def test_the_same_configuration_lacks_nothing() -> None:
    assert lacks(is_same=True, tools=[]) is None


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([*TOOLS, {"name": "pay"}], "needs pay: name it with --tools or --mcp"),
        ([*TOOLS, {"name": "pay"}, {"name": "fax"}], "needs pay, fax: name them with --tools or --mcp"),
        ([{**TOOLS[0], "effect": "read"}, TOOLS[1]], "mail has changed"),
        ([{**tool, "effect": "write"} for tool in TOOLS], "mail, web have changed"),
        (TOOLS[:1], "was begun without web"),
        (None, "was begun without mail, web"),
    ],
)
def test_tools_that_are_missing_changed_or_new_are_named(tools: Any, words: str) -> None:
    assert lacks(tools=tools) == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": {"planner": ["gpt-4", "gpt-5"]}}, "role planner: needs gpt-4 then gpt-5, here is gpt-5"),
        ({"models": {**HERE.models, "judge": "x" * 41}}, "role judge: needs another one, here is none"),
        ({"models": {**HERE.models, "judge": "x" * 40}}, f"role judge: needs {'x' * 40}, here is none"),
        ({"executors": {}}, "executor small: needs none, here is gpt-5-mini"),
        ({"settings": {**SETTINGS, "approval": "never"}}, "approval: needs never, here is always"),
        ({"settings": {**SETTINGS, "timeout_s": 5}}, "timeout_s: needs 5, here is none"),
        ({}, "its configuration is of an earlier release; continue it with resume"),
    ],
)
def test_models_and_settings_that_differ_are_named(change: dict[str, Any], words: str) -> None:
    assert lacks(**change) == words


def test_all_that_differs_is_said() -> None:
    found = lacks(tools=TOOLS[:1], settings={**SETTINGS, "approval": "never"})

    assert found == "was begun without web; approval: needs never, here is always"
