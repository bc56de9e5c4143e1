"""What plans may name: the tools, their arguments and what they do to the world."""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from jsonschema.exceptions import ValidationError
from pydantic import JsonValue
from referencing.exceptions import Unresolvable

from graph.plan.bounded_schema import errors_of, matches, schema_fault
from graph.plan.canonical import digest
from graph.plan.schema_fast_path import FitsBut, quick_fit_but
from graph.plan.schema_shape import Places, schemas_in
from graph.plan.shortening import misfit_in_words
from graph.plan.work import TooMuchWork

Effect = Literal["read", "write", "external"]
"""`read` looks at this machine only, `write` changes something here, `external` lets anything leave the machine."""

UNDECLARED = (
    "a model is granted it, and neither its effect nor whether its results may be trusted is declared; what the model "
    "makes of its results goes into further calls without being shown: declare effect and trusted in its metadata"
)
EXTRAS = ("additionalProperties", "unevaluatedProperties")


@dataclass(frozen=True)
class ToolSpec:
    """A tool as plans see it; undeclared means external and not repeatable.

    `schema` is the JSON Schema of its arguments, `free_args` those that may come from untrusted results. `trusted` says
    whether its output may be believed, None where the tool does not say. `folder` is where it changes files, `place`
    tells two servers apart that offer it, `declared` says whether the tool tells its effect at all.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect = "external"
    idempotent: bool = False
    timeout_s: float | None = None
    trusted: bool | None = None
    free_args: tuple[str, ...] = ()
    folder: str | None = None
    place: str | None = None
    declared: bool = True

    @property
    def repeatable(self) -> bool:
        """Whether calling it twice does no more than calling it once."""
        return self.effect == "read" or self.idempotent

    @property
    def acts(self) -> bool:
        """Whether it does more than look at this machine."""
        return self.effect != "read"

    @property
    def trust(self) -> Literal["trusted", "undeclared", "untrusted"]:
        """How far its own words may be believed."""
        return "undeclared" if self.trusted is None else "trusted" if self.trusted else "untrusted"

    @property
    def first_parameter(self) -> str | None:
        """The parameter that a plain string is meant for: the only one, or the first that is required."""
        if len(self.parameters) == 1:
            return self.parameters[0]
        required = {name for part in self._parts for name in part.get("required", ())}
        return next((name for name in self.parameters if name in required), None)

    @cached_property
    def face(self) -> str:
        """Digest of what an approval covers of this tool: schema, effect, trust, and where it works."""
        does: list[JsonValue] = [self.effect, self.idempotent, self.declared, self.folder, self.place]
        return digest([dict(self.schema), does, self.trust, list(self.free_args)])

    def schema_fault(self) -> str | None:
        """Say why the schema is none or cannot be used, or None where it can."""
        return schema_fault(self.schema)

    def argument_faults(self, args: Mapping[str, JsonValue], unresolved: Collection[str] = ()) -> list[tuple[str, str]]:
        """Return (argument, what is wrong) for arguments that do not fit the schema; nothing is coerced.

        Args:
            args: The arguments of one call.
            unresolved: Names of arguments that hold a reference: present, but not checked yet.
        """
        if self._fits(args, unresolved):
            return []
        faults = [
            ("args", f"{self.name} has no argument {name!r}; it takes {', '.join(self.parameters) or 'none'}")
            for name in args
            if not self.takes(name)
        ]
        try:
            errors = list(errors_of(self.schema, dict(args)))
        except Unresolvable as error:
            return [*faults, ("args", f"the schema of {self.name} points outside itself: {error}")]
        except RecursionError:
            return [*faults, ("args", f"they are nested too deeply for the schema of {self.name}")]
        except TooMuchWork as error:
            return [*faults, ("args", f"whether they fit the schema of {self.name} cannot be told: {error}")]
        if faults:
            errors = [error for error in errors if error.absolute_path or error.validator not in EXTRAS]
        return faults + [_fault(error) for error in errors if not _is_open(error, unresolved)]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments the schema lists, in any of its alternatives."""
        return tuple(dict.fromkeys(name for part in self._parts for name in part.get("properties", {})))

    def defaults(self, arguments: Iterable[str]) -> dict[str, JsonValue]:
        """Return what stands for arguments that are left out, for those of which the schema says it."""
        listed = [(name, part.get("properties", {}).get(name)) for name in arguments for part in self._parts]
        return {name: part["default"] for name, part in listed if isinstance(part, Mapping) and "default" in part}

    def takes(self, argument: str) -> bool:
        """Whether the tool has this argument, or its schema allows others outright."""
        if argument in self.parameters:
            return True
        patterns = [pattern for part in self._parts for pattern in part.get("patternProperties", {})]
        return any(matches(pattern, argument) for pattern in patterns) or any(
            part.get(extras, False) is not False for part in self._parts for extras in EXTRAS
        )

    @cached_property
    def _parts(self) -> tuple[Mapping[str, Any], ...]:
        """The schema and what it is put together from at its root."""
        found: dict[int, Mapping[str, Any]] = {}
        places = Places(self.schema, schemas_in(self.schema))
        waiting: deque[Any] = deque([self.schema])
        while waiting:
            part = waiting.popleft()
            if isinstance(part, Mapping) and id(part) not in found:
                found[id(part)] = part
                waiting.extend(item for name in ("allOf", "anyOf", "oneOf") for item in part.get(name, ()))
                waiting.extend([part.get("then"), part.get("else"), places.at(part.get("$ref"))])
        return tuple(found.values())

    @cached_property
    def _fits(self) -> FitsBut:
        return quick_fit_but(self.schema)


def is_undeclared(tool: ToolSpec) -> bool:
    """Whether a tool of one's own declares nothing of what it does, nor whether its results may be trusted."""
    return not tool.declared and tool.trusted is None


def _is_open(error: ValidationError, unresolved: Collection[str]) -> bool:
    """Whether the error is about an argument that is not there yet; a rule over all arguments may be."""
    if error.absolute_path:
        return error.absolute_path[0] in unresolved
    return bool(unresolved) and error.validator not in ("required", "maxProperties", "minProperties", *EXTRAS)


def _fault(error: ValidationError) -> tuple[str, str]:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return f"args{path}", misfit_in_words(error)
