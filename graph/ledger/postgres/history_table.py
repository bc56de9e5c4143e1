"""The table of what steps took in a PostgreSQL database: rows for each likeness, with its latest samples."""

import json
from collections import defaultdict
from collections.abc import Sequence

from planner_executor.graph.ledger.tables.transaction import Transaction
from planner_executor.graph.record.sample import KEPT, Sample, Samples, latest

SHARES = 8
"""The samples of a likeness are spread over so many rows, by run: runs that end at once do not wait for each other."""
_ADD = (
    "INSERT INTO ledger_history AS held (likeness, share, samples) VALUES (%s, %s, %s::text[]) "
    f"ON CONFLICT (likeness, share) DO UPDATE SET samples = (excluded.samples || held.samples)[1:{KEPT}]"
)


def add_samples(tx: Transaction, run_id: int, samples: Samples) -> None:
    """Add the samples of a run that has ended, in its transaction; rows are locked in one order."""
    for likeness, found in sorted(samples.items()):
        tx.tell(_ADD, likeness, run_id % SHARES, [json.dumps(sample.to_json()) for sample in found])


def history(tx: Transaction, likenesses: Sequence[str]) -> dict[str, list[Sample]]:
    """Return the samples of these likenesses, the latest first; those without any are left out."""
    query = "SELECT likeness, samples FROM ledger_history WHERE likeness = ANY(%s)"
    found: defaultdict[str, list[Sample]] = defaultdict(list)
    for likeness, samples in tx.ask(query, list(likenesses)) if likenesses else ():
        found[likeness].extend(map(Sample.from_json, map(json.loads, samples)))
    return {likeness: latest(samples) for likeness, samples in found.items()}
