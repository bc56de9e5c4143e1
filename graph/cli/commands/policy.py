"""`planner-executor policy`: what is in force, and what would come of a plan."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.cli import options
from graph.cli.exit_codes import ENDED_OTHERWISE, EPILOG, USAGE, WAITING, reported
from graph.cli.option_groups import with_option_groups
from graph.cli.plan_file import read_plan_file
from graph.cli.run_options import ToolOptions
from graph.cli.screen import DIGEST_CHARACTERS, Screen
from graph.cli.setup import Setup
from graph.plan.reading import read_plan
from graph.policy.approval_scope import ExecutionTerms
from graph.policy.policy_preview import PolicyFinding, forecast
from graph.text.policy import denials, stops, triggers

if TYPE_CHECKING:
    from graph.context import Settings

BOUNDS: Mapping[str, str] = {
    "max_replans": "times the replanner is asked after failures",
    "max_rounds": "rounds of a run that is planned step by step",
    "max_feedback": "plans that a person sends back",
    "max_repairs": "times a model is told what is wrong with its plan",
    "max_steps": "steps in a plan",
    "max_depth": "refined steps within one another",
    "max_concurrency": "steps at a time",
}

File = Annotated[Path, typer.Argument(metavar="FILE", help="The policy: a TOML file.")]
InForce = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="The policy; where none is named, the one that runs get.")
]
PlanFile = Annotated[Path | None, typer.Argument(metavar="[PLAN]", help="A plan as JSON.")]

policy = typer.Typer(name="policy", help="What is allowed, asked about and denied.", no_args_is_help=True)


@policy.command(epilog=EPILOG)
@with_option_groups
def show(
    given: ToolOptions,
    file: InForce = None,
    config: options.ConfigFile = None,
    approval: options.ApprovalName = None,
) -> None:
    """List what is in force: what leads to a review, what is denied, what stops a run, and the prompts by role."""
    screen = Screen.here()
    with (
        reported(screen),
        in_force(file, given, config, approval) as rules,
    ):
        for line in lines(rules):
            screen.say(line)


@policy.command(
    epilog="Exit codes: 0 it is understood, and nothing would be asked; 1 the plan is denied; 2 it is not understood, "
    "or the plan cannot run; 3 a person would be asked."
)
@with_option_groups
def check(
    file: File,
    given: ToolOptions,
    plan: PlanFile = None,
    config: options.ConfigFile = None,
    approval: options.ApprovalName = None,
) -> None:
    """Say whether a policy is understood, and what would be denied and asked of a plan, and why; nothing is run."""
    screen = Screen.here()
    with reported(screen):
        brought = read_plan_file("PLAN", plan) if plan is not None else None
        with in_force(file, given, config, approval) as rules:
            screen.say(f"{file} is understood, digest {rules.terms.policy.digest[:DIGEST_CHARACTERS]}")
            if brought is None:
                return
            reading = read_plan(brought, rules.terms.tools, rules.settings.max_steps)
        if reading.plan is None:
            for issue in reading.issues:
                screen.complain(f"the plan cannot run: {issue}")
            raise typer.Exit(USAGE)
        findings = forecast(reading.plan, rules.terms)
        for finding in findings:
            screen.say(str(finding))
        if not findings:
            screen.say("nothing is denied and nobody is asked")
        raise typer.Exit(code_of(findings))


@dataclass(frozen=True)
class Rules:
    """What holds for a run that is started now; `source` is where the policy was read."""

    source: str | None
    settings: "Settings"
    terms: ExecutionTerms


@contextmanager
def in_force(
    policy: Path | None,
    tools: ToolOptions,
    config: Path | None,
    approval: options.Approval | None,
) -> Iterator[Rules]:
    """Yield what holds, with the tools of MCP servers, checked as a run would check it.

    Raises:
        InputError: A folder that is named cannot serve.
        ConfigError: No run could be started.
    """
    from graph.builder import build_graph
    from graph.calls.toolbox import Toolbox
    from graph.configuration import policy_named, settings_of

    tools.check()
    chosen = {"config": config, "policy": policy, "approval": approval and approval.value}
    setup = Setup.default().changed(**tools.tool_settings, **chosen)
    with setup.opened() as built:
        build_graph(**built)
        source = policy_named(setup.policy, setup.config)
        mode = {"approval": setup.approval} if setup.approval else {}
        settings = settings_of({**mode, "policy": source, "max_replans": setup.max_replans})
        specs = Toolbox(built["tools"]).specs
        named = tuple(setup.role_models.named)
        yield Rules(source, settings, ExecutionTerms(specs, settings.approval, settings.policy, executors=named))


def lines(rules: Rules) -> Iterator[str]:
    """Yield what is in force, section by section."""
    source = rules.source or "none: no rule beyond the approval mode"
    yield f"policy {source}, digest {rules.terms.policy.digest[:DIGEST_CHARACTERS]}"
    yield f"approval {rules.settings.approval}"
    yield from ("", "asked of a person", "")
    yield from (f"- {line}" for line in triggers(rules.terms))
    yield from ("", "denied, whoever approves it", "")
    yield from (f"- {line}" for line in list(denials(rules.terms)) or ["nothing"])
    yield from ("", "stops a run, or holds it back", "")
    yield from (f"- {line}" for line in stops(rules.terms.policy))
    yield from (f"- {getattr(rules.settings, name)} {words} ({name})" for name, words in BOUNDS.items())
    yield from ("", "prompts, by role")
    yield from prompts()


def prompts() -> Iterator[str]:
    """Yield what each role is told, the format of plans only once."""
    from graph.prompts.planner import FORMAT
    from graph.prompts.roles import PROMPTS

    told = ""
    for role, words in PROMPTS.items():
        yield from ("", f"{role}:")
        shown = words.replace(FORMAT, "(the format of plans, as above)") if FORMAT in told else words
        yield from (f"  {line}" for line in shown.splitlines())
        told += words


def code_of(findings: list[PolicyFinding]) -> int:
    """Return the exit code that a run of the plan would come to, as far as can be told before."""
    verdicts = {finding.verdict for finding in findings}
    return ENDED_OTHERWISE if "denied" in verdicts else WAITING if verdicts else 0
