"""The threads of this process: one set per database, shared by its users and closed with the last of them.

A user holds them by an ordinary reference, so a graph that is dropped without `close` releases them too.
"""

import os
import threading
from weakref import WeakSet, WeakValueDictionary, finalize

from planner_executor.graph.ledger.postgres.notices import Notices
from planner_executor.graph.ledger.postgres.pulse import Pulse, PulseThread
from planner_executor.graph.ledger.postgres.server import Server
from planner_executor.graph.ledger.postgres.workers import Workers


class Shared:
    """Threads that end when this object is collected; `pulses` holds one pulse per user, by `id`."""

    def __init__(self, address: str, pulse_s: float) -> None:
        self.process = os.getpid()
        self.pulses: dict[int, Pulse] = {}
        pulses = self.pulses  # the threads must not refer to `self`
        self.notices = Notices(address)
        self.workers = Workers(Server(address), self.notices.written)
        self.pulse = PulseThread(
            Server(address), lambda: [lease for pulse in tuple(pulses.values()) for lease in pulse()], pulse_s
        )
        finalize(self, self.workers.stop).atexit = False
        finalize(self, self.pulse.stop).atexit = False
        finalize(self, self.notices.stop).atexit = False
        _all.add(self)


_all: WeakSet[Shared] = WeakSet()
_by_address: WeakValueDictionary[str, Shared] = WeakValueDictionary()
_choosing = threading.Lock()
_inherited: list[Shared] = []


def shared(address: str, pulse_s: float) -> Shared:
    """Return this process's threads of a database."""
    with _choosing:
        found = _by_address.get(address)
        if found is None:
            found = _by_address[address] = Shared(address, pulse_s)
        return found


def _begin_anew() -> None:
    """Forget the parent's threads in a forked child: they do not exist here.

    They are kept referenced in `_inherited`, so that no finalizer ends a session that the parent goes on with.
    """
    global _choosing
    _choosing = threading.Lock()
    _inherited.extend(_all)
    _all.clear()
    _by_address.clear()


os.register_at_fork(after_in_child=_begin_anew)
