"""A playbook: a plan with typed parameters, and the tools as they were when it was kept."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from planner_executor.graph.errors import InputError
from planner_executor.graph.errors.file_faults import file_faults
from planner_executor.graph.plain_text.sanitize import check_texts
from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.inline_schema import inline_schema_fault, schema_errors
from planner_executor.graph.plan.json_values import json_faults
from planner_executor.graph.plan.library import NO_LIBRARY, KnownPlaybook, Library
from planner_executor.graph.plan.params import NAME, Trust, value_faults
from planner_executor.graph.plan.references import parameters_in, with_parameters
from planner_executor.graph.record.budget import read_budget
from planner_executor.graph.settings.argument_kinds import kind_fault
from planner_executor.graph.words.name_list import listed, there_are

FIELDS = ("name", "version", "description", "parameters", "limits", "steps", "answer", "tools", "source")
LARGEST = 2_000_000
"""Most bytes of a file."""
SECRET = (
    "is a secret, and a secret is no parameter: it would be shown and kept; give it to the tool by its own settings"
)

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")


@dataclass(frozen=True)
class Playbook:
    """A plan with parameters. `path` is the file that it was read from, empty otherwise.

    `parameters` maps names to JSON Schemas; `limits` are those of a run, which lower those of the settings; `tools` has
    the face that each tool had, see `face_of`; `source` says of which run it was made, for people to read.
    """

    name: str
    version: int
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    steps: tuple[Mapping[str, Any], ...]
    answer: JsonValue
    tools: Mapping[str, Mapping[str, Any]]
    source: Mapping[str, Any]
    path: str = ""
    limits: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> "Playbook":
        """Read a playbook from a YAML file, which holds what JSON has and nothing else.

        Raises:
            InputError: The file cannot be read, or is no playbook.
        """
        return cls.parse(content_of(path), str(path))

    @classmethod
    def parse(cls, content: bytes, path: str) -> "Playbook":
        """Read a playbook from the content of the file at `path`.

        Raises:
            InputError: It is no playbook.
        """
        return cls.of(value_in(content, "playbook", path), path)

    @classmethod
    def of(cls, raw: Any, path: str = "") -> "Playbook":
        """Return the playbook that a JSON value holds; what its steps mean is checked when it is started.

        Raises:
            InputError: It is no playbook; all faults are named.
        """
        if faults := list(_faults(raw)):
            raise InputError("playbook", f"{path + ': ' if path else ''}{'; '.join(faults)}")
        return cls(
            name=raw["name"],
            version=raw["version"],
            description=raw.get("description") or raw["name"],
            parameters=raw.get("parameters") or {},
            steps=tuple(raw["steps"]),
            answer=raw.get("answer"),
            tools=raw.get("tools") or {},
            source=raw.get("source") or {},
            path=path,
            limits=raw.get("limits") or {},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the playbook as its file has it, empty fields left out."""
        values = {name: getattr(self, name) for name in FIELDS} | {"steps": list(self.steps)}
        found: dict[str, Any] = json.loads(
            json.dumps({name: value for name, value in values.items() if value not in (None, {}, "")})
        )
        return found

    @property
    def digest(self) -> str:
        """Hex SHA-256 of its content as canonical JSON; comments, spelling and where it comes from do not count."""
        return digest({name: value for name, value in self.to_json().items() if name != "source"})

    @property
    def text(self) -> str:
        """What counts for its digest, as YAML."""
        from planner_executor.graph.text.plan_yaml import to_yaml

        return to_yaml({name: value for name, value in self.to_json().items() if name != "source"})

    @property
    def named(self) -> dict[str, JsonValue]:
        """What the record of a run says that was started by its name; `by` is who chose it."""
        limits = {"limits": dict(self.limits)} if self.limits else {}
        return {"name": self.name, "version": self.version, "digest": self.digest, "by": "name", **limits}

    @property
    def known(self) -> KnownPlaybook:
        """The playbook as planners know it."""
        return KnownPlaybook(
            self.name, self.version, self.digest, self.description, self.parameters, self.steps, self.answer
        )

    def plan(self, params: Mapping[str, JsonValue] | None = None, label: Trust = "user") -> dict[str, Any]:
        """Return the plan with these values, as JSON.

        Args:
            params: Parameter -> value; one that is left out has its default.
            label: The trust in whoever gave the values; a default is the playbook's own.

        Raises:
            InputError: A value is missing, unknown, or does not fit; all faults are named.
        """
        if fault := kind_fault("params", "Mapping[str, Any] | None", params):
            raise InputError("params", f"{self.name}: {fault}")
        given = dict(params or {})
        if faults := list(self._value_faults(given)):
            raise InputError("params", f"{self.name}: {'; '.join(faults)}")
        values = {
            name: {"value": given[name], "label": label}
            if name in given
            else {"value": self._defaults[name], "label": "user"}
            for name in self.parameters
        }
        plan: dict[str, Any] = {"steps": [dict(step) for step in self.steps]}
        plan |= {"answer": self.answer} if self.answer is not None else {}
        return plan | ({"params": values} if values else {})

    def goal(self, params: Mapping[str, JsonValue]) -> str:
        """Return the description with these values, which fit, in place of parameters."""
        return str(with_parameters(self.description, {**self._defaults, **params}))

    @property
    def _defaults(self) -> dict[str, JsonValue]:
        return {name: schema["default"] for name, schema in self.parameters.items() if "default" in schema}

    def example(self) -> dict[str, JsonValue] | None:
        """Return a value for each parameter from its default or its examples; None if one has neither."""
        found = {name: [*_default(schema), *schema.get("examples", ())] for name, schema in self.parameters.items()}
        return {name: values[0] for name, values in found.items()} if all(found.values()) else None

    def issues(
        self, tools: Mapping[str, ToolSpec], values: Mapping[str, JsonValue], library: Library = NO_LIBRARY
    ) -> list[str]:
        """Return the faults of the plan with these values, in words; it may use playbooks of the library."""
        from planner_executor.graph.plan.playbook_expansion import read_expanded  # few agents have playbooks

        return [str(issue) for issue in read_expanded(self.plan(values), tools, library, "user").issues]

    def changes(self, tools: Mapping[str, ToolSpec]) -> list[str]:
        """Return what is different about its tools since it was kept, in words."""
        limited = [name for name in read_budget(self.limits)[0].calls if name not in tools and name not in self.tools]
        return [
            *(f"{name}, whose calls it limits, is missing" for name in limited),
            *(
                f"{name} {what}"
                for name, face in self.tools.items()
                for what in (_differences(face, face_of(tools[name])) if name in tools else ["is missing"])
            ),
        ]

    def writers(self, tools: Mapping[str, ToolSpec]) -> list[str]:
        """Return the tools that can write where its file lies; none if it came from no file."""
        if not self.path:
            return []
        file = Path(self.path).resolve()
        acting = [tool for tool in tools.values() if tool.acts and tool.folder]
        return [tool.name for tool in acting if file.is_relative_to(Path(str(tool.folder)).resolve())]

    def _value_faults(self, given: Mapping[str, JsonValue]) -> Iterator[str]:
        known = there_are(list(self.parameters))
        yield from (f"no parameter {name!r:.80}; {known}" for name in given if name not in self.parameters)
        for name, schema in self.parameters.items():
            if name not in given and "default" not in schema:
                yield f"{name} is missing" + (f": {title}" if (title := schema.get("title")) else "")
            elif name in given:
                # What is no JSON value cannot be compared with a schema.
                wrong = [f"{path} {why}".strip() for path, why in value_faults(given[name])]
                yield from (f"{name}: {why}" for why in wrong or schema_errors(schema, given[name]))


def content_of(path: str | Path) -> bytes:
    """Return the content of a file, cut after the first byte that is too much for a playbook.

    Raises:
        InputError: The file cannot be read, or `path` names none.
    """
    if fault := kind_fault("playbook", "str | Path", path):
        raise InputError("playbook", fault)
    check_texts("playbook", str(path))
    with file_faults("playbook", path), Path(path).open("rb") as file:
        return file.read(LARGEST + 1)


def value_in(content: bytes, kind: str, path: str | Path) -> Any:
    """Return the JSON value that a YAML file holds, which is to be a playbook or a case.

    Raises:
        InputError: It is too large, or no such YAML.
    """
    if len(content) > LARGEST:
        raise InputError(kind, f"{path} has more than {LARGEST} bytes")
    from planner_executor.graph.text.plan_yaml import YamlFault, plan_from_yaml  # YAML takes long to import

    try:
        with file_faults(kind, path):
            return plan_from_yaml(content.decode()).plan
    except YamlFault as fault:
        raise InputError(kind, f"{path}, line {fault.line + 1}: {fault}") from fault


def face_of(tool: ToolSpec) -> dict[str, Any]:
    """Return what a playbook keeps of a tool."""
    return {"effect": tool.effect, "trust": tool.trust, "schema": json.loads(json.dumps(dict(tool.schema)))}


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for what in ("effect", "trust"):
        if what in before and before[what] != now[what]:
            yield f"had the {what} {before[what]}, and has {now[what]}"
    if "schema" in before and digest(before["schema"]) != digest(now["schema"]):
        was, has = before["schema"].get("properties", {}), now["schema"].get("properties", {})
        named = [name for name in {**was, **has} if was.get(name) != has.get(name)]
        yield f"takes other arguments: {listed(named)}" if named else "has another schema"


def _default(schema: Mapping[str, Any]) -> list[JsonValue]:
    return [schema["default"]] if "default" in schema else []


def _faults(raw: Any) -> Iterator[str]:
    if not isinstance(raw, dict):
        yield "it is no playbook; one begins with name:"
        return
    if wrong := list(json_faults(raw)):
        yield from (f"{path.lstrip('.')} {why}" for path, why in wrong)
        return
    yield from (f"unknown key {name!r}; there are {', '.join(FIELDS)}" for name in raw if name not in FIELDS)
    if not isinstance(raw.get("name"), str) or _NAME.fullmatch(raw["name"]) is None:
        yield "name must be a word of small letters, digits, _ and -, 60 at most"
    # By its type: True would pass as a number.
    if type(raw.get("version")) is not int or raw["version"] < 1:
        yield "version must be a whole number from 1 on"
    if not isinstance(raw.get("description", ""), str):
        yield "description must be text"
    steps = raw.get("steps")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        yield "steps must be a list of steps"
    if not isinstance(raw.get("source") or {}, dict):
        yield "source must be an object"
    yield from (f"limits.{place} {why}" for place, why in read_budget(raw.get("limits") or {})[1])
    yield from _table_faults(raw)
    if isinstance(parameters := raw.get("parameters") or {}, dict):
        # One that is used nowhere would be asked for, and change nothing.
        used = {one.name for one in parameters_in([raw.get("steps"), raw.get("answer"), raw.get("description")])}
        yield from (
            f"parameters.{name} is used nowhere; write {{param.{name}}}" for name in parameters if name not in used
        )


def _table_faults(raw: Mapping[str, Any]) -> Iterator[str]:
    for place in ("parameters", "tools"):
        given = raw.get(place) or {}
        if not isinstance(given, dict) or not all(isinstance(value, dict) for value in given.values()):
            yield f"{place} must be an object of objects"
        # Parameters have schemas with values in them, which are checked one by one; a face has one schema.
        elif place == "parameters":
            yield from (f"parameters.{name} {why}" for name, schema in given.items() for why in _schema(name, schema))
        else:
            wrong = [name for name, face in given.items() if not _is_schema(face.get("schema", {}))]
            yield from (f"tools.{name}.schema must be a JSON Schema of an object" for name in wrong)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("properties", {}), dict)


def _schema(name: str, schema: dict[str, Any]) -> Iterator[str]:
    if re.fullmatch(NAME, name) is None:
        yield "is no name; it begins with a letter, then letters, digits and underscores"
    if schema.get("secret") or schema.get("writeOnly") or schema.get("format") == "password":
        yield SECRET
    elif fault := inline_schema_fault(schema):
        yield f"is not a usable JSON Schema: {fault}"
    else:
        examples = schema.get("examples", [])
        for value in [*_default(schema), *(examples if isinstance(examples, list) else [])]:
            yield from (f"has a default or an example that does not fit: {why}" for why in schema_errors(schema, value))
