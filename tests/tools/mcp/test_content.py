from typing import Any

import pytest
from mcp.types import CallToolResult

from planner_executor.tools.mcp.content import MAX_CHARACTERS, error_of, size_fault, value_of

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}
RESOURCE = {"type": "resource", "resource": {"uri": "file:///a", "text": "words", "mimeType": "text/plain"}}


def answer(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": list(content), **more})


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (answer(TEXT), "hello"),
        (answer(TEXT, {**TEXT, "text": "there"}), "hello\nthere"),
        (answer(), None),
        (answer({**TEXT, "text": '{"a": 1}'}), '{"a": 1}'),
        (answer(TEXT, structuredContent={"a": [1]}), {"a": [1]}),
        (answer(structuredContent={}), {}),
        (answer(IMAGE), [IMAGE]),
        (answer(TEXT, AUDIO, LINK, RESOURCE), [TEXT, AUDIO, LINK, RESOURCE]),
        (answer(TEXT, IMAGE, structuredContent={"a": 1}), {"structured": {"a": 1}, "content": [TEXT, IMAGE]}),
    ],
)
def test_an_answer_is_a_plain_value(given: CallToolResult, value: Any) -> None:
    assert value_of(given) == value


def test_annotations_of_a_block_are_not_part_of_the_value() -> None:
    resource = {**RESOURCE, "resource": {**RESOURCE["resource"], "_meta": {"a": 1}}}  # type: ignore[dict-item]
    about = {"annotations": {"priority": 1.0}, "_meta": {"a": 1}}

    assert value_of(answer({**IMAGE, **about}, {**resource, **about})) == [IMAGE, RESOURCE]


def test_an_error_has_the_message_of_the_server() -> None:
    assert error_of(answer(TEXT, IMAGE, isError=True)) == "hello"
    assert error_of(answer(isError=True)) == "the server gave no reason"


def test_a_value_that_is_too_large_is_a_fault() -> None:
    assert size_fault("x" * MAX_CHARACTERS) is None
    assert "ask for less" in str(size_fault({"a": "x" * MAX_CHARACTERS}))
