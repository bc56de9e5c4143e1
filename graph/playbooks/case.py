"""A case of a playbook: values of its parameters, what tools, models and people answer, and what has to come of it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.checks import check_faults
from planner_executor.graph.playbooks.playbook import content_of, value_in
from planner_executor.graph.record.check_results import Evidence, findings
from planner_executor.graph.record.run_status import EndStatus
from planner_executor.graph.text.plan_yaml import to_yaml
from planner_executor.graph.words.name_list import counted
from planner_executor.graph.words.tables import ClosedTable, Shape, read

ENDING = ".cases"
"""What the name of the folder of cases ends with; it lies beside the playbook."""


class Answer(ClosedTable):
    """What one call answers: of a `tool`, of the model of a step by its `role`, or of a person, without either.

    `call` and `item` are those of the record; of a model and a person they count from 0. An answer of a tool without
    `step` serves each call of it that has no answer of its own. `error` fails the call instead.
    """

    step: str = ""
    item: int | None = None
    call: int = Field(default=0, ge=0)
    tool: str | None = None
    role: Literal["executor", "judge"] | None = None
    answer: JsonValue = None
    error: str | None = None


class ExpectedCall(ClosedTable):
    """A tool that is to be called with these arguments among others: `times` times, at least once if unset."""

    tool: str
    args: dict[str, JsonValue] = Field(default_factory=dict)
    times: int | None = Field(default=None, ge=0)

    def is_met_by(self, call: "MadeCall") -> bool:
        """Whether a call is one of these."""
        tool, args = call
        return tool == self.tool and all(name in args and args[name] == value for name, value in self.args.items())

    def __str__(self) -> str:
        """Return it for people."""
        return f"{self.tool}({', '.join(f'{name}={value!r:.60}' for name, value in self.args.items())})"


MadeCall = tuple[str, Mapping[str, JsonValue]]


class Case(ClosedTable):
    """A case; `source` says of which run it was made, for people to read.

    `ends` is the status of the run's end, `calls` are calls that it makes, one after the other if `in_order` is set,
    and `checks` are those of plan steps, over its answer.
    """

    source: dict[str, JsonValue] = Field(default_factory=dict)
    params: dict[str, JsonValue] = Field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    ends: EndStatus = "succeeded"
    calls: tuple[ExpectedCall, ...] = ()
    in_order: bool = False
    checks: tuple[dict[str, JsonValue], ...] = ()

    @classmethod
    def load(cls, path: Path) -> "Case":
        """Read a case from a YAML file.

        Raises:
            InputError: The file cannot be read, or is no case.
        """
        raw = value_in(content_of(path), "case", path)
        case, faults = read(Annotated[cls, Shape("must be an object with {names}")], raw)
        words = [f"{'.'.join(place)} {why}".strip() for place, why in faults]
        if words := words or [fault for check in case.checks for fault in check_faults(check, case.tools)]:
            raise InputError("case", f"{path}: {'; '.join(words)}")
        found: Case = case
        return found

    @property
    def tools(self) -> set[str]:
        """The tools that it has answers of, or expects calls of."""
        return {one.tool for one in self.answers if one.tool is not None} | {one.tool for one in self.calls}

    def to_text(self) -> str:
        """Return the case as its file has it, without what is left at its default."""
        raw = self.model_dump(mode="json", exclude_defaults=True)
        return to_yaml({**raw, "ends": self.ends})

    def faults(self, status: str, reason: str | None, answer: JsonValue, made: Sequence[MadeCall]) -> Iterator[str]:
        """Yield what is otherwise than the case says about a run that ended so and made these calls."""
        if status != self.ends:
            # The rest is told too: it may say why.
            yield f"it ended {status}, not {self.ends}" + (f": {reason}" if reason else "")
        for expected in self.calls:
            found = sum(map(expected.is_met_by, made))
            if found != expected.times if expected.times is not None else not found:
                wanted = "at least once" if expected.times is None else counted(expected.times, "time")
                yield f"{expected} was called {counted(found, 'time')}, not {wanted}"
        if self.in_order and (late := _first_out_of_order(self.calls, made)) is not None:
            yield f"{late} was not called after the calls before it"
        if status == "succeeded":
            called = Counter(tool for tool, _ in made)
            seen = findings(self.checks, Evidence(answer, called, lambda _: None))
            yield from (f"answer: {one}" for one in seen if not one.met)


def cases_beside(playbook: str) -> dict[str, Path]:
    """Return the files of the cases beside a playbook's file, by name."""
    return {file.stem: file for file in sorted(folder_of_cases(playbook).glob("*.yaml")) if file.is_file()}


def folder_of_cases(playbook: str) -> Path:
    """Return the folder for the cases of a playbook's file."""
    return Path(playbook).with_suffix(ENDING)


def _first_out_of_order(calls: Sequence[ExpectedCall], made: Sequence[MadeCall]) -> ExpectedCall | None:
    # One iterator for all of them: each call is looked for behind the one before it.
    left = iter(made)
    return next((one for one in calls if one.times != 0 and not any(one.is_met_by(call) for call in left)), None)
