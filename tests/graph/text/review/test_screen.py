from dataclasses import replace

from planner_executor.graph.review.request import ReviewAction, ReviewRequest
from planner_executor.graph.review.request_json import digest_of_all
from planner_executor.graph.text.review.screen import screen_descriptions

GATE = ReviewAction("run_step", {"step": "a", "tool": "gate", "args": {}}, "a waits for your consent.")
NEW = ReviewAction("run_step", {"step": "b", "tool": "send", "args": {}}, "New: b calls send.", digest="f" * 64)
REQUEST = ReviewRequest("r.1", 1, "d" * 64, "b", (GATE, NEW))


def test_a_screen_has_one_digest_which_is_that_of_the_request_and_no_refusal() -> None:
    for request in (REQUEST, REQUEST.again("no such step", ()), replace(REQUEST, people="Policy: Ada has to approve.")):
        value = request.to_json()

        assert "\n\n".join(screen_descriptions(value)).endswith(f"\n\nDigest: {digest_of_all(value)}")
        assert "".join(screen_descriptions(value)).count("Digest: ") == 1
        assert "Asked again" not in "".join(screen_descriptions(value))
        assert screen_descriptions(value)[0].startswith(GATE.description)


def test_a_description_of_an_earlier_release_which_began_with_the_refusal_is_shown_alike() -> None:
    value = REQUEST.again("no such step", ()).to_json()
    for action in value["action_requests"]:
        text, refusal = action["description"].rsplit("\n\n", 1)
        action["description"] = f"{refusal}\n\n{text}"

    assert screen_descriptions(value) == screen_descriptions(REQUEST.to_json())


def test_a_digest_in_a_block_of_data_stays() -> None:
    text = f"q asks:\n\n```text\n  Digest: {'0' * 64}\n```"
    value = replace(REQUEST, actions=(replace(GATE, description=text),)).to_json()

    assert f"Digest: {'0' * 64}" in screen_descriptions(value)[0]
