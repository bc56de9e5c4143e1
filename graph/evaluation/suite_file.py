"""Reads a suite from a TOML file; its cases are in the file, or in a JSON-lines file that it names."""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from planner_executor.graph.errors import InputError, SuiteError
from planner_executor.graph.evaluation.suite import CaseTable, PlaybookCase, Suite, SuiteTable
from planner_executor.graph.playbooks.case import Case as RecordedCase
from planner_executor.graph.playbooks.case import cases_beside
from planner_executor.graph.playbooks.playbook import Playbook
from planner_executor.graph.words.tables import Path as Place
from planner_executor.graph.words.tables import read
from planner_executor.graph.words.toml_lines import line_of
from planner_executor.graph.words.unreadable import unreadable

Read = TypeVar("Read")


def read_suite(path: str | Path) -> Suite:
    """Return the suite in a file; its default name is the file's.

    Raises:
        SuiteError: A file cannot be read, or its content is invalid.
    """
    file = Path(path)
    text = _read(file, lambda: file.read_text("utf-8"))
    raw = _read(file, lambda: tomllib.loads(text))
    if isinstance(raw.get("playbook"), str):
        raw["cases"] = _of_playbook(file, raw)
    if isinstance(cases := raw.get("cases"), str):
        raw["cases"] = cases = _lines(file.parent / cases)
    # Each case is checked before the whole file, so that a fault names the number of its case.
    for number, case in enumerate(cases if isinstance(cases, list) else (), 1):
        if isinstance(case, PlaybookCase):
            continue
        for place, why in read(CaseTable, case)[1]:
            raise SuiteError(str(file), f"case {number}: {_in_words(place, why)}")
    suite, faults = read(SuiteTable, {"name": file.stem, **raw, "folder": file.absolute().parent})
    for place, why in faults:
        raise SuiteError(str(file), _in_words(place, why), line_of(text, place))
    _check(file, suite)
    return suite  # type: ignore[no-any-return]


def _of_playbook(file: Path, raw: Mapping[str, Any]) -> list[PlaybookCase]:
    """Return the cases beside the playbook that a suite names."""
    if "cases" in raw:
        raise SuiteError(str(file), "has a playbook, which brings its cases; leave out one of playbook and cases")
    try:
        playbook = Playbook.load(file.parent / raw["playbook"])
        found = {name: RecordedCase.load(path) for name, path in cases_beside(playbook.path).items()}
        if not found:
            raise SuiteError(
                str(file), f"{playbook.path} has no cases; make one of a run: planner-executor case add RUN"
            )
        return [_of_case(playbook, name, case) for name, case in found.items()]
    except InputError as error:
        raise SuiteError(str(file), str(error)) from error


def _of_case(playbook: Playbook, name: str, case: RecordedCase) -> PlaybookCase:
    playbook.plan(case.params)  # refuses values that do not fit
    goal = playbook.goal(case.params)
    return PlaybookCase(id=name, goal=goal, playbook=playbook, digest=playbook.digest, recorded=case)


def _in_words(place: Place, why: str) -> str:
    return f"{'.'.join(place)} {why}".strip()


def _read(file: Path, reading: Callable[[], Read]) -> Read:
    try:
        return reading()
    except (OSError, ValueError, RecursionError) as error:
        raise SuiteError(str(file), f"cannot be read: {unreadable(error)}") from error


def _lines(file: Path) -> list[Any]:
    cases = []
    for number, line in enumerate(_read(file, lambda: file.read_text("utf-8")).splitlines(), 1):
        try:
            cases += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise SuiteError(str(file), f"line {number} is not JSON: {error}") from error
    return cases


def _check(file: Path, suite: Suite) -> None:
    # Results are kept by the id of their case.
    duplicates = [name for name, count in Counter(case.id for case in suite.cases).items() if count > 1]
    if duplicates:
        raise SuiteError(str(file), f"two cases have the id {duplicates[0]}; rename one")
    of_playbook = [name for name, arm in suite.arms.items() if arm.kind == "playbook"]
    if of_playbook and suite.playbook is None:
        why = 'runs a playbook, and the suite names none; write playbook = "FILE.yaml" in place of cases'
        raise SuiteError(str(file), f"arms.{of_playbook[0]} {why}")
    for case in suite.cases:
        for folder in (suite.documents_of(case), suite.workspace_of(case)):
            if folder is not None and not folder.is_dir():
                hint = "paths are relative to the suite's folder"
                raise SuiteError(str(file), f"case {case.id}: {folder} is not a folder; {hint}")
