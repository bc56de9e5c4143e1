"""Runs and artifacts in plain structures; changes are atomic and require the lock."""

import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner_executor.graph.errors import CallElsewhereError, MissingRunError
from planner_executor.graph.ledger.calls_to_know import TO_KNOW, TURNING
from planner_executor.graph.ledger.chain import Row, first_link
from planner_executor.graph.ledger.chaining import chained
from planner_executor.graph.ledger.family import Effect, Family, effects_in, effects_of, source_of
from planner_executor.graph.ledger.folded_runs import IndexChange, RunFold
from planner_executor.graph.ledger.lease import Holder, released, set_aside
from planner_executor.graph.ledger.memory.artifact_uses import ArtifactUses
from planner_executor.graph.ledger.memory.caps import MemoryCaps
from planner_executor.graph.ledger.memory.ended_sessions import MemoryEndedSessions
from planner_executor.graph.ledger.memory.outbox import MemoryOutbox
from planner_executor.graph.ledger.memory.timetable import MemoryTimetable
from planner_executor.graph.ledger.protocol import Lease
from planner_executor.graph.ledger.reading import Snapshot
from planner_executor.graph.ledger.refusals import check_end, thread_is_there
from planner_executor.graph.ledger.seal import SealKey, Standing, standing_after
from planner_executor.graph.ledger.tombstone import Tombstones
from planner_executor.graph.ledger.transcript import Transcript, artifact_ids, artifacts_in, events_of, source_in
from planner_executor.graph.record.counters import Counts
from planner_executor.graph.record.events import CONTROL, Decided, Draft, Event, RunForked
from planner_executor.graph.record.run_key import RunKey, run_in
from planner_executor.graph.record.sample import Sample, latest
from planner_executor.graph.record.summary import RunSummary
from planner_executor.graph.record.values import Kept


@dataclass(frozen=True)
class Heart:
    """The heartbeat of an owner in this process, independent of the event loop."""

    owner: str
    since_s: float
    beat_s: float

    @property
    def beats(self) -> int:
        """How often it has beaten."""
        return int((time.monotonic() - self.since_s) / self.beat_s)


@dataclass
class StoredRun:
    """A run: its events, its row among the leases, its inbox, and its row in the index.

    `effects` has the steps of begun calls that may not be repeated, by tool and digest. `number` counts all runs,
    `family` is the number of the first run of its family, `control_seq` the sequence number of the last event that
    changes what is allowed, `changed` the store's number at the last event.
    """

    key: RunKey
    number: int
    rows: list[Row] = field(default_factory=list)
    standing: Standing = field(default_factory=Standing)
    control_seq: int = 0
    changed: int = 0
    family: int = 0
    holder: Holder | None = None
    heart: Heart | None = None
    inbox: list[str] = field(default_factory=list)
    effects: defaultdict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    fold: RunFold | None = None
    summary: RunSummary | None = None

    @property
    def end(self) -> tuple[int, bytes]:
        """The last sequence number, and the hash to chain the next event to."""
        return (self.rows[-1].seq, self.rows[-1].link) if self.rows else (0, first_link(self.key.id))

    def look(self) -> Holder | None:
        """Return the row among the leases, with the heartbeat as it is now."""
        if self.holder is None or self.heart is None or self.heart.owner != self.holder.owner:
            return self.holder
        return self.holder._replace(beat=self.heart.beats)

    def hold(self, row: Holder, beat_s: float = 0.0) -> Lease:
        """Write the row among the leases."""
        self.holder, self.heart = row, Heart(row.owner, time.monotonic(), beat_s) if row.owner else None
        return Lease(self.key, self.number, row.token)

    def found(self, after: int) -> Snapshot:
        """Return the run from its `after`-th event on."""
        begin = bisect_left(self.rows, after, key=lambda row: row.seq)
        return Snapshot(self.rows[begin:], self.standing, bool(self.inbox))

    def free(self, seen: Holder | None) -> bool:
        """Leave the run free under a new token if its row is as it was seen."""
        row = set_aside(self.look(), seen)
        if row is not None:
            self.hold(row)
        return row is not None

    def release(self, token: int) -> None:
        """Give the run back; one that was taken over stays with its new owner."""
        if row := released(self.holder, token):
            self.hold(row)

    def note_effects(self, effects: Iterable[Effect]) -> None:
        """Note calls that the run begins."""
        for tool, digest, step in effects:
            self.effects[tool, digest].add(step)

    def turned(self, steps: Collection[str], after: int) -> bool:
        """Whether a call of these steps may have become one to know of since an event."""
        later = self.rows[bisect_left(self.rows, after + 1, key=lambda row: row.seq) :]
        return any(row.kind in TURNING and (row.kind == Decided.kind or row.step in steps) for row in later)

    def events(self) -> list[Event]:
        """Return the events as they are stored; nothing of them is checked."""
        return list(events_of(self.rows))

    @property
    def has_calls_to_know(self) -> bool:
        """Whether a call was begun that may not be repeated, or one was settled or found wanting."""
        return any(row.kind in TO_KNOW and TO_KNOW[row.kind] in row.payload for row in self.rows)

    def folded(self) -> tuple[RunFold, IndexChange]:
        """Fold all events again: the expected index."""
        fold = RunFold(self.key.thread, self.key.n)
        return fold, fold.apply(self.events())


@dataclass
class Store:
    """Everything that ledgers on one memory share; `runs` are in the order in which they were opened.

    `opened` counts the runs that there ever were, `changes` the writes of events. `families` are the runs of each
    family, `carried` has the counts of removed runs, `history` what steps of ended runs took, `standing` the rows of
    the standing approvals that hold in any run, by name.
    """

    runs: list[StoredRun] = field(default_factory=list)
    opened: int = 0
    uses: ArtifactUses = field(default_factory=ArtifactUses)
    tombstones: Tombstones = field(default_factory=Tombstones)
    carried: Counts = field(default_factory=Counter)
    threads: defaultdict[str, list[StoredRun]] = field(default_factory=lambda: defaultdict(list))
    families: defaultdict[int, list[StoredRun]] = field(default_factory=lambda: defaultdict(list))
    artifacts: dict[str, str] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counter)
    standing: dict[str, list[Row]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    changes: int = 0
    ended_sessions: MemoryEndedSessions = field(default_factory=MemoryEndedSessions)
    timetable: MemoryTimetable = field(default_factory=MemoryTimetable)
    outbox: MemoryOutbox = field(default_factory=MemoryOutbox)
    caps: MemoryCaps = field(default_factory=MemoryCaps)
    history: dict[str, list[Sample]] = field(default_factory=dict)

    def run(self, database: str, key: RunKey) -> StoredRun:
        """Return a run.

        Raises:
            MissingRunError: It is not there.
        """
        if (found := self.find(key)) is None:
            raise MissingRunError(database, key.id)
        return found

    def find(self, key: RunKey) -> StoredRun | None:
        """Return a run, or None."""
        runs = self.of_thread(key.thread)
        place = key.n - runs[0].key.n if runs else 0
        return runs[place] if 0 <= place < len(runs) else None

    def of_thread(self, thread: str) -> Sequence[StoredRun]:
        """Return the runs of a thread, in order."""
        return self.threads.get(thread, ())

    def next_key(self, thread: str) -> RunKey:
        """Return the key of the thread's next run; those of removed runs are not given again."""
        runs, removed = self.of_thread(thread), self.tombstones.of(thread)
        return RunKey(thread, max([run.key.n for run in runs[-1:]] + [row.last for row in removed[-1:]], default=0) + 1)

    def add(self, run: StoredRun) -> None:
        """Keep a new run, in the family of its thread and of the run that it is a fork of."""
        self.opened += 1
        run.family = next((one.family for one in self.of_thread(run.key.thread)), run.number)
        self.families[run.family].append(run)
        self.runs.append(run)
        self.threads[run.key.thread].append(run)
        if (source := source_of(run.events())) is not None:
            self.join(run.key, source)

    def join(self, *runs: RunKey) -> None:
        """Make one family of those of some runs, as far as they are there."""
        found = {run.family for run in map(self.find, runs) if run is not None}
        for other in found - {min(found, default=0)}:
            for run in self.families.pop(other):
                run.family = min(found)
                self.families[run.family].append(run)

    def write(
        self, database: str, key: SealKey | None, run: StoredRun, drafts: Sequence[Draft], artifacts: Sequence[Kept]
    ) -> int:
        """Write events, the artifacts they name and the run's row in the index; return the last sequence number.

        Raises:
            LedgerCorruptError: Events of the run are missing at its end.
            LedgerSealError: The run is not sealed with this key.
            ValueError: An event holds a lone surrogate or NaN.
        """
        seq, before = run.end
        check_end(database, run.key, seq, before, run.standing, key)
        if not drafts:
            return seq
        rows, events = chained(drafts, seq, before)
        # Put back once it has taken all events: after an error it is made anew from what was stored.
        fold, run.fold = run.fold or run.folded()[0], None
        self.index(run, fold.apply(events))
        run.fold = fold
        run.rows.extend(rows)
        self._changed(run)
        run.control_seq = next((row.seq for row in reversed(rows) if row.kind in CONTROL), run.control_seq)
        run.standing = standing_after(rows[-1].seq, rows[-1].link, key)
        self.artifacts.update({kept.artifact.id: kept.text for kept in artifacts if kept.artifact})
        self.uses.note(run.number, artifacts_in(rows, events))
        run.note_effects(effects_in(events))
        return run.standing.events

    def index(self, run: StoredRun, change: IndexChange) -> None:
        """Write what events of a run bring: its row, the counts over all runs, and what steps took."""
        run.summary = change.row
        self.counts.update(change.counts)
        for likeness, found in change.samples.items():
            self.history[likeness] = latest([*found, *self.history.get(likeness, ())])

    def remove_unused(self, artifacts: Iterable[str]) -> None:
        """Remove those of the artifacts that no run names."""
        for name in self.uses.unused(artifacts):
            self.artifacts.pop(name, None)

    def adopt(self, database: str, runs: Sequence[Transcript]) -> None:
        """Store the runs of a thread as another database has them.

        Raises:
            InputError: The thread is already there.
        """
        for thread in {run.thread for run in runs if self.next_key(run.thread).n > 1}:
            raise thread_is_there(database, thread)
        for run in runs:
            standing = Standing(run.written, run.key, run.seal)
            stored = StoredRun(RunKey(run.thread, run.n), self.opened + 1, list(run.rows), standing)
            stored.control_seq = next((row.seq for row in reversed(run.rows) if row.kind in CONTROL), 0)
            stored.fold, whole = stored.folded()
            self.index(stored, whole)
            self.add(stored)
            self.uses.note(stored.number, artifact_ids(run.events()))
            self._changed(stored)
            self.artifacts.update(run.artifacts)
            stored.note_effects(effects_of(run.rows))
        names = {run.run for run in runs}
        for fork, name in _forks(self.runs):
            if name in names and (source := run_in(name)) is not None:
                self.join(fork, source)

    def other_runs(self, key: RunKey) -> Family:
        """Return the other runs of a run's family."""
        family = next((self.families[one.family] for one in self.of_thread(key.thread)), ())
        others = [run for run in family if run.key != key]
        seen = {run.key: run.standing.events for run in others if run.effects}
        to_know = [run.key for run in sorted(others, key=lambda run: run.number) if run.has_calls_to_know]
        return Family(to_know, seen, any(run.key.thread != key.thread for run in others))

    def check_family(
        self, database: str, run: StoredRun, effects: Sequence[Effect], seen: Mapping[RunKey, int]
    ) -> None:
        """Refuse to begin calls if another run of the family has begun an identical one that is not known of.

        Raises:
            CallElsewhereError: It has.
        """
        for tool, digest, _ in effects:
            for other in (one for one in self.families[run.family] if one is not run):
                # An empty digest is that of a redacted value, which may have been any.
                same = [
                    steps for (of, of_args), steps in other.effects.items() if of == tool and "" in (digest, of_args)
                ]
                steps = other.effects.get((tool, digest), set()).union(*same)
                if steps and other.turned(steps, seen.get(other.key, 0)):
                    raise CallElsewhereError(database, run.key.id, other.key.id)

    def forks_of(self, thread: str) -> list[tuple[RunKey, str]]:
        """Return the forks in the family of a thread, the oldest first."""
        family = next((self.families[run.family] for run in self.of_thread(thread)), ())
        return _forks(sorted(family, key=lambda run: run.number))

    def _changed(self, run: StoredRun) -> None:
        self.changes += 1
        run.changed = self.changes

    def transcript(self, run: StoredRun) -> Transcript:
        """Return everything that is stored of a run."""
        bare = Transcript(run.key.thread, run.key.n, tuple(run.rows), *run.standing)
        named = {name: self.artifacts[name] for name in artifact_ids(bare.events()) if name in self.artifacts}
        return replace(bare, artifacts=named)


def _forks(runs: Iterable[StoredRun]) -> list[tuple[RunKey, str]]:
    """Return the runs that are forks, each with the name of the run that it is a fork of."""
    forks = ((run.key, row) for run in runs for row in run.rows if row.kind == RunForked.kind)
    return [(key, source_in(row.payload)) for key, row in forks]
