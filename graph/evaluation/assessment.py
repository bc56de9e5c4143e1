"""What a trial came to: the answer as its case reads it, and what came of the checks."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from graph.chat_models.json_text import NoJson, json_from
from graph.evaluation.sandbox import Sandbox
from graph.evaluation.suite import Case, Form
from graph.plan.checks import check_faults
from graph.record.check_results import Evidence, findings
from graph.record.values import to_text

FILE = "file"
"""With it, a check is about the text of that file of the workspace."""

FORMS: Mapping[str, str] = {"json": "Answer with JSON only, without any other words."}


@dataclass(frozen=True)
class Outcome:
    """Whether all checks hold, and what each of them found."""

    met: bool
    findings: tuple[Mapping[str, Any], ...]


def constraints_of(case: Case) -> list[str]:
    """Return what every arm is told to respect: the case's constraints, and the form of the answer."""
    if case.answer == "text":
        return list(case.constraints)
    schema = case.answer if isinstance(case.answer, dict) else None
    form = f"{FORMS['json']} It fits this JSON Schema: {to_text(schema)}" if schema is not None else FORMS["json"]
    return [*case.constraints, form]


def case_faults(case: Case, tools: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the checks of a case."""
    for check in case.checks:
        about_step = {key: value for key, value in check.items() if key != FILE}
        yield from check_faults(about_step, tools)
        if FILE in check and not (isinstance(check[FILE], str) and check[FILE]):
            yield f"{FILE} is the path of a file in the workspace, as text"
        elif FILE in check and {"file_exists", "called"} & set(check):
            yield f"{FILE} goes with checks that look at a text"
    if isinstance(case.answer, dict):
        yield from (f"answer: {fault}" for fault in check_faults({"schema": case.answer}, tools))


def outcome(case: Case, answer: JsonValue, called: Mapping[str, int], sandbox: Sandbox) -> Outcome:
    """Return what came of a run: `called` is tool -> calls with success."""
    told, checks = [], list(case.checks)
    try:
        answer = read_as(case.answer, answer)
    except ValueError as error:
        told.append({"check": {"answer": case.answer}, "met": False, "seen": str(error)})
    if isinstance(case.answer, dict):
        checks.insert(0, {"schema": case.answer})
    told += [_finding(check, answer, called, sandbox) for check in checks]
    return Outcome(all(finding["met"] for finding in told), tuple(told))


def read_as(form: Form, answer: JsonValue) -> JsonValue:
    """Return an answer in the form that a case asks for; plans answer with values, agents with text.

    Raises:
        ValueError: It is no JSON.

    >>> read_as("text", 53), read_as("json", " 53 "), read_as("json", {"total": 53})
    ('53', 53, {'total': 53})
    """
    if form == "text":
        return answer.strip() if isinstance(answer, str) else "" if answer is None else to_text(answer)
    if not isinstance(answer, str):
        return answer
    try:
        found: JsonValue = json.loads(answer)
    except (ValueError, RecursionError):
        try:
            found = json_from(answer)
        except NoJson as error:
            raise ValueError(f"the answer is no JSON: {error}") from None
    return found


def _finding(
    check: Mapping[str, Any], answer: JsonValue, called: Mapping[str, int], sandbox: Sandbox
) -> dict[str, Any]:
    looked_at = answer
    about_step = dict(check)
    if file := about_step.pop(FILE, None):
        text = sandbox.text(file)
        if text is None:
            return {"check": dict(check), "met": False, "seen": f"there is no file {file}"}
        looked_at = text
    (found,) = findings((about_step,), Evidence(looked_at, called, sandbox.look))
    return {"check": dict(check), "met": found.met, "seen": found.seen}
