"""`planner-executor tools`: list the tools that plans may use."""

from collections.abc import Iterable, Iterator
from typing import get_args

from rich.table import Table

from planner_executor.graph.cli import options
from planner_executor.graph.cli.exit_codes import on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_options import ToolOptions
from planner_executor.graph.cli.screen import Screen, cell
from planner_executor.graph.cli.setup import Setup
from planner_executor.graph.plain_text.sanitize import one_line
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.schema import Plan, Step
from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.policy.policy import NO_POLICY
from planner_executor.graph.text.drawing.lettering import filled

MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)
INDENT = "  "
LEAST_COLUMNS = 78
"""On a narrower terminal each tool has lines of its own."""


@on_screen
@with_option_groups
def tools(screen: Screen, given: ToolOptions, config: options.ConfigFile = None) -> None:
    """List the tools with their effects and the `--approval` modes that ask before their use."""
    from planner_executor.graph.builder.tool_servers import with_servers
    from planner_executor.graph.calls.toolbox import Toolbox
    from planner_executor.tools.extras import absent_tools

    setup = Setup.default().changed(**given.tool_settings, config=config)
    with with_servers(setup.mcp, setup.tools()) as everything:
        specs = Toolbox(everything).specs
        if screen.out.width < LEAST_COLUMNS:
            for line in lines_of(specs.values(), screen.out.width):
                screen.show_text(line)
        else:
            screen.show(table_of(specs.values()))
    screen.say()
    for name, needed in absent_tools().items():
        if name not in specs:
            screen.say(f"{name} cannot be used yet, {needed}")
    screen.say("read: reads this machine only; write: changes this machine; external: reaches beyond this machine.")
    screen.say("A call that is not repeatable and may have happened is repeated only if a person says so.")


def lines_of(specs: Iterable[ToolSpec], width: int) -> Iterator[str]:
    """Yield lines on each tool that break between words."""
    for spec in specs:
        repeatable = "repeatable" if spec.repeatable else "not repeatable"
        told = f"{spec.name}: {spec.effect}, {repeatable}, asks with {_modes(spec)}"
        room = width - len(INDENT)
        first, *others = filled(one_line(told), room)
        yield first
        yield from (INDENT + line for line in (*others, *filled(one_line(", ".join(spec.parameters)), room)) if line)


def _modes(spec: ToolSpec) -> str:
    return ", ".join(mode for mode in MODES if asks(spec, mode))


def table_of(specs: Iterable[ToolSpec]) -> Table:
    """Return a table with a row per tool."""
    table = Table("tool", "effect", "repeatable", "asks with --approval", "arguments", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.no_wrap = True
    for spec in specs:
        named = ", ".join(spec.parameters)
        table.add_row(*map(cell, (spec.name, spec.effect, "yes" if spec.repeatable else "no", _modes(spec), named)))
    return table


def asks(spec: ToolSpec, mode: ApprovalMode) -> bool:
    """Whether a plan with the tool needs a person under an approval mode."""
    step = Step(id="step_1", objective=spec.name, tool=spec.name)
    return NO_POLICY.needs_person(Plan(steps=(step,)), {spec.name: spec}, mode)
