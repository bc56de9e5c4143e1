"""A preview of a policy's decisions on a plan: denials and requests to a person, with reasons."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.known_args import known_args
from planner_executor.graph.plan.references import references_in
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.plan.when import of_when
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.approver_rule import ApproverRule, have_to_approve
from planner_executor.graph.policy.approvers import Approvers
from planner_executor.graph.policy.at_stake import AtStake
from planner_executor.graph.policy.conditions import in_words
from planner_executor.graph.policy.decision_deadline import TimeLimit
from planner_executor.graph.policy.grants import Grant
from planner_executor.graph.record.given_value import GivenValue, given_kind
from planner_executor.graph.record.trust_label import (
    USER,
    TrustLabel,
    argument_labels,
    joined,
    label_of_params,
    label_of_result,
    label_of_tool,
)
from planner_executor.graph.words.name_list import enumerated

Found = TypeVar("Found", Sequence[ApproverRule], Sequence[TimeLimit])

DOES = {"read": "looks at this machine", "write": "changes something here", "external": "leaves this machine"}


@dataclass(frozen=True)
class PolicyFinding:
    """One denial, one request to a person, or what a person may ask of others; of the whole plan if `step` is None."""

    verdict: Literal["denied", "asked", "if supplied"]
    why: str
    step: str | None = None

    def __str__(self) -> str:
        """Return the finding as one line."""
        return f"{self.verdict}: {f'{self.step}: ' if self.step else ''}{self.why}"


@dataclass(frozen=True)
class PolicyPreview:
    """The worst-case trust labels of a plan's values; `labels` are those of the results, by step.

    `decided_by` are those of all conditions that decide whether a step runs, its own and those of steps before it.
    """

    tools: Mapping[str, ToolSpec]
    waits: Mapping[str, tuple[str, ...]]
    labels: dict[str, TrustLabel] = field(default_factory=dict)
    decided_by: dict[str, TrustLabel] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, tools: Mapping[str, ToolSpec]) -> "PolicyPreview":
        """Propagate labels along the references of a valid plan."""
        preview = cls(tools, plan.waits)
        for name in plan.order:
            preview.labels[name] = preview._result(plan.by_id[name])
            preview.decided_by[name] = preview._decided_by(plan.by_id[name])
        return preview

    def of_call(self, step: Step, tool: str) -> dict[str, TrustLabel]:
        """Return argument -> label for a step's call of one of its tools."""
        named = self._named(step)
        if kind_spec(step.kind).done_by == "tool":
            return named
        pinned, spec = Grant.of(step).pinned, self.tools[tool]
        filled = [name for name in step.args or spec.parameters if name not in pinned and spec.takes(name)]
        fixed = {name: named[name] for name in pinned if spec.takes(name)}
        return {**fixed, **dict.fromkeys(filled, self._filled(step, spec))}

    def _result(self, step: Step) -> TrustLabel:
        done_by = kind_spec(step.kind).done_by
        if done_by == "person":
            return USER
        called = [self.tools[name] for name in step.tool_names]
        if done_by == "tool":
            return joined([*map(label_of_tool, called), *self._named(step).values()])
        made = joined([self._read(step), *map(label_of_tool, called), *(self._filled(step, spec) for spec in called)])
        return label_of_result(step, made)

    def _decided_by(self, step: Step) -> TrustLabel:
        own = [self.labels[ref.step] for ref in references_in(of_when(step.when))]
        own.append(label_of_params(step, of_when(step.when)))
        return joined([*own, *(self.decided_by[before] for before in self.waits[step.id])])

    def _read(self, step: Step) -> TrustLabel:
        """Return the joint label of everything that a step reads before its first call."""
        before = [self.labels[before] for before in self.waits[step.id]]
        return joined([*before, *self._named(step).values(), label_of_params(step)])

    def _filled(self, step: Step, tool: ToolSpec) -> TrustLabel:
        """Return the label of a model's arguments for a call, once every other permitted call has been made."""
        before = [name for name in step.tool_names if name != tool.name or (step.max_calls or 1) > 1]
        read = joined([self._read(step), *(label_of_tool(self.tools[name]) for name in before)])
        return read.by_model if tool.declared else read

    def _named(self, step: Step) -> dict[str, TrustLabel]:
        """Return argument -> label for the arguments in the plan."""
        return argument_labels(step, self.labels)


def preview_policy(plan: Plan, terms: ExecutionTerms) -> list[PolicyFinding]:
    """Return the findings on a valid plan without any earlier approval.

    A plan with a denial is refused, so its requests are left out. Results that people supply are no part of a plan, so
    what they lead to is told even if nobody is asked. A model's calls are unknown beforehand: every request that its
    step may lead to is listed.
    """
    denied = [PolicyFinding("denied", f"{issue.field}: {issue.message}", issue.step) for issue in terms.issues(plan)]
    rules = (_plan, _later, _calls, _untrusted, _limits, _reach)
    asked = [finding for rule in rules for finding in rule(plan, terms)]
    return denied or [*asked, *_supplied(plan, terms), *(_deciders(plan, terms) if asked else ())]


def _plan(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    if not terms.needs_person(plan):
        return
    if terms.mode == "always":
        yield PolicyFinding("asked", "every plan is shown, since approval is always")
    for step in plan.steps:
        for tool in (terms.tools[name] for name in step.tool_names):
            if terms.policy.verdict(tool) == "review":
                yield PolicyFinding("asked", f"the plan is shown, since the policy has {tool.name} reviewed", step.id)
            # In the other modes every plan is shown, or none for its effects.
            elif terms.mode == "side_effects" and terms.policy.watches(tool):
                yield PolicyFinding("asked", f"the plan is shown, since {tool.name} {DOES[tool.effect]}", step.id)


def _later(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    """Yield the requests made once a step is due: questions, gates, and the expansion of a `refine` step."""
    for step in plan.steps:
        acts = any(terms.tools[name].acts for name in step.tool_names)
        spec = kind_spec(step.kind)
        if spec.done_by == "planner" and acts and terms.mode != "never":
            yield PolicyFinding("asked", "its expansion is shown, if that has an effect", step.id)
        if question := spec.asks(step):
            yield PolicyFinding("asked", question, step.id)


def _calls(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    """Yield the calls that the policy asks about, or may ask about by a value that is not known yet.

    A plan that is shown shows those that are known.
    """
    is_shown = terms.needs_person(plan)
    for step in plan.steps:
        for name in step.tool_names:
            tool = terms.tools[name]
            given = set(filter(tool.takes, step.args))
            known = {arg: value for arg, value in step.fixed_args().items() if arg in given}
            if why := terms.policy.asks(tool, known):
                with_plan = " with the plan" if is_shown and known_args(step) is not None else ""
                yield PolicyFinding("asked", f"its call of {name} is shown{with_plan}, since {why}", step.id)
                continue
            # A model that is given no arguments chooses all of them.
            open_to = given - set(known) if step.tool or step.args else set(tool.parameters)
            for argument in (one for one in terms.policy.conditions(tool) if one in open_to):
                words = in_words(terms.policy.conditions(tool)[argument])
                yield PolicyFinding(
                    "asked", f"its call of {name} is shown, since the policy asks if {argument} {words}", step.id
                )


def _untrusted(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    """Yield the calls that are shown before they are made because their arguments may be untrusted."""
    if terms.mode == "never":
        return
    preview = PolicyPreview.of(plan, terms.tools)
    for step in plan.steps:
        kind = kind_spec(step.kind)
        may = "comes" if kind.done_by == "tool" else "may come"
        for name in step.tool_names if kind.calls_tools else ():
            for argument, label in terms.policy.arguments_to_review(
                terms.tools[name], preview.of_call(step, name)
            ).items():
                sources = ", ".join(label.sources)
                yield PolicyFinding(
                    "asked", f"its call of {name} is shown, since {argument} {may} from {sources}", step.id
                )


def _deciders(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    """Yield who decides, and until when: about the plan, and about calls of each tool with rules of its own."""
    approvers = terms.policy.approvers
    for subject, rules in _of_plan_and_calls(plan, terms, lambda stake: stake.rules(approvers)):
        yield PolicyFinding("asked", f"{have_to_approve(rules)} {subject}")
    for subject, rules in _of_plan_and_calls(plan, terms, lambda stake: _blocked(approvers, stake)):
        names = " or ".join(dict.fromkeys(name for rule in rules for name in rule.needed))
        yield PolicyFinding("asked", f"if {names} asks for it, too few are left to decide about {subject}")
    for subject, limits in _of_plan_and_calls(
        plan, terms, lambda stake: approvers.time_limits(stake.tools, stake.cost_usd, calls=stake.calls)
    ):
        yield PolicyFinding("asked", f"a request about {subject} is to be decided {_joined_times(limits)}")


def _reach(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    """Yield which calls rest on each answer, gate and raised limit, and who decides about these."""
    raw, tools = plan.to_json(), terms.tools
    asking = [step.id for step in plan.steps if kind_spec(step.kind).asks(step)]
    values = [GivenValue(given_kind(raw, name), (), name, plan=raw) for name in asking]
    values += [GivenValue("limit", ())] if any(_limits(plan, terms)) else []
    for value in values:
        stake = AtStake.of_steps(plan, value.reached(plan), tools, terms.bounds.cost_usd)
        if reach := stake.reach(terms.policy.approvers):
            about = "" if value.step else "a limit that is raised: "
            yield PolicyFinding("asked", about + reach.in_words().removesuffix("."), value.step)


def _supplied(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    """Yield which calls rest on results that a person may give in place of a step, and who decides about these."""
    steps: defaultdict[str, list[str]] = defaultdict(list)
    for step in plan.steps:
        later = GivenValue("result", (), step.id, plan=plan.to_json()).reached(plan) - {step.id}
        stake = AtStake.of_steps(plan, later, terms.tools, terms.bounds.cost_usd)
        if not kind_spec(step.kind).asks(step) and (reach := stake.reach(terms.policy.approvers)):
            steps[reach.in_words()].append(step.id)
    for said, names in steps.items():
        yield PolicyFinding("if supplied", f"a result for {enumerated(names, 'or')}: {said.removesuffix('.')}")


def _blocked(approvers: Approvers, stake: AtStake) -> Sequence[ApproverRule]:
    """Return the rules that nobody can meet if one of the people they name asks."""
    return [rule for rule in approvers.timed_rules(stake.tools, stake.cost_usd, calls=stake.calls) if rule.needed]


def _of_plan_and_calls(
    plan: Plan, terms: ExecutionTerms, found: Callable[[AtStake], Found]
) -> Iterator[tuple[str, Found]]:
    """Yield what is found for the plan, for single calls of each tool that differs, and for requests without one."""
    tools, cost = {name: terms.tools[name] for step in plan.steps for name in step.tool_names}, terms.bounds.cost_usd
    if whole := found(AtStake(tuple(tools.values()), cost_usd=cost)):
        yield "the plan", whole
    for name, tool in tools.items():
        # Single calls may have rules of their own; those that say the same as the plan's are told once.
        if (own := found(AtStake(calls=(tool,), cost_usd=cost))) and own != whole:
            yield f"a call of {name}", own
    if (general := found(AtStake(cost_usd=cost))) and general != whole:
        yield "anything else", general


def _joined_times(limits: Sequence[TimeLimit]) -> str:
    """Return the shortest time, and to whom the others escalate before it is over."""
    first, *others = limits
    later = [limit.escalation for limit in others if (limit.escalate_after_s or first.within_s) < first.within_s]
    return "; ".join([str(first), *later])


def _limits(plan: Plan, terms: ExecutionTerms) -> Iterator[PolicyFinding]:
    calls: Counter[str] = Counter()
    for step in plan.steps:
        calls.update(dict.fromkeys(step.tool_names, step.most_items * (step.max_calls or 1)))
    most = {"tool_calls": calls.total(), "steps": len(plan.steps), **{f"calls.{t}": n for t, n in calls.items()}}
    for name in terms.bounds.names:
        limit = terms.bounds.of(name)
        if limit is not None and most.get(name, 0) > limit:
            yield PolicyFinding(
                "asked", f"the limit {name} of {limit} may be reached: the plan takes up to {most[name]}"
            )
