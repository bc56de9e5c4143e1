"""What a tool says that a call would do, as it was made before the call and is kept."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.codec import Coded, Shown

CHARACTERS = 2_000
"""Most characters of a preview that are kept and shown."""
MOST = 20
"""Most previews of one request."""
BEYOND = f"a request has {MOST} at most"
"""Why there is none of a call that is held beside that many."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallPreview(Coded):
    """The preview of a call, in the words of its tool, or why there is `none`.

    `key` is that of the call, `place` its step with the index of the item. Of a long text the beginning is kept, with
    the `length` and the digest of the `whole`. `same`: it was made again, and is the one on record. With neither it is
    about to be made.
    """

    key: str
    place: str
    tool: str
    text: str | None = None
    length: Shown[int | None] = None
    whole: str | None = None
    none: str | None = None
    same: bool = False

    @classmethod
    def of(cls, key: str, place: str, tool: str, text: str) -> "CallPreview":
        """Return a text as it is kept.

        >>> CallPreview.of("k", "step_1", "note", "x" * 5_000).length
        5000
        """
        if len(text) <= CHARACTERS:
            return cls(key, place, tool, text)
        return cls(key, place, tool, text[:CHARACTERS], len(text), digest(text))

    @property
    def is_begun(self) -> bool:
        """Whether it is about to be made."""
        return self.text is None and self.none is None and not self.same

    @property
    def is_beyond(self) -> bool:
        """Whether none was made because there were enough for a request."""
        return self.none == BEYOND

    def is_like(self, other: "CallPreview") -> bool:
        """Whether a person would be told the same; two failures are alike, whatever their words."""
        return (self.text, self.whole) == (other.text, other.whole)


@dataclass
class Previews:
    """The previews of a run by key of the call; changed by events only.

    `shown` has them as people saw them last, `before` what they had seen of those that differ since.
    """

    by_key: dict[str, CallPreview] = field(default_factory=dict)
    shown: dict[str, CallPreview] = field(default_factory=dict)
    before: dict[str, CallPreview] = field(default_factory=dict)

    @property
    def tools(self) -> set[str]:
        """The tools that are known to have a preview."""
        return {one.tool for one in self.by_key.values()}

    def made(self, found: Iterable[CallPreview]) -> None:
        """Add previews."""
        self.by_key.update({one.key: one for one in found if not (one.same or one.is_begun)})

    def made_again(self, found: CallPreview) -> bool:
        """Add the preview of a call that is held, and return whether people saw another one."""
        self.before.pop(found.key, None)
        was = self.shown.get(found.key)
        self.made([found])
        if found.same or was is None or was.is_like(found):
            return False
        self.before[found.key] = was
        return True

    def were_shown(self, keys: Iterable[str]) -> None:
        """Note that people see these now."""
        known = {key: self.by_key[key] for key in keys if key in self.by_key}
        self.shown.update({key: one for key, one in known.items() if not one.is_beyond})

    def forget(self, key: str) -> None:
        """Remove those of a call that a person gave other arguments."""
        for known in (self.by_key, self.shown, self.before):
            known.pop(key, None)

    def counted(self, keys: Iterable[str]) -> list[str]:
        """Return the keys of the calls of which there is one, as far as a request shows them."""
        return [key for key in keys if key in self.by_key and not self.by_key[key].is_beyond][:MOST]
