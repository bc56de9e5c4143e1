"""References: `{step_1_result.items[0].url}` in an argument is replaced by a part of an earlier result.

A text is read once, from left to right; a substituted value is never searched for references, so a result cannot inject
one (docs/decisions/0028-references.md).
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import ExpressionError, UnresolvedReferenceError
from planner_executor.graph.plan.expression_roots import roots_of, with_names
from planner_executor.graph.plan.expressions import FUNCTIONS, MAX_CHARACTERS, Allowance, evaluate, expression_fault
from planner_executor.graph.plan.issues import storable
from planner_executor.graph.plan.json_values import json_kind
from planner_executor.graph.plan.reference_spans import bare_names, spans
from planner_executor.graph.words.name_list import listed

_LINK = re.compile(r"""\.([A-Za-z_][A-Za-z0-9_]*)|\.("(?:[^"\\]|\\.)*")|\[(-?[0-9]+)\]""")
SKIPPED: Any = object()
"""Stands for the result of a skipped step: null, and so is every part of it."""
CACHED_CHARACTERS = 500
"""Longer texts are not cached: the memory of the cache must not grow with the size of plans."""


@dataclass(frozen=True)
class Reference:
    """`{<step>_result<path>}`, or an `expression` over several results or one that begins with a function.

    `path` is empty or the rest of a JMESPath behind the name. Of an expression, `references_in` gives one reference for
    each step that it uses.
    """

    step: str
    path: str
    expression: str = ""

    def __str__(self) -> str:
        """Return the reference in plan notation."""
        return f"{{{self.text}}}"

    @property
    def text(self) -> str:
        """What stands in the braces."""
        return self.expression or f"{self.step}_result{self.path}"

    def is_whole(self, step: str) -> bool:
        """Whether it stands for the whole result of a step."""
        return self.step == step and not self.path and not self.expression

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps whose results it uses."""
        used = roots_of(self.expression) if self.expression else None
        return used.results if used is not None else (self.step,)

    @property
    def fault(self) -> str | None:
        """The fault of the expression, None if it is usable."""
        if len(self.expression or self.path) > MAX_CHARACTERS:
            return f"{{{self.text[:40]}...}} is longer than {MAX_CHARACTERS} characters"
        if self.is_chain:
            return None
        if (fault := expression_fault(self.text)) is not None:
            return f'{self} {fault}; quote unusual field names: ."a name"'
        used = roots_of(self.text)
        if used is not None and used.unknown:
            return f"{self} calls {used.unknown[0]}(), which does not exist; there are {listed(sorted(FUNCTIONS))}"
        if used is not None and used.others:
            return f"{self} looks for {used.others[0]} among the results of steps; begin with the name of a result"
        return None

    @property
    def is_chain(self) -> bool:
        """Whether it is the name of a result with fields and indexes alone."""
        return not self.expression and len(self.path) <= MAX_CHARACTERS and _links(self.path) is not None

    def renamed(self, names: Mapping[str, str]) -> "Reference":
        """Return the reference with the ids of its steps replaced."""
        expression = with_names(self.expression, names) if self.expression else ""
        return replace(self, step=names.get(self.step, self.step), expression=expression)

    def value_in(self, results: Mapping[str, JsonValue], allowance: Allowance | None = None) -> JsonValue:
        """Return the referenced value.

        Args:
            results: Step id -> result; `SKIPPED` stands for that of a skipped step.
            allowance: The remaining work and size; reduced in place.

        Raises:
            UnresolvedReferenceError: No such result, field or index, or the path does not fit the result.
        """
        for step in self.steps:
            if step not in results:
                raise self._unresolved(f"{step} has no result")
        if all(results[step] is SKIPPED for step in self.steps):
            return None
        links = _links(self.path) if self.is_chain else None
        into = _taken_apart(self.text) if links is None else {self.step} if links else ()
        for step in into:
            if isinstance(results.get(step), str):
                raise self._unresolved("the result is text, which has no fields")
        try:
            # JMESPath gives null for an absent field. A plain chain is walked instead, so that absence is an error.
            if links is None:
                found = {step: results[step] for step in self.steps}
                given = {f"{step}_result": None if value is SKIPPED else value for step, value in found.items()}
                return evaluate(self.text, given, allowance)
            part = self._walk(results[self.step], links)
            if allowance is not None:
                allowance.hold(part)
        except ExpressionError as error:
            raise self._unresolved(str(error)) from error
        return part

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
                raise self._unresolved(f"{name} is not there; the value is {_kind(value)}") from None
        found: JsonValue = value
        return found


def references_in(value: JsonValue) -> tuple[Reference, ...]:
    """Return every reference in the string values of `value`, in order, one for each step; keys are not searched."""
    if isinstance(value, str):
        found = (piece for piece in pieces(value) if isinstance(piece, Reference)) if "{" in value else ()
        return tuple(replace(piece, step=step) for piece in found for step in piece.steps)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return tuple(reference for item in inner for reference in references_in(item))


def resolve(value: JsonValue, results: Mapping[str, JsonValue]) -> JsonValue:
    """Return `value` with each reference replaced by its value, in one pass.

    A reference that is the whole string keeps its type; inside text, a string is inserted unchanged and any other value
    as JSON. Each `$$` directly before a reference becomes one `$`. All references of `value` share one `Allowance`.

    Raises:
        UnresolvedReferenceError: A reference has no value, or the references exceed the limits of work or size.

    >>> resolve({"a": "{s_result.n}", "b": "n=$${s_result.n} {{s_result}}"}, {"s": {"n": 4}})
    {'a': 4, 'b': 'n=$4 {s_result}'}
    """
    return _resolve(value, results, Allowance())


def is_read_anew(value: JsonValue, steps: Collection[str]) -> bool:
    """Whether a text is read otherwise than before references could begin with a function and use several results.

    Args:
        value: An argument, or another value that may contain references.
        steps: The ids of the plan's steps.
    """
    if isinstance(value, str):
        found = (piece for piece in pieces(value) if isinstance(piece, Reference) and not piece.is_chain)
        is_new = any(piece.expression or piece.fault is not None for piece in found)
        return is_new or any(not {*braces.names}.isdisjoint(steps) for braces in bare_names(value))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(is_read_anew(item, steps) for item in inner)


def needs_evaluation(value: JsonValue) -> bool:
    """Whether resolving `value` evaluates JMESPath, which may take up to a second."""
    return any(not reference.is_chain for reference in references_in(value))


def renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Return `value` with the step ids of its references replaced.

    >>> renamed("{a_result.n} of $${b_result}", {"a": "c"})
    '{c_result.n} of $${b_result}'
    """
    if isinstance(value, str):
        parts = pieces(value)
        return (
            value
            if parts == (value,)
            else join_pieces(part if isinstance(part, str) else part.renamed(names) for part in parts)
        )
    if isinstance(value, dict):
        return {key: renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return value


def without(value: JsonValue, steps: Collection[str]) -> JsonValue:
    """Return `value` with null in place of each reference to these steps alone, other references as they are.

    >>> without({"a": "{a_result.n}", "b": "{b_result} of {a_result}"}, {"a"})
    {'a': None, 'b': '{b_result} of null'}
    """
    if isinstance(value, str):
        parts = pieces(value)
        left = [None if isinstance(part, Reference) and {*part.steps} <= {*steps} else part for part in parts]
        if None not in left:
            return value
        return None if len(left) == 1 else join_pieces("null" if part is None else part for part in left)
    if isinstance(value, dict):
        return {key: without(item, steps) for key, item in value.items()}
    if isinstance(value, list):
        return [without(item, steps) for item in value]
    return value


def escape_references(text: str) -> str:
    """Return `text` with its references escaped, so that `resolve` restores it."""
    escaped, end = [], 0
    for span in spans(text):
        escaped += [text[end : span.start], "{", text[span.start : span.stop], "}"]
        end = span.stop
    return "".join([*escaped, text[end:]])


def pieces(text: str) -> tuple[str | Reference, ...]:
    """Split a text into literal parts and references; `{{step_1_result}}` is a literal `{step_1_result}`."""
    if "{" not in text:
        return (text,) if text else ()
    return _cached_pieces(text) if len(text) <= CACHED_CHARACTERS else _pieces(text)


def join_pieces(parts: Iterable[str | Reference]) -> str:
    """Return the text that `pieces` splits into these parts; the inverse of `pieces`.

    >>> join_pieces(["{x_result} costs $", Reference("a", ".price")])
    '{{x_result}} costs $${a_result.price}'
    """
    texts: list[str] = []
    for is_text, group in groupby(parts, lambda part: isinstance(part, str)):
        if is_text:
            texts.append(escape_references("".join(map(str, group))))
            continue
        if texts:  # `$` before a reference is written `$$`
            before = texts.pop()
            texts.append(before + "$" * (len(before) - len(before.rstrip("$"))))
        texts += map(str, group)
    return "".join(texts)


def _pieces(text: str) -> tuple[str | Reference, ...]:
    found: list[str | Reference] = []
    end = 0
    for span in spans(text):
        start, stop = span.ends
        if span.is_literal:
            found.append(text[end:start] + text[span.start : span.stop])
        else:
            found += [
                text[end:start] + "$" * (span.dollars - span.dollars // 2),
                Reference(span.step, span.path, span.expression),
            ]
        end = stop
    found.append(text[end:])
    return tuple(piece for piece in found if piece != "")


_cached_pieces = lru_cache(maxsize=16_384)(_pieces)


def _resolve(value: JsonValue, results: Mapping[str, JsonValue], allowance: Allowance) -> JsonValue:
    if isinstance(value, str):
        return _resolve_text(value, results, allowance)
    if isinstance(value, dict):
        return {key: _resolve(item, results, allowance) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, results, allowance) for item in value]
    return value


def _resolve_text(text: str, results: Mapping[str, JsonValue], allowance: Allowance) -> JsonValue:
    parts = pieces(text)
    if len(parts) == 1 and isinstance(parts[0], Reference):
        return parts[0].value_in(results, allowance)
    return "".join(part if isinstance(part, str) else _as_text(part.value_in(results, allowance)) for part in parts)


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=2_048)
def _links(path: str) -> tuple[str | int, ...] | None:
    """Return the fields and indexes of a plain chain, None for any other path."""
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


def _taken_apart(expression: str) -> Collection[str]:
    used = roots_of(expression)
    return used.into if used is not None else ()


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, list(value)[:8])) or 'no fields'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return json_kind(value)
