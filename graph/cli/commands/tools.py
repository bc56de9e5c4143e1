"""`planner-executor tools`: what plans may name."""

from collections.abc import Iterable
from typing import get_args

from rich.table import Table

from graph.cli import options
from graph.cli.exit_codes import reported
from graph.cli.option_groups import with_option_groups
from graph.cli.run_options import ToolOptions
from graph.cli.screen import Screen, cell
from graph.cli.setup import Setup
from graph.plan.catalog import ToolSpec
from graph.plan.schema import Plan, Step
from graph.policy.policy import NO_POLICY, ApprovalMode

MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)


@with_option_groups
def tools(given: ToolOptions, config: options.ConfigFile = None) -> None:
    """List the tools: what each does to the world, and which `--approval` asks before it is used."""
    screen = Screen.here()
    with reported(screen):
        from graph.calls.toolbox import Toolbox
        from graph.tool_servers import with_servers
        from tools.extras import NOT_INSTALLED

        given.check()
        setup = Setup.default().changed(**given.tool_settings, config=config)
        with with_servers(setup.mcp, setup.tools()) as everything:
            specs = Toolbox(everything).specs.values()
            screen.show(table_of(specs))
        screen.say()
        for spec in specs:
            if spec.description.startswith(NOT_INSTALLED):
                screen.say(f"{spec.name} cannot be used yet,{spec.description.removeprefix(NOT_INSTALLED)}")
        screen.say("read looks at this machine only, write changes something here, external leaves the machine.")
        screen.say("A call that is not repeatable is never made again without a person once it may have happened.")


def table_of(specs: Iterable[ToolSpec]) -> Table:
    """Return a row for each tool."""
    table = Table("tool", "effect", "repeatable", "asks with --approval", "arguments", box=None, pad_edge=False)
    for spec in specs:
        modes = ", ".join(mode for mode in MODES if asks(spec, mode))
        named = ", ".join(spec.parameters)
        table.add_row(*map(cell, (spec.name, spec.effect, "yes" if spec.repeatable else "no", modes, named)))
    return table


def asks(spec: ToolSpec, mode: ApprovalMode) -> bool:
    """Whether a plan that uses the tool is shown to a person."""
    step = Step(id="step_1", objective=spec.name, tool=spec.name)
    return NO_POLICY.needs_person(Plan(steps=(step,)), {spec.name: spec}, mode)
