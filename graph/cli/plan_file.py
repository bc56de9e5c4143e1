"""A plan that a person brings or has edited, read from a file."""

import json
from pathlib import Path
from typing import Any

from graph.errors import InputError
from graph.plan.unique_keys import unique_keys


def read_plan_file(option: str, path: Path) -> Any:
    """Return the JSON of a plan; whether it is a good plan is for the graph to say.

    Raises:
        InputError: There is no such file, or it holds no JSON object or list.
    """
    try:
        plan = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=unique_keys)
    except OSError as error:
        raise InputError(option, f"{path}: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(option, f"{path}, {place}: no valid JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise InputError(option, f"{path}, byte {error.start}: no UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise InputError(option, f"{path}: {_sentence(error)}") from error
    if not isinstance(plan, dict | list) or not plan:
        raise InputError(option, f'{path} holds no plan; a plan is {{"steps": [...]}}')
    return plan


def _sentence(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
