"""A plan as YAML that a person edits, and back (decision 0049).

Values are those of JSON: `no` and `12:30` stay text. Aliases, tags and a key twice are refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from planner_executor.graph.plain_text.sanitize import escaped, one_line, visible
from planner_executor.graph.plan.issues import Issue

GOAL_CHARACTERS = 300
FAULT = "# FAULT: "
"""How the comment above a faulty line begins."""

_JSON_ONLY: Sequence[tuple[str, str, Sequence[str]]] = (
    ("bool", r"true|false", "tf"),
    ("null", r"null|", ("n", "")),
    ("int", r"-?(?:0|[1-9][0-9]*)", "-0123456789"),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", "-0123456789"),
)


class YamlFault(Exception):
    """A text is no plan in YAML; `line` counts from 0."""

    def __init__(self, message: str, line: int = 0) -> None:
        self.line = line
        super().__init__(message)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Reads the values that JSON has."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (PyYAML's own attribute)

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        # An alias may stand for a value that grows without bound, and a tag for an object of Python's.
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise YamlFault("& and * at the beginning of a value are no text; quote it", event.start_mark.line)
        if getattr(event, "tag", None) is not None:
            raise YamlFault("! at the beginning of a value is no text; quote it", event.start_mark.line)
        return super().compose_node(parent, index)


def _mapping(loader: _Loader, node: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        name = loader.construct_object(key, deep=True)
        # In JSON all keys are text; `no: 1` or `1: x` would be another key after a round trip.
        if not isinstance(name, str):
            raise YamlFault(f"the key {name!r} is no text; quote it", key.start_mark.line)
        # YAML takes the last of two: what a person reads above would not be what runs.
        if name in found:
            raise YamlFault(f"the key {name!r} occurs twice; keep one", key.start_mark.line)
        found[name] = loader.construct_object(value, deep=True)
    return found


def _integer(loader: _Loader, node: Any) -> int:
    try:
        return int(loader.construct_scalar(node))
    except ValueError as error:  # Python reads 4,300 digits at most
        raise YamlFault("the number has too many digits; quote it", node.start_mark.line) from error


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Writes what `_Loader` reads: text that would be read as anything else is quoted, long text is a block."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (PyYAML's own attribute)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (PyYAML's signature)
        # An alias for a value that occurs twice would be refused when the text is read back.
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)  # items of a list stand further in than its key


def _text(dumper: _Dumper, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


for _name, _pattern, _first in _JSON_ONLY:
    for _class in (_Loader, _Dumper):
        # YAML's own rules would read `no` as false and `12:30` as 750.
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"(?:{_pattern})\Z"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))
_Dumper.add_representer(str, _text)


@dataclass(frozen=True)
class PlanText:
    """A plan that was read from YAML, and the lines of its parts."""

    plan: Any
    _root: Any

    def line_of(self, issue: Issue) -> int:
        """Return the line that an issue is about, as far as it is there; lines count from 0."""
        if issue.step is None:
            return _line_within(self._root, issue.field)
        steps = self._root if isinstance(self._root, yaml.SequenceNode) else _child(self._root, "steps")
        for step in steps.value if isinstance(steps, yaml.SequenceNode) else ():
            name = _child(step, "id") or _child(step, "subgoal_id")
            # An id that is a number gets the prefix when the plan is read.
            if name is not None and str(name.value) in (issue.step, issue.step.removeprefix("step_")):
                return _line_within(step, issue.field)
        return _line_within(self._root, "steps")

    @property
    def lines_of_steps(self) -> dict[str, int]:
        """The line of each step's id; lines count from 0."""
        steps = _child(self._root, "steps")
        named = ((_child(step, "id"), step) for step in (steps.value if isinstance(steps, yaml.SequenceNode) else ()))
        return {str(name.value): _line_within(step, "id") for name, step in named if name is not None}


def plan_to_yaml(plan: Mapping[str, Any], run: str, revision: int, goal: str, statuses: Mapping[str, str]) -> str:
    """Return a plan for an editor, with comments: what it is, what a saved change does, which steps have run."""
    head = [
        f"Plan of run {escaped(run)}, revision {revision}.",
        f"Goal: {one_line(goal, GOAL_CHARACTERS)}",
        "Save your changes and close the editor; you are asked before the changed plan runs.",
        "An unchanged or empty file decides nothing. {step_1_result} stands for the result of step_1.",
    ]
    text = to_yaml(plan)
    done = [step for step, status in statuses.items() if status == "succeeded"]
    # Lines are looked for in the text as it is read back: only there it is known where each step begins.
    lines = plan_from_yaml(text).lines_of_steps if done else {}
    body = _with_comments(text, [(lines[step], "# has succeeded and cannot change") for step in done if step in lines])
    return "\n".join([*(f"# {line}" for line in head), "", body])


def plan_from_yaml(text: str) -> PlanText:
    """Read a plan that a person edited; its meaning is not checked here.

    Raises:
        YamlFault: It is not YAML, or has what JSON has not.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        return PlanText(None if root is None else loader.construct_document(root), root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlFault(str(error.problem or error.context), mark.line if mark is not None else 0) from error
    # Faults without a mark, such as a control character: the first line says what, the others quote the bytes.
    except yaml.YAMLError as error:
        raise YamlFault(visible(str(error).split("\n")[0])) from error
    # PyYAML composes by recursion, so a text of many brackets ends here and not in the process.
    except RecursionError as error:
        raise YamlFault("it is nested too deeply") from error


def with_faults(text: str, faults: Sequence[tuple[int, str]]) -> str:
    """Return an edited text with each fault as a comment above its line, in place of the faults before."""
    return _with_comments(text, [(line, f"{FAULT}{escaped(message)}") for line, message in faults])


def without_faults(text: str, shown: str) -> str:
    """Return a text without the comments that `with_faults` wrote into `shown`."""
    # Those that were written, and not all with this beginning: a person may have typed one into a text.
    written = {line.strip() for line in shown.split("\n") if line.strip().startswith(FAULT)}
    return "\n".join(line for line in text.split("\n") if line.strip() not in written)


def to_yaml(plan: Mapping[str, Any]) -> str:
    """Return a plan, or another object, as YAML; if it holds what cannot be seen, all that is not ASCII is escaped."""
    options: dict[str, Any] = {"Dumper": _Dumper, "sort_keys": False, "width": 10**9, "default_flow_style": False}
    text = str(yaml.dump(dict(plan), allow_unicode=True, **options))
    # An invisible or right-to-left character would look like nothing in an editor, and be approved unseen.
    return text if visible(text) == text else str(yaml.dump(dict(plan), allow_unicode=False, **options))


def _with_comments(text: str, comments: Sequence[tuple[int, str]]) -> str:
    above: dict[int, list[str]] = {}
    for number, comment in comments:
        above.setdefault(number, []).append(comment)
    lines: list[str] = []
    for number, line in enumerate(text.split("\n")):
        # At the depth of its line, else a comment within a block of text would become a part of that text.
        indent = line[: len(line) - len(line.lstrip(" "))]
        lines += [f"{indent}{comment}" for comment in above.pop(number, ())]
        lines.append(line)
    # A fault at a line beyond the end goes to the top: it must not be lost.
    return "\n".join([comment for left in above.values() for comment in left] + lines)


def _child(node: Any, name: str) -> Any:
    """Return the value of a key of a mapping node."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)


def _line_within(node: Any, field: str) -> int:
    """Return the line of the deepest part of a field such as `args.query` or `checks[0].schema` that is there."""
    line = 0 if node is None else node.start_mark.line
    # From the outside in, as far as the text has what the fault is about.
    for name in re.findall(r"[^.\[\]]+", field):
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == name), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and name.isdigit() and int(name) < len(node.value):
            node = node.value[int(name)]
            line = node.start_mark.line
        else:
            break
    return int(line)
