"""Plans read from JSON files."""

from pathlib import Path
from typing import Any

from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.plan.broken_json import json_fault
from planner_executor.graph.plan.unique_keys import read_json


def read_plan_file(option: str, path: Path) -> Any:
    """Return the JSON of a plan, not yet validated.

    Raises:
        InputError: The file cannot be read, or is not a JSON object or list.
    """
    with file_faults(option, path):
        text = path.read_bytes().decode("utf-8-sig")
    if fault := json_fault(text):
        raise InputError(option, f"{path} is not valid JSON: {fault}")
    plan = read_json(text)
    if not isinstance(plan, dict | list) or not plan:
        raise InputError(option, f'{path} is not a plan; write {{"steps": [...]}}')
    return plan
