"""Events as OpenTelemetry spans, in the words of the GenAI conventions; needs the extra `otel`.

One span stands for each stretch in which a run is worked on (`invoke_agent`); within it are what planners do (`plan`),
reviews, steps, and in those the calls of tools (`execute_tool`) and models (`chat`). A stretch that takes a run up
again is linked to the one before it, as far as this process has seen it. Arguments, results and prompts are not told.

Source: OpenTelemetry, "Semantic conventions for generative AI", agent and client spans.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer, TracerProvider

from graph.ledger.protocol import RunKey
from graph.record.events import (
    BudgetReached,
    CallFinished,
    CallRefused,
    CallStarted,
    Decided,
    Draft,
    ModelFinished,
    ModelStarted,
    PlanRefused,
    PlanRevised,
    ReviewRequested,
    RunEnded,
    Steered,
    StepFinished,
    StepHeld,
    StepUncertain,
)
from graph.record.results import StepResult
from graph.record.run_state import run_name

AGENT = "planner-executor"
STRETCH_ENDS = ("run_ended", "paused", "review_requested")


@dataclass
class Stretch:
    """The open spans of a run: the stretch itself, planning, steps by id, and calls by what tells them apart."""

    root: Span
    planning: Span | None = None
    steps: dict[str, Span] = field(default_factory=dict)
    calls: dict[tuple[Any, ...], Span] = field(default_factory=dict)


class OtelObserver:
    """Tells OpenTelemetry of events; one for any number of graphs.

    Args:
        provider: Where spans go; the global one by default.
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer: Tracer = trace.get_tracer(AGENT, tracer_provider=provider)
        self._open: dict[str, Stretch] = {}
        self._last: dict[str, Span] = {}

    def __call__(self, run: RunKey, drafts: Sequence[Draft]) -> None:
        """Open and close the spans of events that have just been written."""
        name = run_name(run.thread, run.n)
        for draft in drafts:
            stretch = self._open.get(name) or self._begun(name, run)
            self._tell(stretch, draft)
            if draft.kind in STRETCH_ENDS:
                self._end(name, stretch, draft)

    def _begun(self, name: str, run: RunKey) -> Stretch:
        before = self._last.get(name)
        links = [Link(before.get_span_context())] if before is not None else []
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
        self._open[name] = Stretch(root)
        return self._open[name]

    def _tell(self, stretch: Stretch, draft: Draft) -> None:
        match draft.data:
            case CallStarted() as data:
                about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": data.tool}
                about["gen_ai.tool.type"] = "function"
                parent = self._step(stretch, draft.step or "")
                self._start(stretch, _call(draft.step, data), f"execute_tool {data.tool}", parent, about)
            case CallFinished() as data:
                _close(stretch.calls.pop(_call(draft.step, data), None), data.result)
                if data.is_the_step:
                    _close(stretch.steps.pop(draft.step or "", None), data.result)
            case ModelStarted() as data:
                about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": str(data.model)}
                about |= {"gen_ai.provider.name": data.provider, "planner_executor.role": data.role}
                parent = self._step(stretch, draft.step) if draft.step else self._planning(stretch, data.role)
                self._start(stretch, (data.key,), f"chat {data.model}", parent, about, SpanKind.CLIENT)
            case ModelFinished() as data:
                _close_model(stretch.calls.pop((data.key,), None), data)
            case StepFinished() as data:
                _close(stretch.steps.pop(draft.step or "", None), data.result)
            case PlanRevised() | PlanRefused() as data:
                self._planned(stretch, data)
            case ReviewRequested() | Decided() as data:
                self._reviewed(stretch, data)
            case CallRefused() | StepHeld() | StepUncertain() | BudgetReached() | Steered():
                stretch.root.add_event(draft.kind, {"step": draft.step or ""})

    def _start(
        self,
        stretch: Stretch,
        key: tuple[Any, ...],
        name: str,
        parent: Span,
        about: dict[str, str],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        stretch.calls[key] = self._tracer.start_span(name, trace.set_span_in_context(parent), kind, attributes=about)

    def _step(self, stretch: Stretch, step: str) -> Span:
        if step not in stretch.steps:
            stretch.steps[step] = self._child(stretch, f"step {step}", {"planner_executor.step": step})
        return stretch.steps[step]

    def _planning(self, stretch: Stretch, role: str) -> Span:
        if stretch.planning is None:
            stretch.planning = self._child(stretch, f"plan {role}", {"planner_executor.role": role})
        return stretch.planning

    def _child(self, stretch: Stretch, name: str, about: dict[str, Any]) -> Span:
        return self._tracer.start_span(name, trace.set_span_in_context(stretch.root), attributes=about)

    def _planned(self, stretch: Stretch, data: PlanRevised | PlanRefused) -> None:
        span = stretch.planning or self._child(stretch, f"plan {data.author}", {})
        stretch.planning = None
        if isinstance(data, PlanRevised):
            span.set_attribute("planner_executor.revision", data.revision)
            span.set_attribute("planner_executor.steps", len(data.plan.get("steps", ())))
        else:
            span.set_status(Status(StatusCode.ERROR, "no valid plan"))
        span.end()

    def _reviewed(self, stretch: Stretch, data: ReviewRequested | Decided) -> None:
        about: dict[str, Any] = (
            {"decision": data.decision, "by": data.by, "approver": data.approver}
            if isinstance(data, Decided)
            else {"revision": data.revision, "asked": list(data.asked)}
        )
        named = {f"planner_executor.{name}": value for name, value in about.items() if value is not None}
        self._child(stretch, "review", named).end()

    def _end(self, name: str, stretch: Stretch, draft: Draft) -> None:
        """Close what is open: what is under way now goes on in another stretch, if at all."""
        for span in (
            *stretch.calls.values(),
            *stretch.steps.values(),
            *([stretch.planning] if stretch.planning else []),
        ):
            span.set_attribute("planner_executor.interrupted", True)
            span.end()
        ended = draft.data if isinstance(draft.data, RunEnded) else None
        status = ended.status if ended is not None else {"paused": "paused"}.get(draft.kind, "waiting")
        stretch.root.set_attribute("planner_executor.status", status)
        if ended is not None and status == "failed":
            stretch.root.set_status(Status(StatusCode.ERROR, ended.reason[:200]))
        stretch.root.end()
        self._last[name] = stretch.root
        del self._open[name]
        if draft.kind == "run_ended":
            del self._last[name]


def _call(step: str | None, data: CallStarted | CallFinished) -> tuple[Any, ...]:
    return step, data.item, data.call


def _close(span: Span | None, result: StepResult) -> None:
    if span is None:
        return
    if result.status == "failed":
        span.set_attribute("error.type", "step_failed")
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def _close_model(span: Span | None, data: ModelFinished) -> None:
    if span is None:
        return
    if data.usage is not None:
        span.set_attribute("gen_ai.usage.input_tokens", data.usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", data.usage.output_tokens)
    if data.model:
        span.set_attribute("gen_ai.response.model", str(data.model))
    if data.error is not None:
        span.set_attribute("error.type", "model_failed")
        span.set_status(Status(StatusCode.ERROR))
    span.end()
