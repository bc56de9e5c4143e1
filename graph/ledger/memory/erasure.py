"""Taking a value out of a thread in memory, and finding what is left of it."""

from collections.abc import Iterator, Sequence

from planner_executor.graph.ledger.erasure import ThreadErasure
from planner_executor.graph.ledger.family import effects_of
from planner_executor.graph.ledger.memory.store import Store
from planner_executor.graph.ledger.seal import SealKey
from planner_executor.graph.ledger.standing import redacted_rows
from planner_executor.graph.ledger.transcript import artifact_ids
from planner_executor.graph.record.run_key import RunKey


def erase(
    store: Store, database: str, key: SealKey | None, runs: Sequence[RunKey], found: ThreadErasure, by: str, reason: str
) -> tuple[dict[RunKey, tuple[int, ...]], int]:
    """Write a redaction, atomically; return the changed events of each run, and how many approvals held the value."""
    approvals = redacted_rows(database, store.standing, found.redactor, by, reason)
    changed = {}
    for run, erasure in zip(runs, found.runs, strict=True):
        stored = store.run(database, run)
        stored.inbox[:] = map(found.redactor.text, stored.inbox)
        if erasure.rows:
            changed[run] = tuple(erasure.rows)
            stored.rows[:] = [erasure.rows.get(row.seq, row) for row in stored.rows]
            stored.fold = None
            stored.effects.clear()
            stored.note_effects(effects_of(stored.rows))
            store.uses.forget(stored.number)
            store.uses.note(stored.number, artifact_ids(stored.events()))
            store.write(database, key, stored, [erasure.redacted(by, reason)], ())
    store.artifacts.update({artifact.id: text for artifact, text in found.artifacts.values()})
    store.remove_unused(found.artifacts)
    for name, rows in approvals.items():
        new = {row.seq: row for row in rows}
        store.standing[name] = [new.pop(row.seq, row) for row in store.standing[name]] + [*new.values()]
    return changed, len(approvals)


def places_of(store: Store, forms: Sequence[str]) -> Iterator[str]:
    """Yield the places that still hold a value, in one of its forms."""
    # A copy of what there is: it is gone through on a thread while others may write.
    for run in tuple(store.runs):
        texts = [run.key.thread, *run.inbox, str(run.summary)]
        texts += [text for row in run.rows for text in (row.payload, row.step or "")]
        if any(form in text for form in forms for text in texts):
            yield f"run {run.key.id}"
    for name, content in tuple(store.artifacts.items()):
        if any(form in content for form in forms):
            yield f"artifact {name}"
