"""Reads a suite from a TOML file; its cases are in the file, or in a JSON-lines file that it names."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner_executor.graph.errors import SuiteError
from planner_executor.graph.evaluation.suite import Suite
from planner_executor.graph.words.unreadable import unreadable
from planner_executor.graph.words.validation_message import fault_messages


def read_suite(path: str | Path) -> Suite:
    """Return the suite in a file; its default name is the file's.

    Raises:
        SuiteError: A file cannot be read, or its content is invalid.
    """
    file = Path(path)
    raw = _table(file)
    if isinstance(cases := raw.get("cases"), str):
        raw["cases"] = _lines(file.parent / cases)
    try:
        suite = Suite.model_validate({"name": file.stem, **raw, "folder": file.absolute().parent})
    except ValidationError as error:
        raise SuiteError(str(file), fault_messages(error)) from None
    _check(file, suite)
    return suite


def _table(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SuiteError(str(file), f"cannot be read: {unreadable(error)}") from error


def _lines(file: Path) -> list[Any]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise SuiteError(str(file), f"cannot be read: {unreadable(error)}") from error
    cases = []
    for number, line in enumerate(lines, 1):
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
