"""Options made of the settings that a run remembers."""

from typing import Annotated, Any

import typer

from planner_executor.graph.policy.modes import ApprovalMode
from planner_executor.graph.settings.run_settings import REMEMBERED, RunSettings, choices_of, told_of

TOLD, CHOICES = told_of(RunSettings), choices_of(RunSettings)


def setting_option(name: str) -> Any:
    """Return the option of a setting, made of its field; typer reads a choice from its type."""
    told, choices = TOLD[name], [choice for choice in CHOICES.get(name, ()) if choice is not None]
    if told.least is not None:
        said, least, most = f"{told.help}. Default: {REMEMBERED[name]}.", told.least, None
    elif all(isinstance(choice, int) for choice in choices):
        said, least, most = f"{told.help}.", min(choices), max(choices)
    else:
        said, least, most = f"{told.help}: {', '.join(choices)}.", None, None
    return typer.Option(option_name(name), min=least, max=most, metavar=told.option, help=said)


def option_name(name: str) -> str:
    """Return the option that sets a setting."""
    return f"--{name.replace('_', '-')}"


ApprovalName = Annotated[ApprovalMode | None, setting_option("approval")]
