"""The error family is as its docstring draws it."""

import re
from inspect import isclass

import pytest

from planner_executor.graph import errors
from planner_executor.graph.errors import (
    AgentClosedError,
    AgentError,
    ConfigError,
    ExportError,
    InputError,
    LeaseLostError,
    LedgerCorruptError,
    LedgerError,
    LedgerSealError,
    LedgerUnavailableError,
    MessageWaitingError,
    MissingRunError,
    MissingToolsError,
    ModelCallError,
    ModelConfigError,
    NothingToDecideError,
    PrunedRunError,
    ResultError,
    ResultsError,
    RunOwnedError,
    RunPausedError,
    StaleRunError,
    SuiteError,
    ToolConfigError,
    UnknownModelError,
    UnknownRunError,
    UnresolvedReferenceError,
)


def drawn() -> dict[str, str | None]:
    """Return class name -> its parent in the tree of the docstring."""
    parents: dict[str, str | None] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"^([│├└─ ]*)([A-Z]\w+)", line):
            indent, name = len(match[1]), match[2]
            if not name.endswith("Error"):
                continue
            above = [entry for entry in above if entry[0] < indent]
            parents[name] = above[-1][1] if above else None
            above.append((indent, name))
    return parents


CLASSES = {name: found for name, found in vars(errors).items() if isclass(found) and issubclass(found, BaseException)}


def test_every_error_stands_in_the_tree_under_its_parent() -> None:
    assert drawn() == {
        name: None if found is AgentError else found.__bases__[0].__name__ for name, found in CLASSES.items()
    }


def test_one_module_names_the_whole_family() -> None:
    assert sorted(drawn()) == sorted(errors.__all__)


def test_every_error_is_caught_by_the_one_base() -> None:
    assert all(issubclass(found, AgentError) for found in CLASSES.values())
    assert AgentError.__bases__ == (Exception,)


@pytest.mark.parametrize("error", [ConfigError("no"), InputError("goal", "no"), UnknownModelError("openai:x", "no")])
def test_faults_of_the_caller_are_value_errors_whose_sentence_a_server_passes_on(error: AgentError) -> None:
    assert isinstance(error, ValueError)
    assert not isinstance(LedgerError("runs.db", "is gone"), ValueError)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_error_says_what_it_is_for(name: str) -> None:
    assert CLASSES[name].__doc__


@pytest.mark.parametrize(
    ("error", "facts"),
    [
        (ModelConfigError("openai:x", "no key"), {"model": "openai:x"}),
        (ToolConfigError("send", "no docstring"), {"tool": "send"}),
        (SuiteError("suite.toml", "no goal"), {"suite": "suite.toml"}),
        (ResultsError("results.json", "another suite"), {"results": "results.json"}),
        (AgentClosedError("runs.db", "it is closed"), {"database": "runs.db"}),
        (ModelCallError("gpt", [{"model": "gpt", "error": "no"}]), {"model": "gpt"}),
        (RunPausedError("t.1"), {"run": "t.1"}),
        (InputError("goal", "give a goal"), {"field": "goal"}),
        (UnknownRunError("t.1", "runs.db"), {"field": "run", "run": "t.1"}),
        (PrunedRunError("t.1", "os:ada", 0.0), {"field": "run", "run": "t.1", "by": "os:ada"}),
        (MissingToolsError("t.1", ["refund"]), {"field": "run", "run": "t.1"}),
        (NothingToDecideError("t.1", "failed"), {"field": "decision", "run": "t.1"}),
        (UnresolvedReferenceError("{a_result}", "no result"), {"reference": "{a_result}"}),
        (ResultError(".items[0]", "is bytes"), {"path": ".items[0]"}),
        (LedgerError("runs.db", "is gone"), {"database": "runs.db"}),
        (LedgerUnavailableError("runs.db", "is locked"), {"database": "runs.db"}),
        (MissingRunError("runs.db", "t.1"), {"database": "runs.db", "run": "t.1"}),
        (LedgerCorruptError("runs.db", "t.1", 3, "was changed"), {"database": "runs.db", "run": "t.1", "seq": 3}),
        (StaleRunError("runs.db", "t.1"), {"database": "runs.db", "run": "t.1"}),
        (MessageWaitingError("runs.db", "t.1"), {"database": "runs.db", "run": "t.1"}),
        (LedgerSealError("runs.db", "t.1", "is sealed"), {"database": "runs.db", "run": "t.1"}),
        (ExportError("run.jsonl", 3, "is not as it was written"), {"database": "run.jsonl", "line": 3}),
        (RunOwnedError("runs.db", "t.1"), {"database": "runs.db", "run": "t.1"}),
        (LeaseLostError("runs.db", "t.1"), {"database": "runs.db", "run": "t.1"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_error_carries_its_facts_and_names_them(error: AgentError, facts: dict[str, object]) -> None:
    assert {name: getattr(error, name) for name in facts} == facts
    assert all(str(fact) in str(error) for name, fact in facts.items() if name != "field")


def test_the_attributes_in_the_tree_are_the_attributes_of_the_errors() -> None:
    assert re.findall(r"(\w+Error) .*?\s\.(\w+)", errors.__doc__ or "") == [
        ("ModelConfigError", "model"),
        ("ToolConfigError", "tool"),
        ("PolicyError", "line"),
        ("SuiteError", "suite"),
        ("ResultsError", "results"),
        ("AgentClosedError", "database"),
        ("ModelCallError", "model"),
        ("OtherTermsError", "run"),
        ("RunPausedError", "run"),
        ("InputError", "field"),
        ("UnknownRunError", "run"),
        ("PrunedRunError", "run"),
        ("MissingToolsError", "run"),
        ("NothingToDecideError", "run"),
        ("DecisionRefusedError", "run"),
        ("UnresolvedReferenceError", "reference"),
        ("ResultError", "path"),
        ("LedgerError", "database"),
        ("MissingRunError", "run"),
        ("LedgerCorruptError", "run"),
        ("UnknownEventError", "seq"),
        ("CapReachedError", "cap"),
        ("StaleRunError", "run"),
        ("StandingSpentError", "run"),
        ("CallElsewhereError", "run"),
        ("MessageWaitingError", "run"),
        ("LedgerSealError", "run"),
        ("ExportError", "line"),
        ("RunOwnedError", "run"),
        ("LeaseLostError", "run"),
    ]
