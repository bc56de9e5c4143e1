"""What a run was begun under, and what holds where it goes on: its terms only tighten (decision 119).

The table of `docs/when-a-run-stops.md` says the same in words. A run is continued under the terms on record as far as
they are the stricter ones, and under those of whoever continues it as far as these are. What has no order is equal or
other; a run whose terms are other is left.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from planner_executor.graph.plan.catalog import Effect
from planner_executor.graph.plan.lazy import lazy
from planner_executor.graph.policy.both import both
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.policy.strictness import looser_points
from planner_executor.graph.record.budget import NO_BUDGET, Budget
from planner_executor.graph.record.values import to_text
from planner_executor.graph.words.name_list import listed

Standing = Literal["stricter", "weaker", "other"]
VALUE_CHARACTERS = 40
LIMITS_OF_A_TOOL = ("timeout_s", "attempts", "backoff_s")
"""What is no part of a tool's face: how long and how often it is tried where it is called."""
READS = "reads"
NEWER = (READS, "summary", "reversible")
"""What earlier releases did not record of a tool: compared if it is on record."""
Face = Mapping[str, Any]
Rank = Callable[[Any], float]


@dataclass(frozen=True)
class Terms:
    """What a run is under: the face of each tool, models, settings, policy and budget.

    `models` has the names of each role's models, `executors` those of the models that steps may name. `settings` are
    those of `graph.settings.settings.Settings` besides policy and budget; one that is not there is not known.
    """

    tools: Mapping[str, Face] = field(default_factory=dict)
    models: Mapping[str, Sequence[str]] = field(default_factory=dict)
    executors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = NO_POLICY
    budget: Budget = NO_BUDGET


class Difference(NamedTuple):
    """A term that is not the one on record; `what` is a phrase without a subject, such as `needs pay`."""

    standing: Standing
    what: str


@dataclass(frozen=True)
class Comparison:
    """How the terms here differ from those on record, and the terms under which the run may go on."""

    terms: Terms
    differences: tuple[Difference, ...] = ()
    is_first: bool = False
    """Whether these are the first terms on record."""

    @lazy
    def is_new(self) -> bool:
        """Whether the terms that hold are to be recorded."""
        return self.is_first or bool(self.stricter)

    @property
    def other(self) -> str:
        """What is neither equal nor ordered, for which the run is left; empty if it can go on."""
        return self._said("other")

    @property
    def stricter(self) -> str:
        """What is stricter here, and holds from now on."""
        return self._said("stricter")

    @property
    def weaker(self) -> str:
        """What is weaker here, where the terms on record hold."""
        return self._said("weaker")

    @property
    def sentence(self) -> str:
        """Say how a run that can go on does; empty if the terms are equal."""
        parts = [f"stricter here, and holds from now on: {self.stricter}"] if self.stricter else []
        parts += [f"weaker here, so that the terms on record hold: {self.weaker}"] if self.weaker else []
        return "; ".join(parts)

    def accepted(self, here: Terms) -> "Comparison":
        """Return the comparison with the terms here in force, whatever they are."""
        ordered = tuple(each for each in self.differences if each.standing != "other")
        return Comparison(here, ordered, is_first=bool(self.differences))

    def _said(self, standing: Standing) -> str:
        return "; ".join(each.what for each in self.differences if each.standing == standing)


def compare(here: Terms, recorded: Terms, ranks: Mapping[str, Rank | None]) -> Comparison:
    """Return how the terms here differ from those on record, and the terms that hold if none of them is other.

    Args:
        here: The terms of this process.
        recorded: Those that the run is under.
        ranks: Setting -> the rank of its values, of which the lowest is the strictest; None if it has no order.
    """
    found: list[Difference] = []
    found += _tools(here.tools, recorded.tools)
    found += _models("role", here.models, recorded.models)
    found += _executors(here.executors, recorded.executors)
    settings: dict[str, Any] = {}
    for name, value in here.settings.items():
        standing, settings[name] = _of_setting(ranks[name], value, recorded.settings.get(name, value))
        if standing is not None:
            before = _shown(recorded.settings[name])
            found.append(Difference(standing, f"{name}: {before} on record, here is {_shown(value)}"))
    policy, about_policy = _policies(here, recorded)
    budget = recorded.budget.within(here.budget)
    found += [*about_policy, *_budgets(here.budget, recorded.budget)]
    terms = replace(
        recorded,
        tools={name: face for name, face in here.tools.items() if name in recorded.tools},
        executors={name: models for name, models in here.executors.items() if name in recorded.executors},
        settings=settings,
        policy=policy,
        budget=budget,
    )
    return Comparison(terms, tuple(found))


def _tools(here: Mapping[str, Face], recorded: Mapping[str, Face]) -> Iterator[Difference]:
    if missing := [name for name in recorded if name not in here]:
        it = "it" if len(missing) == 1 else "them"
        yield Difference("other", f"needs {listed(missing)}: name {it} with --tools or --mcp")
    both_have = [name for name in recorded if name in here]
    if changed := [name for name in both_have if _face(here[name], recorded[name]) != _face(recorded[name])]:
        yield Difference("other", f"{listed(changed)} {'has' if len(changed) == 1 else 'have'} changed")
    for before, now in dict.fromkeys(_folders(recorded[name], here[name]) for name in both_have):
        # Earlier releases recorded no folders, so that nothing on record says nothing.
        if before not in ((), now):
            what = f"reads {listed(list(before))} on record, here {listed(list(now)) or 'no folder'}"
            yield Difference("other", what)
    if more := [name for name in here if name not in recorded]:
        yield Difference("weaker", f"begun without {listed(more)}")


def _face(tool: Face, recorded: Face | None = None) -> Face:
    """Return the face of a tool but for the folders it reads; of the one here no more than what is on record."""
    left_out = {*LIMITS_OF_A_TOOL, READS, *(set(NEWER) - recorded.keys() if recorded is not None else ())}
    return {name: value for name, value in tool.items() if name not in left_out}


def _folders(recorded: Face, here: Face) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(recorded.get(READS, ())), tuple(here.get(READS, ()))


def _models(kind: str, here: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*recorded, *here)):
        before, now = recorded.get(name), here.get(name)
        if before != now:
            yield Difference("other", f"{kind} {name}: needs {_shown(before)}, here is {_shown(now)}")


def _executors(here: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[Difference]:
    yield from _models("executor", {name: here[name] for name in here if name in recorded}, recorded)
    if more := [name for name in here if name not in recorded]:
        yield Difference("weaker", f"begun without executor {listed(more)}")


def _policies(here: Terms, recorded: Terms) -> tuple[Policy, list[Difference]]:
    """Return the policy that holds, and how the one here differs; the approval mode is a setting of its own."""
    # Policies are equal by their digests, in which the mode counts; it is compared by the settings.
    ours, theirs = (replace(terms.policy, approval=None) for terms in (here, recorded))
    if ours.digest == theirs.digest:
        return recorded.policy, []
    looser, stricter = looser_points(ours, theirs), looser_points(theirs, ours)
    if not stricter:
        found = [Difference("weaker", _points(looser))] if looser else []
        return recorded.policy, found
    if not looser:
        return here.policy, [Difference("stricter", _points(stricter, "on record "))]
    effects: dict[str, Effect] = {name: face.get("effect", "external") for name, face in recorded.tools.items()}
    joined = both(ours, theirs, effects)
    # One policy cannot say all that two do: where it would allow more than one of them, the run is left.
    if apart := dict.fromkeys((*looser_points(joined, ours), *looser_points(joined, theirs))):
        return recorded.policy, [Difference("other", _points([*apart], "both cannot hold: "))]
    mode = replace(joined, approval=recorded.policy.approval)
    return mode, [
        Difference("stricter", _points(stricter, "on record ")),
        Difference("weaker", _points(looser)),
    ]


def _points(points: Sequence[str], before: str = "") -> str:
    return f"policy: {before}{listed(list(points))}"


def _budgets(here: Budget, recorded: Budget) -> Iterator[Difference]:
    if lower := recorded.beyond(here):
        yield Difference("stricter", f"budget: {_limits(lower, recorded, here)}")
    if higher := here.beyond(recorded):
        yield Difference("weaker", f"budget: {_limits(higher, recorded, here)}")


def _limits(names: Sequence[str], recorded: Budget, here: Budget) -> str:
    return ", ".join(f"{name} {_shown(recorded.of(name))} on record, here is {_shown(here.of(name))}" for name in names)


def _of_setting(rank: Rank | None, here: Any, recorded: Any) -> tuple[Standing | None, Any]:
    """Return how a setting stands, None if it is equal, and the value that holds."""
    if here == recorded:
        return None, recorded
    if rank is None:
        return "other", recorded
    before, now = rank(recorded), rank(here)
    return ("stricter", here) if now < before else ("weaker", recorded)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    words = [value] if isinstance(value, str) else value
    text = " then ".join(map(str, words)) if isinstance(words, list | tuple) else to_text(words)
    return text if len(text) <= VALUE_CHARACTERS else "another one"
