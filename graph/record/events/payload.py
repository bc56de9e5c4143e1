"""The common part of all kinds of events: a name, a version, and a payload that is written and read as JSON."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from planner_executor.graph.record.codec import Coded

_LATER_WORDS = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Payload(Coded):
    """The data of an event; each kind of event is a subclass.

    `is_control`: the event changes what is allowed, so an intent by an author who has not seen it is refused.
    `is_aside`: the event does not change the status of the run. `must_last`: it has to survive a power cut.
    `checkpoint` is that of the node that wrote the event; other writers have none.
    """

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    is_control: ClassVar[bool]
    is_aside: ClassVar[bool]
    must_last: ClassVar[bool]

    checkpoint: str | None = None

    def __init_subclass__(
        cls, *, kind: str = "", is_control: bool = False, is_aside: bool = False, must_last: bool = False
    ) -> None:
        """Name the kind by its class, unless its records have another name, and note its marks."""
        # A data class with slots is made a second time, without these words and of a copy that has it all.
        if "kind" not in vars(cls):
            cls.kind = kind or _LATER_WORDS.sub("_", cls.__name__).lower()
            cls.is_control, cls.is_aside, cls.must_last = is_control, is_aside, must_last

    @property
    def safe(self) -> bool:
        """Whether the event may be lost in a power cut without harm."""
        return not self.must_last

    def to_json(self) -> dict[str, Any]:
        """Return the payload as the ledger keeps it; version 1 is not written (decision record 0035)."""
        raw = Coded.to_json(self)
        return raw if self.version == 1 else {**raw, "version": self.version}
