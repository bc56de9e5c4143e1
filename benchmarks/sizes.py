"""How large the workloads are, and how often they run."""

from dataclasses import dataclass

from benchmarks.workloads import Workload, chain, fan, skewed

TOOL_S = 0.02


@dataclass(frozen=True)
class Sizes:
    """The sizes of one run of the benchmarks; `skew` is chains, slow seconds and quick seconds."""

    repeats: int
    chains: tuple[int, ...]
    fan: int
    skew: tuple[int, float, float]
    large: int
    databases: tuple[int, ...]
    growth: tuple[int, int]
    runs: tuple[int, ...]
    tool_s: float = TOOL_S

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


FULL = Sizes(3, (10, 40, 100), 10, (6, 0.5, 0.06), 1000, (10, 100, 300, 1000), (1000, 5000), (1_000, 10_000, 100_000))
QUICK = Sizes(1, (3, 10), 4, (3, 0.1, 0.012), 50, (5, 10, 20, 40), (20, 100), (50, 200), tool_s=0.005)
