"""Plans read from JSON files."""

from pathlib import Path
from typing import Any

from graph.errors import InputError
from graph.plan.broken_json import json_fault
from graph.plan.unique_keys import read_json


def read_plan_file(option: str, path: Path) -> Any:
    """Return the JSON of a plan, not yet validated.

    Raises:
        InputError: The file cannot be read, or is not a JSON object or list.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(option, f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(option, f"{path}, byte {error.start}: not UTF-8 text") from error
    if fault := json_fault(text):
        raise InputError(option, f"{path} is not valid JSON: {fault}")
    plan = read_json(text)
    if not isinstance(plan, dict | list) or not plan:
        raise InputError(option, f'{path} is not a plan; write {{"steps": [...]}}')
    return plan
