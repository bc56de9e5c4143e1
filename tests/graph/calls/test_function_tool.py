"""Function tools called straight: the same outcome as on LangChain's own way, and that way where it does more."""

import asyncio
import contextvars
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import pydantic.v1
import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.globals import set_debug
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import set_config_context
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, tool
from pydantic import BaseModel, ConfigDict, Field, computed_field

from planner_executor.graph.calls.bound_tool import bind
from planner_executor.graph.calls.function_tool import is_straight, is_watched
from planner_executor.graph.calls.tool_metadata import spec_of


class Inner(BaseModel):
    n: int


def plain(a: int, b: int = 2, *, c: str | None = None) -> list[Any]:
    """Take three."""
    return [a, b, c]


def nested(inner: Inner, others: dict[str, Inner] | None = None) -> list[Any]:
    """Take models."""
    return [type(inner).__name__, inner.n, others]


def nothing() -> str:
    """Take nothing."""
    return "nothing"


def failing(a: int) -> str:
    """Fail."""
    raise KeyError(a)


def configured(a: int, config: RunnableConfig) -> list[Any]:
    """Take the configuration."""
    return [a, config["tags"]]


def injected(a: int, b: Annotated[int, InjectedToolArg] = 7) -> int:
    """Take what callers cannot give."""
    return a + b


def variadic(a: int, *args: int, **kwargs: int) -> list[Any]:
    """Take anything."""
    return [a, args, kwargs]


def positional(a: int, /) -> int:
    """Take no names."""
    return a


class Renamed(BaseModel):
    a: int = Field(alias="of")


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Hidden(BaseModel):
    a: int
    b: int = Field(default=3, exclude=True)


class Computed(BaseModel):
    a: int

    @computed_field  # type: ignore[prop-decorator]
    @property
    def b(self) -> int:
        return self.a + 1


class One(BaseModel):
    a: int


class Taken(BaseModel):
    a: int
    kwargs: int


class More(BaseModel):
    a: int
    b: int = 5


class Own(StructuredTool):
    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        return "its own way"

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return "its own way"


def given(
    function: Callable[..., Any], is_async: bool, kind: type[StructuredTool] = StructuredTool, **options: Any
) -> Any:
    async def later(*args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return function(*args, **kwargs)

    later.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    later.__annotations__ = function.__annotations__
    later.__name__, later.__doc__ = function.__name__, function.__doc__
    return kind.from_function(None if is_async else function, later if is_async else None, **options)


STRAIGHT: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (plain, {}, {"a": 1}),
    (plain, {}, {"a": 1, "b": 3, "c": "x"}),
    (plain, {}, {"a": "no number"}),
    (plain, {}, {}),
    (nested, {}, {"inner": {"n": 1}, "others": {"x": {"n": 2}}}),
    (nothing, {}, {}),
    (failing, {}, {"a": 1}),
    (lambda a, b=4: [a, b], {"args_schema": More, "name": "more", "description": "d"}, {"a": 1}),
    (lambda a: a, {"args_schema": Renamed, "name": "renamed", "description": "d"}, {"of": 1}),
]
GENERAL: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (configured, {}, {"a": 1}),
    (injected, {}, {"a": 1}),
    (variadic, {}, {"a": 1}),
    (positional, {}, {"a": 1}),
    (lambda a, **more: [a, more], {"args_schema": Extra, "name": "extra", "description": "d"}, {"a": 1, "b": 2}),
    (lambda a: a, {"args_schema": Extra, "name": "extra", "description": "d"}, {"a": 1, "b": 2}),
    (lambda a: a, {"args_schema": Computed, "name": "computed", "description": "d"}, {"a": 1}),
    (lambda a, /: a, {"args_schema": One, "name": "unnamed", "description": "d"}, {"a": 1}),
    (lambda a, kwargs: [a, kwargs], {"args_schema": Taken, "name": "taken", "description": "d"}, {"a": 1, "kwargs": 2}),
    (lambda a, b=4: [a, b], {"args_schema": Hidden, "name": "hidden", "description": "d"}, {"a": 1}),
    (plain, {"response_format": "content_and_artifact"}, {"a": 1}),
    (plain, {"kind": Own}, {"a": 1}),
    (plain, {"args_schema": {"type": "object", "properties": {"a": {}}}, "name": "by_json"}, {"a": 1}),
]


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return asyncio.run(call())
    except Exception as error:  # noqa: BLE001  (whatever it is, the other way has to give the same)
        return type(error), str(error)


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(("function", "options", "args"), STRAIGHT + GENERAL)
def test_the_outcome_is_that_of_langchains_own_way(
    function: Any, options: dict[str, Any], args: dict[str, Any], is_async: bool
) -> None:
    made = given(function, is_async, **options)

    async def own_way() -> Any:
        config = ensure_config()
        return await made.arun(args, config=config) if is_async else made.run(args, config=config)

    assert outcome(lambda: bind(made).call(args)) == outcome(own_way)


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    ("function", "options", "straight"),
    [*((f, options, True) for f, options, _ in STRAIGHT), *((f, options, False) for f, options, _ in GENERAL)],
)
def test_only_a_function_that_takes_just_what_callers_give_is_called_straight(
    function: Any, options: dict[str, Any], straight: bool, is_async: bool
) -> None:
    made = given(function, is_async, **options)

    assert is_straight(made, made.coroutine if is_async else made.func, spec_of(made).parameters) == straight


def test_a_schema_of_another_kind_is_left_to_langchain() -> None:
    class Old(pydantic.v1.BaseModel):
        a: int

    made = StructuredTool(name="old", description="d", func=lambda a: a, args_schema=Old)

    assert not is_straight(made, made.func, ("a",))


def test_a_function_that_tells_nothing_of_its_arguments_is_not_called_straight() -> None:
    made = StructuredTool(name="most", description="d", func=max, args_schema=One)

    assert not is_straight(made, max, ("a",))


SEEN: contextvars.ContextVar[str] = contextvars.ContextVar("SEEN", default="nothing")


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_tool_sees_the_callers_context_and_leaves_it_as_it_is(is_async: bool) -> None:
    def look() -> str:
        """Look at the context, and change it."""
        seen = SEEN.get()
        SEEN.set("the tool's")
        return seen

    SEEN.set("the caller's")
    assert (await bind(given(look, is_async)).call({}), SEEN.get()) == ("the caller's", "the caller's")


class Told(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.inputs: list[Any] = []

    async def on_tool_start(self, *_: Any, inputs: Any = None, **__: Any) -> None:
        self.inputs.append(inputs)


class ToldInThread(BaseCallbackHandler):
    def __init__(self) -> None:
        self.inputs: list[Any] = []

    def on_tool_start(self, *_: Any, inputs: Any = None, **__: Any) -> None:
        self.inputs.append(inputs)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_handler_in_the_configuration_is_told_of_the_call(is_async: bool) -> None:
    handler = Told() if is_async else ToldInThread()

    with set_config_context({"callbacks": [handler]}) as context:
        assert await asyncio.create_task(bind(given(plain, is_async)).call({"a": 1}), context=context) == [1, 2, None]
    assert handler.inputs == [{"a": 1}]


async def test_a_handler_of_the_tool_itself_is_told_of_the_call() -> None:
    handler = ToldInThread()
    made = tool(plain)
    made.callbacks = [handler]

    await bind(made).call({"a": 1})

    assert handler.inputs == [{"a": 1}]


def test_a_debugger_is_told_of_the_call() -> None:
    made: BaseTool = tool(plain)
    assert not is_watched(made, ensure_config())

    set_debug(True)
    try:
        assert is_watched(made, ensure_config())
    finally:
        set_debug(False)
