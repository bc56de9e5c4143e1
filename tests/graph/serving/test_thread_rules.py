"""Which servers say who sees which thread."""

from collections.abc import Callable
from typing import Any

import pytest
from langgraph_sdk import Auth

from planner_executor.graph.serving.thread_rules import has_thread_rules, limits_threads


async def rule(ctx: Any, value: Any) -> None: ...


@pytest.mark.parametrize(
    ("registered", "found"),
    [
        (lambda auth: None, False),
        (lambda auth: auth.on.assistants(rule), False),
        (lambda auth: auth.on.threads(rule), True),
        (lambda auth: auth.on.threads.read(rule), True),
        (lambda auth: auth.on(rule), True),
    ],
)
def test_rules_on_threads_are_found(registered: Callable[[Auth], Any], found: bool) -> None:
    auth = Auth()
    registered(auth)

    assert limits_threads(auth) == found


def test_of_a_server_in_another_language_nothing_is_known_and_outside_of_one_there_are_no_rules() -> None:
    assert limits_threads("js") and not has_thread_rules()


def test_without_authentication_there_are_no_rules() -> None:
    assert not limits_threads(None)
