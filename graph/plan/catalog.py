"""What plans may name: the tools, their arguments and what they do to the world."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import jsonschema.validators
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import SchemaRegistry

from graph.plan.canonical import digest

Effect = Literal["read", "write", "external"]
"""`read` looks at this machine only, `write` changes something here, `external` lets anything leave the machine."""

NOTHING_REMOTE: SchemaRegistry = Registry()


@dataclass(frozen=True)
class ToolSpec:
    """A tool as plans see it; undeclared means external and not repeatable.

    `schema` is the JSON Schema of its arguments, `free_args` those that may come from untrusted results.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    effect: Effect = "external"
    idempotent: bool = False
    timeout_s: float | None = None
    trusted: bool = False
    free_args: tuple[str, ...] = ()

    @property
    def repeatable(self) -> bool:
        """Whether calling it twice does no more than calling it once."""
        return self.effect == "read" or self.idempotent

    @property
    def first_parameter(self) -> str | None:
        """The parameter that a plain string is meant for: the only one, or the first that is required."""
        properties = list(self.schema.get("properties", {}))
        if len(properties) == 1:
            return str(properties[0])
        required = set(self.schema.get("required", ()))
        return next((str(name) for name in properties if name in required), None)

    @property
    def face(self) -> str:
        """Digest of what an approval covers of this tool: schema and effect."""
        return digest({"schema": dict(self.schema), "effect": self.effect, "idempotent": self.idempotent})

    def schema_fault(self) -> str | None:
        """Say why the schema is none, or None where it is one."""
        try:
            type(self._validator).check_schema(dict(self.schema))
        except SchemaError as error:
            return error.message
        return None

    def argument_faults(self, args: Mapping[str, JsonValue], unresolved: Collection[str] = ()) -> list[tuple[str, str]]:
        """Return (argument, what is wrong) for arguments that do not fit the schema; nothing is coerced.

        Args:
            args: The arguments of one call.
            unresolved: Names of arguments that hold a reference: present, but not checked yet.
        """
        faults = [
            ("args", f"{self.name} has no argument {name!r}; it takes {', '.join(self.parameters) or 'none'}")
            for name in args
            if not self.takes(name)
        ]
        try:
            errors = list(self._validator.iter_errors(dict(args)))
        except Unresolvable as error:
            return [*faults, ("args", f"the schema of {self.name} points outside itself: {error}")]
        return faults + [_fault(error) for error in errors if not _is_open(error, unresolved)]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments the schema lists."""
        return tuple(self.schema.get("properties", {}))

    def takes(self, argument: str) -> bool:
        """Whether the tool has this argument, or its schema allows others outright."""
        extras = (
            bool(self.schema.get("patternProperties")) or self.schema.get("additionalProperties", False) is not False
        )
        return extras or argument in self.parameters

    @cached_property
    def _validator(self) -> Validator:
        kind = jsonschema.validators.validator_for(self.schema, default=jsonschema.Draft202012Validator)
        return kind(dict(self.schema), registry=NOTHING_REMOTE)


def _is_open(error: ValidationError, unresolved: Collection[str]) -> bool:
    """Whether the error is about an argument that is not there yet; a rule over all arguments may be."""
    if error.absolute_path:
        return error.absolute_path[0] in unresolved
    if error.validator == "additionalProperties":
        return True  # said by name already
    return bool(unresolved) and error.validator not in ("required", "maxProperties", "minProperties")


def _fault(error: ValidationError) -> tuple[str, str]:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return f"args{path}", error.message if len(error.message) <= 300 else error.message[:297] + "..."
