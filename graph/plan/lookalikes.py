"""Look-alikes: text that looks like a reference to a step of the plan, but in the notation of another system.

A look-alike must name an existing step, so the braces, dollars and tags of code, templates and prose rarely match. Each
text is read in linear time: no pattern below matches beyond the next brace, bracket or line
(docs/decisions/0028-references.md).
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from planner_executor.graph.plan.json_values import texts_in
from planner_executor.graph.plan.reference_spans import Span, bare_names, spans
from planner_executor.graph.plan.references import Reference

MAX_NAMED = 5
"""Limit of look-alikes listed per value; the rest are usually of the same kind."""
SHOWN_CHARACTERS = 80

_NAME = r"(?P<name>[A-Za-z0-9_]++)"
_PATH = r"(?P<path>(?:\.[A-Za-z_][A-Za-z0-9_]*+|\[[^\[\]{}<>\n]{1,80}\])*+)"
_BRACED = re.compile(
    rf"""(?:\$\{{|\{{)\{{?[ \t]*+{_NAME}[ \t]*+(?P<path>(?:\.[\w"'*]|\[|(?<=[ \t])\|)[^{{}}\n]*+)?\}}\}}?""", re.ASCII
)
_DOLLAR = re.compile(rf"\$(?P<strict>(?P<open>\()?\.?){_NAME}{_PATH}(?(open)\))")
_BRACKETED = re.compile(r"\[(?P<name>[A-Za-z][A-Za-z0-9_]*?_result)\](?P<path>)", re.ASCII)
_TAG = re.compile(rf"(?P<strict><){_NAME}{_PATH}>")
_CLOSING_TAG = re.compile(r"</([A-Za-z0-9_]++)")
_NUMBERED = re.compile(rf"(?<![A-Za-z0-9_&/])#(?P<name>E(?P<number>[0-9]{{1,5}})){_PATH}(?![A-Za-z0-9_])")
"""ReWOO's `#E1`; the characters around it exclude colours, URL fragments and spreadsheet cells."""

_ENDING = re.compile(r"_(?:results?|outputs?|response|answer)\Z")
_OWN_FIELD = re.compile(r"\A\.(?:results?|outputs?)(?![A-Za-z0-9_])")
_CONTAINERS = frozenset(
    {"context", "node", "nodes", "output", "outputs", "plan", "result", "results", "state", "step", "steps"}
    | {"task", "tasks", "vars", "workflow"}
)
_WITHIN = re.compile(r"""\.([A-Za-z][A-Za-z0-9_]*+)|\[["']?([A-Za-z][A-Za-z0-9_]*+)["']?\]""")
_ITEM = re.compile(r"""\[ *+(?:"([^"\\]*+)"|'([^'"\\]*+)') *+\]""")
_FILTER = re.compile(r"[ \t]*\|.*", re.DOTALL)
_HTML = re.compile(r"[hH][1-6]\Z")


UNSEEN = "names {name} where results are not looked up: in a filter, or behind a projection, a dot, a pipe or &"
NEITHER = "names {name} and is no reference: one begins with the result of a step or with a function"


def _as_text(argument: str | None) -> str:
    """Return how to say that it is meant as text, as the end of a fault."""
    if argument is None:
        return ""
    return f'; if it is meant as text, add "literal": ["{_shown(str(argument))}"] to the step'


@dataclass(frozen=True)
class Lookalike:
    """The text as written and the reference it appears to mean; `dollar` if only the `$` before it is wrong."""

    written: str
    meant: Reference
    dollar: bool = False

    def fault(self, argument: str | None = None) -> str:
        """Return the fault and its repair.

        Args:
            argument: The name of the argument, None for a field without an escape.
        """
        text = _as_text(argument)
        if self.dollar:
            return f"{self.written} has a single $ before a reference; write $${self.meant} for a dollar sign{text}"
        return f"{self.written} looks like a reference but is plain text; write {self.meant}{text}"


def lookalike_faults(value: JsonValue, steps: Collection[str], argument: str | None = None) -> Iterator[str]:
    """Yield the faults of the look-alikes in the string values of `value`, each once.

    Args:
        value: An argument, or another value that may contain references.
        steps: Ids of the steps that it may refer to.
        argument: The name of the argument, None for a field without an escape.
    """
    named: dict[str, None] = {}
    for text in texts_in(value):
        alike = list(lookalikes_in(text, steps))
        faults = [
            fault
            for written, fault in _misplaced(text, steps, argument)
            if not any(_shown(written) in one.written for one in alike)
        ]
        for fault in (*faults, *(one.fault(argument) for one in alike)):
            named.setdefault(fault)
            if len(named) > MAX_NAMED:
                yield from list(named)[:MAX_NAMED]
                yield "there are more of them"
                return
    yield from named


def _misplaced(text: str, steps: Collection[str], argument: str | None) -> Iterator[tuple[str, str]]:
    """Yield each `{...}` that names a result where nothing is filled in, and its fault."""
    for braces in bare_names(text):
        for step in braces.names:
            if step in steps:
                why = (UNSEEN if braces.is_reference else NEITHER).format(name=f"{step}_result")
                yield braces.written, f"{_shown(braces.written)} {why}{_as_text(argument)}"
                break


def lookalikes_in(text: str, steps: Collection[str]) -> Iterator[Lookalike]:
    """Yield the look-alikes of a text.

    >>> [found.written for found in lookalikes_in("{a.url} {b.url} {a_result.url} ${a_result} $5", ["a"])]
    ['${a_result}', '{a.url}']
    """
    if not _may_hold_one(text):
        return
    marked = list(spans(text))
    for span in marked:
        if span.dollars % 2:
            written = text[span.start - 1 : span.stop]
            yield Lookalike(_shown(written), Reference(span.step, span.path, span.expression), dollar=True)
    # References are taken out first: within one, braces and brackets have a meaning of their own.
    left = _without(text, marked)
    if not _may_hold_one(left):
        return
    closed = frozenset(_CLOSING_TAG.findall(left))
    for pattern in (_BRACED, _DOLLAR, _TAG, _BRACKETED, _NUMBERED):
        for match in pattern.finditer(left):
            # A name in angle brackets that is closed later is HTML or XML.
            if pattern is not _TAG or match["name"] not in closed:
                meant = _meant(match, steps)
                if meant is not None:
                    yield Lookalike(_shown(match[0]), meant)


def _may_hold_one(text: str) -> bool:
    return "{" in text or "$" in text or "<" in text or "#" in text or "_result]" in text


def _without(text: str, marked: list[Span]) -> str:
    """Return the text with each character of a reference replaced by NUL, which no pattern matches."""
    parts, end = [], 0
    for start, stop in (span.ends for span in marked):
        parts += [text[end:start], "\0" * (stop - start)]
        end = stop
    return "".join([*parts, text[end:]])


def _meant(match: re.Match[str], steps: Collection[str]) -> Reference | None:
    """Return the reference that a match appears to mean, None if it names no step."""
    name, path, groups = match["name"], match["path"] or "", match.groupdict()
    step = _step(name, steps) or _step(f"step_{groups.get('number')}", steps)
    is_sure = step is not None and step != name  # an ending such as `_output` leaves no doubt
    # Containers may stand in one another, as in `{plan.steps.step_1.output}`.
    for _ in range(3):
        within = _WITHIN.match(path) if step is None and name in _CONTAINERS else None
        if within is None:
            break
        name, path = within[1] or within[2], path[within.end() :]
        step, is_sure = _step(name, steps), True
    if step is None or (groups.get("strict") and not is_sure and not _is_numbered(step)):
        return None
    return _reference(step, path if name.endswith("_result") and name != step else _OWN_FIELD.sub("", path, count=1))


def _step(name: str, steps: Collection[str]) -> str | None:
    """Return the step that a word names: by its id, by id and ending, or by number and ending."""
    if name in steps:
        return name
    stem = _ENDING.sub("", name)
    counted = f"step_{stem}" if stem.isdecimal() else stem
    return counted if stem != name and counted in steps else None


def _is_numbered(step: str) -> bool:
    """Whether an id is unlikely to be a name of anything else: `date` may be a tag or a command, `step_1` may not."""
    return step[-1].isdecimal() and not _HTML.match(step)


def _reference(step: str, path: str) -> Reference:
    if len(path) > SHOWN_CHARACTERS:
        return Reference(step, "")
    plain = _ITEM.sub(lambda item: _field(item[1] or item[2] or ""), _FILTER.sub("", path)).rstrip()
    reference = Reference(step, plain)
    return Reference(step, "") if reference.fault else reference


def _field(name: str) -> str:
    return f".{name}" if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) else f'."{name}"'


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
