"""Writing JSON text, by an encoder of the standard library that is made once.

`json.JSONEncoder` makes its encoder in C anew at each call, which costs as much as writing a small object
(docs/decisions/0113-json-writer.md).
"""

import json
from collections.abc import Callable
from json import encoder as standard
from typing import Any

COMPACT = (",", ":")


def json_writer(
    *, separators: tuple[str, str] = (", ", ": "), sort_keys: bool = False, allow_nan: bool = True
) -> Callable[[Any], str]:
    """Return a function that writes a value as `json.JSONEncoder` does, beyond ASCII as it is.

    It does not look for a value that holds itself, but raises a RecursionError.
    """
    encoder = json.JSONEncoder(
        ensure_ascii=False, check_circular=False, separators=separators, sort_keys=sort_keys, allow_nan=allow_nan
    )
    between, after_key = separators
    try:
        write = standard.c_make_encoder(  # type: ignore[attr-defined]
            None, encoder.default, standard.encode_basestring, None, after_key, between, sort_keys, False, allow_nan
        )
    except (AttributeError, TypeError):  # this Python has none, or one that is made otherwise
        return encoder.encode
    return lambda value: "".join(write(value, 0))
