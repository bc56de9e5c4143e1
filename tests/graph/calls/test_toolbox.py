"""LangChain tools as plans see them: any of them, called with exactly the arguments of the plan."""

import asyncio
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException, tool
from pydantic import BaseModel, ConfigDict

from planner_executor import tool as declaring_tool
from planner_executor.graph.calls.bound_tool import bind
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.errors import ToolConfigError
from planner_executor.graph.plan.reading import read_plan
from planner_executor.graph.testing import LoggedTools


def call(given: Any, **args: Any) -> Any:
    return asyncio.run(bind(given).call(args))


ANY = {"type": "object", "properties": {}}


def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


async def add_later(a: int, b: int = 2) -> int:
    """Add two numbers, later."""
    return a + b


class Sync(BaseTool):
    name: str = "sync"
    description: str = "a tool of its own class"

    def _run(self, a: int, b: int = 2) -> int:
        return a + b


class Async(BaseTool):
    name: str = "async"
    description: str = "an async tool of its own class"

    def _run(self, a: int, b: int = 2) -> int:
        raise NotImplementedError

    async def _arun(self, a: int, b: int = 2) -> int:
        return a + b


EVERY_KIND = [add, add_later, Sync(), Async(), tool(add), StructuredTool.from_function(add, coroutine=add_later)]


@pytest.mark.parametrize("given", EVERY_KIND, ids=lambda given: type(given).__name__)
def test_every_kind_of_tool_can_be_called(given: Any) -> None:
    assert call(given, a=40) == 42
    assert call(given, a=1, b=1) == 2


@pytest.mark.parametrize("given", EVERY_KIND, ids=lambda given: type(given).__name__)
def test_every_kind_of_tool_has_a_schema(given: Any) -> None:
    spec = bind(given).spec

    assert spec.parameters == ("a", "b")
    assert spec.argument_faults({"a": "1"})
    assert spec.argument_faults({"a": 1}) == []


def test_a_function_is_described_by_its_docstring() -> None:
    spec = bind(add).spec

    assert (spec.name, spec.description) == ("add", "Add two numbers.")


def test_a_tool_is_awaited_exactly_where_it_can_be() -> None:
    assert [bind(given).awaitable for given in EVERY_KIND] == [False, True, False, True, False, True]


def test_a_tool_for_a_single_text_takes_it_as_plain_input() -> None:
    given = Tool(name="shout", description="d", func=str.upper)
    step = {"id": "a", "objective": "o", "tool": "shout", "input": "x"}

    plan = read_plan([step], Toolbox([given]).specs).plan

    assert plan is not None
    assert call(given, **plan.steps[0].args) == "X"


def undocumented(a: int) -> int:
    return a


def blank(a: int) -> int:
    """ """
    return a


def takes_a_function(a: Callable[[int], int]) -> int:
    """Take what JSON cannot carry."""
    return a(1)


def odd_default(a: float = float("nan")) -> float:
    """Have a default that is no JSON."""
    return a


UNFIT = {
    "undocumented": undocumented,
    "blank": blank,
    "lambda": lambda a: a,
    "takes_a_function": takes_a_function,
    "odd_default": odd_default,
    "partial": functools.partial(add, 1),
    "number": 5,
    "text": "search",
    "declaration": {"type": "web_search"},
    "none": None,
    "schema of no type": StructuredTool(name="x", description="d", func=add, args_schema={"type": "nonsense"}),
    "schema of itself": StructuredTool(name="x", description="d", func=add, args_schema={"$ref": "#"}),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_what_cannot_be_offered_is_refused_before_any_plan(kind: str) -> None:
    with pytest.raises(ToolConfigError):
        Toolbox([UNFIT[kind]])


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolConfigError) as caught:
        Toolbox([add, tool(add)])

    assert caught.value.tool == "add"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Pay", "Pay"),
        ("PAY", "PAY"),
        ("p\u0430y", r"p\u0430y"),
        ("\uff50\uff41\uff59", r"\uff50\uff41\uff59"),
        ("pa\u200by", r"pa\u200by"),
        ("pay\u00ad", r"pay\xad"),
        ("pay ", "'pay '"),
        ("pay\n", r"pay\n"),
        ("\u202epay", r"\u202epay"),
    ],
)
def test_no_tool_has_a_name_that_people_could_take_for_another_one(name: str, shown: str) -> None:
    pay, other = (StructuredTool(name=each, description="d", func=add, args_schema=ANY) for each in ("pay", name))

    with pytest.raises(ToolConfigError) as caught:
        Toolbox([pay, other])

    assert caught.value.tool == name and shown in str(caught.value) and str(caught.value).isascii()


def test_any_other_name_of_a_registry_is_taken() -> None:
    names = [
        "pay",
        "pay_2",
        "pay-all",
        "files/read",
        "files.read",
        "2fa",
        "Text Translator",
        "оплата",
        "pay all",
        "支払",
    ]

    assert (
        list(Toolbox(StructuredTool(name=each, description="d", func=add, args_schema=ANY) for each in names)) == names
    )


def test_a_toolbox_is_a_mapping_in_the_order_given() -> None:
    tools = Toolbox([add_later, add])

    assert list(tools) == ["add_later", "add"]
    assert list(tools.specs) == ["add_later", "add"]
    assert len(Toolbox([])) == 0


def declared(**metadata: Any) -> Any:
    return bind(LoggedTools().tool("x", **metadata)).spec


@pytest.mark.parametrize(
    ("metadata", "effect", "repeatable"),
    [
        ({}, "external", False),
        ({"effect": "read"}, "read", True),
        ({"effect": "write"}, "write", False),
        ({"effect": "write", "idempotent": True}, "write", True),
        ({"effect": "external", "idempotent": True}, "external", True),
        ({"idempotent": True}, "external", True),
        ({"effect": "write", "idempotent": "yes"}, "write", False),
        ({"effect": "write", "idempotent": 1}, "write", False),
        ({"effect": None}, "external", False),
        ({"readOnlyHint": True}, "external", True),
        ({"readOnlyHint": True, "openWorldHint": False}, "read", True),
        ({"readOnlyHint": False, "openWorldHint": False}, "write", False),
        ({"openWorldHint": False}, "write", False),
        ({"openWorldHint": False, "idempotentHint": True}, "write", True),
        ({"idempotentHint": True}, "external", True),
        ({"readOnlyHint": "true", "openWorldHint": "false"}, "external", False),
        ({"readOnlyHint": None, "openWorldHint": None}, "external", False),
        ({"destructiveHint": False}, "external", False),
        ({"effect": "write", "readOnlyHint": True}, "write", False),
    ],
)
def test_what_a_tool_does_is_read_from_its_metadata(metadata: dict[str, Any], effect: str, repeatable: bool) -> None:
    spec = declared(**metadata)

    assert (spec.effect, spec.repeatable) == (effect, repeatable)


@pytest.mark.parametrize("effect", ["READ", "none", "", "safe", 1, ["read"], True])
def test_an_unknown_effect_is_refused(effect: Any) -> None:
    with pytest.raises(ToolConfigError):
        declared(effect=effect)


@pytest.mark.parametrize("timeout_s", ["5", 0, -1, True, float("nan"), [5]])
def test_a_timeout_is_a_number_of_seconds(timeout_s: Any) -> None:
    with pytest.raises(ToolConfigError):
        declared(timeout_s=timeout_s)


def test_a_summary_names_arguments_of_its_tool() -> None:
    def mail(to: str) -> None:
        """Mail."""

    def bound(summary: str) -> Any:
        return bind(StructuredTool.from_function(mail, metadata={"summary": summary})).spec

    assert bound("mail {to}").summary == "mail {to}"
    with pytest.raises(ToolConfigError, match="summary names 'too', which is no argument; did you mean to"):
        bound("mail {too}")


def test_the_rest_of_a_declaration_is_taken_over() -> None:
    assert (declared(reversible=False).reversible, declared(summary="x").summary) == (False, "x")
    spec = declared(timeout_s=1.5, trusted=True, free_args=["q"], reads=[Path("/docs"), "/data"])

    assert (spec.timeout_s, spec.trusted, spec.free_args, spec.reads) == (1.5, True, ("q",), ("/docs", "/data"))
    assert (declared().timeout_s, declared().trusted, declared().free_args, declared().reads) == (None, None, (), ())


@pytest.mark.parametrize(
    "odd",
    [
        {"trusted": "yes"}, {"trusted": 1}, {"free_args": "to"}, {"free_args": [1]}, {"free_args": {"to": 1}},
        {"folder": "workspace"}, {"folder": 5}, {"folder": ""}, {"reads": "/docs"}, {"reads": ["docs"]}, {"reads": [5]},
        {"reversible": "no"}, {"summary": " "}, {"summary": 5},
    ],
    ids=str,
)  # fmt: skip
def test_a_declaration_that_cannot_be_understood_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(ToolConfigError):
        declared(**odd)


def test_a_tool_says_in_which_folder_it_works(tmp_path: Path) -> None:
    assert [declared(folder=folder).folder for folder in (tmp_path, str(tmp_path), None)] == [str(tmp_path)] * 2 + [
        None
    ]


def failing(a: int) -> int:
    """Fail."""
    raise ToolException("no luck")


@pytest.mark.parametrize("handled", [True, "sorry", lambda error: "sorry"])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_tool_cannot_pass_its_failure_off_as_a_result(handled: Any, is_async: bool) -> None:
    async def failing_later(a: int) -> int:
        raise ToolException("no luck")

    given = StructuredTool.from_function(
        None if is_async else failing,
        failing_later if is_async else None,
        name="failing",
        description="d",
        handle_tool_error=handled,
        handle_validation_error=handled,
    )

    with pytest.raises(ToolException, match="no luck"):
        call(given, a=1)
    assert given.handle_tool_error is handled


@pytest.mark.parametrize("is_async", [True, False])
def test_arguments_shaped_like_a_tool_call_are_arguments(is_async: bool) -> None:
    tools = LoggedTools()
    args = {"type": "tool_call", "name": "x", "id": "1", "args": {"a": 1}}

    assert call(tools.tool("x", is_async=is_async), **args) == args
    assert tools.named("x") == [args]


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    "name", ["config", "run_manager", "callbacks", "self", "tool_input", "run_id", "tags", "metadata"]
)
def test_arguments_may_have_the_names_that_langchain_uses_itself(name: str, is_async: bool) -> None:
    tools = LoggedTools()

    assert call(tools.tool("x", is_async=is_async), **{name: "mine", "b": 2}) == {name: "mine", "b": 2}
    assert tools.named("x") == [{name: "mine", "b": 2}]


def test_a_function_with_a_parameter_called_config_gets_the_argument() -> None:
    def setup(config: str, run_manager: str = "default") -> str:
        """Set something up."""
        return f"{config} {run_manager}"

    assert call(setup, config="mine") == "mine default"
    assert call(setup, config="mine", run_manager="too") == "mine too"


class Configured(BaseTool):
    name: str = "configured"
    description: str = "d"

    def _run(self, config: str) -> str:
        return config


def test_a_tool_class_with_a_parameter_called_config_gets_the_argument() -> None:
    assert call(Configured(), config="mine") == "mine"


@pytest.mark.parametrize("name", ["a", "config"])
def test_of_content_and_artifact_the_content_is_the_result(name: str) -> None:
    given = StructuredTool(
        name="x",
        description="d",
        func=lambda **args: ({"content": args}, "artifact"),
        args_schema={"type": "object", "properties": {name: {"type": "string"}}},
        response_format="content_and_artifact",
    )

    assert call(given, **{name: "v"}) == {"content": {name: "v"}}


@pytest.mark.parametrize("is_async", [True, False])
def test_a_message_that_tells_of_an_error_is_no_result(is_async: bool) -> None:
    def find(**_: Any) -> ToolMessage:
        return ToolMessage("no such page", tool_call_id="1", status="error")

    with pytest.raises(ToolException, match="no such page"):
        call(LoggedTools().tool("find", find, is_async=is_async))


def test_an_object_comes_back_as_the_object_it_is() -> None:
    def find(a: int) -> Document:
        """Find a document."""
        return Document(page_content="x", metadata={"a": a})

    assert call(find, a=1) == Document(page_content="x", metadata={"a": 1})


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int


class Closed(BaseModel):
    a: int


@pytest.mark.parametrize(("schema", "allowed"), [(Open, True), (Closed, False)])
def test_extras_are_allowed_where_the_model_of_the_arguments_says_so(schema: type[BaseModel], allowed: bool) -> None:
    given = StructuredTool(name="x", description="d", func=lambda **args: args, args_schema=schema)

    assert (bind(given).spec.argument_faults({"a": 1, "b": 2}) == []) == allowed


def test_tools_with_one_model_of_arguments_keep_their_own_names_and_words() -> None:
    class Args(BaseModel):
        a: int

    def described(name: str, words: str) -> Any:
        return bind(StructuredTool.from_function(add, name=name, description=words, args_schema=Args)).spec.schema

    tools = [described("one", "adds"), described("two", "adds"), described("one", "subtracts")]

    assert [(tool["title"], tool["description"]) for tool in tools] == [
        ("one", "adds"),
        ("two", "adds"),
        ("one", "subtracts"),
    ]
    assert described("one", "adds") is tools[0]


def test_arguments_reach_a_function_as_the_types_it_asks_for() -> None:
    class Inner(BaseModel):
        n: int

    def unpack(inner: Inner) -> int:
        """Unpack."""
        return inner.n

    assert call(unpack, inner={"n": 7}) == 7


def test_a_tool_without_arguments_can_be_called() -> None:
    def now() -> str:
        """Say when."""
        return "now"

    assert call(now) == "now"


def test_an_error_of_a_tool_is_the_callers() -> None:
    def fail() -> None:
        """Fail."""
        raise KeyError("missing")

    with pytest.raises(KeyError):
        call(fail)


async def test_a_sync_tool_does_not_stop_the_event_loop() -> None:
    go = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> str:
        """Wait for the loop to do something."""
        asyncio.run_coroutine_threadsafe(go.wait(), loop).result(10)
        return "released"

    waiting = asyncio.create_task(bind(wait).call({}))
    await asyncio.sleep(0)
    go.set()
    assert str(await waiting) == "released"


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"efect": "read"}, "did you mean effect?"),
        ({"effect": "read", "read_only": True}, "unknown entry 'read_only'"),
        ({"trusted_output": False}, "did you mean trusted?"),
        ({"readonlyHint": True}, "did you mean readOnlyHint?"),
    ],
)
def test_an_entry_of_the_metadata_that_nothing_reads_is_refused(metadata: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolConfigError, match=said.replace("?", r"\?")):
        declared(**metadata)


@pytest.mark.parametrize(
    ("metadata", "is_declared", "trusted"),
    [
        ({}, False, None),
        ({"idempotent": True}, False, None),
        ({"effect": "read"}, True, None),
        ({"effect": "read", "trusted": False}, True, False),
        ({"readOnlyHint": True}, True, False),
        ({"readOnlyHint": True, "trusted": True}, True, True),
    ],
)
def test_a_tool_with_an_effect_or_hints_is_declared_and_hints_alone_earn_no_trust(
    metadata: dict[str, Any], is_declared: bool, trusted: bool | None
) -> None:
    spec = declared(**metadata)

    assert (spec.declared, spec.trusted) == (is_declared, trusted)


def test_a_tool_for_a_single_text_has_the_schema_that_it_brings() -> None:
    class Words(BaseModel):
        text: str = "hello"

    spec = bind(Tool(name="shout", description="d", func=str.upper, args_schema=Words)).spec

    assert spec.parameters == ("text",) and spec.argument_faults({}) == []


def test_a_class_of_tools_with_a_schema_of_its_own_is_not_taken_for_a_plain_one() -> None:
    class One(StructuredTool):
        @property
        def tool_call_schema(self) -> dict[str, Any]:
            return {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    plain = StructuredTool.from_function(add)
    one = One(name=plain.name, description=plain.description, func=add, args_schema=plain.args_schema)

    assert [bind(each).spec.parameters for each in (plain, one)] == [("a", "b"), ("a",)]


def test_what_adapters_and_tracers_keep_in_the_metadata_is_left_alone() -> None:
    spec = declared(readOnlyHint=True, title="Look", _meta={"a": 1}, ls_method="traceable")

    assert spec.effect == "external" and spec.repeatable


def test_a_tool_means_the_same_whichever_decorator_made_it() -> None:
    @declaring_tool("read", idempotent=True)
    def ours(number: int) -> int:
        """Look."""
        return number

    def theirs(number: int) -> int:
        """Look."""
        return number

    plain = tool(theirs)
    plain.metadata = {"effect": "read", "idempotent": True}
    one, other = bind(ours).spec, bind(plain).spec
    assert (one.trust, one.effect, one.repeatable, one.declared) == (
        other.trust,
        other.effect,
        other.repeatable,
        other.declared,
    )


async def test_a_preview_is_declared_apart_from_what_tracers_are_told() -> None:
    def preview(text: str) -> str:
        return f"would note {text}"

    @declaring_tool("write", preview=preview)
    def note(text: str) -> str:
        """Note a text."""
        return text

    bound = bind(note)

    assert bound.preview is not None and not bound.preview.leaves
    assert await bound.previewed({"text": "x"}) == "would note x"
    assert "preview" not in (bound.tool.metadata or {}) and "preview" in (note.metadata or {})


def test_a_preview_of_an_external_tool_leaves_the_machine_unless_it_says_otherwise() -> None:
    async def preview(to: str) -> str:
        return to

    leaves = []
    for declared in ({}, {"preview_leaves": False}):
        tool = StructuredTool.from_function(
            add, metadata={"effect": "external", "preview": preview, **declared}, name="send"
        )
        bound = bind(tool)
        assert asyncio.run(bound.previewed({"to": "a"})) == "a" and bound.preview is not None
        leaves.append(bound.preview.leaves)

    assert leaves == [True, False]


@pytest.mark.parametrize(
    "metadata", [{"preview": "words"}, {"preview_leaves": True}, {"preview": add, "preview_leaves": 1}]
)
def test_a_preview_that_is_none_is_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(ToolConfigError, match="preview"):
        bind(StructuredTool.from_function(add, metadata={"effect": "write", **metadata}))
