"""Settings that the command line takes and a run remembers, and what there is to say of any setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from planner_executor.graph.policy.modes import ApprovalMode, Replan

Client = Literal["lowers", "sees", "ignores"]
"""What a client of a graph server does with a setting: it sends a lower one, is shown it, or does not meet it."""


class Setting(NamedTuple):
    """What there is to say of a setting besides its name, type and default.

    Attributes:
        help: What it sets, as a clause without a full stop.
        least: The least integer that it takes.
        counts: What it counts, and what of it, in the words of `policy show`.
        client: What a client of a graph server does with it.
        nodes: Where Studio shows it.
        option: How the command line writes its value; empty if it has no such option. A run remembers these settings.
        suite: Whether a suite may set it for the arm that replans.
        order: How two values compare for a run that goes on: the lower one, or the choice that is named first, is the
            stricter; the one on record stays; or they are other.
    """

    help: str
    least: int | None = None
    counts: tuple[str, str] | None = None
    client: Client = "sees"
    nodes: tuple[str, ...] = ()
    option: str = ""
    suite: bool = False
    order: Literal["lower", "recorded", "other"] = "lower"


@dataclass(frozen=True)
class RunSettings:
    """The settings for which the command line has an option."""

    approval: Annotated[
        ApprovalMode, Setting("Which plans need a person's approval", nodes=("review",), option="MODE")
    ] = "always"
    replan: Annotated[
        Replan, Setting("When the remaining steps are revised", nodes=("replanner",), option="WHEN", suite=True)
    ] = "failure"
    horizon: Annotated[
        Literal[1] | None,
        Setting("Plan one step at a time", nodes=("planner",), option="1", suite=True, order="recorded"),
    ] = None
    max_concurrency: Annotated[
        int,
        Setting(
            "Steps that run at a time, at most",
            least=1,
            counts=("step", "at a time"),
            client="lowers",
            nodes=("executor",),
            option="N",
        ),
    ] = 16
    max_replans: Annotated[
        int,
        Setting(
            "Revisions per run after failures, at most",
            least=0,
            counts=("revision", "after failures"),
            client="lowers",
            nodes=("replanner",),
            option="N",
            suite=True,
        ),
    ] = 2
    max_repairs: Annotated[
        int,
        Setting(
            "Rounds of repair of an invalid plan, at most; each has to have fewer faults than the one before",
            least=0,
            counts=("repair", "of an invalid plan"),
            client="lowers",
            nodes=("planner", "replanner"),
            option="N",
            suite=True,
        ),
    ] = 3


def told_of(settings: type) -> dict[str, Setting]:
    """Return what there is to say of each setting of a class."""
    return {name: kind.__metadata__[0] for name, kind in get_type_hints(settings, include_extras=True).items()}


def choices_of(settings: type) -> dict[str, tuple[Any, ...]]:
    """Return setting -> its values, the strictest first, of those that list them."""
    return {name: found for name, kind in get_type_hints(settings).items() if (found := _choices(kind))}


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the values that a type lists, with None if it may be left out."""
    listed = [value for part in (kind, *get_args(kind)) if get_origin(part) is Literal for value in get_args(part)]
    return (*listed, None) if listed and type(None) in get_args(kind) else tuple(listed)


REMEMBERED: Mapping[str, Any] = {name: getattr(RunSettings(), name) for name in told_of(RunSettings)}
"""Setting that a run remembers -> its default."""
