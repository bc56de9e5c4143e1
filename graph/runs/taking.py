"""What a method takes: known to type checkers, declared once, and refused by name if it is not known."""

from collections.abc import Callable, Collection
from functools import update_wrapper
from inspect import Signature, iscoroutinefunction, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from planner_executor.graph.errors import InputError
from planner_executor.graph.words.name_list import right_name

P = ParamSpec("P")
Owner = TypeVar("Owner")
Value = TypeVar("Value")
Result = TypeVar("Result")


def taking(
    value: Callable[P, Value],
) -> Callable[[Callable[[Owner, Value], Result]], Callable[Concatenate[Owner, P], Result]]:
    """Let a method of one value be called with the arguments that make this value.

    The method raises an `InputError` if an argument's name is not known.
    """
    arguments = signature(value)

    def decorated(method: Callable[[Owner, Value], Result]) -> Callable[Concatenate[Owner, P], Result]:
        def called(owner: Owner, /, *args: P.args, **kwargs: P.kwargs) -> Result:
            _check(kwargs, arguments.parameters)
            return method(owner, value(*args, **kwargs))

        update_wrapper(called, method)
        called.__dict__["__signature__"] = _of_method(method, arguments)
        return called

    return decorated


def with_known_arguments(owner: type[Owner]) -> type[Owner]:
    """Let the public coroutines of a class raise an `InputError` for an argument whose name is not known."""
    for name, method in list(vars(owner).items()):
        if iscoroutinefunction(method) and not name.startswith("_"):
            setattr(owner, name, _checked(method))
    return owner


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    known = signature(method).parameters

    def called(*args: Any, **kwargs: Any) -> Any:
        _check(kwargs, known)
        return method(*args, **kwargs)

    return update_wrapper(called, method)


def _check(given: Collection[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise InputError(name, f"unknown argument; {right_name(name, known)}")


def _of_method(method: Callable[..., object], arguments: Signature) -> Signature:
    own = signature(method)
    return own.replace(parameters=[next(iter(own.parameters.values())), *arguments.parameters.values()])
