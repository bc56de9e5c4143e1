"""Counts over all runs in Prometheus formats (decision 0040)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.plain_text.sanitize import escaped
from planner_executor.graph.record.counters import BOUNDS_S, GAUGES, HELP, HISTOGRAMS, Counters, Labels

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
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        counters = self._read()
        for name, text in HELP.items():
            yield _with_samples(CounterMetricFamily(f"{PREFIX}{name}", text), name, counters.counts)
        for name, text in GAUGES.items():
            yield _with_samples(GaugeMetricFamily(f"{PREFIX}{name}", text), name, counters.gauges)
        for name, text in HISTOGRAMS.items():
            family = HistogramMetricFamily(f"{PREFIX}{name}", text, labels=["status"])
            for labels, total in _samples_of(f"{name}_sum", counters.counts):
                family.add_metric([escaped(text) for _, text in labels], _buckets(name, labels, counters), total)
            yield family


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
        raise ConfigError("metrics need: pip install '.[metrics]' in the folder of planner-executor") from None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(RunCollector(read))
    return registry


def exposition(registry: "CollectorRegistry") -> str:
    """Return the counts in the text-based format 0.0.4."""
    from prometheus_client import generate_latest

    return generate_latest(registry).decode()


def _buckets(name: str, labels: Labels, counters: Counters) -> list[tuple[str, float]]:
    """Return (upper bound, values up to it), as the format has them."""
    bounds = [*(f"{bound:g}" for bound in BOUNDS_S), "+Inf"]
    counts = [counters.value(f"{name}_bucket", le=bound, **dict(labels)) for bound in bounds]
    return list(zip(bounds, accumulate(counts), strict=True))


def _with_samples(metric: "Metric", name: str, values: Mapping[tuple[str, Labels], float]) -> "Metric":
    for labels, value in _samples_of(name, values):
        metric.add_sample(f"{PREFIX}{name}", {label: escaped(text) for label, text in labels}, value)
    return metric


def _samples_of(name: str, values: Mapping[tuple[str, Labels], float]) -> Iterator[tuple[Labels, float]]:
    return ((labels, value) for (valued, labels), value in sorted(values.items()) if valued == name)
