"""What a method takes: known to type checkers, declared once, and refused by name if unknown or of another type."""

from collections.abc import Callable, Mapping
from functools import update_wrapper
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from planner_executor.graph.errors import InputError
from planner_executor.graph.settings.argument_kinds import kind_fault, kinds_of
from planner_executor.graph.words.name_list import right_name

P = ParamSpec("P")
Owner = TypeVar("Owner")
Value = TypeVar("Value")
Result = TypeVar("Result")


def taking(
    value: Callable[P, Value],
) -> Callable[[Callable[[Owner, Value], Result]], Callable[Concatenate[Owner, P], Result]]:
    """Let a method of one value be called with the arguments that make this value.

    The method raises an `InputError` if an argument's name is not known, or its value is of another type.
    """
    arguments = signature(value)
    _require_kinds(arguments)

    def decorated(method: Callable[[Owner, Value], Result]) -> Callable[Concatenate[Owner, P], Result]:
        def called(owner: Owner, /, *args: P.args, **kwargs: P.kwargs) -> Result:
            _check(kwargs, arguments.parameters)
            _check_kinds(arguments, *args, **kwargs)
            return method(owner, value(*args, **kwargs))

        update_wrapper(called, method)
        called.__dict__["__signature__"] = _of_method(method, arguments)
        return called

    return decorated


def with_checked_arguments(owner: type[Owner]) -> type[Owner]:
    """Let the public coroutines of a class raise an `InputError` for an unknown argument, or one of another type."""
    for name, method in list(vars(owner).items()):
        if iscoroutinefunction(method) and not name.startswith("_"):
            setattr(owner, name, _checked(method))
    return owner


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    known = signature(method)
    _require_kinds(known)

    def called(*args: Any, **kwargs: Any) -> Any:
        _check(kwargs, known.parameters)
        _check_kinds(known, *args, **kwargs)
        return method(*args, **kwargs)

    return update_wrapper(called, method)


def _require_kinds(known: Signature) -> None:
    """Fail when the class is made, and not at the first call, if an annotation has no kind."""
    for name in known.parameters:
        kinds_of(annotation_of(known, name))


def annotation_of(known: Signature, name: str) -> str:
    """Return the annotation of an argument; `Any` for one without, such as `self`, and for several of one name."""
    parameter = known.parameters[name]
    is_one = parameter.annotation is not Parameter.empty and parameter.kind is not Parameter.VAR_POSITIONAL
    return str(parameter.annotation) if is_one else "Any"


def _check_kinds(known: Signature, *args: Any, **kwargs: Any) -> None:
    for name, value in known.bind_partial(*args, **kwargs).arguments.items():
        if fault := kind_fault(name, annotation_of(known, name), value):
            raise InputError(name, fault)


def _check(given: Mapping[str, Any], known: Mapping[str, Parameter]) -> None:
    for name in given:
        if name not in known:
            raise InputError(name, f"unknown argument; {right_name(name, known)}")


def _of_method(method: Callable[..., object], arguments: Signature) -> Signature:
    own = signature(method)
    return own.replace(parameters=[next(iter(own.parameters.values())), *arguments.parameters.values()])
