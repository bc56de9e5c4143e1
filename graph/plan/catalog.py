"""The tool catalog of a plan: arguments and declared effects of each tool."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue

from planner_executor.graph.plan.attempts import AttemptLimits
from planner_executor.graph.plan.canonical import canonical_json, digest
from planner_executor.graph.plan.known_schemas import known_schema_fault
from planner_executor.graph.plan.patterns import is_match
from planner_executor.graph.plan.schema_fast_path import ObjectPredicate, fast_object_test, fast_test
from planner_executor.graph.plan.schema_shape import LocalReferences, subschemas
from planner_executor.graph.plan.shortening import describe_schema_error, short_repr
from planner_executor.graph.plan.work import WorkLimitExceeded
from planner_executor.graph.words.name_list import listed

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Effect = Literal["read", "write", "external"]
"""`read` looks at this machine only, `write` changes something here, `external` lets anything leave the machine."""

UNDECLARED = (
    "a model may call it, but it declares neither its effect nor the trust in its results; what the model "
    "makes of undeclared results enters its calls without review: declare effect and trusted in its metadata"
)
EXTRAS = ("additionalProperties", "unevaluatedProperties")


@dataclass(frozen=True)
class ToolSpec:
    """A tool as plans use it; undeclared means external and not repeatable.

    `schema` is the JSON Schema of its arguments, `free_args` names the arguments that may come from untrusted results.
    `trusted` is the declared trust in its output, None if undeclared. `folder` is the directory it writes to, `reads`
    are others whose files it reads, `place` distinguishes servers that offer tools of the same name, `declared` is true
    if the tool declares its effect. `look` marks a tool that a planner may call before it proposes. `summary`
    says what a call does, with arguments in braces, and `reversible` whether it can be undone, None if undeclared.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect = "external"
    idempotent: bool = False
    timeout_s: float | None = None
    attempts: int | None = None
    backoff_s: float | None = None
    trusted: bool | None = None
    free_args: tuple[str, ...] = ()
    folder: str | None = None
    reads: tuple[str, ...] = ()
    summary: str | None = None
    reversible: bool | None = None
    place: str | None = None
    declared: bool = True
    look: bool = False

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "ToolSpec":
        """Return a tool as the record has it."""
        return cls(**{**raw, **{name: tuple(raw.get(name, ())) for name in ("free_args", "reads")}})

    @property
    def attempt_limits(self) -> AttemptLimits:
        """How long and how often a call of it is tried."""
        return AttemptLimits(self.timeout_s, self.attempts, self.backoff_s)

    @property
    def repeatable(self) -> bool:
        """Whether a second call has no effect beyond the first."""
        return self.effect == "read" or self.idempotent

    @property
    def acts(self) -> bool:
        """Whether it has an effect beyond reading from this machine."""
        return self.effect != "read"

    @property
    def trust(self) -> Literal["trusted", "undeclared", "untrusted"]:
        """The declared trust in its output."""
        return "undeclared" if self.trusted is None else "trusted" if self.trusted else "untrusted"

    @property
    def first_parameter(self) -> str | None:
        """The parameter that a plain string is passed to: the only one, or the first required one."""
        if len(self.parameters) == 1:
            return self.parameters[0]
        required = {name for part in self._parts for name in part.get("required", ())}
        return next((name for name in self.parameters if name in required), None)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of everything about this tool that an approval covers: schema, effect, trust, folders, server."""
        does: list[JsonValue] = [self.effect, self.idempotent, self.declared, self.folder, self.place, *self.reads]
        # What is not declared is left out, not null: a tool of before keeps the fingerprint that approvals are bound
        # to.
        said: list[JsonValue] = [one for one in (self.summary, self.reversible) if one is not None]
        return digest([dict(self.schema), does, self.trust, list(self.free_args), *said])

    def schema_fault(self) -> str | None:
        """Return why the schema is invalid or unusable, or None if it is neither."""
        return known_schema_fault(self.schema)

    def argument_faults(self, args: Mapping[str, JsonValue], unresolved: Collection[str] = ()) -> list[tuple[str, str]]:
        """Return (argument, fault) for arguments that do not match the schema; nothing is coerced.

        Args:
            args: The arguments of one call.
            unresolved: Names of arguments that contain a reference: present, but not checked yet.
        """
        if self._fits(args, unresolved):
            return []
        from referencing.exceptions import Unresolvable

        from planner_executor.graph.plan.bounded_schema import bounded_errors  # takes long to import

        faults = [
            ("args", f"{self.name} has no argument {name!r}; it takes {', '.join(self.parameters) or 'none'}")
            for name in args
            if not self.takes(name)
        ]
        try:
            errors = list(bounded_errors(self.schema, dict(args)))
        except Unresolvable as error:
            return [*faults, ("args", f"the schema of {self.name} has a reference to something outside: {error}")]
        except RecursionError:
            return [*faults, ("args", f"the arguments are nested too deeply for the schema of {self.name}")]
        except WorkLimitExceeded as error:
            return [*faults, ("args", f"the arguments cannot be checked against the schema of {self.name}: {error}")]
        if faults:
            # The schema's own error about an extra argument would tell the same fault a second time.
            errors = [error for error in errors if error.absolute_path or error.validator not in EXTRAS]
        return faults + [_fault(error) for error in errors if not _is_open(error, unresolved)]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The argument names that the schema lists, in any of its alternatives."""
        return tuple(dict.fromkeys(name for part in self._parts for name in part.get("properties", {})))

    def defaults(self, arguments: Iterable[str]) -> dict[str, JsonValue]:
        """Return the schema's defaults of these arguments; arguments without a default are left out."""
        listed = [(name, part.get("properties", {}).get(name)) for name in arguments for part in self._parts]
        return {name: part["default"] for name, part in listed if isinstance(part, Mapping) and "default" in part}

    @cached_property
    def may_have_defaults(self) -> bool:
        """Whether the schema has a key `default`, at any depth."""
        return b'"default":' in canonical_json(dict(self.schema))

    def takes(self, argument: str) -> bool:
        """Whether the tool has this argument, or its schema explicitly allows additional ones."""
        if argument in self.parameters:
            return True
        patterns = [pattern for part in self._parts for pattern in part.get("patternProperties", {})]
        return any(is_match(pattern, argument) for pattern in patterns) or any(
            part.get(extras, False) is not False for part in self._parts for extras in EXTRAS
        )

    @cached_property
    def _parts(self) -> tuple[Mapping[str, Any], ...]:
        """The schema and the subschemas that apply at its root."""
        # By identity: a schema may refer to itself, and each part is looked at once.
        found: dict[int, Mapping[str, Any]] = {}
        references = LocalReferences(self.schema, subschemas(self.schema))
        waiting: deque[Any] = deque([self.schema])
        while waiting:
            part = waiting.popleft()
            if isinstance(part, Mapping) and id(part) not in found:
                found[id(part)] = part
                waiting.extend(item for name in ("allOf", "anyOf", "oneOf") for item in part.get(name, ()))
                waiting.extend([part.get("then"), part.get("else"), references.at(part.get("$ref"))])
        return tuple(found.values())

    @cached_property
    def _fits(self) -> ObjectPredicate:
        return fast_object_test(self.schema, fast_test(self.schema.get("additionalProperties", False)))


class Catalog(dict[str, ToolSpec]):
    """The tools that plans may name; `absent` are the project's own that cannot work here: name -> what it needs."""

    def __init__(self, tools: Mapping[str, ToolSpec], absent: Mapping[str, str]) -> None:
        super().__init__(tools)
        self.absent = {name: needed for name, needed in absent.items() if name not in tools}


def absent_in(tools: Mapping[str, ToolSpec]) -> Mapping[str, str]:
    """Return the project's tools that cannot work here: name -> what each needs."""
    return tools.absent if isinstance(tools, Catalog) else {}


def unknown_tool(name: str, tools: Mapping[str, ToolSpec]) -> str:
    """Return why a plan cannot name a tool: it is not installed, or there is none."""
    if needed := absent_in(tools).get(name):
        return f"tool {short_repr(name)} is not installed; {needed}"
    return f"unknown tool {short_repr(name)}; known tools: {listed(list(tools), 30) or 'none'}"


def is_undeclared(tool: ToolSpec) -> bool:
    """Whether a tool declares neither its effect nor the trust in its results."""
    return not tool.declared and tool.trusted is None


def _is_open(error: "ValidationError", unresolved: Collection[str]) -> bool:
    """Whether the error may vanish once references are resolved; so may an error of a rule over all arguments."""
    if error.absolute_path:
        return error.absolute_path[0] in unresolved
    return bool(unresolved) and error.validator not in ("required", "maxProperties", "minProperties", *EXTRAS)


def _fault(error: "ValidationError") -> tuple[str, str]:
    parts = (*error.absolute_path, *_missing(error))
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    return f"args{path}", describe_schema_error(error)


def _missing(error: "ValidationError") -> list[str]:
    """Return the property that an error misses: there is one error for each, which begins with its name."""
    if error.validator != "required":
        return []
    names: Any = error.validator_value
    return next(([name] for name in names if error.message == f"{name!r} is a required property"), [])
