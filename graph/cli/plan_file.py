"""Plans read from JSON files."""

import json
from pathlib import Path
from typing import Any

from graph.errors import InputError
from graph.plan.unique_keys import unique_keys


def read_plan_file(option: str, path: Path) -> Any:
    """Return the JSON of a plan, not yet validated.

    Raises:
        InputError: The file cannot be read, or is not a JSON object or list.
    """
    try:
        plan = json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=unique_keys)
    except OSError as error:
        raise InputError(option, f"{path}: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(option, f"{path}, {place}: not valid JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise InputError(option, f"{path}, byte {error.start}: not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise InputError(option, f"{path}: {_message(error)}") from error
    if not isinstance(plan, dict | list) or not plan:
        raise InputError(option, f'{path} is not a plan; write {{"steps": [...]}}')
    return plan


def _message(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
