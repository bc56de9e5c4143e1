"""Events as OpenTelemetry spans that follow the GenAI semantic conventions; needs the extra `otel`.

A run has one root span (`invoke_agent`) per segment, that is, from its start or resumption to its pause, review or end.
Its children are planning (`plan`), reviews and steps, and within steps the calls of tools (`execute_tool`) and models
(`chat`). A segment links to the previous one of the same run, if this process has seen it. Spans contain no arguments,
results or prompts.

Source: OpenTelemetry, "Semantic conventions for generative AI", agent and client spans.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer, TracerProvider

from graph.ledger.protocol import RunKey
from graph.record.events import Draft
from graph.record.run_state import run_name

AGENT = "planner-executor"
SEGMENT_ENDS = ("run_ended", "paused", "review_requested")


@dataclass
class Segment:
    """The open spans of a run: the root, planning, steps by id, and calls by key."""

    root: Span
    planning: Span | None = None
    steps: dict[str, Span] = field(default_factory=dict)
    calls: dict[tuple[Any, ...], Span] = field(default_factory=dict)


class OtelObserver:
    """Observer that creates spans; one instance serves any number of graphs.

    Args:
        provider: Tracer provider. Default: the global one.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer: Tracer = trace.get_tracer(AGENT, tracer_provider=provider)
        self._open: dict[str, Segment] = {}
        self._last: dict[str, Span] = {}

    def __call__(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        """Open and close spans for newly written events."""
        name = run_name(run.thread, run.n)
        for draft in drafts:
            segment = self._open.get(name) or self._start_segment(name, run)
            self._record(segment, draft)
            if draft.kind in SEGMENT_ENDS:
                self._end(name, segment, draft)

    def _start_segment(self, name: str, run: RunKey) -> Segment:
        previous = self._last.get(name)
        links = [Link(previous.get_span_context())] if previous is not None else []
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": AGENT,
            "gen_ai.conversation.id": run.thread,
        }
        root = self._tracer.start_span(
            f"invoke_agent {AGENT}",
            kind=SpanKind.INTERNAL,
            attributes={**about, "planner_executor.run": name},
            links=links,
        )
        self._open[name] = Segment(root)
        return self._open[name]

    def _record(self, segment: Segment, draft: Draft) -> None:
        payload = draft.payload
        match draft.kind:
            case "call_started":
                about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": payload["tool"]}
                about["gen_ai.tool.type"] = "function"
                self._start(segment, _call(draft), f"execute_tool {payload['tool']}", draft, about, SpanKind.INTERNAL)
            case "call_finished":
                _close(segment.calls.pop(_call(draft), None), payload)
                if payload["call"] == 0 and payload.get("item") is None:
                    _close(segment.steps.pop(draft.step or "", None), payload)
            case "model_started":
                about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": str(payload["model"])}
                about |= {"gen_ai.provider.name": payload["provider"], "planner_executor.role": payload["role"]}
                self._start(segment, (payload["key"],), f"chat {payload['model']}", draft, about, SpanKind.CLIENT)
            case "model_finished":
                _close_model(segment.calls.pop((payload["key"],), None), payload)
            case "step_finished":
                _close(segment.steps.pop(draft.step or "", None), payload)
            case "plan_revised" | "plan_refused":
                self._end_planning(segment, draft)
            case "review_requested" | "decided":
                self._record_review(segment, draft)
            case "call_refused" | "step_held" | "step_uncertain" | "budget_reached" | "steered":
                segment.root.add_event(draft.kind, {"step": draft.step or ""})

    def _start(
        self, segment: Segment, key: tuple[Any, ...], name: str, draft: Draft, about: dict[str, str], kind: SpanKind
    ) -> None:
        parent = self._step(segment, draft) if draft.step else self._planning(segment, str(draft.payload.get("role")))
        segment.calls[key] = self._tracer.start_span(name, trace.set_span_in_context(parent), kind, attributes=about)

    def _step(self, segment: Segment, draft: Draft) -> Span:
        step = draft.step or ""
        if step not in segment.steps:
            segment.steps[step] = self._child(segment, f"step {step}", {"planner_executor.step": step})
        return segment.steps[step]

    def _planning(self, segment: Segment, role: str) -> Span:
        if segment.planning is None:
            segment.planning = self._child(segment, f"plan {role}", {"planner_executor.role": role})
        return segment.planning

    def _child(self, segment: Segment, name: str, about: dict[str, Any]) -> Span:
        return self._tracer.start_span(name, trace.set_span_in_context(segment.root), attributes=about)

    def _end_planning(self, segment: Segment, draft: Draft) -> None:
        payload = draft.payload
        span = segment.planning or self._child(segment, f"plan {payload['author']}", {})
        segment.planning = None
        if draft.kind == "plan_revised":
            span.set_attribute("planner_executor.revision", payload["revision"])
            span.set_attribute("planner_executor.steps", len(payload["plan"].get("steps", ())))
        else:
            span.set_status(Status(StatusCode.ERROR, "no valid plan"))
        span.end()

    def _record_review(self, segment: Segment, draft: Draft) -> None:
        payload = draft.payload
        about = {
            name: payload[name] for name in ("decision", "by", "approver", "revision") if payload.get(name) is not None
        }
        asked = {"planner_executor.asked": list(payload["asked"])} if "asked" in payload else {}
        named = {f"planner_executor.{name}": value for name, value in about.items()}
        self._child(segment, "review", {**named, **asked}).end()

    def _end(self, name: str, segment: Segment, draft: Draft) -> None:
        """Close all open spans; work in progress continues, if at all, in another segment."""
        for span in (
            *segment.calls.values(),
            *segment.steps.values(),
            *([segment.planning] if segment.planning else []),
        ):
            span.set_attribute("planner_executor.interrupted", True)
            span.end()
        status = str(draft.payload.get("status") or {"paused": "paused"}.get(draft.kind, "waiting"))
        segment.root.set_attribute("planner_executor.status", status)
        if status == "failed":
            segment.root.set_status(Status(StatusCode.ERROR, str(draft.payload.get("reason"))[:200]))
        segment.root.end()
        self._last[name] = segment.root
        del self._open[name]
        if draft.kind == "run_ended":
            del self._last[name]


def _call(draft: Draft) -> tuple[Any, ...]:
    return draft.step, draft.payload.get("item"), draft.payload["call"]


def _close(span: Span | None, payload: Any) -> None:
    if span is None:
        return
    if payload["status"] == "failed":
        span.set_attribute("error.type", "step_failed")
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def _close_model(span: Span | None, payload: Any) -> None:
    if span is None:
        return
    usage = payload.get("usage") or {}
    for name in ("input_tokens", "output_tokens"):
        if usage.get(name) is not None:
            span.set_attribute(f"gen_ai.usage.{name}", usage[name])
    if payload.get("model"):
        span.set_attribute("gen_ai.response.model", str(payload["model"]))
    if "error" in payload:
        span.set_attribute("error.type", "model_failed")
        span.set_status(Status(StatusCode.ERROR))
    span.end()
