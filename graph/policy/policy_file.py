"""Reading a policy from TOML, or from the same data in Python; unknown or invalid entries are refused by line.

```toml
approval = "side_effects"            # always, side_effects, never
new_effects = "deny"                 # ask, deny: what a revision adds after untrusted results were read
preview_changed = "go"               # ask, go: a call whose preview differs from the one that was shown
leaving_previews = ["quote"]         # tools whose previews may leave the machine

[effects]
external = "review"                  # allow, review, ask, deny
write = { ask_when = { path = { within = ["contracts"] } } }

[tools.send_mail]
verdict = "review"
args.to = { domains = ["example.com"], untrusted_from = ["read_contacts"] }
ask_when = { copies = { above = 10 } }
reason = true                        # whoever approves has to say why

[limits]                             # no budget goes beyond these
tool_calls = 200
cost_usd = 2.5
calls = { send_mail = 5 }

[limits.per_day]                     # nor do all runs of a day, see graph.policy.day_limits
tokens = 5_000_000

[steps]                              # no step is tried longer, or more often
timeout_s = 60
attempts = 3

[standing]                           # approvals of further calls, beyond their run
longest = "30d"                      # 90 days if it is left out

[rates]                              # calls per minute, or "5/second", of a tool or a model
web_search = 30

[prices."gpt-5-mini"]                # US dollars per million tokens
input = 0.25
output = 2.0
```
"""

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import AliasPath, BeforeValidator, Field

from planner_executor.graph.errors import PolicyError
from planner_executor.graph.plan.attempts import NO_LIMITS, AttemptTable
from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.policy.approvers_file import ApproversTable, Duration
from planner_executor.graph.policy.day_limits import NO_DAY_LIMITS, DayTable, Rates
from planner_executor.graph.policy.duration import seconds_in
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import NewEffectsRule, Policy, PolicyVerdict, PreviewChangedRule, ToolRule
from planner_executor.graph.record.budget import NO_BUDGET, BudgetTable, Price
from planner_executor.graph.record.standing_approval import LONGEST_S
from planner_executor.graph.words.tables import OpenTable, Shape, Texts, fault, not_one_of, read
from planner_executor.graph.words.toml_lines import line_of

A_PRICE = "in US dollars per million tokens"


def _with_verdict(given: Any) -> Any:
    """Return the rule of an effect as a table; a verdict may stand alone."""
    if isinstance(given, Mapping):
        return given
    if given not in get_args(PolicyVerdict):
        raise fault(not_one_of(get_args(PolicyVerdict), given))
    return {"verdict": given}


def _of_a_run(given: Any) -> Any:
    """Return the limits of each run; those of a day stand in a table of their own."""
    if not isinstance(given, Mapping):
        raise fault("must be a table")
    return {name: limit for name, limit in given.items() if name != "per_day"}


ToolTable = Annotated[ToolRule, Shape('must be a table, such as { verdict = "review" }')]
EffectTable = Annotated[ToolRule, Shape(without=("args", "reason")), BeforeValidator(_with_verdict)]
PriceTable = Annotated[Price, Shape(f"must have input and output, {A_PRICE}", missing=f"is missing; give it {A_PRICE}")]


class Standing(OpenTable):
    """Approvals of further calls, beyond their run."""

    longest: Duration | None = None


class PolicyTable(OpenTable):
    """A policy as it is written."""

    effects: Annotated[Mapping[Effect, EffectTable], Shape()] = Field(default_factory=dict)
    tools: Annotated[Mapping[str, ToolTable], Shape()] = Field(default_factory=dict)
    limits: Annotated[BudgetTable, BeforeValidator(_of_a_run)] = NO_BUDGET
    per_day: DayTable = Field(NO_DAY_LIMITS, validation_alias=AliasPath("limits", "per_day"))
    rates: Rates = Field(default_factory=dict)
    prices: Annotated[Mapping[str, PriceTable], Shape()] = Field(default_factory=dict)
    steps: AttemptTable = NO_LIMITS
    approvers: Annotated[ApproversTable, Shape()] = ApproversTable()
    standing: Annotated[Standing, Shape()] = Standing()
    approval: ApprovalMode | None = None
    new_effects: NewEffectsRule = "ask"
    preview_changed: PreviewChangedRule = "ask"
    leaving_previews: Texts = ()

    @property
    def policy(self) -> Policy:
        """The policy as a value."""
        return Policy(
            approval=self.approval,
            effects={effect: rule.verdict for effect, rule in self.effects.items() if rule.verdict},
            tools=self.tools,
            limits=self.limits,
            rates=self.rates,
            prices=self.prices,
            steps=self.steps,
            ask_when={effect: rule.ask_when for effect, rule in self.effects.items() if rule.ask_when},
            approvers=self.approvers.approvers,
            per_day=self.per_day,
            standing_s=seconds_in(self.standing.longest) or LONGEST_S,
            new_effects=self.new_effects,
            preview_changed=self.preview_changed,
            leaving_previews=self.leaving_previews,
        )


def policy_from_toml(text: str, name: str = "policy") -> Policy:
    """Parse a policy in TOML.

    Raises:
        PolicyError: It is invalid; the message names `name` and the line.
    """
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(
            name, f"not valid TOML: {'nested too deeply' if isinstance(error, RecursionError) else error}"
        ) from error
    return policy_from(raw, name, text)


def policy_from(raw: Mapping[str, Any], name: str = "policy", text: str = "") -> Policy:
    """Return the policy of plain data; `text` is its source, used to name lines.

    Raises:
        PolicyError: It is invalid.
    """
    table, faults = read(Annotated[PolicyTable, Shape()], raw)
    for path, why in faults:
        raise PolicyError(name, f"{'.'.join(path)} {why}", line_of(text, path))
    return table.policy  # type: ignore[no-any-return]
