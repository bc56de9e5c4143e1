"""Playbooks in a plan, the whole of one or one as a step: their steps take their place (decision 164)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.inline_schema import schema_errors
from planner_executor.graph.plan.issues import Issue
from planner_executor.graph.plan.kinds.table import kind_spec
from planner_executor.graph.plan.library import KnownPlaybook, Library
from planner_executor.graph.plan.normalization import ALIASES, COMMENTARY, PLAYBOOK, name_of, read_ids, unwrap
from planner_executor.graph.plan.params import Params, Trust, params_json, value_faults
from planner_executor.graph.plan.reading import ParsedPlan, read_params, read_plan
from planner_executor.graph.plan.references import moved_parameters, parameters_in, references_in, renamed
from planner_executor.graph.plan.schema import MAX_STEPS, free_id
from planner_executor.graph.plan.step_kind import KINDS
from planner_executor.graph.words.name_list import listed, right_name, there_are

DEEPEST = 3
"""How deep playbooks may stand in playbooks."""
WHOLE = frozenset({PLAYBOOK, "params", *COMMENTARY})
"""What may stand in an answer that is a playbook."""
STEP_FIELDS = ("id", "objective", PLAYBOOK, "params", "depends_on", "success_criteria", "checks")
FILLED = ("args", "for_each", "gather", "when", "params")
"""The fields of a step in which references are filled in."""
ASKED = tuple(kind for kind in KINDS if kind_spec(kind).done_by == "person")
IN_WORDS = ("objective", "success_criteria", *ASKED)
"""Those in which parameters are, and no reference; people are asked with some of them."""


@dataclass
class _Expansion:
    """A plan while playbooks in it are expanded; `used` are those that it named itself, each with its step."""

    library: Library
    label: Trust
    max_steps: int
    params: dict[str, JsonValue] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    used: list[Mapping[str, JsonValue]] = field(default_factory=list)
    size: int = 0

    def whole(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        """Return the plan of an answer that is a playbook."""
        if (known := self._named(raw[PLAYBOOK], None, ())) is None:
            return {}
        given = _given(raw)
        for name, value in self._values(known, given, None).items():
            self.params[name] = {"value": value, "label": self.label if name in given else "user"}
        steps = self.steps(known.steps, (known.name,))
        self.used[:] = [{**_record(known), "step": None}]
        return {"steps": steps, "answer": known.answer}

    def steps(self, steps: Sequence[Any], above: tuple[str, ...]) -> list[Any]:
        """Return steps with the playbooks among them expanded; `above` are the playbooks in which they stand."""
        found: list[Any] = []
        for step in steps:
            found += self._step(step, above) if isinstance(step, Mapping) and PLAYBOOK in step else [step]
        return found

    def _step(self, step: Mapping[str, Any], above: tuple[str, ...]) -> list[Any]:
        step = _spelled(step)
        name = name_of(step)
        if name is None:
            self.issues.append(Issue(None, "steps", "a step that is a playbook needs an id"))
            return []
        if strange := [key for key in step if key not in STEP_FIELDS]:
            says = f"does not go with a playbook; such a step has {', '.join(STEP_FIELDS)}"
            says += "; write it at the steps of the playbook, or give its steps themselves" if "when" in strange else ""
            self.issues.append(Issue(name, str(strange[0]), says))
        if (known := self._named(step[PLAYBOOK], name, above)) is None:
            return []
        given = _given(step)
        values = self._values(known, given, name)
        open_ = {one: value for one, value in values.items() if one in given and _is_open(value)}
        # A value that a playbook gives to a playbook within it is its author's, who is trusted as the user is.
        for one, value in values.items():
            if one not in open_:
                label = self.label if one in given and not above else "user"
                self.params[f"{name}_{one}"] = {"value": value, "label": label}
        before = read_ids(step.get("depends_on") or [])
        return self._placed(known, name, step, open_, before, above)

    def _placed(
        self,
        known: KnownPlaybook,
        name: str,
        step: Mapping[str, Any],
        open_: Mapping[str, JsonValue],
        before: list[Any],
        above: tuple[str, ...],
    ) -> list[Any]:
        """Return the steps of a playbook under ids that begin with the step's, and the step with its answer."""
        steps = {str(name_of(inner)): _spelled(inner) for inner in known.steps}
        names = {one: f"{name}_{one}" for one in steps}
        values = free_id(f"{name}_params", names.values())
        moves = {one: f"{values}_result.{one}" if one in open_ else f"param.{name}_{one}" for one in known.parameters}
        found: list[Any] = []
        # What only the run finds out is collected by a step of its own, which checks it as given values are checked.
        if open_:
            schema = {"type": "object", "properties": {one: dict(known.parameters[one]) for one in open_}}
            checked = {"id": values, "objective": f"Values for {name}", "gather": dict(open_)}
            found.append({**checked, "checks": [{"schema": schema}], "depends_on": before})
        for inner in steps.values():
            for place in ASKED:
                if {one.name for one in parameters_in(inner.get(place))} & open_.keys():
                    says = f"asks with {listed(sorted(open_))} of {known.name}, which take values there, no references"
                    self.issues.append(Issue(name, "params", says))
            found.append(_moved(inner, names, moves, before, values))
        ends = _last(steps)
        answer = moved_parameters(renamed(known.answer, names), moves)
        whole: JsonValue = {names[one]: f"{{{names[one]}_result}}" for one in ends}
        if len(ends) == 1:
            whole = f"{{{names[ends[0]]}_result}}"
        result = {
            "id": name,
            "objective": step.get("objective") or known.description,
            "gather": whole if answer is None else answer,
            "depends_on": [*before, *(names[one] for one in ends)],
            **{key: step[key] for key in ("success_criteria", "checks") if key in step},
            # A step whose condition is false is skipped, and with it all that wait for it but by `any`.
            **({"run_if": "any"} if any(inner.get("when") for inner in steps.values()) else {}),
        }
        self.used.append({**_record(known), "step": name})
        return [*self.steps(found, (*above, known.name)), result]

    def _named(self, name: Any, step: str | None, above: tuple[str, ...]) -> KnownPlaybook | None:
        known = self.library.get(name) if isinstance(name, str) else None
        if known is None:
            says = f"no playbook {name!r:.80}; {right_name(str(name), tuple(self.library))}"
        elif name in above:
            says = f"{name} cannot stand within itself"
        elif len(above) >= DEEPEST:
            says = f"playbooks stand in playbooks {DEEPEST} deep at most"
        elif (size := self.size + len(known.steps)) > self.max_steps:
            says = f"{size} steps with those of playbooks are too many; at most {self.max_steps} are allowed"
        else:
            self.size = size
            return known
        self.issues.append(Issue(step, PLAYBOOK, says))
        return None

    def _values(self, known: KnownPlaybook, given: Any, step: str | None) -> dict[str, JsonValue]:
        """Return the values of all parameters; issues for those that are missing, unknown or do not fit."""
        if not isinstance(given, Mapping):
            self.issues.append(Issue(step, "params", "must be an object: parameter -> value"))
            return {}
        there = there_are(list(known.parameters))
        self.issues += [
            Issue(step, f"params.{name!s:.80}", f"{known.name} has no such parameter; {there}")
            for name in given
            if name not in known.parameters
        ]
        values: dict[str, JsonValue] = {}
        for name, schema in known.parameters.items():
            value = values[name] = given.get(name, schema.get("default"))
            if name not in given:
                wrong = [] if "default" in schema else [f"{known.name} needs a value of it"]
            # Known once the plan runs: the step that collects such values checks them then.
            elif step is not None and _is_open(value):
                wrong = []
            else:
                faults = [f"{path} {why}".strip() for path, why in value_faults(value)]
                wrong = faults or schema_errors(schema, value)
            self.issues += [Issue(step, f"params.{name}", why) for why in wrong]
        return values


def uses_playbook(raw: Any) -> bool:
    """Whether a plan is a playbook, or has one as a step."""
    steps = raw.get("steps") if isinstance(raw, Mapping) else None
    inside = isinstance(steps, list) and any(isinstance(step, Mapping) and PLAYBOOK in step for step in steps)
    return inside or (isinstance(raw, Mapping) and PLAYBOOK in raw)


def read_expanded(
    raw: Any,
    tools: Mapping[str, ToolSpec],
    library: Library,
    label: Trust,
    max_steps: int = MAX_STEPS,
    params: Params | None = None,
) -> ParsedPlan:
    """Read a plan, and validate it with its playbooks expanded.

    Args:
        raw: A JSON value as a model or a caller wrote it.
        tools: The tools that the plan may name, by name.
        library: The playbooks that it may use.
        label: The trust in whoever gave the values of their parameters.
        max_steps: A plan with more steps is refused.
        params: The parameters that the plan has, None if it may bring its own.
    """
    found, notes = unwrap(raw, tools)
    if not uses_playbook(found):
        return read_plan(raw, tools, max_steps, params)
    expansion = _Expansion(library, label, max_steps)
    if PLAYBOOK in found:
        if beside := [key for key in found if key not in WHOLE]:
            says = f"it stands beside {', '.join(map(str, beside))}; name the playbook alone, or use it as a step"
            return ParsedPlan(None, (Issue(None, PLAYBOOK, says),))
        plan = expansion.whole(found)
    else:
        own, expansion.issues = read_params(found.get("params"), params)
        plan = {**found, "steps": expansion.steps(found["steps"], ())}
        expansion.params |= params_json(own)
    if expansion.issues:
        return ParsedPlan(None, tuple(expansion.issues))
    parsed = read_plan({**plan, "params": expansion.params}, tools, max_steps)
    return replace(parsed, notes=(*notes, *parsed.notes), playbooks=tuple(expansion.used))


def _record(known: KnownPlaybook) -> dict[str, JsonValue]:
    return {"name": known.name, "version": known.version, "digest": known.digest}


def _given(use: Mapping[str, Any]) -> Any:
    return {} if use.get("params") is None else use["params"]


def _spelled(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return a step with the names of fields that we use; what a playbook takes is spelled like a tool's arguments."""
    spelled = {**ALIASES, "parameters": "params"} if PLAYBOOK in step else ALIASES
    return {spelled.get(key, key): value for key, value in step.items()}


def _moved(
    step: Mapping[str, Any], names: Mapping[str, str], moves: Mapping[str, str], before: list[Any], values: str
) -> dict[str, Any]:
    """Return a step of a playbook as it stands in a plan; the step `values` has those that only the run finds out."""
    # Nothing is looked for in a literal argument, whatever in it looks like a reference.
    kept = {one: step["args"][one] for one in step.get("literal") or () if isinstance(step.get("args"), Mapping)}
    found = dict(step)
    for place in FILLED:
        if place in found:
            found[place] = moved_parameters(renamed(found[place], names), moves)
    if kept:
        found["args"] = {**found["args"], **kept}
    in_words = {place: moved_parameters(found[place], moves) for place in IN_WORDS if found.get(place) is not None}
    # Words name no step that they wait for, so the step is made to wait for the values in them.
    told = any(f"{{{values}_result" in str(text) for text in in_words.values())
    found |= in_words
    waits = [names.get(one, one) for one in read_ids(step.get("depends_on") or [])]
    is_first = not waits and not any(references_in(step.get(place)) for place in FILLED)
    waits += [*(before if is_first else ()), *([values] if told else ())]
    return {**found, "id": names[str(name_of(step))], "depends_on": waits}


def _last(steps: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the ids of the steps that no other waits for."""
    waited = {str(one) for step in steps.values() for one in read_ids(step.get("depends_on") or [])}
    waited |= {one.step for step in steps.values() for one in references_in(list(step.values()))}
    return [one for one in steps if one not in waited]


def _is_open(value: JsonValue) -> bool:
    """Whether a value is known only once the plan runs, or is a parameter of what is around the step."""
    return bool(references_in(value) or parameters_in(value))
