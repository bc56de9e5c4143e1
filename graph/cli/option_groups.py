"""Option groups: dataclasses whose fields become options of every command that takes them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a typer command in which each field of a dataclass parameter is an option.

    Fields are `Annotated` as typer expects, with defaults. The command itself receives the dataclasses.

    Raises:
        TypeError: Two options have the same name.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if is_dataclass(parameter.annotation)
    }
    expanded = [option for parameter in signature.parameters.values() for option in _options(parameter)]
    if len({option.name for option in expanded}) < len(expanded):
        raise TypeError(f"two options of {command.__name__} have the same name; rename a field of its option groups")

    @wraps(command)
    def call(**given: Any) -> None:
        built = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **built)

    call.__signature__ = signature.replace(parameters=expanded)  # type: ignore[attr-defined]  # what typer reads
    call.__annotations__ = {option.name: option.annotation for option in expanded}
    return call


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """Yield a group's fields as parameters, or the parameter itself; keyword-only, so that defaults may come first."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in fields(parameter.annotation):
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
