"""The systems side by side: time over the shortest possible, model calls, prompts, orchestration, database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.figures import Figure, at_most
from benchmarks.simulated import MODEL_S
from benchmarks.sizes import Sizes
from benchmarks.systems import OURS, PLAN_AND_EXECUTE, REACT, REACT_PARALLEL, WAVES, System
from benchmarks.trial import AT_ONCE, Cost, side_by_side
from benchmarks.workloads import Workload, chain, wide

SYSTEMS = (OURS, WAVES, REACT_PARALLEL, REACT, PLAN_AND_EXECUTE)
IN_CHAINS = (OURS, WAVES, REACT, PLAN_AND_EXECUTE)  # in a chain nothing is parallel
LARGE_WIDE = (OURS, WAVES, REACT_PARALLEL)  # one call at a time, the database grows with the square of the steps:
LARGE_DEEP = (OURS, WAVES)  # hundreds of megabytes, and minutes
LARGE_TOOL_S = 0.002


@dataclass(frozen=True)
class Compared:
    """A workload with what each system cost; `costs` is by system name."""

    workload: Workload
    costs: Mapping[str, Cost]

    @property
    def shortest_s(self) -> float:
        """The shortest possible time: planning once, once more where a step fails, and then the calls.

        They take the critical path at least, and no less than all the work shared among those who may run at once.
        """
        shared_s = sum(piece.seconds for piece in self.workload.pieces) / AT_ONCE
        return MODEL_S * (2 if self.workload.failing else 1) + max(self.workload.critical_s, shared_s)

    def slowness(self, system: System) -> float:
        """Return a system's time over the shortest possible."""
        return self.costs[system.name].wall_s / self.shortest_s

    def per_step_ms(self, system: System) -> float:
        """Return what a system itself takes for a step, in milliseconds."""
        return 1000 * self.costs[system.name].orchestration_s / len(self.workload.pieces)


async def compare(sizes: Sizes) -> list[Compared]:
    """Run every workload with every system that can do it in reasonable time."""
    plain, failing = sizes.fans
    wanted: list[tuple[Workload, Sequence[System], int]] = [
        *((chain(length, sizes.tool_s), IN_CHAINS, sizes.repeats) for length in sizes.chains),
        (plain, SYSTEMS, sizes.repeats),
        (failing, SYSTEMS, sizes.repeats),
        (sizes.skewed, SYSTEMS, sizes.repeats),
        (wide(sizes.large, LARGE_TOOL_S), LARGE_WIDE, 1),
        (chain(sizes.large, LARGE_TOOL_S), LARGE_DEEP, 1),
    ]
    return [Compared(workload, await side_by_side(systems, workload, repeats)) for workload, systems, repeats in wanted]


def judged(compared: Sequence[Compared], sizes: Sizes) -> list[Figure]:
    """Return the figures that the comparison decides."""
    by_name = {one.workload.name: one for one in compared}
    return [*_of_skewed(by_name[sizes.skewed.name]), *_of_chain(by_name[sizes.longest.name])]


def _of_skewed(skewed: Compared) -> list[Figure]:
    critical_s = skewed.workload.critical_s
    makespan = {system: skewed.costs[system.name].makespan_s / critical_s for system in (OURS, WAVES)}
    whole = {system: skewed.costs[system.name].after_planning_s / critical_s for system in (OURS, WAVES)}
    beside = (
        f"waves {makespan[WAVES]:.3g}; from the plan to the end of the run {whole[OURS]:.3g}, waves {whole[WAVES]:.3g}"
    )
    return [at_most("makespan over critical path, skewed DAG", 1.05, makespan[OURS], beside=beside)]


def _of_chain(longest: Compared) -> list[Figure]:
    ours, react, tutorial = (longest.per_step_ms(system) for system in (OURS, REACT, PLAN_AND_EXECUTE))
    beside = f"ReAct {react:.3g} ms, plan-and-execute {tutorial:.3g} ms"
    name = f"orchestration per read step, {longest.workload.name}"
    ratio = ours / min(react, tutorial)
    return [
        at_most(name, 2, ours, " ms", beside),
        at_most("the same over the better of ReAct and plan-and-execute", 1, ratio),
    ]
