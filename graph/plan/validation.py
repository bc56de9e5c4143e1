"""Whether a plan may be shown for approval: the whole of it is read, and every fault is listed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from typing import Any

from pydantic import ValidationError

from graph.errors import listed
from graph.plan.catalog import ToolSpec
from graph.plan.checks import check_faults
from graph.plan.inline_schema import schema_fault
from graph.plan.issues import Issue
from graph.plan.kinds import kind_issues
from graph.plan.lookalikes import lookalike_faults
from graph.plan.normalization import name_of, read_fields, told_once, unwrap
from graph.plan.references import Reference, references_in
from graph.plan.schedule import cycles
from graph.plan.schema import ITEM, Plan, Step
from graph.plan.shortening import value_in_words
from graph.plan.suggestions import Known
from graph.plan.work import TooMuchWork, at_most
from graph.sanitize import is_utf8

MAX_STEPS = 10_000
MAX_DEPTH = 100
MAX_WORK = 10_000_000
"""Steps of work that the schemas and arguments of one plan may take together, as `graph.plan.work` counts them."""
TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
INT64 = (-(2**63), 2**64 - 1)


@dataclass(frozen=True)
class Reading:
    """What was read: a plan without faults, or the faults; `notes` say what was read otherwise than written."""

    plan: Plan | None
    issues: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class Draft:
    """A step as far as it can be read; `step` is None where its own fields are at fault.

    One that `is_settled` has succeeded: it never changes, whatever ids other steps are given later.
    """

    fields: dict[str, Any]
    issues: list[Issue] = field(default_factory=list)
    step: Step | None = None
    notes: list[str] = field(default_factory=list)
    is_settled: bool = False

    @property
    def id(self) -> str | None:
        """The step's id, where it is text."""
        given = self.fields.get("id")
        return given if isinstance(given, str) else None

    def listed(self, name: str) -> list[str]:
        """Return the texts of a list field, whatever else it holds."""
        given = self.fields.get(name)
        return [item for item in given if isinstance(item, str)] if isinstance(given, list) else []

    @property
    def is_repeated(self) -> bool:
        """Whether it is done for each item of a list."""
        return self.fields.get("for_each") is not None

    @property
    def args(self) -> dict[str, Any]:
        """The arguments, empty where they cannot be read."""
        given = self.fields.get("args")
        return given if isinstance(given, dict) else {}

    @property
    def waits(self) -> tuple[str, ...]:
        """The ids this step waits for, named or implied."""
        implied = (reference.step for _, reference in self.references())
        return tuple(dict.fromkeys([*self.listed("depends_on"), *implied]))

    def references(self) -> Iterator[tuple[str, Reference]]:
        """Yield (where, reference) for the references to other steps."""
        own = (ITEM,) if self.is_repeated else ()
        for name, found in self.argument_references().items():
            yield from ((f"args.{name}", ref) for ref in found if ref.step not in own)
        for name in ("for_each", "gather"):
            yield from ((name, ref) for ref in references_in(self.fields.get(name)))

    def argument_references(self) -> dict[str, tuple[Reference, ...]]:
        """Return argument -> the references in it; in one that is literal there are none."""
        literal = set(self.listed("literal"))
        return {name: () if name in literal else references_in(value) for name, value in self.args.items()}

    def lookalikes(self, known: Known) -> Iterator[tuple[str, str]]:
        """Yield (where, what is wrong) for text that looks like a reference to a known step."""
        literal = set(self.listed("literal"))
        named = known.ids_and_item if self.is_repeated else known.ids
        for name, value in self.args.items():
            if name not in literal:
                yield from ((f"args.{name}", fault) for fault in lookalike_faults(value, named, name))
        for name in ("for_each", "gather"):
            yield from ((name, fault) for fault in lookalike_faults(self.fields.get(name), known.ids))


def read_plan(raw: Any, tools: Mapping[str, ToolSpec], max_steps: int = MAX_STEPS) -> Reading:
    """Read a plan in any accepted spelling and check the whole of it, in bounded work.

    Args:
        raw: A JSON value as a model, a person or a caller wrote it.
        tools: Tool name -> what it takes; the plan may name no others.
        max_steps: A plan with more steps is refused.
    """
    plan, notes = unwrap(raw, tools)
    if not isinstance(plan, dict):
        return Reading(None, (Issue(None, "plan", 'a plan is an object with "steps"'),))
    issues = [
        Issue(None, str(key), f"unknown key {value_in_words(key)}; a plan has steps, answer")
        for key in plan
        if key not in ("steps", "answer")
    ]
    answer = plan.get("answer")
    drafts, step_issues = read_steps(plan.get("steps"), tools, max_steps)
    issues += step_issues
    if not issues and not drafts and answer is None:
        issues.append(Issue(None, "steps", "the plan is empty: give steps, or an answer"))
    issues += graph_issues(drafts, answer)
    return finish(drafts, answer, issues, notes)


def read_steps(raw: Any, tools: Mapping[str, ToolSpec], max_steps: int) -> tuple[list[Draft], list[Issue]]:
    """Read a list of steps, each for itself."""
    if raw is None:
        return [], []
    if not isinstance(raw, list):
        return [], [Issue(None, "steps", "steps is a list of objects")]
    if len(raw) > max_steps:
        return [], [Issue(None, "steps", f"{len(raw)} steps are too many; at most {max_steps} are allowed")]
    try:
        with at_most(MAX_WORK):
            return _read_each(raw, tools)
    except TooMuchWork as error:
        return [], [Issue(None, "steps", f"to check them {error}")]


def _read_each(raw: list[Any], tools: Mapping[str, ToolSpec]) -> tuple[list[Draft], list[Issue]]:
    drafts, issues = [], []
    for place, item in enumerate(raw):
        if isinstance(item, dict):
            draft = read_step(item, tools)
            drafts.append(draft)
            issues += draft.issues
        else:
            issues.append(Issue(None, f"steps[{place}]", "a step is an object"))
    return drafts, issues


def read_step(raw: Mapping[Any, Any], tools: Mapping[str, ToolSpec]) -> Draft:
    """Read one step: its spelling, its own fields and its arguments against the tool's schema."""
    faults = json_faults(raw)
    too_deep = any(message == TOO_DEEP for _, message in faults)
    found = read_fields({} if too_deep else raw, tools)
    fields, issues = found.values, found.issues
    issues += [Issue(name_of(raw), path.lstrip(".") or "step", message) for path, message in faults]
    if isinstance(raw.get("arguments"), str) and (inner := json_faults(fields.get("args"))):  # it was JSON text
        issues += [Issue(name_of(raw), f"args{path}", message) for path, message in inner]
        del fields["args"]
    draft = Draft(fields, issues, notes=found.notes)
    if too_deep:
        return draft
    try:
        draft.step = Step.model_validate(fields)
    except ValidationError as error:
        issues += [Issue(draft.id, _place(part["loc"]), _words(part)) for part in error.errors()]
    issues += [Issue(draft.id, place, message) for place, message in kind_issues(draft.fields)]
    issues += [*_tool_issues(draft, tools), *_check_issues(draft)]
    return draft


def graph_issues(drafts: list[Draft], answer: Any, finished: frozenset[str] = frozenset()) -> list[Issue]:
    """Return what is wrong between steps: ids, dependencies, references, circles, and the answer.

    Args:
        drafts: The steps as far as they could be read.
        answer: The plan's answer.
        finished: Ids of steps outside `drafts` that may be referred to.
    """
    counts = Counter(draft.id for draft in drafts if draft.id is not None)
    issues = [
        Issue(step, "id", f"{count} steps have this id; ids are unique") for step, count in counts.items() if count > 1
    ]
    if ITEM in counts and any(draft.is_repeated for draft in drafts):
        issues.append(Issue(ITEM, "id", "a step with for_each calls its item so; give this step another id"))
    known = Known(tuple(counts), sorted(finished))
    for draft in drafts:
        issues += _edge_issues(draft, known)
    waits = {draft.id: tuple(b for b in draft.waits if b != draft.id) for draft in drafts if draft.id is not None}
    issues += [
        Issue(circle[0], "depends_on", f"steps wait for each other: {' -> '.join(circle)}; remove one dependency")
        for circle in cycles(waits)
    ]
    faults = json_faults(answer)
    if faults:
        return issues + [Issue(None, "answer" + path, message) for path, message in faults]
    dangling = [message for ref in references_in(answer) for message in _reference_faults(ref, known)]
    return issues + [Issue(None, "answer", message) for message in (*dangling, *lookalike_faults(answer, known.ids))]


def finish(drafts: list[Draft], answer: Any, issues: list[Issue], notes: Iterable[str] = ()) -> Reading:
    """Return the plan, or all that is wrong with it; `notes` say what was read otherwise around the steps."""
    if issues:
        return Reading(None, tuple(dict.fromkeys(issues)))
    plan = Plan(steps=tuple(draft.step for draft in drafts if draft.step is not None), answer=answer)
    said = [(None, note) for note in notes], [(draft.id, note) for draft in drafts for note in draft.notes]
    return Reading(plan, notes=told_once(chain(*said)))


def json_faults(value: Any, most: int = 20) -> list[tuple[str, str]]:
    """Return (path, what is wrong) of the things in `value` that plans cannot hold, at most about `most`.

    Nesting that is too deep is never cut from the list: whoever walks the value next relies on it.
    """
    stack: list[tuple[Any, str, int]] = [(value, "", 0)]
    faults: list[tuple[str, str]] = []
    while stack:
        item, where, depth = stack.pop()
        if depth > MAX_DEPTH:
            return [*faults, (where[:80], TOO_DEEP)]
        message = _scalar_fault(item)
        if message:
            faults += [(where, message)] if len(faults) < most else []
        elif isinstance(item, dict):
            faults += [
                (where, f"the key {value_in_words(key)} is no text or not plain")
                for key in item
                if not _is_plain_text(key)
            ]
            stack += [(part, f"{where}.{key}", depth + 1) for key, part in item.items()]
        elif isinstance(item, list):
            stack += [(part, f"{where}[{place}]", depth + 1) for place, part in enumerate(item)]
    return faults


def _scalar_fault(item: Any) -> str | None:
    if isinstance(item, str):
        return None if _is_plain_text(item) else "text with a NUL character or half a surrogate pair"
    if item is None or isinstance(item, bool | dict | list):
        return None
    if isinstance(item, int):
        return None if INT64[0] <= item <= INT64[1] else "an integer beyond 64 bits; write it as text"
    if isinstance(item, float):
        return None if isfinite(item) else f"{item} is no JSON number"
    return f"a {type(item).__name__} is no JSON value"


def _is_plain_text(item: object) -> bool:
    return isinstance(item, str) and "\0" not in item and is_utf8(item)


def _tool_issues(draft: Draft, tools: Mapping[str, ToolSpec]) -> list[Issue]:
    tool, granted = draft.fields.get("tool"), draft.listed("tools")
    names = [tool] if isinstance(tool, str) else granted
    unknown = [name for name in names if name not in tools]
    if unknown:
        known = f"known tools: {listed(list(tools), 30) or 'none'}"
        where = "tool" if tool is not None else "tools"
        return [Issue(draft.id, where, f"unknown tool {value_in_words(name)}; {known}") for name in unknown]
    issues = [*_output_issues(draft)]
    if isinstance(tool, str):
        open_args = {name for name, found in draft.argument_references().items() if found}
        faults = tools[tool].argument_faults(draft.args, open_args)
        issues += [Issue(draft.id, place, message) for place, message in faults]
    elif granted and "refine" not in draft.fields:
        issues += _grant_issues(draft, [tools[name] for name in granted])
    return issues


def _grant_issues(draft: Draft, granted: list[ToolSpec]) -> list[Issue]:
    """Pinned arguments must be ones that some granted tool takes, with values it accepts."""
    issues = []
    references = draft.argument_references()
    for name, value in draft.args.items():
        takers = [spec for spec in granted if spec.takes(name)]
        faults = [spec.argument_faults({name: value}, {name} if references[name] else ()) for spec in takers]
        wrong = [[fault for fault in found if fault[0] != "args"] for found in faults]
        if not takers:
            issues.append(Issue(draft.id, "args", f"none of its tools has an argument {name!r}"))
        elif all(wrong):
            issues += [Issue(draft.id, place, message) for place, message in wrong[0]]
    return issues


def _output_issues(draft: Draft) -> list[Issue]:
    output = draft.fields.get("output")
    fault = schema_fault(output) if isinstance(output, dict) else None
    return [Issue(draft.id, "output", f"no JSON Schema: {fault}")] if fault else []


def _check_issues(draft: Draft) -> Iterator[Issue]:
    checks, tool = draft.fields.get("checks"), draft.fields.get("tool")
    callable_here = [tool] if isinstance(tool, str) else draft.listed("tools") if "refine" not in draft.fields else []
    for place, check in enumerate(checks if isinstance(checks, list) else ()):
        if isinstance(check, dict):
            yield from (Issue(draft.id, f"checks[{place}]", fault) for fault in check_faults(check, callable_here))


def _edge_issues(draft: Draft, known: Known) -> list[Issue]:
    issues = []
    for before in dict.fromkeys(draft.listed("depends_on")):
        if before == draft.id:
            hint = known.instead_of_itself(before, "%s")
            issues.append(Issue(draft.id, "depends_on", f"{before} waits for itself; {hint}"))
        elif before not in known.ids:
            issues.append(
                Issue(draft.id, "depends_on", f"no step {value_in_words(before)}; {known.instead_of(before, draft.id)}")
            )
    for where, reference in draft.references():
        if reference.step == draft.id:
            hint = known.instead_of_itself(reference.step, "{%s_result}")
            issues.append(Issue(draft.id, where, f"{reference} refers to the step it stands in; {hint}"))
        else:
            faults = _reference_faults(reference, known, draft.id)
            issues += [Issue(draft.id, where, message) for message in faults]
    written = () if draft.is_settled else draft.lookalikes(known)
    return issues + [Issue(draft.id, where, message) for where, message in written]


def _reference_faults(reference: Any, known: Known, step: str | None = None) -> list[str]:
    if reference.step not in known.ids:
        return [f"{reference} refers to no step; {known.instead_of(reference.step, step)}"]
    return [reference.fault] if reference.fault else []


def _place(loc: tuple[int | str, ...]) -> str:
    head, *rest = loc or ("step",)
    return str(head) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)


def _words(part: Any) -> str:
    if part["type"] == "missing":
        return f"missing; a step needs {part['loc'][0]}"
    return str(part["msg"])
