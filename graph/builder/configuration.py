"""The configuration of a graph, checked before anything starts."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from os.path import realpath
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from planner_executor.graph.calls.equipment import Equipment
from planner_executor.graph.chat_models.retry import is_time_zone
from planner_executor.graph.chat_models.settings import ROLES
from planner_executor.graph.errors import ConfigError, PolicyError
from planner_executor.graph.ledger.seal import FILE_VARIABLE as KEY_FILE_VARIABLE
from planner_executor.graph.plan.attempts import ATTEMPT_FIELDS, limit_fault
from planner_executor.graph.plan.catalog import ToolSpec, absent_in
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.policy.strictness import looser_points
from planner_executor.graph.record.budget import NO_BUDGET, Budget, read_budget
from planner_executor.graph.settings.settings import CHOICES, SETTINGS, Settings
from planner_executor.graph.settings.settings_file import SettingsFile, Table, settings_file
from planner_executor.graph.settings.trust import is_trusted, store_path
from planner_executor.graph.words.name_list import right_name
from planner_executor.graph.words.tables import List, Says, Text, fault
from planner_executor.graph.words.toml_lines import line_of
from planner_executor.graph.words.unreadable import unreadable
from planner_executor.tools.import_folders import import_folders, installation_folders
from planner_executor.tools.packs import DEFAULT_PACKS, LOOKS, PACKS

POLICY_VARIABLE = "PLANNER_EXECUTOR_POLICY"


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Return the settings that a caller gives by name.

    Of two approval modes, the caller's and the policy's, the one that asks more often holds.

    Raises:
        ConfigError: One is unknown or cannot work; the message names it.
    """
    known = {field.name for field in fields(Settings)}
    if unknown := sorted(set(given) - known):
        raise ConfigError(f"no setting is named {unknown[0]}; {right_name(unknown[0], sorted(known))}")
    policy = policy_of(given.get("policy"))
    looks = looks_named(given.get("look", ()))
    settings = Settings(**{**given, "policy": policy, "budget": budget_of(given.get("budget")), "look": looks})
    for name, allowed in CHOICES.items():
        if getattr(settings, name) not in allowed:
            raise ConfigError(f"{name} must be one of {', '.join(map(str, allowed))}, got {getattr(settings, name)!r}")
    for name, told in SETTINGS.items():
        value = getattr(settings, name)
        if told.least is not None and (type(value) is not int or value < told.least):
            raise ConfigError(f"{name} must be an integer >= {told.least}, got {value!r}")
    for name in ATTEMPT_FIELDS:
        if (limit := getattr(settings, name)) is not None and (fault := limit_fault(name, limit)):
            raise ConfigError(f"{name}={limit!r} is not possible; it {fault}")
    _check_names(settings)
    modes = [mode for mode in (given.get("approval"), policy.approval) if mode]
    # The choices stand in the order from the mode that asks most to the one that asks least.
    return replace(settings, approval=min(modes, key=CHOICES["approval"].index)) if modes else settings


def _check_names(settings: Settings) -> None:
    """Check what settings name besides numbers and choices.

    Raises:
        ConfigError: One names something that cannot be.
    """
    if isinstance(settings.look, str) or not all(isinstance(name, str) for name in settings.look):
        raise ConfigError(f"look must be a list of names of tools, or 'packs', got {settings.look!r}")
    if not is_time_zone(settings.time_zone):
        raise ConfigError(
            f"time_zone={settings.time_zone!r} is unknown; give an IANA name, such as Europe/Berlin, or UTC"
        )
    if strange := sorted(set(settings.instructions) - set(ROLES)):
        raise ConfigError(f"instructions: unknown role {', '.join(strange)}; the roles are {', '.join(ROLES)}")


def policy_named(given: Any, config: str | Path | None = None) -> Any:
    """Return the source of the policy: here, by PLANNER_EXECUTOR_POLICY, or by `policy` in the settings file.

    Args:
        given: A path, plain data or a `Policy`; None to use the environment or the settings file.
        config: The settings file, see `graph.settings.settings_file`; a path in it begins at its folder.

    Raises:
        ConfigError: The settings file cannot be read; or nobody named it, and the policy in its folder allows more than
            none would, without being trusted.
    """
    if given is not None:
        return given
    if named := os.environ.get(POLICY_VARIABLE):
        return named
    file = settings_file(config)
    policy = policy_beside(file)
    if policy is not None and not file.is_named:
        _check_policy_of_a_folder(policy, file)
    return policy and str(policy)


def policy_beside(file: SettingsFile) -> Path | None:
    """Return the policy that a settings file names; a relative path begins at the file's folder.

    Raises:
        ConfigError: It names none by a path.
    """
    named = POLICY.value_in(file)
    return file.path.parent / named if named is not None else None


def tools_in_file(config: str | Path | None) -> Sequence[str]:
    """Return the tools that a settings file names as `module:name`.

    Raises:
        ConfigError: It names something else, or the user neither named nor trusted the file.
    """
    return TOOLS.value_in(settings_file(config)) or []


def looks_named(given: Any) -> Any:
    """Return the tools that the setting `look` names: with "packs" those that the packs mark."""
    return LOOKS if given == "packs" else given


def looks_in_file(config: str | Path | None) -> Sequence[str]:
    """Return the tools by which planners may look before they propose, as a settings file names them.

    Raises:
        ConfigError: It names something else, or the user neither named nor trusted the file.
    """
    return LOOK.value_in(settings_file(config)) or ()


def identity_in_file(config: str | Path | None) -> str | None:
    """Return the adapter that a settings file names as `module:name`, which verifies the people whom code names.

    Raises:
        ConfigError: It names something else, or the user neither named nor trusted the file.
    """
    return IDENTITY.value_in(settings_file(config))


TOOLS: Table[Sequence[str]] = Table(
    "tools",
    Annotated[tuple[Text, ...], List, Says("takes a list such as ['shop.tools:TOOLS']")],
    lambda names: [f"imports {name}" for name in names],
)
LOOK: Table[Sequence[str]] = Table(
    "look",
    Annotated[
        tuple[Text, ...],
        List,
        BeforeValidator(looks_named),
        Says("takes a list of tools such as ['list_documents'], or 'packs' for those that the packs mark"),
    ],
    lambda names: [f"lets planners call {name} before anybody is asked" for name in names],
)
IDENTITY: Table[str] = Table(
    "identity",
    Annotated[str, Strict(), Says("takes a function such as 'shop.people:verified'")],
    lambda name: [f"imports {name}, which says who people are"],
)


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in PACKS]:
        raise fault(f"has {unknown[0]!r}, which is no pack; {right_name(unknown[0], PACKS)}")
    return names


Packs = Annotated[
    tuple[Text, ...], List, Says(f"takes a list of packs, such as ['{DEFAULT_PACKS[0]}']"), AfterValidator(_known)
]
PACK: Table[Sequence[str]] = Table(
    "pack",
    Packs,
    lambda names: [f"adds the pack {name}" for name in names if name not in DEFAULT_PACKS],
)
POLICY: Table[str] = Table(
    "policy", Annotated[str, Strict(), Field(min_length=1), Says("takes the path of a policy file")]
)


def _check_policy_of_a_folder(policy: Path, file: SettingsFile) -> None:
    """Refuse a policy neither named nor trusted, if it allows anything that would not be allowed without it.

    It has a digest of its own: that of the settings file does not cover it.
    """
    looser = looser_points(policy_of(policy), NO_POLICY)
    if looser and not (file.is_trusted and is_trusted(policy, policy.read_bytes())):
        raise ConfigError(
            f"{policy} is not trusted, and allows more than no policy would ({looser[0]}); {file.next_move}"
        )


def policy_of(given: Any) -> Policy:
    """Return a policy from a TOML file's path, from its data, or as it is.

    Raises:
        PolicyError: The file cannot be read, or something in it is not understood.
    """
    if given is None:
        return NO_POLICY
    from planner_executor.graph.policy.policy_file import policy_from, policy_from_toml  # many agents have no policy

    if isinstance(given, Policy):
        return policy_from(given.to_json())
    if isinstance(given, Mapping):
        return policy_from(given)
    if not isinstance(given, str | Path):
        raise ConfigError(f"policy must be a file, a table or a Policy, got {given!r}")
    try:
        text = Path(given).read_text("utf-8")
    except (OSError, ValueError) as error:  # a ValueError also for a path with a NUL character
        raise PolicyError(str(given), f"cannot be read: {unreadable(error)}") from error
    return policy_from_toml(text, str(given))


def budget_of(given: Any) -> Budget:
    """Return a budget from plain data, or as it is.

    Raises:
        ConfigError: A limit is unknown or is no number.
    """
    if given is None:
        return NO_BUDGET
    budget, faults = read_budget(given.to_json() if isinstance(given, Budget) else given)
    if faults:
        raise ConfigError("budget: " + "; ".join(f"{name} {why}" for name, why in faults))
    return budget


def check(equipment: Equipment, policy: Any = None, config: str | Path | None = None) -> None:
    """Check that models, tools and policy are consistent, and that no tool can write policy, settings or ledger.

    Args:
        equipment: What the graph works with.
        policy: The source of the policy; a path is a file that tools must not reach.
        config: The settings file, which tools must not reach either, nor the default path if none is given.

    Raises:
        ConfigError: A rule or a limit names something unknown, a model has no price under a cost budget, or a tool
            could write the policy, the settings, the list of trusted files, the key that seals runs, or code.
    """
    for path, why in _strange_rules(equipment):
        raise PolicyError(_name(policy), f"{'.'.join(path)} {why}", _line(policy, path))
    for tool in equipment.settings.budget.calls:
        if tool not in equipment.every_tool.specs and tool not in absent_in(equipment.every_tool.specs):
            raise ConfigError(f"budget: calls.{tool} {_unknown_tool(equipment.every_tool.specs)}")
    for tool in equipment.settings.look:
        if tool not in (*equipment.toolbox.specs, *LOOKS) and tool not in absent_in(equipment.toolbox.specs):
            raise ConfigError(f"look: {tool} {_unknown_tool(equipment.toolbox.specs)}")
    equipment.check_prices()
    # A tool that could write one of these files would set its own rules, or forge what is on record.
    key_file = os.environ.get(KEY_FILE_VARIABLE) or None
    for file in (policy, settings_file(config).path, store_path(), key_file):
        if isinstance(file, str | Path):
            check_reach(equipment.every_tool.specs, file)
    check_imports(equipment.every_tool.specs)


def check_imports(tools: Mapping[str, ToolSpec]) -> None:
    """Check that no tool can write where this Python finds its code.

    Raises:
        ConfigError: An entry of `sys.path` lies in the folder of a tool that does more than read, or that folder in
            the installation.
    """
    for entry in import_folders():
        check_reach(tools, entry, "Python imports from it")
    for folder, tool in _writers(tools).items():
        for prefix in installation_folders():
            if Path(realpath(folder)).is_relative_to(prefix):
                raise ConfigError(
                    f"{folder}, where {tool} can write, lies within {prefix}, where Python is installed; "
                    "choose another folder"
                )


def check_reach(tools: Mapping[str, ToolSpec], file: str | Path, why: str = "") -> None:
    """Check that no tool can write a file or folder that authority rests on.

    Args:
        tools: The tools.
        file: The file or folder.
        why: What makes it one, unless the name says so.

    Raises:
        ConfigError: It lies in the folder of a tool that does more than read.
    """
    real = Path(realpath(file))
    for folder, tool in _writers(tools).items():
        if real.is_relative_to(realpath(folder)):
            because = f"; {why}: " if why else "; "
            raise ConfigError(f"{file} lies within {folder}, where {tool} can write{because}keep it elsewhere")


def _writers(tools: Mapping[str, ToolSpec]) -> dict[str, str]:
    """Return the folders that tools write to, each with the name of the first of its tools."""
    found: dict[str, str] = {}
    for tool in tools.values():
        if tool.acts and tool.folder:
            found.setdefault(tool.folder, tool.name)
    return found


def _strange_rules(equipment: Equipment) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (location, reason) for policy rules that match no tool or model.

    A rule about a tool whose extra is missing here is kept for the machine that has it.
    """
    rules, specs = equipment.settings.policy, equipment.every_tool.specs
    unknown = _unknown_tool(specs)
    names = {*specs, *absent_in(specs)}
    named: Mapping[tuple[str, ...], Iterable[str]] = {
        ("tools",): rules.tools,
        ("approvers", "tools"): rules.approvers.tools,
        ("approvers", "calls", "tools"): rules.approvers.calls.tools if rules.approvers.calls is not None else (),
        ("limits", "calls"): rules.limits.calls,
        ("limits", "per_day", "calls"): rules.per_day.tools,
    }
    yield from (((*place, name), unknown) for place, of in named.items() for name in of if name not in names)
    for name, rule in rules.tools.items():
        for argument, constraint in rule.args.items():
            where = ("tools", name, "args", argument)
            if name in specs and not specs[name].takes(argument):
                yield where, "is not an argument of the tool"
            # Sources too: a name that no tool has would let nothing in, and the operator believes that it does.
            strange = [source for source in constraint.untrusted_from if source not in names]
            yield from (((*where, "untrusted_from"), f"names {source!r}, which {unknown}") for source in strange)
        strange = [one for one in rule.ask_when if name in specs and not specs[name].takes(one)]
        yield from ((("tools", name, "ask_when", one), "is not an argument of the tool") for one in strange)
    strange = [name for name in rules.leaving_previews if name not in names]
    yield from ((("leaving_previews",), f"names {name!r}, which {unknown}") for name in strange)
    # Models of clients are not known by now; a price is what names one beforehand.
    known = {*names, *equipment.models.names, *rules.prices}
    strange = [name for name in rules.rates if name not in known]
    why = "is neither a tool nor a model; a model that clients may choose needs a price"
    yield from ((("rates", name), why) for name in strange)


def _unknown_tool(known: Iterable[str]) -> str:
    ways = "name a tool of yours with --tools or --mcp, in Python with tools=[...]"
    return f"is not a known tool; there are {', '.join(known)}; {ways}"


def _line(policy: Any, path: tuple[str, ...]) -> int | None:
    return line_of(Path(policy).read_text("utf-8"), path) if isinstance(policy, str | Path) else None


def _name(policy: Any) -> str:
    return str(policy) if isinstance(policy, str | Path) else "policy"
