"""The calls of a run that may have changed something, and the outcome of each."""

from collections.abc import Sequence

from planner_executor.graph.data_class import dataclass
from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.plain_text.sanitize import visible_json
from planner_executor.graph.record.call import Call
from planner_executor.graph.record.events import CallStarted


@dataclass(frozen=True)
class EffectRow:
    """One call: its effect as declared, its arguments, and the state that a person needs to know."""

    step: str
    tool: str
    effect: str
    args: str
    state: str
    at: float
    attempt: int
    error: str

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
        error = (call.result.error or "") if call.result is not None else ""
        args = visible_json(call.args)
        state = state_of(call, executing=shown.executing)
        rows.append(EffectRow(call.step, call.tool, effect, args, state, call.begun_at or 0.0, call.attempt, error))
    return sorted(rows, key=lambda row: row.at, reverse=True)


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
