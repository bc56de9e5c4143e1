"""Counts over all runs in the formats that Prometheus reads (decision 0040)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from graph.errors import ConfigError
from graph.record.counters import GAUGES, HELP, Counters, Labels
from graph.sanitize import escaped

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

PREFIX = "planner_executor_"


class RunCollector:
    """Reads the counts anew for each scrape; prometheus-client calls `collect`."""

    def __init__(self, read: Callable[[], Counters]) -> None:
        self._read = read

    def collect(self) -> "Iterable[Metric]":
        """Return a metric for each name, also for those that nothing was counted of."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        counters = self._read()
        for name, words in HELP.items():
            yield _filled(CounterMetricFamily(f"{PREFIX}{name}", words), name, counters.counts)
        for name, words in GAUGES.items():
            yield _filled(GaugeMetricFamily(f"{PREFIX}{name}", words), name, counters.gauges)


def registry_of(read: Callable[[], Counters]) -> "CollectorRegistry":
    """Return a registry that holds these counts and nothing of the process.

    Args:
        read: Returns the counts as they are now; called for each scrape, in its thread.

    Raises:
        ConfigError: `prometheus-client` is not installed.
    """
    try:
        from prometheus_client import CollectorRegistry
    except ImportError:
        raise ConfigError("metrics need a package: pip install 'planner-executor[metrics]'") from None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(RunCollector(read))
    return registry


def exposition(registry: "CollectorRegistry") -> str:
    """Return the counts in the text-based format 0.0.4."""
    from prometheus_client import generate_latest

    return generate_latest(registry).decode()


def _filled(metric: "Metric", name: str, values: Mapping[tuple[str, Labels], float]) -> "Metric":
    for labels, value in _of(name, values):
        metric.add_sample(f"{PREFIX}{name}", {label: escaped(text) for label, text in labels}, value)
    return metric


def _of(name: str, values: Mapping[tuple[str, Labels], float]) -> Iterator[tuple[Labels, float]]:
    return ((labels, value) for (valued, labels), value in sorted(values.items()) if valued == name)
