"""The threads of this process: one set per database, shared by its users and closed with the last of them."""

from planner_executor.graph.ledger.postgres.notices import Notices
from planner_executor.graph.ledger.postgres.pulse import Pulse, PulseThread
from planner_executor.graph.ledger.postgres.server import Server
from planner_executor.graph.ledger.postgres.workers import Workers
from planner_executor.graph.ledger.shared_threads import ByDatabase, SharedThreads


class Shared(SharedThreads[Pulse]):
    """Threads that end when this object is collected."""

    def __init__(self, address: str, pulse_s: float) -> None:
        super().__init__()
        pulses = self.pulses  # the threads must not refer to `self`
        self.notices = Notices(address)
        self.workers = Workers(Server(address), self.notices.written)
        self.pulse = PulseThread(
            Server(address), lambda: [lease for pulse in tuple(pulses.values()) for lease in pulse()], pulse_s
        )
        self.end(self.workers, self.pulse, self.notices)


_by_address: ByDatabase[Shared] = ByDatabase()


def shared(address: str, pulse_s: float) -> Shared:
    """Return this process's threads of a database."""
    return _by_address.get(address, lambda: Shared(address, pulse_s))
