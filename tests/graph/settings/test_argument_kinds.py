from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from planner_executor import Agent, AsyncAgent, Person
from planner_executor.graph.errors import AgentError, InputError
from planner_executor.graph.runs.run import Run
from planner_executor.graph.runs.taking import annotation_of
from planner_executor.graph.settings.argument_kinds import kind_fault, kinds_of

PUBLIC = [name for name in vars(Agent) if name in vars(AsyncAgent) and name != "open" and not name.startswith("_")]
TYPED = [
    (method, name)
    for method in (*(getattr(Agent, name) for name in PUBLIC), Run.decide)
    for name in signature(method).parameters
    if kinds_of(annotation_of(signature(method), name))
]


@pytest.mark.parametrize(("method", "name"), TYPED, ids=[f"{method.__name__}-{name}" for method, name in TYPED])
def test_an_argument_of_another_type_is_refused_by_its_name(
    method: Callable[..., Any], name: str, tmp_path: Path
) -> None:
    owner = Agent(tmp_path / "runs.db") if method is not Run.decide else None
    with pytest.raises(InputError) as refused:
        method(owner, **{name: object()})

    assert str(refused.value).startswith(f"{name}: give ")
    assert str(refused.value).endswith(", got object")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("annotation", "value", "fits"),
    [
        ("str | None", None, True),
        ("str | None", 5, False),
        ("int", True, False),
        ("int", 5.0, False),
        ("float | None", 5, True),
        ("bool", "no", False),
        ("Sequence[str]", ("a", "b"), True),
        ("Sequence[str]", {"a"}, True),
        ("Sequence[str]", "be kind", False),
        ("Sequence[str]", {"a": 1}, False),
        ("Sequence[str]", ["a", 1], False),
        ("Sequence[bool]", [True, 1], False),
        ("Sequence[tuple[str, str]]", [["step_1", "shorter"]], True),
        ("Sequence[tuple[str, str]]", ["no"], False),
        ("Mapping[str, Any] | None", {"a": 1}, True),
        ("Mapping[str, Any] | None", {1: "a"}, False),
        ("Mapping[str, Mapping[str, Any]]", {"a": 1}, False),
        ("Person | str | None", Person("ada"), True),
        ("Any", object(), True),
    ],
)
def test_a_value_fits_its_annotation_or_not(annotation: str, value: Any, fits: bool) -> None:
    assert (kind_fault("x", annotation, value) is None) is fits


def test_one_text_is_not_taken_for_a_list_of_its_letters(tmp_path: Path) -> None:
    wrong: Any = "be kind"
    with (
        Agent(tmp_path / "runs.db") as agent,
        pytest.raises(InputError, match=r"^constraints: give a list of texts, got str$"),
    ):
        agent.start("What is 6 * 7?", constraints=wrong)


UNKEPT = "\ud800"
HOLDS_ITSELF: dict[str, Any] = {}
HOLDS_ITSELF["a"] = HOLDS_ITSELF
UNKNOWN_SECTION: Any = "step"
REFUSED: list[tuple[Callable[[Agent, Path], Any], str]] = [
    (lambda agent, _: agent.list(tag=UNKEPT), "tag: text with half a surrogate pair"),
    (lambda agent, _: agent.list(by=UNKEPT), "by: text with half a surrogate pair"),
    (lambda agent, _: agent.inbox(text=UNKEPT), "text: text with half a surrogate pair"),
    (lambda agent, _: agent.list(since=10**30), "since: an integer beyond 64 bits"),
    (lambda agent, _: agent.list(limit=10**30), "limit: an integer beyond 64 bits"),
    (lambda agent, folder: agent.export("run", folder / "a\0b"), "file: "),
    (lambda agent, folder: agent.export("run", folder / UNKEPT), "file: "),
    (lambda agent, folder: agent.verify(folder / "a\0b"), "file: "),
    (lambda agent, folder: agent.replay(folder / UNKEPT), "file: "),
    (lambda agent, _: agent.start("g", setup={"folder": Path("docs")}), "setup: it holds what JSON cannot hold"),
    (lambda agent, _: agent.start("g", setup={"most": float("inf")}), "setup: it holds what JSON cannot hold"),
    (lambda agent, _: agent.start("g", setup=HOLDS_ITSELF), "setup: it holds what JSON cannot hold"),
    (lambda agent, _: agent.start("g", setup={"name": UNKEPT}), "setup.name: text with a NUL character or a lone"),
    (lambda agent, _: agent.resume("run", take_over=True, setup={"a": {1}}), "setup: it holds what JSON cannot hold"),
    (lambda agent, _: agent.audit("run", UNKNOWN_SECTION), "only: there is no section 'step'; did you mean steps?"),
    (lambda agent, _: agent.redact("run", "12345", reason="r", by=""), "by: '' names nobody"),
    (lambda agent, _: agent.replay("run", planner=UNKEPT), "model '\\ud800': text with half a surrogate pair"),
]


@pytest.mark.parametrize(("call", "why"), REFUSED)
def test_an_argument_that_cannot_be_kept_or_found_is_refused_by_its_name(
    call: Callable[[Agent, Path], Any], why: str, tmp_path: Path
) -> None:
    with Agent(tmp_path / "runs.db") as agent:
        agent.start("What is 6 * 7?", thread="run")
        with pytest.raises(AgentError) as refused:
            call(agent, tmp_path)

    assert str(refused.value).startswith(why)
