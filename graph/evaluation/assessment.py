"""Assessment of a trial: the parsed answer and the results of the checks."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.chat_models.json_text import NoJson, value_from
from planner_executor.graph.evaluation.sandbox import Sandbox
from planner_executor.graph.evaluation.suite import AnswerFormat, Case
from planner_executor.graph.plan.checks import check_faults
from planner_executor.graph.record.check_results import Evidence, findings
from planner_executor.graph.record.values import to_text

FILE = "file"
"""Key of a check that makes it apply to the text of a workspace file instead of the answer."""

FORMAT_INSTRUCTIONS: Mapping[str, str] = {"json": "Answer with JSON only, without any other words."}


@dataclass(frozen=True)
class CaseAssessment:
    """Whether all checks passed, and the finding of each."""

    met: bool
    findings: tuple[Mapping[str, Any], ...]


def constraints_of(case: Case) -> list[str]:
    """Return the constraints of every arm: those of the case, and the answer format."""
    if case.answer == "text":
        return list(case.constraints)
    schema = case.answer if isinstance(case.answer, dict) else None
    form = (
        f"{FORMAT_INSTRUCTIONS['json']} It fits this JSON Schema: {to_text(schema)}"
        if schema is not None
        else FORMAT_INSTRUCTIONS["json"]
    )
    return [*case.constraints, form]


def case_faults(case: Case, tools: Collection[str]) -> Iterator[str]:
    """Yield the faults in the checks of a case."""
    for check in case.checks:
        # The file is ours; all else is a check as steps have it.
        about_step = {key: value for key, value in check.items() if key != FILE}
        yield from check_faults(about_step, tools)
        if FILE in check and not (isinstance(check[FILE], str) and check[FILE]):
            yield f"{FILE} must be the path of a workspace file, as text"
        elif FILE in check and {"file_exists", "called"} & set(check):
            yield f"{FILE} can be combined only with checks of text"
    if isinstance(case.answer, dict):
        yield from (f"answer: {fault}" for fault in check_faults({"schema": case.answer}, tools))


def assess(case: Case, answer: JsonValue, called: Mapping[str, int], sandbox: Sandbox) -> CaseAssessment:
    """Return the assessment of a run; `called` is the number of successful calls by tool."""
    found, checks = [], list(case.checks)
    try:
        answer = parse_answer(case.answer, answer)
    except ValueError as error:
        found.append({"check": {"answer": case.answer}, "met": False, "seen": str(error)})
    if isinstance(case.answer, dict):
        # The form comes first: the other faults may only follow from it.
        checks.insert(0, {"schema": case.answer})
    found += [_finding(check, answer, called, sandbox) for check in checks]
    return CaseAssessment(all(finding["met"] for finding in found), tuple(found))


def parse_answer(answer_format: AnswerFormat, answer: JsonValue) -> JsonValue:
    """Return an answer in the format of its case; plans return values, agents return text.

    Raises:
        ValueError: The format is JSON and the answer is not.

    >>> parse_answer("text", 53), parse_answer("json", "```json\\n53\\n```"), parse_answer("json", {"total": 53})
    ('53', 53, {'total': 53})
    """
    if answer_format == "text":
        return answer.strip() if isinstance(answer, str) else "" if answer is None else to_text(answer)
    if not isinstance(answer, str):
        return answer
    try:
        # As the result of a step is read, so that no arm is held to more.
        value: JsonValue = value_from(answer)
    except NoJson as error:
        raise ValueError(f"the answer is not JSON: {error}") from None
    return value


def _finding(
    check: Mapping[str, Any], answer: JsonValue, called: Mapping[str, int], sandbox: Sandbox
) -> dict[str, Any]:
    file, about_step = check.get(FILE), {name: value for name, value in check.items() if name != FILE}
    subject = sandbox.text(file) if file else answer
    if file and subject is None:
        return {"check": dict(check), "met": False, "seen": f"the file {file} does not exist"}
    (found,) = findings((about_step,), Evidence(subject, called, sandbox.describe_file))
    return {"check": dict(check), "met": found.met, "seen": found.seen}
