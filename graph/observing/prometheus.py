"""Counts over all runs in Prometheus formats (decision 0040)."""

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
    """Collector that reads the counts on each scrape."""

    def __init__(self, read: Callable[[], Counters]) -> None:
        self._read = read

    def collect(self) -> "Iterable[Metric]":
        """Return a metric per name, including those without samples."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        counters = self._read()
        for name, text in HELP.items():
            yield _with_samples(CounterMetricFamily(f"{PREFIX}{name}", text), name, counters.counts)
        for name, text in GAUGES.items():
            yield _with_samples(GaugeMetricFamily(f"{PREFIX}{name}", text), name, counters.gauges)


def registry_of(read: Callable[[], Counters]) -> "CollectorRegistry":
    """Return a registry with these counts only, without process metrics.

    Args:
        read: Returns the current counts; called on each scrape, in its thread.

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


def _with_samples(metric: "Metric", name: str, values: Mapping[tuple[str, Labels], float]) -> "Metric":
    for labels, value in _samples_of(name, values):
        metric.add_sample(f"{PREFIX}{name}", {label: escaped(text) for label, text in labels}, value)
    return metric


def _samples_of(name: str, values: Mapping[tuple[str, Labels], float]) -> Iterator[tuple[Labels, float]]:
    return ((labels, value) for (valued, labels), value in sorted(values.items()) if valued == name)
