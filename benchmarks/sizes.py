"""How large the workloads are, and how often they run."""

from dataclasses import dataclass

from benchmarks.workloads import Workload, chain, fan, skewed

TOOL_S = 0.02


@dataclass(frozen=True)
class Sizes:
    """The sizes of one run of the benchmarks; `skew` is chains, slow seconds and quick seconds.

    Of `at_once` runs, at least `least_runs` are measured, and they are also shared among `processes`.
    Of AgentDojo's tasks one of `every_task` is done. `scale` is the part of the largest sizes that is measured.
    """

    repeats: int
    chains: tuple[int, ...]
    fan: int
    skew: tuple[int, float, float]
    large: int
    databases: tuple[int, ...]
    growth: tuple[int, int]
    runs: tuple[int, ...]
    at_once: tuple[int, ...]
    tool_s: float = TOOL_S
    least_runs: int = 30
    processes: int = 4
    every_task: int = 1
    scale: float = 1.0

    @property
    def longest(self) -> Workload:
        """The longest of the chains."""
        return chain(self.chains[-1], self.tool_s)

    @property
    def skewed(self) -> Workload:
        """The workload where waves lose."""
        return skewed(*self.skew)

    @property
    def fans(self) -> tuple[Workload, Workload]:
        """A fan-out and a join, without and with a step that fails."""
        return fan(self.fan, self.tool_s * 5), fan(self.fan, self.tool_s * 5, failing=("step_3",))


FULL = Sizes(
    repeats=3,
    chains=(10, 40, 100),
    fan=10,
    skew=(6, 0.5, 0.06),
    large=1000,
    databases=(10, 100, 300, 1000),
    growth=(1000, 5000),
    runs=(1_000, 10_000, 100_000),
    at_once=(1, 10, 100, 1_000),
)
QUICK = Sizes(
    repeats=1,
    chains=(3, 10),
    fan=4,
    skew=(3, 0.1, 0.012),
    large=50,
    databases=(5, 10, 20, 40),
    growth=(20, 100),
    runs=(50, 200),
    at_once=(1, 4),
    tool_s=0.005,
    least_runs=4,
    every_task=8,
    scale=0.01,
)
