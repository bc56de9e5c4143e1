"""Reading a policy: what is not understood is refused, and the line is named."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_executor.graph.errors import PolicyError
from planner_executor.graph.policy.constraints import Constraint
from planner_executor.graph.policy.policy import Policy, ToolRule
from planner_executor.graph.policy.policy_file import policy_from, policy_from_toml
from planner_executor.graph.record.budget import Budget, Price
from planner_executor.graph.record.standing_approval import LONGEST_S

WHOLE = """
approval = "side_effects"            # always, side_effects, never

[effects]
external = "review"
write = 'allow'

[tools.send_mail]
verdict = "review"
args.to = { domains = ["example.com"], untrusted_from = ["read_contacts"] }
args.count.maximum = 5

[tools."odd.name"]
verdict = "deny"

[tools.write_file.args]
path = { within = ["reports"], pattern = '.*\\.md' }
[tools.write_file.args.mode]
one_of = [
    "a", 1, true,
]
minimum = -0.5

[limits]
tool_calls = 200
cost_usd = 2.5
calls = { send_mail = 5 }

[rates]
web_search = 30

[prices."gpt-5-mini"]
input = 0.25
output = 2
"""


def refused(text: str) -> PolicyError:
    with pytest.raises(PolicyError) as error:
        policy_from_toml(text, "policy.toml")
    return error.value


def test_a_whole_policy_is_read() -> None:
    assert policy_from_toml(WHOLE) == Policy(
        approval="side_effects",
        effects={"external": "review", "write": "allow"},
        tools={
            "send_mail": ToolRule(
                "review",
                {
                    "to": Constraint(domains=("example.com",), untrusted_from=("read_contacts",)),
                    "count": Constraint(maximum=5),
                },
            ),
            "odd.name": ToolRule("deny"),
            "write_file": ToolRule(
                None,
                {
                    "path": Constraint(within=("reports",), pattern=r".*\.md"),
                    "mode": Constraint(one_of=("a", 1, True), minimum=-0.5),
                },
            ),
        },
        limits=Budget(tool_calls=200, cost_usd=2.5, calls={"send_mail": 5}),
        rates={"web_search": 30},
        prices={"gpt-5-mini": Price(0.25, 2)},
    )


def test_limits_of_a_day_conditions_alone_and_the_longest_approval_are_read() -> None:
    found = policy_from_toml("""
        [effects]
        external = { ask_when = { to = { one_of = ["eve"] } } }
        write = { verdict = "deny" }
        [limits]
        steps = 9
        per_day = { tool_calls = 3 }
        [standing]
        longest = "7d"
    """)

    assert (dict(found.effects), list(found.ask_when)) == ({"write": "deny"}, ["external"])
    assert (found.limits, found.per_day.to_json()) == (Budget(steps=9), {"tool_calls": 3})
    assert (found.standing_s, Policy().standing_s) == (7 * 86_400, LONGEST_S)
    wrong = refused('[effects]\nexternal = "refuse"')
    assert str(wrong).endswith("effects.external is 'refuse'; it must be one of allow, review, ask, deny")


def test_a_policy_that_says_nothing_is_one() -> None:
    assert policy_from_toml("") == policy_from_toml("# nothing\n[tools]\n") == Policy()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("aproval = 'never'", 1, "did you mean approval?"),
        ("\napproval = 'sometimes'", 2, "always, side_effects, never"),
        ("approval = ['never']", 1, "approval is"),
        ("new_effects = 'allow'", 1, "ask, deny"),
        ("preview_changed = 'deny'", 1, "ask, go"),
        ("leaving_previews = 'send'", 1, "list"),
        ("[efects]\nwrite = 'deny'", 1, "did you mean effects?"),
        ("effects = 'deny'", 1, "must be a table"),
        ("[effects]\nread = 'allow'\nwirte = 'deny'", 3, "did you mean write?"),
        ("[effects]\nwrite = 'Deny'", 2, "it must be one of allow, review, ask, deny"),
        ("[effects]\nwrite = true", 2, "it must be one of allow, review, ask, deny"),
        ("effects = { write = 'forbid' }", 1, "it must be one of allow"),
        ("[tools]\nsend = 'deny'", 2, "must be a table, such as"),
        ("[[tools]]\nname = 'send'", 1, "must be a table"),
        ("[tools.send]\nverdict = 'no'", 2, "it must be one of allow"),
        ("[tools.send]\n\nverdct = 'deny'", 3, "did you mean verdict?"),
        ("[tools.send]\nargs = 5", 2, "must be a table of arguments"),
        ("[tools.send.args]\nto = 5", 2, "must be a table with some of"),
        ("[tools.a]\nverdict='deny'\n[tools.send.args.to]\ndomain = ['x.com']", 4, "did you mean domains?"),
        ("[tools.send]\nargs.to.domains = 'x.com'", 2, "must be a non-empty list of texts"),
        ("[tools.send]\nargs.to = { domains = [] }", 2, "must be a non-empty list of texts"),
        ("[tools.send]\nargs.to = { domains = ['https://x.com'] }", 2, "is not a plain host"),
        ("[tools.send]\nargs.to = { domains = ['*.x.com'] }", 2, "is not a plain host"),
        ("[tools.send]\nargs.to = { domains = ['.x.com'] }", 2, "is not a plain host"),
        ("[tools.send]\nargs.p = { within = ['../x'] }", 2, "which cannot contain a path"),
        ("[tools.send]\nargs.p = { within = [5] }", 2, "must be a non-empty list of texts"),
        ("[tools.send]\nargs.p = { one_of = [] }", 2, "must be a non-empty list"),
        ("[tools.send]\nargs.p = { one_of = ['a', nan] }", 2, "nan is not a JSON number"),
        ("[tools.send]\nargs.p = { one_of = [2027-01-31] }", 2, "a date is not a JSON value"),
        ("[tools.send]\nargs.p = { minimum = '5' }", 2, "must be a number"),
        ("[tools.send]\nargs.p = { maximum = nan }", 2, "must be a number"),
        ("[tools.send]\nargs.p = { maximum = true }", 2, "must be a number"),
        ("[tools.send]\nargs.p = { pattern = '(' }", 2, "is not a regular expression"),
        ("[limits]\nsteps = 5\ntool_cals = 5", 3, "is not a limit of a budget"),
        ("[limits]\nsteps = -1", 2, "must be an integer >= 0"),
        ("[limits]\nsteps = 1.5", 2, "must be an integer"),
        ("[limits]\ncost_usd = inf", 2, "must be a number >= 0"),
        ("[limits]\nsteps = true", 2, "must be an integer"),
        ("[limits]\ncalls = 5", 2, "must be an object"),
        ("[limits.calls]\nsend = 'often'", 2, "must be an integer"),
        ("[limits]\ncalls.\"a.b\" = -1", 2, "must be an integer"),
        ("[steps]\ntimeout_s = inf", 2, "above 0"),
        ("[rates]\nsend = 0", 2, "above 0"),
        ("[standing]\nlongest = '367d'", 2, "a duration of at most a year"),
        ("[standing]\nlongest = 30", 2, "a duration of at most a year"),
        ("[standing]\nlast = '3d'", 2, "longest"),
        ("[rates]\nsend = 'fast'", 2, "above 0"),
        ("[prices.m]\ninput = 1", 1, "prices.m.output is missing"),
        ("[prices]\nm = 1", 2, "must have input and output"),
        ("[prices.m]\ninput = 1\noutput = -1", 3, "is not a price"),
        ('[tools."a[0]"]\nverdict = "deny"\n[tools."b[0]"]\nverdict = "no"', 4, "it must be one of allow"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    error = refused(text)

    assert (error.line, words in str(error)) == (line, True), str(error)
    assert f"policy.toml, line {line}" in str(error)


def test_what_is_no_toml_is_refused_with_the_line_it_breaks_at() -> None:
    assert "line 2" in str(refused("approval = 'never'\n[effects\n"))


@pytest.mark.parametrize(
    "raw", [{1: 2}, {"tools": {1: 2}}, {"effects": {None: "deny"}}, {"limits": 5}, {"rates": {1: 0}}]
)
def test_data_of_odd_types_is_refused_too(raw: Any) -> None:
    with pytest.raises(PolicyError):
        policy_from(raw)


KEYS = st.one_of(st.text("abc_-1", min_size=1, max_size=5), st.text("ab .[]#=", min_size=1, max_size=5))


def quoted(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else f'"{key}"'


@given(st.lists(KEYS, min_size=1, max_size=6, unique=True), st.data())
def test_whatever_the_tools_are_called_the_line_of_the_odd_one_is_named(names: list[str], data: st.DataObject) -> None:
    odd = data.draw(st.sampled_from(names))
    lines: list[str] = []
    for name in names:
        lines += data.draw(st.sampled_from([[], [""], ["# verdict = 'no'"]]))
        verdict = "no" if name == odd else "deny"
        if data.draw(st.booleans()):
            lines += [f"[tools.{quoted(name)}]  # a tool", f"  verdict = '{verdict}'"]
        else:
            lines += ["[tools]" if "[tools]" not in lines else f"[tools.{quoted(name)}]"]
            entry = f"{quoted(name)}.verdict" if lines[-1] == "[tools]" else "verdict"
            lines += [f"{entry} = '{verdict}'"]
        if name == odd:
            line = len(lines)
    text = "\n".join(lines)
    tomllib.loads(text)

    assert refused(text).line == line
