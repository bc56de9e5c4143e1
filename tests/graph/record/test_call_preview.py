from dataclasses import replace

from planner_executor.graph.record.call_preview import BEYOND, CHARACTERS, MOST, CallPreview, Previews


def said(text: str, key: str = "k") -> CallPreview:
    return CallPreview.of(key, "step_1", "note", text)


def test_of_a_long_text_the_beginning_is_kept_and_its_end_is_still_compared() -> None:
    one, other = said("x" * CHARACTERS + "a"), said("x" * CHARACTERS + "b")

    assert (one.text, one.length) == ("x" * CHARACTERS, CHARACTERS + 1)
    assert said("x" * CHARACTERS).length is None
    assert one.text == other.text and not one.is_like(other) and one.is_like(said("x" * CHARACTERS + "a"))


def test_two_failures_are_alike_and_a_failure_is_unlike_a_preview() -> None:
    failed = CallPreview("k", "step_1", "note", none="no luck")

    assert failed.is_like(CallPreview("k", "step_1", "note", none="other words"))
    assert not failed.is_like(said("one"))


def test_what_differs_from_what_was_shown_stays_beside_it_until_it_differs_no_more() -> None:
    previews = Previews()
    previews.made([said("one")])

    assert not previews.made_again(said("two")), "nobody saw the first"

    previews.were_shown(["k", "unknown"])
    assert previews.made_again(said("three"))
    assert (previews.before["k"], previews.by_key["k"]) == (said("two"), said("three"))

    previews.were_shown(["k"])
    assert previews.before["k"] == said("two"), "a request that is built again says the same"
    assert not previews.made_again(CallPreview("k", "step_1", "note", same=True))
    assert previews.before == {} and previews.by_key["k"] == said("three")
    assert not previews.made_again(said("three")) and previews.before == {}


def test_one_that_is_begun_is_known_as_none() -> None:
    previews = Previews()
    previews.made([CallPreview("k", "step_1", "note")])

    assert previews.by_key == {}
    bare = CallPreview("k", "step_1", "note")
    others = (said("one"), replace(bare, none="no luck"), replace(bare, same=True))
    assert bare.is_begun and not any(one.is_begun for one in others)


def test_of_more_than_a_request_shows_the_others_were_seen_by_nobody() -> None:
    previews, many = Previews(), [f"k{n}" for n in range(MOST + 2)]
    previews.made(said("one", key) for key in many[1:])
    previews.made([CallPreview(many[0], "step_1", "note", none=BEYOND)])
    previews.were_shown(many)

    assert previews.counted(["unknown", *many]) == many[1 : MOST + 1]
    assert many[0] not in previews.shown and not previews.made_again(said("one", many[0]))


def test_a_call_with_other_arguments_has_none_until_it_is_made_anew() -> None:
    previews = Previews()
    previews.made([said("one")])
    previews.were_shown(["k"])
    previews.made_again(said("two"))
    previews.forget("k")

    assert (previews.by_key, previews.shown, previews.before) == ({}, {}, {})
