"""No reader of a fault sees pydantic's own words around it."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError, field_validator

from planner_executor.graph.calls.failures import failure_words
from planner_executor.graph.chat_models.sources import from_file
from planner_executor.graph.cli.model_options import settings_of
from planner_executor.graph.client_context import check_context
from planner_executor.graph.errors import AgentError
from planner_executor.graph.evaluation.suite_file import read_suite
from planner_executor.graph.words.validation_message import fault_messages


class Payment(BaseModel):
    """Arguments of a tool that checks them by itself."""

    amount: int

    @field_validator("amount")
    @classmethod
    def _check(cls, amount: int) -> int:
        if amount <= 0:
            raise AssertionError("nothing to pay")
        if amount > 10:
            raise ValueError("too much")
        return amount


def faulty(amount: Any) -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Payment]).validate_python([{"amount": amount}])
    return caught.value


@pytest.mark.parametrize(("amount", "words"), [(50, "0.amount: too much"), (0, "0.amount: nothing to pay")])
def test_a_fault_is_its_place_and_the_words_of_the_check(amount: int, words: str) -> None:
    assert fault_messages(faulty(amount)) == words


def test_a_fault_of_a_whole_value_has_no_place() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(int).validate_python("many")

    assert fault_messages(caught.value) == "must be a valid integer"


def test_a_tool_that_refuses_its_arguments_fails_with_the_words_of_its_check() -> None:
    assert failure_words(faulty(50)) == "ValidationError: 0.amount: too much"


def _read_suite(path: Path) -> None:
    path.write_text('name = "s"\n[[cases]]\nid = "a"\ngoal = "g"\nreplanning = 5\nanswer = 1\nbudget = {zork = 1}\n')
    read_suite(path)


def _read_settings(path: Path) -> None:
    path.write_text('[models.planner]\nmodel = "a:b"\nbase_url = "http://host/v1?key=1"\n')
    from_file(path)


CLIENT = {"model_settings": {"planner": {"options": {"default_headers": {}}}}}
READERS = {
    "a settings file": _read_settings,
    "a suite": _read_suite,
    "recorded settings": lambda _: settings_of({"planner": {"base_url": "http://u:p@host/v1"}}),
    "a client's context": lambda _: check_context(CLIENT),
}


@pytest.mark.parametrize("source", READERS)
def test_no_message_has_the_words_that_pydantic_puts_before_it(source: str, tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        READERS[source](tmp_path / "given.toml")

    said = str(caught.value)
    assert "error," not in said and "pydantic" not in said and "input_value" not in said
