"""The pages of the reference that are made from the code; `make snapshots` writes them."""

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import getdoc
from pathlib import Path
from typing import Any

import authority
import pytest
import text_ways
from full_payloads import FULL
from typer.core import TyperGroup
from typer.main import get_command

from planner_executor import AllowedHost, default_tools
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.cli import app
from planner_executor.graph.plan import (
    bounded_schema,
    expressions,
    json_values,
    look,
    lookalikes,
    params,
    patterns,
    reading,
    schema_shape,
)
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.normalization import ALIASES, MOST_LOOKS
from planner_executor.graph.record.events import TYPES
from planner_executor.graph.settings.run_settings import Setting
from planner_executor.graph.settings.settings import DEFAULTS, SETTINGS
from planner_executor.tools import calculator
from planner_executor.tools.documents import pdf_text
from planner_executor.tools.documents.pdf_blocks import PDF_BOUNDS
from planner_executor.tools.packs import PACKS

ROOT = Path(__file__).parents[2]
PROMISES: dict[str, dict[str, list[str]]] = tomllib.loads((Path(__file__).parent / "promises.toml").read_text())
CLIENT = {"lowers": "may lower it", "sees": "is shown it", "ignores": ""}
COMMON = 4
"""An option of so many commands, with the same words, is told once for all of them."""


def cell(text: str) -> str:
    """Return text as a cell of a table, on one line."""
    return " ".join(text.split()).replace("|", "\\|")


def table(*rows: tuple[str, ...]) -> str:
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *others])


def settings() -> Iterator[str]:
    yield "# Settings"
    yield (
        "Arguments of `build_graph` and `Agent`; those with an option are options of `run`, `resume` and others too. "
        "[Terms](when-a-run-stops.md#the-terms-of-a-run) are compared with these when a run goes on."
    )
    yield table(
        ("Setting", "Sets", "Default", "Option", "A client of a server", "In a suite"),
        *(setting_row(name, told) for name, told in SETTINGS.items()),
    )


def setting_row(name: str, told: Setting) -> tuple[str, ...]:
    default = DEFAULTS.get(name)
    shown = f"{default:,}" if isinstance(default, int) and not isinstance(default, bool) else f"`{default}`"
    option = f"`--{name.replace('_', '-')} {told.option}`" if told.option else ""
    shown = shown if isinstance(default, int | str) else "none"
    return (f"`{name}`", told.help, shown, option, CLIENT[told.client], "yes" if told.suite else "")


@dataclass(frozen=True)
class Option:
    """An option or argument of a command, as `--help` says it."""

    names: str
    metavar: str
    help: str
    is_option: bool

    @classmethod
    def of(cls, parameter: Any) -> "Option":
        names = "`, `".join([*parameter.opts, *parameter.secondary_opts])
        metavar = "" if getattr(parameter, "is_flag", False) else parameter.metavar or ""
        return cls(names, metavar, parameter.help or "", parameter.param_type_name == "option")

    @property
    def row(self) -> tuple[str, str]:
        return cell(f"`{self.names} {self.metavar}`" if self.metavar else f"`{self.names}`"), cell(self.help)


def leaves(command: Any, name: str = "planner-executor") -> Iterator[tuple[str, Any]]:
    """Yield each command that does something, with its full name."""
    for part, child in command.commands.items():
        if isinstance(child, TyperGroup):
            yield from leaves(child, f"{name} {part}")
        else:
            yield f"{name} {part}", child


def commands() -> Iterator[str]:
    known = {name: (child, [Option.of(each) for each in child.params]) for name, child in leaves(get_command(app))}
    number = Counter(option for _, options in known.values() for option in options if option.is_option)
    common = [option for option, times in number.items() if times >= COMMON]
    yield "# Commands"
    yield (
        "What `--help` says. RUN is a thread and a number, such as `demo.1`; a thread alone is its latest run, and "
        "a unique beginning is enough. See [Command line](command-line.md) for decisions and exit codes."
    )
    for name, (child, options) in known.items():
        arguments = " ".join(option.metavar for option in options if not option.is_option)
        yield f"## {cell(f'{name} {arguments}'.strip())}"
        yield re.sub(r"\n\n|\n", lambda found: "\n\n" if found[0] == "\n\n" else " ", child.help or "")
        rows = [option.row for option in options if option not in common]
        if rows:
            yield table(("Option", "Meaning"), *rows)
        shared = [f"`{option.names}`" for option in options if option in common]
        if shared:
            yield f"[Common options](#common-options): {', '.join(shared)}."
    yield "## Common options"
    yield table(("Option", "Meaning"), *(option.row for option in common))


def events() -> Iterator[str]:
    yield "# Events"
    yield (
        "The kinds of events in the [ledger](records.md). An empty field may be absent; a field that holds a value may "
        "hold `artifact` instead, and an event written by a node has its `checkpoint`."
    )
    rows = (
        (f"`{kind}`", cell((getdoc(made) or "").partition("\n\n")[0]), ", ".join(f"`{name}`" for name in fields(kind)))
        for kind, made in TYPES.items()
    )
    yield table(("Kind", "Meaning", "Fields"), *rows)


def fields(kind: str) -> list[str]:
    return list(TYPES[kind].from_json(FULL[kind]).to_json())


def own_tools() -> Iterator[str]:
    yield "# The project's own tools"
    yield (
        "What each declares, and what models are told of it; `planner-executor tools` has the arguments too. "
        "[Tools](tools.md) says how packs are chosen, and what bounds the tools have."
    )
    yield table(
        ("Pack", "Tools that", "There by default"),
        *((f"`{name}`", pack.purpose, "yes" if pack.by_default else "by name") for name, pack in PACKS.items()),
    )
    hosts = [AllowedHost("https://api.example.org", ("GET", "POST"))]
    specs = Toolbox(default_tools(Path("docs"), Path("workspace"), hosts, packs=tuple(PACKS))).specs
    head = ("Tool", "Description", "Pack", "Effect", "Repeatable", "Seconds", "Output trusted")
    yield table(head, *(tool_row(name, specs[tool]) for name, pack in PACKS.items() for tool in pack.tools))


def tool_row(pack: str, spec: ToolSpec) -> tuple[str, ...]:
    yes = {True: "yes", False: "no"}
    declared = (spec.effect, yes[spec.repeatable], f"{spec.timeout_s:g}", yes[spec.trusted])
    return (f"`{spec.name}`", cell(spec.description), pack, *declared)


def promises() -> Iterator[str]:
    yield "# Promises, and the tests that hold them"
    yield "What [Security](security.md) and its neighbours promise, each with the tests that fail if it is broken."
    for section, told in PROMISES.items():
        yield f"## {section}"
        yield table(
            ("Promise", "Tests"), *((says, "<br>".join(f"`{test}`" for test in tests)) for says, tests in told.items())
        )


def who_may_say_what() -> Iterator[str]:
    yield "# Who may say what"
    yield (
        "By which way a word can come; [Security](security.md#who-may-say-what) says who is who. What is forbidden by "
        "`no`, or outside the bounds of a row, is refused or ignored. Tests try each of these cells by every way that "
        "its column has."
    )
    yield "\n".join(authority.table())


def trust() -> Iterator[str]:
    yield "# Trust of text in arguments"
    yield (
        "What lets a call with an effect be made, by the way on which text of a tool's result reaches an argument, and "
        "by what that tool declares; see [Side effects](side-effects.md#trust). Each cell is tried by a test."
    )
    yield text_ways.table()


def bounds() -> Iterator[str]:
    yield "# Bounds"
    yield (
        "Work on input from outside is counted in steps, or done in a child process with bounds of time and memory. "
        "Input that reaches its bound is refused; it never counts as allowed, as valid or as met. "
        "[Tools](tools.md#bounds) has those of tools."
    )
    deep = f"nested {json_values.MAX_DEPTH:,} deep"
    rows = (
        ("a plan: input, file, edit, model's answer", "client, model", f"{DEFAULTS['max_steps']:,} steps, {deep}"),
        ("answers, edits, resume values, states", "client", "as plans, also for JSON in text"),
        ("values of `params`", "client, model", f"{params.MOST:,}, of {params.MAX_CHARACTERS:,} characters each"),
        ("looks", "model", f"{MOST_LOOKS} in a proposal, {look.MOST_LOOKS_OF_A_RUN} in a run"),
        (
            "schemas in `output` and `checks`, and of tools",
            "model, server",
            f"{schema_shape.MAX_PARTS:,} parts, nested {schema_shape.MAX_DEPTH:,} deep, "
            f"{schema_shape.MAX_IN_PLACE:,} for one value",
        ),
        (
            "a value validated against a schema",
            "model, tool",
            f"{bounded_schema.MAX_WORK:,} steps, the first {bounded_schema.MAX_ERRORS} errors; all of a plan "
            f"{reading.MAX_WORK:,} steps",
        ),
        (
            "`pattern`, `matches`, a policy's `pattern`",
            "model, server, operator",
            f"[RE2](https://github.com/google/re2/wiki/Syntax); {patterns.MAX_LENGTH:,} characters, "
            f"{patterns.MAX_BYTES:,} bytes compiled; texts of {patterns.MAX_CHARACTERS:,} characters",
        ),
        (
            "an expression: in a reference, `when`, or `condition` and `of` of a check",
            "model",
            f"{expressions.MAX_CHARACTERS:,} characters, {expressions.MAX_DEPTH} levels, "
            f"{expressions.MAX_WORK:,} steps",
        ),
        ("what the references of one step give", "model, tool", f"{expressions.MAX_SIZE:,} characters"),
        ("drawings, review text", "model, client", "linear in steps and edges"),
        ("policy, settings, suites, MCP configuration", "whoever writes the file", "linear; too deep is an error"),
        (
            "`calculator`",
            "model",
            f"{calculator.LONGEST_EXPRESSION} characters, numbers of {calculator.MOST_BITS:,} bits",
        ),
        ("exported runs", "anybody", "each line is parsed alone; a malformed record is refused"),
        (
            "PDFs in the folder of documents",
            "anybody",
            f"a child process: {PDF_BOUNDS.time_s} seconds, {PDF_BOUNDS.memory_bytes:,} bytes of memory, "
            f"{pdf_text.MOST_CHARACTERS:,} characters",
        ),
    )
    yield table(("Entry", "Who writes it", "Bound"), *rows)


SEARCH = ToolSpec("search", "Search.", {"properties": {"query": {"type": "string"}}, "required": ["query"]})
SPELLED: tuple[Any, ...] = (
    [{"id": "a", "description": "Ask"}],
    {"goal": "g", "thought": "t", "reasoning": "r", "steps": [{"subgoal_id": "a", "objective": "Ask"}]},
    {"plan": {"steps": [{"step": 1, "objective": "Ask"}]}},
    {"name": "plan", "arguments": {"steps": [{"id": "a", "step": "Ask Ann", "tool": "none"}]}},
    [{"id": "1", "objective": "Ask"}, {"id": "b", "objective": "Tell", "dependencies": "1"}],
    [{"id": "a", "objective": "Ask", "tool": "search", "input": "wind"}],
    [{"id": "a", "objective": "Ask", "tool": "search", "arguments": '{"query": "wind"}'}],
)
"""Plans in other spellings than those of the format."""
LIKE_REFERENCES = (
    "{step_1} {{ step_1 }} ${step_1} $step_1 <step_1> <step_1_result> [step_1_result] #E1",
    "{step_1.url} {step_1['url']} {{step_1.url}} $step_1.url {step_1_output.url} {{ step_1_result.url }} #E1.url",
    "{results.step_1.url} {{ steps.step_1.output.url }} ${{ steps.step_1.outputs.url }} $(step_1.url)",
)
"""Text in the notation of other systems."""


def spellings() -> Iterator[str]:
    yield "# Other spellings"
    yield (
        "Names in common use are read as those of the [plan format](plan-format.md), and the record says so. Any other "
        "unknown key is an error that names it; so is a field under two names, and a repeated key with other values."
    )
    names = {ours: [f"`{name}`" for name, field in ALIASES.items() if field == ours] for ours in ALIASES.values()}
    yield table(("Written", "Field"), *((", ".join(theirs), f"`{ours}`") for ours, theirs in names.items()))
    yield table(("Written", "Read as", "On record"), *map(spelling_row, SPELLED))
    yield "## Text that looks like a reference"
    yield (
        "Text that looks like a reference to a step of the plan is a fault, which names the right spelling. "
        "`${step_1_result.price}` is one too: `$${step_1_result.price}` is a dollar sign before the value."
    )
    found = [
        (one.written, str(one.meant)) for text in LIKE_REFERENCES for one in lookalikes.lookalikes_in(text, ["step_1"])
    ]
    meant = {ours: ", ".join(f"`{written}`" for written, one in found if one == ours) for _, ours in found}
    yield table(("Written", "The fault names"), *((cell(theirs), f"`{ours}`") for ours, theirs in meant.items()))


def spelling_row(raw: Any) -> tuple[str, ...]:
    read = reading.read_plan(raw, {"search": SEARCH})
    assert read.plan is not None
    return (
        f"`{json.dumps(raw)}`",
        f"`{json.dumps(read.plan.to_json())}`",
        "<br>".join(f"`{note}`" for note in read.notes),
    )


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "authority.md": who_may_say_what,
    "bounds.md": bounds,
    "commands.md": commands,
    "events.md": events,
    "own-tools.md": own_tools,
    "promises.md": promises,
    "settings.md": settings,
    "spellings.md": spellings,
    "trust.md": trust,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_what_the_code_says(name: str) -> None:
    page = ROOT / "docs" / name
    text = "\n\n".join(PAGES[name]()) + "\n"
    if os.environ.get("RENEW_SNAPSHOTS"):
        page.write_text(text)

    assert page.read_text() == text, f"{page} differs; `make snapshots` writes it anew"


def test_each_promise_is_held_by_tests_that_are_there() -> None:
    lost = []
    for tests in (tests for told in PROMISES.values() for tests in told.values()):
        assert tests
        for file, _, test in (each.partition("::") for each in tests):
            text = (ROOT / file).read_text() if (ROOT / file).is_file() else ""
            lost += [f"{file}::{test}"] if f"def {test}" not in text else []
    assert lost == []
