"""Reading a suite from a TOML file; its cases stand in it, or in a JSON-lines file that it names."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graph.errors import SuiteError
from graph.evaluation.suite import Suite


def read_suite(path: str | Path) -> Suite:
    """Return the suite that a file describes; without a name it is called as the file is.

    Raises:
        SuiteError: A file cannot be read, or says what is not understood.
    """
    file = Path(path)
    raw = _table(file)
    if isinstance(cases := raw.get("cases"), str):
        raw["cases"] = _lines(file.parent / cases)
    try:
        suite = Suite.model_validate({"name": file.stem, **raw, "folder": file.absolute().parent})
    except ValidationError as error:
        raise SuiteError(str(file), "; ".join(_fault(part) for part in error.errors())) from None
    _check(file, suite)
    return suite


def _table(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SuiteError(str(file), f"cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _lines(file: Path) -> list[Any]:
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise SuiteError(str(file), f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            raise SuiteError(str(file), f"line {number} is no JSON: {error}") from error
    return found


def _check(file: Path, suite: Suite) -> None:
    twice = [name for name, count in Counter(case.id for case in suite.cases).items() if count > 1]
    if twice:
        raise SuiteError(str(file), f"two cases are called {twice[0]}; rename one")
    for case in suite.cases:
        for named in (suite.documents_of(case), suite.workspace_of(case)):
            if named is not None and not named.is_dir():
                raise SuiteError(str(file), f"case {case.id}: {named} is no folder; paths begin where the suite lies")


def _fault(part: Any) -> str:
    place = ".".join(str(name) for name in part["loc"])
    return f"{place}: {part['msg'].removeprefix('Value error, ')}"
