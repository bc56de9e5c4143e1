"""References: `{step_1_result.items[0].url}` in an argument is replaced by a part of an earlier result.

A text is read once, from left to right; a substituted value is never searched for references, so a result cannot inject
one (docs/decisions/0028-references.md).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import groupby
from typing import Any, NamedTuple, overload

from pydantic import JsonValue

from planner_executor.graph.errors import ExpressionError, UnresolvedReferenceError
from planner_executor.graph.plan.expression_roots import roots_of, with_names
from planner_executor.graph.plan.expressions import FUNCTIONS, MAX_CHARACTERS, Allowance, evaluate, expression_fault
from planner_executor.graph.plan.issues import storable
from planner_executor.graph.plan.json_values import json_kind, texts_in, with_texts
from planner_executor.graph.plan.params import Param
from planner_executor.graph.plan.reference_spans import bare_names, spans
from planner_executor.graph.words.name_list import listed, there_are

_LINK = re.compile(r"""\.([A-Za-z_][A-Za-z0-9_]*)|\.("(?:[^"\\]|\\.)*")|\[(-?[0-9]+)\]""")
SKIPPED: Any = object()
"""Stands for the result of a skipped step: null, and so is every part of it."""
CACHED_CHARACTERS = 500
"""Longer texts are not cached: the memory of the cache must not grow with the size of plans."""


class Reference(NamedTuple):
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
        used = roots_of(self.expression)
        return used.results if used is not None else (self.step,)

    @property
    def fault(self) -> str | None:
        """The fault of the expression, None if it is usable."""
        # Before it is parsed: the time that takes grows with the length.
        if len(self.expression or self.path) > MAX_CHARACTERS:
            return f"{{{self.text[:40]}...}} is longer than {MAX_CHARACTERS} characters"
        # Walked by our own code, so JMESPath has no say in it.
        if self.is_chain:
            return None
        if (fault := expression_fault(self.text)) is not None:
            return f'{self} {fault}; quote unusual field names: ."a name"'
        used = roots_of(self.text)
        if used is not None and used.unknown:
            return f"{self} calls {used.unknown[0]}(), which does not exist; {there_are(sorted(FUNCTIONS))}"
        if used is not None and used.others:
            return f"{self} looks for {used.others[0]} among the results of steps; begin with the name of a result"
        return None

    @property
    def is_chain(self) -> bool:
        """Whether it is the name of a result with fields and indexes alone."""
        return not self.expression and len(self.path) <= MAX_CHARACTERS and _links(self.path) is not None

    def renamed(self, names: Mapping[str, str]) -> "Reference":
        """Return the reference with the ids of its steps replaced."""
        return self._replace(step=names.get(self.step, self.step), expression=with_names(self.expression, names))

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
        # A text is not read as JSON, even if it is some: its tool has promised no form.
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
            part = _walked(str(self), results[self.step], links)
            if allowance is not None:
                allowance.hold(part)
        except ExpressionError as error:
            raise self._unresolved(str(error)) from error
        return part

    def _unresolved(self, why: str) -> UnresolvedReferenceError:
        return UnresolvedReferenceError(str(self), storable(why))


class Parameter(NamedTuple):
    """`{param.<name><path>}` in a plan with parameters; `path` has fields and indexes alone."""

    name: str
    path: str

    def __str__(self) -> str:
        """Return the parameter in plan notation."""
        return f"{{param.{self.name}{self.path}}}"

    def value_in(self, params: Mapping[str, JsonValue]) -> JsonValue:
        """Return the value.

        Raises:
            UnresolvedReferenceError: There is no such parameter, field or index.
        """
        links = _links(self.path)
        if links is None or self.name not in params:
            raise UnresolvedReferenceError(str(self), "there is no such parameter")
        return _walked(str(self), params[self.name], links)

    def fault(self, names: Collection[str]) -> str | None:
        """Return why it stands for nothing in a plan with parameters of these names, None if it is usable."""
        if self.name not in names:
            return f"{self} names no parameter; the plan has {listed(sorted(names))}"
        return None if _links(self.path) is not None else f"{self} has a path that is no chain of fields and indexes"


def parameters_in(value: JsonValue) -> tuple[Parameter, ...]:
    """Return every parameter in the string values of `value`, in order; keys are not searched."""
    found = (piece for text in texts_in(value) for piece in pieces(text, with_params=True))
    return tuple(piece for piece in found if isinstance(piece, Parameter))


def parameter_faults(value: JsonValue, params: Mapping[str, Param]) -> Iterator[str]:
    """Yield why parameters in a value of a plan with parameters stand for nothing."""
    values = {name: param.value for name, param in params.items()}
    for one in dict.fromkeys(parameters_in(value)):
        try:
            if (fault := one.fault(values)) is None:
                one.value_in(values)
            else:
                yield fault
        except UnresolvedReferenceError as error:
            yield str(error)
    for reference in references_in(value):
        if "{param." in reference.text:
            yield f"{reference} holds a parameter, which nothing is filled in for; compare it in when, or in a step"


def with_parameters(value: JsonValue, params: Mapping[str, JsonValue]) -> JsonValue:
    """Return `value` for people to read: each parameter replaced by its value, references as they are."""
    return with_texts(value, partial(_told, params=params)) if params else value


def _told(text: str, params: Mapping[str, JsonValue]) -> JsonValue:
    changes = []
    for span in spans(text, with_params=True):
        if span.is_param and not span.is_literal:
            found = Parameter(span.step, span.path).value_in(params)
            # Alone in a text it keeps its type, as a reference does.
            if (span.start, span.stop) == (0, len(text)):
                return found
            changes.append((span.start - span.dollars // 2, span.stop, _as_text(found)))
    return _with_changes(text, changes)


def moved_parameters(value: JsonValue, moves: Mapping[str, str]) -> JsonValue:
    """Return `value` with other names of parameters, or references in their places; `moves` has what follows the brace.

    >>> moved_parameters("to {param.who.mail}", {"who": "step_result.who"})
    'to {step_result.who.mail}'
    """
    return with_texts(value, partial(_moved, moves=moves))


def _moved(text: str, moves: Mapping[str, str]) -> str:
    return _with_changes(
        text,
        (
            (span.start, span.stop, f"{{{moves[span.step]}{span.path}}}")
            for span in spans(text, with_params=True)
            if span.is_param and not span.is_literal and span.step in moves
        ),
    )


def references_in(value: JsonValue) -> tuple[Reference, ...]:
    """Return every reference in the string values of `value`, in order, one for each step; keys are not searched."""
    found = (piece for text in texts_in(value) for piece in pieces(text) if isinstance(piece, Reference))
    return tuple(piece._replace(step=step) for piece in found for step in piece.steps)


def resolve(
    value: JsonValue, results: Mapping[str, JsonValue], params: Mapping[str, JsonValue] | None = None
) -> JsonValue:
    """Return `value` with each reference and, in a plan with parameters, each parameter replaced, in one pass.

    A reference that is the whole string keeps its type; inside text, a string is inserted unchanged and any other value
    as JSON. Each `$$` directly before a reference becomes one `$`. All references of `value` share one `Allowance`.

    Raises:
        UnresolvedReferenceError: A reference has no value, or the references exceed the limits of work or size.

    >>> resolve({"a": "{s_result.n}", "b": "n=$${s_result.n} {{s_result}}"}, {"s": {"n": 4}})
    {'a': 4, 'b': 'n=$4 {s_result}'}
    """
    return with_texts(value, partial(_resolve_text, known=_Known(results, params or {}, Allowance())))


def is_read_anew(value: JsonValue, steps: Collection[str]) -> bool:
    """Whether a text is read otherwise than before references could begin with a function and use several results.

    Args:
        value: An argument, or another value that may contain references.
        steps: The ids of the plan's steps.
    """
    for text in texts_in(value):
        found = (piece for piece in pieces(text) if isinstance(piece, Reference))
        is_new = any(piece.expression or piece.fault is not None for piece in found)
        if is_new or any(not {*braces.names}.isdisjoint(steps) for braces in bare_names(text)):
            return True
    return False


def needs_evaluation(value: JsonValue) -> bool:
    """Whether resolving `value` evaluates JMESPath, which may take up to a second."""
    return any(not reference.is_chain for reference in references_in(value))


def renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Return `value` with the step ids of its references replaced.

    >>> renamed("{a_result.n} of $${b_result}", {"a": "c"})
    '{c_result.n} of $${b_result}'
    """
    return with_texts(value, partial(_renamed, names=names))


def _renamed(text: str, names: Mapping[str, str]) -> str:
    return join_pieces(part if isinstance(part, str) else part.renamed(names) for part in pieces(text))


def without(value: JsonValue, steps: Collection[str]) -> JsonValue:
    """Return `value` with null in place of each reference to these steps alone, other references as they are.

    >>> without({"a": "{a_result.n}", "b": "{b_result} of {a_result}"}, {"a"})
    {'a': None, 'b': '{b_result} of null'}
    """
    return with_texts(value, partial(_without, steps={*steps}))


def _without(text: str, steps: set[str]) -> str | None:
    left = [None if isinstance(part, Reference) and {*part.steps} <= steps else part for part in pieces(text)]
    if None not in left:
        return text
    return None if len(left) == 1 else join_pieces("null" if part is None else part for part in left)


def escape_references(text: str) -> str:
    """Return `text` with its references escaped, so that `resolve` restores it."""
    escaped = ((span.start, span.stop, f"{{{text[span.start : span.stop]}}}") for span in spans(text))
    return _with_changes(text, escaped)


def _with_changes(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """Return `text` with other words from each start to its end, in order."""
    told, end = [], 0
    for start, stop, words in changes:
        told += [text[end:start], words]
        end = stop
    return "".join([*told, text[end:]])


@overload
def pieces(text: str) -> tuple[str | Reference, ...]: ...


@overload
def pieces(text: str, *, with_params: bool) -> tuple[str | Reference | Parameter, ...]: ...


def pieces(text: str, *, with_params: bool = False) -> tuple[str | Reference | Parameter, ...]:
    """Split a text into literal parts and references; `{{step_1_result}}` is a literal `{step_1_result}`."""
    if "{" not in text:
        return (text,) if text else ()
    return (_cached_pieces if len(text) <= CACHED_CHARACTERS else _pieces)(text, with_params)


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


def _pieces(text: str, with_params: bool) -> tuple[str | Reference | Parameter, ...]:
    found: list[str | Reference | Parameter] = []
    end = 0
    for span in spans(text, with_params=with_params):
        start, stop = span.ends
        if span.is_literal:
            found.append(text[end:start] + text[span.start : span.stop])
        else:
            found += [
                # `$$` before a reference is written for one `$`; see `join_pieces`.
                text[end:start] + "$" * (span.dollars - span.dollars // 2),
                Parameter(span.step, span.path) if span.is_param else Reference(span.step, span.path, span.expression),
            ]
        end = stop
    found.append(text[end:])
    return tuple(piece for piece in found if piece != "")


_cached_pieces = lru_cache(maxsize=16_384)(_pieces)


class _Known(NamedTuple):
    """What stands for references and parameters; without parameters their notation is text."""

    results: Mapping[str, JsonValue]
    params: Mapping[str, JsonValue]
    allowance: Allowance

    def value_of(self, part: Reference | Parameter) -> JsonValue:
        if isinstance(part, Reference):
            return part.value_in(self.results, self.allowance)
        found = part.value_in(self.params)
        try:
            self.allowance.hold(found)
        except ExpressionError as error:
            raise UnresolvedReferenceError(str(part), str(error)) from error
        return found


def _resolve_text(text: str, known: _Known) -> JsonValue:
    parts = pieces(text, with_params=bool(known.params))
    if len(parts) == 1 and not isinstance(parts[0], str):
        return known.value_of(parts[0])
    return "".join(part if isinstance(part, str) else _as_text(known.value_of(part)) for part in parts)


def _walked(written: str, value: Any, links: tuple[str | int, ...]) -> JsonValue:
    """Return the part of a value behind a chain of fields and indexes; `written` names the reference."""
    for link in links:
        fits = isinstance(value, dict) if isinstance(link, str) else isinstance(value, list)
        try:
            if not fits:
                raise LookupError
            value = value[link]
        except LookupError:
            name = f".{link}" if isinstance(link, str) else f"[{link}]"
            why = storable(f"{name} is not there; the value is {_kind(value)}")
            raise UnresolvedReferenceError(written, why) from None
    found: JsonValue = value
    return found


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
