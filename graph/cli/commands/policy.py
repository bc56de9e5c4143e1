"""`planner-executor policy`: the effective rules, and a preview of their effect on a plan."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.command_group import CommandGroup
from planner_executor.graph.cli.database_file import is_missing
from planner_executor.graph.cli.epilog import EPILOG
from planner_executor.graph.cli.exit_codes import ENDED_OTHERWISE, USAGE, WAITING, on_screen
from planner_executor.graph.cli.moment import moment
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.plan_file import read_plan_file
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.run_options import ToolOptions
from planner_executor.graph.cli.screen import DIGEST_CHARACTERS, Screen
from planner_executor.graph.cli.setting_options import ApprovalName
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.policy.approval_scope import ExecutionTerms
from planner_executor.graph.policy.plan_limits import limits_of_plan
from planner_executor.graph.policy.policy import Policy
from planner_executor.graph.policy.policy_preview import PolicyFinding, preview_policy
from planner_executor.graph.runs.runs import Runs
from planner_executor.graph.text.policy import rule_sections
from planner_executor.graph.words.name_list import counted

if TYPE_CHECKING:
    from planner_executor.graph.policy.policy_trial import Tried
    from planner_executor.graph.settings.settings import Settings

File = Annotated[Path, typer.Argument(parser=options.path_of, metavar="FILE", help="The policy: a TOML file.")]

policy = typer.Typer(name="policy", cls=CommandGroup, help="Rules that allow, review and deny.", no_args_is_help=True)


@policy.command(epilog=EPILOG)
@on_screen
@with_option_groups
def show(
    screen: Screen,
    given: ToolOptions,
    file: Annotated[
        Path | None,
        typer.Argument(
            parser=options.path_of, metavar="[FILE]", help="The policy. Default: the one that a run would use."
        ),
    ] = None,
    config: options.ConfigFile = None,
    approval: ApprovalName = None,
) -> None:
    """List the effective rules: reviews, denials, limits, and the prompts by role."""
    with in_force(file, given, config, approval) as rules:
        screen.say_each(lines(rules))


@policy.command(
    epilog="Exit codes: 0 the policy is valid, and the plan needs no review; 1 the plan is denied; 2 the policy or "
    "the plan is invalid; 3 the plan needs a review."
)
@on_screen
@with_option_groups
def check(
    screen: Screen,
    file: File,
    given: ToolOptions,
    plan: Annotated[
        Path | None, typer.Argument(parser=options.path_of, metavar="[PLAN]", help="A plan as JSON.")
    ] = None,
    config: options.ConfigFile = None,
    approval: ApprovalName = None,
) -> None:
    """Validate a policy and preview which calls of a plan it would deny or review; nothing is executed."""
    brought = read_plan_file("PLAN", plan) if plan is not None else None
    with in_force(file, given, config, approval) as rules:
        screen.say(f"{file} is valid, digest {rules.terms.policy.digest[:DIGEST_CHARACTERS]}")
        if brought is None:
            return
        # Read while the tools are open: the plan's arguments are checked against their schemas.
        reading = read_plan(brought, rules.terms.tools, rules.settings.max_steps)
    if reading.plan is None:
        for issue in reading.issues:
            screen.complain(f"the plan is invalid: {issue}")
        raise typer.Exit(USAGE)
    findings = preview_policy(reading.plan, rules.terms)
    if all(finding.verdict == "if supplied" for finding in findings):
        screen.say("nothing is denied, no review is needed")
    for finding in findings:
        screen.say(str(finding))
    screen.say_each(limits_of_plan(reading.plan, rules.terms))
    raise typer.Exit(exit_code_of(findings))


@policy.command(
    "try", epilog="Exit codes: 0 nothing would have gone otherwise; 1 something would, or it is not known; 2 no policy."
)
@on_screen
def try_(
    screen: Screen,
    file: File,
    since: options.Since = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """Say which plans and calls of recorded runs a policy would have asked about, denied or let through otherwise.

    The records alone are read: no model is asked, and no tool is called.
    """
    from planner_executor.graph.builder.configuration import policy_of

    # The policy is read before the database: a file that is none is the first thing to say.
    wanted, first = policy_of(str(file)), moment(since, time.time(), "--since") if since else None
    found = [] if is_missing(db) else with_runs(db, lambda runs: _tried(runs, wanted, first))
    others = [(run, one) for run, tried in found for one in tried if one.differs]
    if as_json:
        screen.show_json([{"run": run, **asdict(one)} for run, one in others])
    else:
        for run, one in others:
            where = f"{run} {one.step + ' ' if one.step else ''}{one.what}"
            would = "not known" if one.would == "unknown" else f"would be {one.would}"
            screen.say(f"{where}: {would}, was {one.was}" + (f": {one.why}" if one.why else ""))
        counts = Counter(one.would for _, one in others)
        said = ", ".join(f"{counts[answer]} {answer}" for answer in ("asked", "denied", "let through", "unknown"))
        number = sum(len(tried) for _, tried in found)
        looked_at = f"{counted(len(found), 'run')}, {counted(number, 'plan or call', 'plans or calls')}"
        screen.say(f"{looked_at}; otherwise: {said}")
    if any(one.differs or one.would == "unknown" for _, tried in found for one in tried):
        raise typer.Exit(ENDED_OTHERWISE)


async def _tried(runs: Runs, policy: Policy, since: float | None) -> "list[tuple[str, list[Tried]]]":
    from planner_executor.graph.runs.policy_trial import tried_on_runs

    return [found async for found in tried_on_runs(runs, policy, since)]


@dataclass(frozen=True)
class EffectiveRules:
    """The rules for a run started now; `source` is the file of the policy, if there is one."""

    source: str | None
    settings: "Settings"
    terms: ExecutionTerms


@contextmanager
def in_force(
    policy: Path | None,
    tools: ToolOptions,
    config: Path | None,
    approval: str | None,
) -> Iterator[EffectiveRules]:
    """Yield the effective rules, including the tools of MCP servers, checked like at the start of a run.

    Raises:
        InputError: A folder cannot be used.
        ConfigError: A run could not be started.
    """
    from planner_executor.graph.builder.configuration import policy_named, settings_of
    from planner_executor.graph.builder.graph_builder import build_graph

    chosen = {"config": config, "policy": policy, "approval": approval}
    setup = Setup.default().changed(**tools.tool_settings, **chosen)
    with setup.opened() as built:
        # A graph is built and not run, so that its tools and faults are those of a run.
        graph = build_graph(**built)
        source = policy_named(setup.policy, setup.config)
        settings = settings_of({**setup.chosen, "policy": source})
        specs = graph.services.toolbox.specs
        named = tuple(setup.role_models.named)
        yield EffectiveRules(
            source, settings, ExecutionTerms(specs, settings.approval, settings.policy, executors=named)
        )


def lines(rules: EffectiveRules) -> Iterator[str]:
    """Yield the rules, section by section."""
    source = rules.source or "none: only the approval mode applies"
    yield f"policy {source}, digest {rules.terms.policy.digest[:DIGEST_CHARACTERS]}"
    yield f"approval {rules.settings.approval}"
    for heading, entries in rule_sections(rules.settings, rules.terms):
        yield from ("", heading, "")
        yield from (f"- {line}" for line in entries)
    yield from ("", "prompts, by role")
    yield from prompts()


def prompts() -> Iterator[str]:
    """Yield the prompt of each role; the plan format is printed only once."""
    from planner_executor.graph.prompts.planner import FORMAT
    from planner_executor.graph.prompts.roles import PROMPTS

    printed = ""
    for role, words in PROMPTS.items():
        yield from ("", f"{role}:")
        shown = words.replace(FORMAT, "(the format of plans, as above)") if FORMAT in printed else words
        yield from (f"  {line}" for line in shown.splitlines())
        printed += words


def exit_code_of(findings: list[PolicyFinding]) -> int:
    """Return the exit code that a run of the plan would have, as far as the preview shows."""
    verdicts = {finding.verdict for finding in findings}
    return ENDED_OTHERWISE if "denied" in verdicts else WAITING if "asked" in verdicts else 0
