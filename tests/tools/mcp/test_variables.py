import json

from hypothesis import given, settings
from hypothesis import strategies as st

from planner_executor.tools.mcp.variables import fill, hide

TEXTS = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def told(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def test_variables_are_substituted_anywhere_in_a_text() -> None:
    given = {"args": ["--dir", "${HOME}/docs"], "env": {"A": "${A}${env:A}", "B": "$A $ {A} ${}"}}

    filled = fill(given, {"HOME": "/home/ada", "A": "1"})

    assert filled.value == {"args": ["--dir", "/home/ada/docs"], "env": {"A": "11", "B": "$A $ {A} ${}"}}
    assert filled.missing == frozenset()


def test_a_default_replaces_an_unset_variable_and_may_be_empty() -> None:
    assert fill("${A:-x/y}${B:-}|${C:-no}", {"C": "yes"}).value == "x/y|yes"


def test_every_missing_variable_is_named() -> None:
    assert fill(["${A}", {"x": "${B} ${A}"}], {}).missing == {"A", "B"}


def test_a_value_is_never_looked_through_again() -> None:
    assert fill("${A}", {"A": "${B}", "B": "secret"}).value == "${B}"


@given(JSON.filter(lambda value: "${" not in str(value)))
def test_a_text_without_variables_is_unchanged(value: object) -> None:
    assert fill(value, {}).value == value


def test_a_value_is_secret_if_its_variable_or_its_key_is_named_like_one() -> None:
    entry = {
        "env": {"GITHUB_TOKEN": "ghp_of_somebody", "PLACE": "${MAPS_API_KEY}", "GIT_AUTHOR_NAME": "Ada Lovelace"},
        "headers": {"Authorization": "Bearer ${THEIRS}", "X-Trace": "trace-of-this"},
        "args": ["--root", "${HOME}", "--key-file", "literal-argument"],
    }
    environment = {"MAPS_API_KEY": "maps-key-1", "THEIRS": "bearer-token-1", "HOME": "/home/ada"}

    secrets = fill(entry, environment).secrets

    assert secrets == {"ghp_of_somebody", "maps-key-1", "bearer-token-1", "Bearer bearer-token-1"}


def test_a_secret_too_short_to_be_distinct_is_not_hidden() -> None:
    assert fill({"API_KEY": "none"}, {}).secrets == frozenset()


@settings(max_examples=50)
@given(JSON, st.sets(st.text("ab", min_size=2, max_size=4), max_size=3))
def test_no_secret_is_left_and_nothing_else_is_touched(value: object, secrets: set[str]) -> None:
    hidden = hide(value, secrets)

    assert not [secret for secret in secrets if secret in told(hidden)]
    if not [secret for secret in secrets if secret in told(value)]:
        assert hidden == value
