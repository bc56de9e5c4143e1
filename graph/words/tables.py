"""Tables that operators write, read by pydantic: the value, or each fault with its place and in our words.

The class of a table carries the facts: names, types, bounds, choices. Beside a type stand `Shape`, for a table, and
`Says`, for the words on a value that does not fit. A validator raises `fault`, also for an entry of its table.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    Strict,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from planner_executor.graph.words.name_list import right_name
from planner_executor.graph.words.validation_message import fault_message

LARGEST = 1e300
"""Bound of numbers; a larger integer is no float."""
BESIDE = ""
"""The alias of a field whose entries stand beside those of its table: it is no part of a place."""
KEY = "[key]"
"""How pydantic ends the place of a fault in a name."""
Path = tuple[str, ...]
Fault = tuple[Path, str]
Faults = list[Fault]


class OpenTable(BaseModel):
    """A table that is read once and never changes; entries that it does not know are left to its reader."""

    model_config = ConfigDict(defer_build=True, frozen=True)


class ClosedTable(OpenTable):
    """A table in which an entry that it does not know is a fault."""

    model_config = ConfigDict(extra="forbid")


def read(kind: Any, given: Any) -> tuple[Any, Faults]:
    """Return plain data as a value of a type, None if it has faults; and the faults, each with its place."""
    try:
        return _adapter(kind).validate_python(given), []
    except ValidationError as error:
        return None, table_faults(error)


def table_faults(error: ValidationError) -> Faults:
    """Return the faults that pydantic found, each with its place, in our words; values of lists have no place."""
    return [(_path(part["loc"], part.get("ctx", {}).get("at", ())), _words(part)) for part in error.errors()]


def fault(words: str, *at: str) -> PydanticCustomError:
    """Return the error that a validator raises: what is wrong with its value, or with the entry `at` in it."""
    return PydanticCustomError("fault", "{words}", {"words": words, "at": at})


def unknown_entry(known: Sequence[str], name: object) -> str:
    """Return the fault of an entry with another name than the known ones."""
    return f"is unknown; {right_name(name, known)}"


class Says(NamedTuple):
    """What is said of a value that does not fit the type before it."""

    words: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the type, with these words for each of its faults."""
        return core_schema.custom_error_schema(
            handler(source), "fault", custom_error_message="{words}", custom_error_context={"words": self.words}
        )


class Shape(NamedTuple):
    """A table: what is said of a value that is none, and of an entry that it does not have; `{names}` are its entries.

    `missing` is said of an entry that is needed. Entries named in `without` are unknown here. Nothing is null, but for
    limits: `is_nullable` leaves them out.
    """

    must_be: str = "must be a table"
    unknown: str = ""
    missing: str = "is missing"
    without: tuple[str, ...] = ()
    is_nullable: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the table, with its own faults found first."""
        known = {name: needed for name, needed in entries(source).items() if name not in self.without}
        names = ", ".join(known)

        def checked(given: Any) -> dict[Any, Any]:
            if not isinstance(given, Mapping):
                raise fault(self.must_be.replace("{names}", names))
            for name, value in given.items():
                if known and name not in known:
                    raise fault(self.unknown.replace("{names}", names) or unknown_entry(tuple(known), name), str(name))
                if value is None and not self.is_nullable:
                    raise fault("is null; leave it out instead", str(name))
            for name, needed in known.items():
                if needed and name not in given:
                    raise fault(self.missing, name)
            # A limit that is null counts as left out; of any other null a fault was found above.
            return {name: value for name, value in given.items() if value is not None}

        return core_schema.no_info_before_validator_function(checked, handler(source))


def entries(table: Any) -> Mapping[str, bool]:
    """Return the names of a table's entries, and whether each is needed; none for a table of any names."""
    if is_dataclass(table):
        return {field.name: field.default is field.default_factory is MISSING for field in fields(table)}
    if fixed := getattr(table, "_fields", None):
        return dict.fromkeys(fixed, False)
    # A field with an alias of its own stands for entries beside the table's own ones.
    own = {name: field for name, field in getattr(table, "model_fields", {}).items() if field.validation_alias is None}
    return {name: field.is_required() for name, field in own.items()}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _path(loc: Sequence[str | int], at: Path) -> Path:
    return (*(place for place in loc if isinstance(place, str) and place not in (BESIDE, KEY)), *at)


def _words(part: Any) -> str:
    if part["type"] == "fault":
        return str(part["ctx"]["words"])
    if part["type"] == "extra_forbidden":
        return "is unknown"
    if part["type"] != "literal_error":
        return fault_message(part)
    # Pydantic tells the choices of a Literal in its words alone.
    choices = re.findall("'([^']*)'", part["ctx"]["expected"])
    return unknown_entry(choices, part["input"]) if part["loc"][-1] == KEY else not_one_of(choices, part["input"])


def not_one_of(allowed: Sequence[str], value: Any) -> str:
    """Return the fault of a value other than the allowed ones."""
    return f"is {value!r}; it must be one of {', '.join(allowed)}"


def _listed(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        raise fault("must be a list")
    return given


def _number(given: Any) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not abs(given) < LARGEST:
        raise fault("must be a number")
    return given


def _texts(given: tuple[str, ...]) -> tuple[str, ...]:
    if not all(text.strip() for text in given):
        raise fault("must be a non-empty list of texts")
    return given


Text = Annotated[str, Strict(), Says("must be text")]
YesNo = Annotated[bool, Strict(), Says("must be true or false")]
Number = Annotated[float, PlainValidator(_number)]
"""A number neither infinite nor NaN, nor too large for a float; an integer stays one, since digests tell them apart."""
List = BeforeValidator(_listed)
"""A list, and no set: its order is part of digests."""
Texts = Annotated[
    tuple[Text, ...], Field(min_length=1), AfterValidator(_texts), List, Says("must be a non-empty list of texts")
]
