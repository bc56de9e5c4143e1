"""References: `{step_1_result.items[0].url}` in an argument stands for a part of an earlier result.

A text is read once, from left to right; what a reference is replaced by is never read again.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from pydantic import JsonValue

from graph.errors import UnresolvedReferenceError
from graph.plan.canonical import canonical_json
from graph.plan.issues import storable

_HEAD = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)_result(?![A-Za-z0-9_])")
_REST = re.compile(r"""((?:[^}"'`]++|"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'|`(?:[^`\\]++|\\.)*+`)*+)\}""", re.DOTALL)
_LINK = re.compile(r"""\.([A-Za-z_][A-Za-z0-9_]*)|\.("(?:[^"\\]|\\.)*")|\[(-?[0-9]+)\]""")


@dataclass(frozen=True)
class Reference:
    """`{<step>_result<path>}`; `path` is empty or a JMESPath that starts at the result."""

    step: str
    path: str

    def __str__(self) -> str:
        """Return the reference as it is written in a plan."""
        return f"{{{self.step}_result{self.path}}}"

    @property
    def fault(self) -> str | None:
        """Say why the path cannot be read, or None where it can."""
        if not self.path or _links(self.path) is not None:
            return None
        try:
            jmespath.compile("@" + self.path)
        except (JMESPathError, ValueError, RecursionError) as error:
            return f'{self} is no JMESPath: {str(error).splitlines()[0]}; quote unusual field names: ."a name"'
        return None

    def value_in(self, results: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value this reference stands for.

        A plain chain of fields and indexes is walked, any other path is JMESPath's business.

        Raises:
            UnresolvedReferenceError: No such result, field or index, or the path does not fit the result.
        """
        if self.step not in results:
            raise self._unresolved(f"{self.step} has no result")
        result = results[self.step]
        if not self.path:
            return result
        if isinstance(result, str) and self.path.lstrip().startswith((".", "[")):
            raise self._unresolved("the result is text, which has no fields")
        links = _links(self.path)
        if links is not None:
            return self._walk(result, links)
        try:
            found: JsonValue = jmespath.search("@" + self.path, result)
            canonical_json(found)  # a literal or `to_number` may make what JSON has no words for
        except (JMESPathError, ValueError, TypeError, RecursionError) as error:
            raise self._unresolved(str(error).splitlines()[0]) from error
        return found

    def _unresolved(self, why: str) -> UnresolvedReferenceError:
        return UnresolvedReferenceError(str(self), storable(why))

    def _walk(self, value: Any, links: tuple[str | int, ...]) -> JsonValue:
        for link in links:
            fits = isinstance(value, dict) if isinstance(link, str) else isinstance(value, list)
            try:
                if not fits:
                    raise LookupError
                value = value[link]
            except LookupError:
                name = f".{link}" if isinstance(link, str) else f"[{link}]"
                raise self._unresolved(f"{name} is not there, but {_kind(value)}") from None
        found: JsonValue = value
        return found


def references_in(value: JsonValue) -> tuple[Reference, ...]:
    """Return every reference in the string values of `value`, in order; keys are never looked at."""
    if isinstance(value, str):
        return _references(value) if "{" in value else ()
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return tuple(reference for item in inner for reference in references_in(item))


def resolve(value: JsonValue, results: Mapping[str, JsonValue]) -> JsonValue:
    """Return `value` with each reference replaced by what it stands for, in one pass.

    Alone in a string a reference keeps its type; inside text a string goes in as it is, anything else as JSON.

    Raises:
        UnresolvedReferenceError: A reference has no value.

    >>> resolve({"a": "{s_result.n}", "b": "n={s_result.n} {{s_result}}"}, {"s": {"n": 4}})
    {'a': 4, 'b': 'n=4 {s_result}'}
    """
    if isinstance(value, str):
        return _resolve_text(value, results)
    if isinstance(value, dict):
        return {key: resolve(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item, results) for item in value]
    return value


def renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Return `value` with the references to some steps made references to others.

    >>> renamed("{a_result.n} of {b_result}", {"a": "c"})
    '{c_result.n} of {b_result}'
    """
    if isinstance(value, str):
        return "".join(_renamed(piece, names) for piece in pieces(value))
    if isinstance(value, dict):
        return {key: renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return value


def escape(text: str) -> str:
    """Return text that `resolve` turns back into `text`, whatever references it seems to hold."""
    escaped, end = [], 0
    for start, stop in _spans(text):
        escaped += [text[end:start], "{", text[start:stop], "}"]
        end = stop
    return "".join([*escaped, text[end:]])


def pieces(text: str) -> tuple[str | Reference, ...]:
    """Split a text into literal parts and references; `{{step_1_result}}` is a literal `{step_1_result}`."""
    return _pieces(text) if "{" in text else (text,) if text else ()


def _renamed(piece: str | Reference, names: Mapping[str, str]) -> str:
    if isinstance(piece, str):
        return escape(piece)
    return str(replace(piece, step=names.get(piece.step, piece.step)))


@lru_cache(maxsize=16_384)
def _references(text: str) -> tuple[Reference, ...]:
    return tuple(piece for piece in _pieces(text) if isinstance(piece, Reference))


@lru_cache(maxsize=16_384)
def _pieces(text: str) -> tuple[str | Reference, ...]:
    found: list[str | Reference] = []
    end = 0
    for start, stop in _spans(text):
        doubled = start > end and text[start - 1] == "{" and text[stop : stop + 1] == "}"
        literal = text[end : start - doubled]
        if doubled:
            found += [literal + text[start:stop]]
            end = stop + 1
            continue
        head = _HEAD.match(text, start)
        assert head is not None
        found += [literal, Reference(head[1], text[head.end() : stop - 1])]
        end = stop
    found.append(text[end:])
    return tuple(piece for piece in found if piece != "")


def _resolve_text(text: str, results: Mapping[str, JsonValue]) -> JsonValue:
    parts = pieces(text)
    if len(parts) == 1 and isinstance(parts[0], Reference):
        return parts[0].value_in(results)
    return "".join(part if isinstance(part, str) else _as_text(part.value_in(results)) for part in parts)


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and stop of every `{<id>_result...}`, braces included."""
    position = 0
    while head := _HEAD.search(text, position):
        rest = _REST.match(text, head.end())
        if rest is None:
            position = head.end()
            continue
        yield head.start(), rest.end()
        position = rest.end()


@lru_cache(maxsize=16_384)
def _links(path: str) -> tuple[str | int, ...] | None:
    """Return the fields and indexes of a plain chain, or None where the path is more than that."""
    links: list[str | int] = []
    position = 0
    while position < len(path):
        link = _LINK.match(path, position)
        if link is None:
            return None
        field, quoted, index = link.groups()
        try:
            links.append(int(index) if index is not None else field or json.loads(quoted))
        except ValueError:
            return None
        position = link.end()
    return tuple(links)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, list(value)[:8])) or 'no fields'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "null" if value is None else f"a {type(value).__name__}"
