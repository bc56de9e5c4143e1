"""The calls of a run that may have changed something, the outcome of each, and the files that they wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.events import CallStarted


@dataclass(frozen=True)
class EffectRow:
    """One call: its effect as declared, its arguments, and the state that a person needs to know."""

    call: Call
    effect: str
    args: str
    state: str

    @property
    def is_written(self) -> bool:
        """Whether it has changed something on this machine."""
        return self.effect == "write" and self.state in ("happened", "settled by a person")


def effect_rows(shown: ShownRun) -> Sequence[EffectRow]:
    """Return the calls that are more than reading from this machine, the latest first."""
    effects = {data.key: data.effect for event in shown.events if isinstance(data := event.data_if_known, CallStarted)}
    rows = []
    for call in shown.record.calls.by_key.values():
        effect = effects.get(call.key) or "external"  # as for a tool that declares nothing
        if effect == "read":
            continue
        rows.append(EffectRow(call, effect, visible_json(call.args), state_of(call, executing=shown.executing)))
    return sorted(rows, key=lambda row: row.call.begun_at or 0.0, reverse=True)


@dataclass(frozen=True)
class WrittenFile:
    """A file that a call wrote, as its result names it; `size` in bytes, None if that does not say it."""

    path: str
    size: int | None
    folder: str
    step: str


def files_in(rows: Sequence[EffectRow], tools: Mapping[str, ToolSpec]) -> tuple[list[WrittenFile], list[EffectRow]]:
    """Return the files that calls wrote, each once, and the calls of which the record does not say which they wrote.

    A tool that declares a folder, and whose result has a `path`, says what it wrote there.
    """
    files, others = dict[tuple[str, str], WrittenFile](), list[EffectRow]()
    for row in (row for row in rows if row.is_written):
        call, result = row.call, row.call.result
        folder = tools[call.tool].folder if call.tool in tools else None
        says = result.value if result is not None and isinstance(result.value, dict) else {}
        # A result is the tool's to write, so its types are looked at.
        path, size = says.get("path"), says.get("bytes")
        if folder is None or not isinstance(path, str):
            others.append(row)
        else:
            # The first writer of a file stays, and later ones do not make it two.
            files.setdefault((folder, path), WrittenFile(path, size if type(size) is int else None, folder, call.step))
    return list(files.values()), others


def state_of(call: Call, *, executing: bool) -> str:
    """Return the state of a call in a word or two; the order matters, since a settled call has a result as well."""
    if call.nothing_happened:
        return "nothing happened"
    if call.result is None and executing:
        return "running"
    if call.is_uncertain:
        return "uncertain"
    if call.settled:
        return "settled by a person"
    return "happened" if call.result is not None and call.result.status == "succeeded" else "failed"
