"""The artifacts that each run names, so that one can be removed with the last run that names it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class ArtifactUses:
    """Artifact id -> numbers of the runs that name it."""

    runs_by_id: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    def note(self, run: int, named: Iterable[str]) -> None:
        """Note artifacts that events of a run name."""
        for name in named:
            self.runs_by_id[name].add(run)

    def forget(self, run: int) -> None:
        """Forget what a run names: its events were changed or removed."""
        for runs in self.runs_by_id.values():
            runs.discard(run)

    def unused(self, artifacts: Iterable[str]) -> Iterator[str]:
        """Yield those of the artifacts that no run names, and forget them."""
        for name in artifacts:
            if not self.runs_by_id.get(name):
                self.runs_by_id.pop(name, None)
                yield name
