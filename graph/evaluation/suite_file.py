"""Reads a suite from a TOML file; its cases are in the file, or in a JSON-lines file that it names."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from planner_executor.graph.errors import SuiteError
from planner_executor.graph.evaluation.suite import CaseTable, Suite, SuiteTable
from planner_executor.graph.words.tables import Path as Place
from planner_executor.graph.words.tables import read
from planner_executor.graph.words.toml_lines import line_of
from planner_executor.graph.words.unreadable import unreadable


def read_suite(path: str | Path) -> Suite:
    """Return the suite in a file; its default name is the file's.

    Raises:
        SuiteError: A file cannot be read, or its content is invalid.
    """
    file = Path(path)
    text = _text(file)
    raw = _table(file, text)
    if isinstance(cases := raw.get("cases"), str):
        raw["cases"] = cases = _lines(file.parent / cases)
    for number, case in enumerate(cases if isinstance(cases, list) else (), 1):
        for place, why in read(CaseTable, case)[1]:
            raise SuiteError(str(file), f"case {number}: {_in_words(place, why)}")
    suite, faults = read(SuiteTable, {"name": file.stem, **raw, "folder": file.absolute().parent})
    for place, why in faults:
        raise SuiteError(str(file), _in_words(place, why), line_of(text, place))
    _check(file, suite)
    return suite  # type: ignore[no-any-return]


def _in_words(place: Place, why: str) -> str:
    return f"{'.'.join(place)} {why}".strip()


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise SuiteError(str(file), f"cannot be read: {unreadable(error)}") from error


def _table(file: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SuiteError(str(file), f"cannot be read: {unreadable(error)}") from error


def _lines(file: Path) -> list[Any]:
    cases = []
    for number, line in enumerate(_text(file).splitlines(), 1):
        try:
            cases += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise SuiteError(str(file), f"line {number} is not JSON: {error}") from error
    return cases


def _check(file: Path, suite: Suite) -> None:
    duplicates = [name for name, count in Counter(case.id for case in suite.cases).items() if count > 1]
    if duplicates:
        raise SuiteError(str(file), f"two cases have the id {duplicates[0]}; rename one")
    for case in suite.cases:
        for folder in (suite.documents_of(case), suite.workspace_of(case)):
            if folder is not None and not folder.is_dir():
                hint = "paths are relative to the suite's folder"
                raise SuiteError(str(file), f"case {case.id}: {folder} is not a folder; {hint}")
