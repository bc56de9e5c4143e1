"""JSON as models write it: with single quotes, Python's literals, comments, trailing commas, names as keys.

Nothing is guessed: what is cut off or ambiguous is refused, since a plan that lost its end would still be a plan.
"""

import ast
import json
import re
from typing import Any

MAX_DEPTH = 100

_TOKEN = re.compile(
    r""""(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|//[^\n]*+|\#[^\n]*+|/\*.*?\*/|[\[\](){}]""", re.DOTALL
)
_ESCAPE = re.compile(r"""\\x[0-9a-fA-F]{2}|\\U[0-9a-fA-F]{8}|\\.|["]""", re.DOTALL)
_CLOSES = {")": "(", "]": "[", "}": "{"}
_NAMES: dict[str, Any] = {"true": True, "false": False, "null": None}


def closing(text: str, start: int) -> int | None:
    """Return where the bracket at `start` is closed, that place included, or None where it never is."""
    stack: list[str] = []
    for token in _TOKEN.finditer(text, start):
        if token[0] in "([{":
            stack.append(token[0])
        elif token[0] in _CLOSES:
            if not stack or stack.pop() != _CLOSES[token[0]]:
                return None
            if not stack:
                return token.end()
    return None


def lenient_json(text: str) -> Any:
    """Return the value of a text that is nearly JSON.

    Raises:
        ValueError: It is more than nearly.

    >>> lenient_json("{'a': [1, True, None,], b: \\"it's\\"} // done")
    {'a': [1, True, None], 'b': "it's"}
    """
    try:
        return _value(ast.parse(_as_python(text).strip(), mode="eval").body)
    except (SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _as_python(text: str) -> str:
    parts, position, depth = [], 0, 0
    for token in _TOKEN.finditer(text):
        parts.append(text[position : token.start()])
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH}")
        parts.append(_part(token[0]))
        position = token.end()
    return "".join([*parts, text[position:]])


def _part(token: str) -> str:
    if token[0] in "\"'":
        return repr(_string(token))
    return " " if token[0] in "/#" else token


def _string(literal: str) -> str:
    """Return what a quoted text stands for, by JSON's rules; Python's escapes are known too, others stay as written."""
    try:
        return str(json.loads(f'"{_ESCAPE.sub(_as_json, literal[1:-1])}"', strict=False))
    except ValueError as error:
        raise ValueError(f"a text that is none: {literal[:40]}") from error


def _as_json(escape: re.Match[str]) -> str:
    written = escape[0]
    if written in ('"', "\\'"):
        return '\\"' if written == '"' else "'"
    if len(written) > 2:
        return json.dumps(chr(int(written[2:], 16)))[1:-1]
    return written if written[1] in '"\\/bfnrtu' else f"\\{written}"


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(key): _value(item) for key, item in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _value(node.operand)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    raise ValueError(f"{ast.unparse(node)[:40]} is no JSON")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return node.id
    raise ValueError("a key that is no text")
