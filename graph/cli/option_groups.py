"""Groups of options that are declared once, as a dataclass, for every command that takes them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, with each field of its dataclass parameters as an option of its own.

    A field is an `Annotated` type as typer takes it, with a default. The command itself gets the dataclasses.

    Raises:
        TypeError: Two parameters would have the same name.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: given.annotation for name, given in signature.parameters.items() if is_dataclass(given.annotation)
    }
    expanded = [each for given in signature.parameters.values() for each in _expanded(given)]
    if len({each.name for each in expanded}) < len(expanded):
        raise TypeError(f"two options of {command.__name__} have the same name; rename a field of its option groups")

    @wraps(command)
    def call(**given: Any) -> None:
        built = {
            name: group(**{each.name: given.pop(each.name) for each in fields(group)}) for name, group in groups.items()
        }
        command(**given, **built)

    call.__signature__ = signature.replace(parameters=expanded)  # type: ignore[attr-defined]  # what typer reads
    call.__annotations__ = {each.name: each.annotation for each in expanded}
    return call


def _expanded(given: Parameter) -> Iterator[Parameter]:
    """Yield the options of a group, or the parameter itself; all by keyword, so that their order is free."""
    if not is_dataclass(given.annotation):
        yield given.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(given.annotation, include_extras=True)
    for each in fields(given.annotation):
        yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
