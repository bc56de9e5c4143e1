"""Comparison of a replayed event with the recorded one, ignoring clocks, checkpoints and approvers."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from planner_executor.graph.record.events import (
    CallRefused,
    Draft,
    Event,
    ModelFinished,
    ModelStarted,
    PlanRefused,
    PlanRevised,
    ReviewRequested,
    RunEnded,
    RunStarted,
)
from planner_executor.graph.record.redaction import NAME
from planner_executor.graph.record.values import to_text
from planner_executor.graph.text.event_text import event_text

WORLD = frozenset(
    {
        "checkpoint",
        "invocation",
        "started_at",
        "ended_at",
        "worked_s",
        "wall_s",
        "elapsed_s",
        "approver",
        "started_by",
        "written_by",
        "met_alone",
        "roles",
        "voters",
        "given_by",
        "until",
        "given_at",
        "provider",
        "would_replace",
        "previews",
        "previewed",
        "due_at",
        "like_steps",
        "keeps_names",
    }
)
"""Fields that depend on the environment of the run."""

NEWER_SETTINGS = frozenset(
    {"look", "time_zone", "max_retries", "max_check_attempts", "timeout_s", "attempts", "backoff_s"}
)
"""Settings that earlier versions did not have, or had under another name."""

OF_REQUESTS = frozenset({"rules", "deadline", "estimate", "content"})
TERMS = frozenset({"policy", "limits"})
"""Where the policy of a run is kept, which earlier versions kept among its settings."""
OPTIONAL = frozenset({"read_as", "setup_by", "dropped", "replaced", "wording"}) | TERMS | OF_REQUESTS | NEWER_SETTINGS
"""Fields that are compared if both sides have them: a plan that was brought or edited is played as it was read, and
earlier versions did not record how."""

WORDS = frozenset({"shown", "content", "prompt", "reserved"})
"""Fields laid out, cut or counted by a value's length: not compared if a value was redacted from them."""

NAMED = re.compile(rf"{NAME}[0-9a-f]{{16}}")
"""The name that a redaction puts in place of a digest."""
MOST_CHARACTERS = 300
EMPTY: tuple[Any, ...] = (None, [], {}, ())

Names = dict[str, str]
"""Name -> digest in a redacted record."""


class Divergence(NamedTuple):
    """The first divergence of a replay: the recorded event, the replayed one, and the path of the differing field.

    `seq` is the number of the recorded event. One side is None if only the other goes on. `why` adds a reason.
    """

    seq: int
    recorded: Event | None
    replayed: Draft | None
    field: str | None = None
    why: str | None = None

    @property
    def is_of_a_step(self) -> bool:
        """Whether the replay has an event of a step that is not on record at all."""
        return self.replayed is not None and self.replayed.step is not None and not self.field

    @property
    def is_of_plans(self) -> bool:
        """Whether the replay has a different plan, a refused one, or a direct answer."""
        return self.replayed is not None and isinstance(self.replayed.data, PlanRevised | PlanRefused | RunEnded)

    def __str__(self) -> str:
        """Return the difference in words."""
        where = f"event {self.seq} differs" + (f" in {self.field}" if self.field else "")
        sides = f"on record: {_shown(self.recorded, self.field)}; in the replay: {_shown(self.replayed, self.field)}"
        return "; ".join([where, sides, *([self.why] if self.why else [])])

    def to_json(self) -> dict[str, Any]:
        """Return the difference as data."""
        recorded = {"kind": self.recorded.kind, "payload": dict(self.recorded.payload)} if self.recorded else None
        replayed = {"kind": self.replayed.kind, "payload": dict(self.replayed.payload)} if self.replayed else None
        return {"seq": self.seq, "field": self.field, "why": self.why, "recorded": recorded, "replayed": replayed}


NONE: frozenset[str] = frozenset()
OF_WORDING: Mapping[str, frozenset[str]] = {
    RunStarted.kind: frozenset({"wording"}),
    PlanRevised.kind: frozenset({"stalled"}),
    PlanRefused.kind: frozenset({"issues", "stays"}),
    ReviewRequested.kind: frozenset({"shown", "content", "effects", "subject", "error", "issues", "takes"}),
    CallRefused.kind: frozenset({"why"}),
    ModelStarted.kind: frozenset({"key", "prompt", "prompt_digest", "reserved"}),
    ModelFinished.kind: frozenset({"key"}),
    RunEnded.kind: frozenset({"reason"}),
}
"""Fields that follow from the texts of prompts, reviews and messages, which differ in records of another wording."""

NEWER_FIELDS: Mapping[str, frozenset[str]] = {
    ModelStarted.kind: frozenset({"item", "brief"}),
    ReviewRequested.kind: frozenset({"effects", "left_out"}),
}
"""Fields that earlier versions did not record; compared if they are on record."""


def differing(
    recorded: Event, replayed: Draft, names: Names, is_redacted: bool = False, *, other_wording: bool = False
) -> str | None:
    """Return the path of the first differing field, "" if the kinds or steps differ, None if the events are equal.

    Args:
        recorded: The event on record.
        replayed: The event that the replay would write.
        names: Known names of a redacted record; updated if the events are equal.
        is_redacted: Whether a value was redacted from the recorded event.
        other_wording: Whether the record was made by a release with other prompt and review texts.
    """
    if (recorded.kind, recorded.step) != (replayed.kind, replayed.step):
        return ""
    # Names that were learned from events that differ after all must not stay.
    learned = dict(names)
    left_out = WORDS if is_redacted else NONE
    left_out |= NEWER_FIELDS.get(recorded.kind, NONE) - recorded.payload.keys()
    if other_wording:
        left_out |= OF_WORDING.get(recorded.kind, NONE)
    if _is_same_prompt(recorded.payload, replayed.payload):
        left_out |= {"prompt"}
    one, other = (
        {name: value for name, value in payload.items() if name not in left_out}
        for payload in (recorded.payload, replayed.payload)
    )
    path = _differing(one, other, learned, "")
    if path is None:
        names.update(learned)
    return path


def _is_same_prompt(recorded: Mapping[str, Any], replayed: Mapping[str, Any]) -> bool:
    """Whether the same prompt is kept whole on one side, and on the other as what it adds to the one before.

    A process that takes a run up does not know the prompt before, and may have died where nothing else shows it.
    """
    digests = {recorded.get("prompt_digest"), replayed.get("prompt_digest")}
    kept = [payload.get("prompt") for payload in (recorded, replayed)]
    whole = [prompt.get("continues") is None for prompt in kept if isinstance(prompt, Mapping)]
    return len(digests) == 1 and None not in digests and sorted(whole) == [False, True]


def _differing(recorded: Any, replayed: Any, names: Names, path: str) -> str | None:
    if isinstance(recorded, Mapping) and isinstance(replayed, Mapping):
        left_out = WORLD | (OPTIONAL - (recorded.keys() & replayed.keys()))
        keys = [key for key in dict.fromkeys((*recorded, *replayed)) if key not in left_out]
        found = (_within(recorded, replayed, key, names, path) for key in keys)
        return next((where for where in found if where is not None), None)
    if isinstance(recorded, list) and isinstance(replayed, list | tuple):
        if len(recorded) != len(replayed):
            return path
        pairs = enumerate(zip(recorded, replayed, strict=True))
        found = (_differing(one, other, names, f"{path}[{place}]") for place, (one, other) in pairs)
        return next((where for where in found if where is not None), None)
    if isinstance(recorded, str) and isinstance(replayed, str):
        return None if recorded == replayed or _is_named(recorded, replayed, names) else path
    # In JSON 1 and 1.0 are the same number, while Python takes True for 1.
    same = type(recorded) is type(replayed) or (not isinstance(recorded, bool | str) and not isinstance(replayed, bool))
    return None if same and recorded == replayed else path


def _within(recorded: Mapping[str, Any], replayed: Mapping[str, Any], key: str, names: Names, path: str) -> str | None:
    where = f"{path}.{key}" if path else key
    if key not in recorded or key not in replayed:  # a release may write an empty field that another leaves out
        return None if recorded.get(key, replayed.get(key)) in EMPTY else where
    return _differing(recorded[key], replayed[key], names, where)


def _is_named(recorded: str, replayed: str, names: Names) -> bool:
    """Whether the texts are the same if each name in the record stands for one and the same digest."""
    if NAME not in recorded:
        return False
    # The text around the names has to be the same; only digests may stand in their places.
    pattern = "([0-9a-f]+)".join(re.escape(part) for part in NAMED.split(recorded))
    found = re.fullmatch(pattern, replayed)
    if found is None:
        return False
    pairs = zip(NAMED.findall(recorded), found.groups(), strict=True)
    return all(names.setdefault(name, digest) == digest for name, digest in pairs)


def _shown(event: Event | Draft | None, field: str | None) -> str:
    if event is None:
        return "nothing"
    value: Any = event.payload
    for name in re.findall(r"[^.\[\]]+", field or ""):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            # Of a path that one side does not have, what is shown is the deepest part that it has.
            value = value[int(name)]
    if not field:
        words = event_text(event if isinstance(event, Event) else Event.written(0, 0.0, event)).sentence
    else:
        words = value if isinstance(value, str) else to_text(value)
    return words if len(words) <= MOST_CHARACTERS else f"{words[:MOST_CHARACTERS]}…"
