"""Export of spans, switched on by one environment variable; OpenTelemetry's own variables configure it."""

import os
from collections.abc import Sequence

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.observing.listener import Observer

SWITCH = "PLANNER_EXECUTOR_OTEL"
ON, OFF = ("1", "true", "on", "yes"), ("", "0", "false", "off", "no")
SERVICE = "planner-executor"


def with_exported_spans(observers: Sequence[Observer]) -> Sequence[Observer]:
    """Return the observers, and one that makes spans if the environment asks for it and none of them does.

    Raises:
        ConfigError: The variable is neither on nor off, the packages are missing, or the exporter is not known.
    """
    switch = os.environ.get(SWITCH, "").strip().lower()
    if switch in OFF:
        return observers
    if switch not in ON:
        raise ConfigError(f"{SWITCH}={switch[:40]!r} is neither on nor off; set it to 1 or 0")
    try:
        from planner_executor.graph.observing.otel import OtelObserver

        _provide()
    except ImportError:
        raise ConfigError(f"{SWITCH} needs packages: pip install '.[otel]' in the folder of planner-executor") from None
    return observers if any(isinstance(one, OtelObserver) for one in observers) else [*observers, OtelObserver()]


def _provide() -> None:
    """Set up the process's tracer provider, unless the program or its instrumentation did."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter

    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return
    exporter: SpanExporter
    match os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip():
        case "none":
            return
        case "otlp" | "":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter()
        case "console":
            import sys

            exporter = ConsoleSpanExporter(out=sys.stderr)
        case other:
            raise ConfigError(f"OTEL_TRACES_EXPORTER={other[:40]!r} is not known here; set it to otlp, console or none")
    own = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: SERVICE}
    provider = TracerProvider(resource=Resource.create(own))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
