"""Media in prompts: their type and size, never their bytes; texts stay as they are."""

from typing import Any

import pytest

from planner_executor.graph.plan.schema import Step
from planner_executor.graph.prompts.executor import executor_messages
from planner_executor.graph.prompts.judge import judge_messages
from planner_executor.graph.prompts.media import media_named, media_named_in_preview

BYTES = "iVBO" * 100
NAMED = "(image/png, 300 bytes, not shown)"
IMAGE = {"type": "image", "data": BYTES, "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([{"type": "text", "text": "a"}, IMAGE], [{"type": "text", "text": "a"}, {**IMAGE, "data": NAMED}]),
        (
            {"resource": {"uri": "u", "blob": BYTES, "mimeType": "image/png"}},
            {"resource": {"uri": "u", "blob": NAMED, "mimeType": "image/png"}},
        ),
        ({"base64": BYTES, "mime_type": "image/png"}, {"base64": NAMED, "mime_type": "image/png"}),
        (
            {"source": {"type": "base64", "media_type": "image/png", "data": BYTES}},
            {"source": {"type": "base64", "media_type": "image/png", "data": NAMED}},
        ),
        ({"image_url": {"url": f"data:image/png;base64,{BYTES}"}}, {"image_url": {"url": NAMED}}),
        (f"see ![x](data:image/png;base64,{BYTES}) there", f"see ![x]({NAMED}) there"),
    ],
)
def test_a_medium_is_named_by_type_and_size(value: Any, shown: Any) -> None:
    assert media_named(value) == shown


@pytest.mark.parametrize(
    "value",
    [
        {"data": BYTES},
        {"data": BYTES, "mimeType": "text/plain"},
        {"data": "some words of " * 20, "mimeType": "image/svg+xml"},
        {"data": "short", "mimeType": "image/png"},
        [1, None, True, "text"],
    ],
)
def test_what_is_no_medium_stays(value: Any) -> None:
    assert media_named(value) == value


def test_the_cut_beginning_of_a_medium_is_not_shown() -> None:
    assert BYTES[:64] not in media_named_in_preview(f'[{{"type": "image", "data": "{BYTES}')


def test_prompts_hold_no_bytes_of_an_image() -> None:
    step = Step(id="a", objective="look", success_criteria="it is red")
    messages = [*executor_messages("g", step, {"picture": IMAGE}, {}), *judge_messages(step, [IMAGE], {"b": IMAGE})]

    told = "".join(str(message.content) for message in messages)

    assert BYTES not in told and told.count(NAMED) == 3
