"""What a policy allows as an argument's value, whatever trick the value tries."""

import time
import unicodedata
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner_executor.graph.policy.constraints import (
    Constraint,
    constraint_faults,
    default_faults,
    is_within,
    may_be_within,
    short_json,
)
from planner_executor.graph.policy.hosts import host_of

AT_EXAMPLE = Constraint(domains=("example.com",))
IN_REPORTS = Constraint(within=("reports",))


def is_allowed(constraint: Constraint, value: Any) -> bool:
    return constraint.fault(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com",
        "https://example.com/a?b=https://evil.com#c",
        "HTTPS://EXAMPLE.COM:8443/",
        "https://api.example.com./x",
        "//example.com/x",
        " https://example.com ",
        "https://ann:secret@example.com/",
        "https://evil.com@example.com/",
        "ann@example.com",
        "Ann Lee <ann@mail.example.com>",
        "mailto.ann+tag@example.com",
        "mailto:ann@example.com",
        '"Ann Lee" <ann@example.com>',
        "<ann@example.com>",
        "http://xn--bcher-kva.example.com/",
        "https://example.com/a,b;c?d=https://evil.com",
        "o'brien@example.com",
    ],
)
def test_an_address_at_a_domain_or_below_it_is_allowed(value: str) -> None:
    assert is_allowed(AT_EXAMPLE, value)


@pytest.mark.parametrize(
    "value",
    [
        "https://evil.com",
        "https://example.com.evil.com",
        "https://notexample.com",
        "https://example.com@evil.com",
        "https://example.com:443@evil.com",
        "https://example.com%40evil.com",
        "https://evil.com/?x=https://example.com",
        "https://evil.com#@example.com",
        "https://evil.com\\@example.com",
        "https:\\\\example.com",
        "https://evil.com%2f.example.com",
        "https://evil.com%00.example.com",
        "https://evil.com;.example.com",
        "https://evil.com&.example.com",
        "https://evil.com .example.com",
        "https://evil.com\t.example.com",
        "https://exa\nmple.com",
        "https://evil.com\uff0f.example.com",
        "https://example\uff0ecom",
        "https://evil\u3002example.com",
        "https://exаmple.com",  # noqa: RUF001  (a Cyrillic letter)
        "https://EXAMPLE.COM\u212a",
        "https://.example.com",
        "https:///example.com",
        "https:example.com",
        "example.com",
        "evil.com/https://example.com",
        "javascript:alert(1)//example.com",
        "https://[::1]/example.com",
        "https://[::ffff:example.com]/",
        "https://127.0.0.1",
        "ann@evil.com",
        "ann@example.com@evil.com",
        "ann@evil.com@example.com",
        "ann@example.com, bob@evil.com",
        "ann@example.com;bob@evil.com",
        "javascript://example.com/%0aalert(1)",
        "file://example.com/etc/passwd",
        "ftp://example.com/",
        "gopher://example.com",
        "data://example.com/,x",
        "view-source:https://example.com",
        "https://example.com/,https://evil.com/",
        "https://example.com/ https://evil.com/",
        "https://example.com/;//evil.com/",
        "https://example.com:99999/",
        "https://example.com:80:evil.com/",
        "https://evil.com%40x@example.com/",
        "https://a@evil.com@example.com/",
        "https://[example.com]/",
        "https://example.com\u200b/",
        "https://example.com/\x00",
        "https://example.com/\u2028",
        "https://example.com\u00a0",
        "https:/example.com",
        "@evil.com:ann@example.com",
        "<@evil.com:ann@example.com>",
        "Ann <@evil.com,@b.com:ann@example.com>",
        "bob%evil.com@example.com",
        "evil.com!bob@example.com",
        '"bob@evil.com"@example.com',
        '"bob evil"@example.com',
        "bob(evil)@example.com",
        "bob@(x)example.com",
        "team: bob@evil.com;",
        "team: Ann <ann@example.com>;",
        "mailto:ann@example.com?cc=bob@evil.com",
        "mailto:bob@evil.com,ann@example.com",
        "bob@evil.com%0aann@example.com",
        "-oX/tmp/x@example.com",
        "ann@[127.0.0.1]",
        "bob@evil.com ann@example.com",
        "ann@example.com\u2028bob@evil.com",
        "https://example.com/" + "a" * 10_000,
        "ann@example.com\nBcc: bob@evil.com",
        "<bob@evil.com> ann@example.com",
        "ann@example.com <bob@evil.com>",
        "Ann <bob@evil.com><ann@example.com>",
        "@example.com",
        "",
        None,
        5,
        True,
        {"to": "ann@example.com"},
    ],
)
def test_what_is_elsewhere_or_cannot_be_told_is_refused(value: Any) -> None:
    assert not is_allowed(AT_EXAMPLE, value)


def test_the_kelvin_sign_is_not_the_letter_that_it_becomes_in_lower_case() -> None:
    assert not is_allowed(Constraint(domains=("bank.com",)), "https://ban\u212a.com")


@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["https://", "//", "", "a@", "https://u@"]))
@example("evil.com/", ".example.com", "https://")
def test_an_address_that_is_allowed_is_there_for_pythons_own_reading_too(before: str, after: str, scheme: str) -> None:
    value = f"{scheme}{before}example.com{after}"

    if is_allowed(AT_EXAMPLE, value):
        host = (urlsplit(value.strip()).hostname or value.strip().strip("<>").rpartition("@")[2]).rstrip(".>").lower()
        assert host == "example.com" or host.endswith(".example.com")
        assert host.isascii()


def test_an_address_in_numbers_is_a_host_like_any_other() -> None:
    assert is_allowed(Constraint(domains=("::1",)), "http://[::1]:80/")
    assert host_of("http://127.0.0.1:80/") == "127.0.0.1"


@pytest.mark.parametrize(
    "value", ["reports", "reports/a.md", "./reports/a", "reports//a", "reports/a b/100%.md", "reports/é"]
)
def test_a_path_in_a_folder_is_allowed(value: str) -> None:
    assert is_allowed(IN_REPORTS, value)


@pytest.mark.parametrize(
    "value",
    [
        "", ".", "..", "/", "/reports/a", "//reports/a", "report", "reportsx/a", "Reports/a", "a/reports",
        "~/reports/a",
        "reports/..", "reports/../a", "reports/../../etc/passwd", "reports/x/../../a", "x/../reports/a",
        "reports\\..\\a", "reports/\0/../../a", "reports/%2e%2e/a", "reports/%252e%252e/a", "reports%2f..%2fa",
        "reports/\uff0e\uff0e/a", "reports/\u2025/a", "reports\uff0fa", "reports/..%5ca", "file:///reports/a",
        None, 5, {},
    ],
)  # fmt: skip
def test_a_path_that_leaves_the_folder_however_it_is_read_is_refused(value: Any) -> None:
    assert not is_allowed(IN_REPORTS, value)


@pytest.mark.parametrize("path", ["reports/a", "%72eports/a", "REPORTS/a", "reports/%2e%2e/a"])
def test_a_path_may_be_in_a_folder_if_any_reading_of_it_is(path: str) -> None:
    assert may_be_within(path, "reports") and not may_be_within(path, "out")


def test_an_absolute_path_is_in_no_relative_folder_and_the_other_way_round() -> None:
    here, root = Constraint(within=(".",)), Constraint(within=("/srv/data",))

    assert is_allowed(here, "a/b") and not is_allowed(here, "/etc/passwd") and not is_allowed(here, "~/x")
    assert is_allowed(root, "/srv/data/x") and not is_allowed(root, "srv/data/x") and not is_allowed(root, "/srv/datax")


@given(st.lists(st.sampled_from(["reports", "..", ".", "", "x", "%2e%2e", "~", "/", "\uff0e\uff0e"]), max_size=6))
def test_a_path_that_is_allowed_never_climbs(parts: list[str]) -> None:
    path = "/".join(parts)

    if is_within(path, "reports"):
        read = unicodedata.normalize("NFKC", path.replace("%2e", "."))
        assert PurePosixPath(path).parts[0] == "reports"
        assert ".." not in PurePosixPath(read).parts


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\\"), max_size=20))
def test_a_name_without_marks_stays_in_its_folder_also_when_it_is_quoted_for_an_address(name: str) -> None:
    plain = "".join(letter for letter in unicodedata.normalize("NFKC", name) if letter not in "./%\\\0")

    assert is_within(f"reports/{plain}", "reports")
    assert is_within(f"reports/{quote(plain)}", "reports")


@pytest.mark.parametrize("value", [0, 1, 5.5, 10])
def test_numbers_between_the_bounds_are_allowed(value: float) -> None:
    assert is_allowed(Constraint(minimum=0, maximum=10), value)


@pytest.mark.parametrize("value", [-1, 10.001, "5", True, False, None, [5, 11], [], {"n": 5}])
def test_what_is_no_number_between_the_bounds_is_refused(value: Any) -> None:
    assert not is_allowed(Constraint(minimum=0, maximum=10), value)


def test_a_value_that_only_looks_like_one_that_is_listed_is_refused() -> None:
    listed = Constraint(one_of=(1, "yes", None, {"a": 1}))

    assert all(is_allowed(listed, value) for value in (1, 1.0, "yes", None, {"a": 1}, ["yes", 1]))
    assert not any(
        is_allowed(listed, value) for value in (True, "1", "Yes", "yes ", "\uff59es", False, 0, {"a": True}, [True])
    )


def test_a_pattern_is_for_the_whole_text() -> None:
    digits = Constraint(pattern=r"[0-9]+")

    assert is_allowed(digits, "42")
    assert not any(is_allowed(digits, value) for value in ("42\n", "a42", "42a", "", 42, None, "42\n42"))


@given(st.recursive(st.sampled_from(["ann@example.com", "ann@evil.com"]), lambda part: st.lists(part, min_size=1)))
def test_every_item_of_a_list_has_to_be_allowed_however_deep_it_lies(value: Any) -> None:
    assert is_allowed(AT_EXAMPLE, value) == ("evil" not in str(value))


def test_all_that_is_set_has_to_hold() -> None:
    both = Constraint(domains=("example.com",), pattern=r"https://.*")

    assert is_allowed(both, "https://example.com") and not is_allowed(both, "ftp://example.com")
    assert not is_allowed(both, "https://evil.com") and is_allowed(Constraint(), {"any": "thing"})


def test_an_empty_list_is_allowed_only_where_anything_is() -> None:
    assert is_allowed(Constraint(), []) and not is_allowed(AT_EXAMPLE, [])


def test_faults_are_told_for_the_arguments_that_are_there() -> None:
    rules = {"to": AT_EXAMPLE, "path": IN_REPORTS}

    assert constraint_faults(rules, {"to": "ann@evil.com", "body": "x"}) == [("to", "is not at example.com")]
    assert constraint_faults(rules, {}) == []


def test_untrusted_values_are_let_in_where_all_of_their_sources_may() -> None:
    contacts = Constraint(untrusted_from=("contacts", "crm"))

    assert contacts.admits(("contacts",)) and contacts.admits(("crm", "contacts"))
    assert not contacts.admits(("contacts", "web")) and not contacts.admits(()) and not Constraint().admits(("web",))


def test_what_is_set_is_told_zero_and_null_included() -> None:
    assert Constraint(minimum=0, one_of=(None, False)).to_json() == {"minimum": 0, "one_of": [None, False]}


@pytest.mark.parametrize("host", ["1.127.0.0.1", "evil.0.0.1", "0x7f.0.0.1"])
def test_nothing_is_below_an_address_in_numbers(host: str) -> None:
    assert not is_allowed(Constraint(domains=("127.0.0.1", "0.0.1")), f"http://{host}/")


def test_a_path_that_would_take_long_to_decode_is_in_no_folder() -> None:
    begun = time.process_time()

    assert not is_within("reports/%" + "25" * 200_000, "reports")
    assert time.process_time() - begun < 1


def test_a_pattern_takes_no_longer_than_any_other_and_means_the_whole_text() -> None:
    words = Constraint(pattern="(a+)+")
    begun = time.process_time()

    assert is_allowed(words, "a" * 50_000) and not is_allowed(words, "a" * 50_000 + "!")
    assert not is_allowed(words, "a\n") and is_allowed(Constraint(pattern="a.b"), "a\nb")
    assert time.process_time() - begun < 2


def test_one_of_several_domains_or_folders_is_enough() -> None:
    assert is_allowed(Constraint(domains=("example.com", "example.org")), "ann@example.org")
    assert is_allowed(Constraint(within=("reports", "drafts")), "drafts/a.md")


@pytest.mark.parametrize("value", ["5", True, None])
def test_what_is_no_number_is_within_no_bound_of_one_side_either(value: Any) -> None:
    assert not is_allowed(Constraint(minimum=0), value) and not is_allowed(Constraint(maximum=10), value)


def test_an_argument_that_is_allowed_has_no_fault() -> None:
    assert constraint_faults({"to": AT_EXAMPLE, "path": IN_REPORTS}, {"to": "ann@example.com", "path": "x"}) == [
        ("path", "is not within reports")
    ]


def test_a_default_is_held_against_the_bounds_unless_the_argument_may_be_left_out() -> None:
    bound, optional = IN_REPORTS, Constraint(within=("reports",), optional=True)

    assert default_faults({"path": bound, "other": optional}, {"path": "x", "other": "x"}) == [
        ("path", 'is left out, and its default "x" is not within reports')
    ]


def test_a_value_in_a_message_has_at_most_80_characters() -> None:
    assert short_json("a" * 78) == f'"{"a" * 78}"'
    assert short_json("a" * 79) == f'"{"a" * 78}…'


def test_a_path_of_4096_characters_leads_somewhere_and_a_longer_one_nowhere() -> None:
    longest = "reports/" + "a" * 4_088

    assert is_within(longest, "reports") and not is_within(f"{longest}a", "reports")


@pytest.mark.parametrize("mark", ["\0", "\\"], ids=["zero", "backslash"])
def test_a_path_with_a_mark_that_programs_read_differently_is_in_no_folder(mark: str) -> None:
    assert not is_within(f"reports/a{mark}b", "reports")


def test_a_home_folder_is_one_only_if_the_policy_names_it() -> None:
    assert is_within("~/x", "~") and not is_within("~/x", ".")


def test_bounds_of_numbers_are_named_as_far_as_they_are_set() -> None:
    assert Constraint(minimum=1, below=2.5).bounds_in_words == ["at least 1", "below 2.5"]
    assert Constraint(pattern="x").bounds_in_words == []


def test_a_null_outside_of_folders_has_no_list_that_could_leave_it_out() -> None:
    ((_, why),) = constraint_faults({"path": IN_REPORTS}, {"path": None})

    assert "optional" not in why
