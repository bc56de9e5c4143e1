"""`planner-executor approvals`: the standing approvals, and revoking one."""

from typing import Annotated

import typer

from planner_executor.graph.cli import options
from planner_executor.graph.cli.actor import ActorOptions
from planner_executor.graph.cli.exit_codes import STORAGE, on_screen
from planner_executor.graph.cli.option_groups import with_option_groups
from planner_executor.graph.cli.run_lookup import with_runs
from planner_executor.graph.cli.screen import Screen
from planner_executor.graph.runs.approvals import revoke as revoke_standing
from planner_executor.graph.runs.approvals import standing_approvals
from planner_executor.graph.text.event_text.standing import standing_line


@on_screen
@with_option_groups
def approvals(
    screen: Screen,
    actor: ActorOptions,
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="Those of this run, and of any run.")] = None,
    revoke: Annotated[str | None, typer.Option("--revoke", metavar="ID", help="End this one at once.")] = None,
    as_json: options.AsJson = False,
    db: options.Database = options.DATABASE,
) -> None:
    """List the standing approvals: those that hold in any run, and those of runs that have not ended."""
    if revoke is not None:
        by = str(actor.approver())
        is_later = with_runs(db, lambda runs: revoke_standing(runs, revoke, by))
        screen.say(f"{revoke} is revoked" + (", before the run's next call" if is_later else ""))
        return
    found = with_runs(db, lambda runs: standing_approvals(runs, run))
    if as_json:
        screen.show_json([use.to_json() for use in found.uses])
    else:
        for use in found.uses:
            screen.say(standing_line(use))
        if not found.uses:
            screen.say("no standing approvals")
    # After the others: one damaged row hides none that can be read.
    for unread in found.unread:
        screen.complain(str(unread))
    if found.unread:
        raise typer.Exit(STORAGE)
