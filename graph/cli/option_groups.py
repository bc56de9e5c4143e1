"""Option groups: dataclasses whose fields become options of every command that takes them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints

from typer.models import OptionInfo

from planner_executor.graph.cli.given_options import given_options
from planner_executor.graph.cli.screen import Screen


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a typer command in which each field of a dataclass parameter is an option.

    Fields are `Annotated` as typer expects, with defaults. The command itself receives the dataclasses. Meanwhile
    `repeated_options` knows what was given.

    Raises:
        TypeError: Two options have the same name.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation for name, parameter in signature.parameters.items() if _is_group(parameter)
    }
    expanded = [option for parameter in signature.parameters.values() for option in _options(parameter)]
    flags = {option.name: name for option in expanded if (name := flag(option)) is not None}
    if len({option.name for option in expanded}) < len(expanded):
        raise TypeError(f"two options of {command.__name__} have the same name; rename a field of its option groups")

    @wraps(command)
    def call(**given: Any) -> None:
        values = {option: given[name] for name, option in flags.items()}
        built = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        with given_options(command.__name__, values):
            command(**given, **built)

    # Typer reads the signature, and for the types of its options the annotations; both have to tell of the options.
    call.__signature__ = signature.replace(parameters=expanded)  # type: ignore[attr-defined]  # what typer reads
    call.__annotations__ = {option.name: option.annotation for option in expanded}
    return call


def flag(option: Parameter) -> str | None:
    """Return the long name of an option, None for an argument."""
    told = next((one for one in getattr(option.annotation, "__metadata__", ()) if isinstance(one, OptionInfo)), None)
    # Typer takes the first name for a default.
    names = [] if told is None else [told.default, *(told.param_decls or ())]
    return next((name for name in names if str(name).startswith("--")), None)


def _is_group(parameter: Parameter) -> bool:
    # The screen comes from `on_screen`, which stands outside, so that it reports what a group refuses.
    return is_dataclass(parameter.annotation) and parameter.annotation is not Screen


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """Yield a group's fields as parameters, or the parameter itself; keyword-only, so that defaults may come first."""
    if not _is_group(parameter):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in fields(parameter.annotation):
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
