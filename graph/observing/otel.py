"""Events as OpenTelemetry spans that follow the GenAI semantic conventions; needs the extra `otel`.

A run has one root span (`invoke_agent`) per segment, that is, from its start or resumption to its pause, review or end.
Its children are planning (`plan`), reviews and steps, and within steps the calls of tools (`execute_tool`) and models
(`chat`). A segment links to the previous one of the same run, if this process has seen it. Spans contain no arguments,
results or prompts.

Source: OpenTelemetry, "Semantic conventions for generative AI", agent and client spans.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, assert_never

from opentelemetry import trace
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer, TracerProvider

from planner_executor.graph.chat_models.redaction import without_secrets
from planner_executor.graph.observing.masking import masked, words_of
from planner_executor.graph.observing.observed import Work
from planner_executor.graph.record.events import (
    Arguments,
    BudgetReached,
    CallAsked,
    CallFinished,
    CallInherited,
    CallPreviewed,
    CallRefused,
    CallStarted,
    CapReached,
    ConditionEvaluated,
    Configured,
    Decided,
    Draft,
    Executing,
    Inherited,
    LateAnswer,
    ModelFinished,
    ModelStarted,
    OwnerReplaced,
    Paused,
    PlanRefused,
    PlanRevised,
    ResponseGiven,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    ReviewRequested,
    RunEnded,
    RunForked,
    RunReopened,
    RunStarted,
    StandingGiven,
    StandingRevoked,
    Steered,
    StepChecked,
    StepFinished,
    StepHeld,
    StepSkipped,
    StepUncertain,
    TakeOverAsked,
    ValueRedacted,
    Voted,
)
from planner_executor.graph.record.results import StepResult
from planner_executor.graph.record.run_key import RunKey, run_name

AGENT = "planner-executor"


@dataclass
class Segment:
    """The open spans of a run: the root, planning, steps by id, and calls by key.

    `hidden` are the words of arguments so far, which no description may contain; None if not all are known.
    """

    root: Span
    planning: Span | None = None
    steps: dict[str, Span] = field(default_factory=dict)
    calls: dict[tuple[Any, ...], Span] = field(default_factory=dict)
    hidden: frozenset[str] | None = frozenset()

    def hide(self, args: Arguments) -> None:
        """Add the words of a call's arguments; arguments stored as an artifact are not at hand."""
        # Once words are missing, no error of the run can be cleared of them, and spans have none.
        known = self.hidden is not None and args.digest_beside is None
        self.hidden = frozenset((*(self.hidden or ()), *words_of(args.shown))) if known else None

    def failure(self, error: str | None) -> Status:
        """Return the status of a failed span: its error without arguments and keys."""
        if error is None or self.hidden is None:
            return Status(StatusCode.ERROR)
        return Status(StatusCode.ERROR, masked(without_secrets(error), self.hidden))


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
            if isinstance(draft.data, RunEnded | Paused | ReviewRequested):
                self._end(name, segment, draft)

    def around(self, run: RunKey, work: Work) -> AbstractContextManager[Any]:
        """Make the span of a started call the current one, so that spans of libraries become its children."""
        segment = self._open.get(run_name(run.thread, run.n))
        span = segment.calls.get(work) if segment is not None else None
        if span is None:
            return nullcontext()
        return trace.use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False)

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

    def _record(self, segment: Segment, draft: Draft) -> None:  # noqa: C901  (a case for each kind)
        match draft.data:
            case CallStarted() as data:
                about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": data.tool}
                about["gen_ai.tool.type"] = "function"
                segment.hide(data.args)
                parent = self._step(segment, draft.step or "")
                self._start(segment, _call(draft.step, data), f"execute_tool {data.tool}", parent, about)
            case CallFinished() as data:
                _close(segment, segment.calls.pop(_call(draft.step, data), None), data.result)
                if data.is_the_step:
                    _close(segment, segment.steps.pop(draft.step or "", None), data.result)
            case ModelStarted() as data:
                about = {"gen_ai.operation.name": "chat", "gen_ai.request.model": str(data.model)}
                about |= {"gen_ai.provider.name": data.provider, "planner_executor.role": data.role}
                parent = self._step(segment, draft.step) if draft.step else self._planning(segment, data.role)
                self._start(segment, (data.key,), f"chat {data.model}", parent, about, SpanKind.CLIENT)
            case ModelFinished() as data:
                _close_model(segment, segment.calls.pop((data.key,), None), data)
            case StepFinished() as data:
                _close(segment, segment.steps.pop(draft.step or "", None), data.result)
            case PlanRevised() | PlanRefused() as data:
                self._end_planning(segment, data)
            case ReviewRequested() | Decided() as data:
                self._record_review(segment, data)
            case (
                CallAsked() | CallRefused() | StepHeld() | StepUncertain() | BudgetReached() | CapReached() | Steered()
            ):
                segment.root.add_event(draft.kind, {"step": draft.step or ""})
            case (
                RunStarted() | Configured() | TakeOverAsked() | OwnerReplaced() | Executing() | StepChecked() | Paused()
                | ConditionEvaluated()
                | ValueRedacted() | RunEnded() | RunReopened() | StepSkipped() | ResultSupplied() | RunForked()
                | Inherited() | CallInherited() | StandingGiven() | StandingRevoked() | Voted() | ResponseGiven()
                | ReviewReminded() | ReviewEscalated() | ReviewExpired() | LateAnswer() | CallPreviewed()
            ):  # fmt: skip
                pass
            case _:
                assert_never(draft.data)

    def _start(
        self,
        segment: Segment,
        key: tuple[Any, ...],
        name: str,
        parent: Span,
        about: dict[str, str],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        segment.calls[key] = self._tracer.start_span(name, trace.set_span_in_context(parent), kind, attributes=about)

    def _step(self, segment: Segment, step: str) -> Span:
        if step not in segment.steps:
            segment.steps[step] = self._child(segment, f"step {step}", {"planner_executor.step": step})
        return segment.steps[step]

    def _planning(self, segment: Segment, role: str) -> Span:
        if segment.planning is None:
            segment.planning = self._child(segment, f"plan {role}", {"planner_executor.role": role})
        return segment.planning

    def _child(self, segment: Segment, name: str, about: dict[str, Any]) -> Span:
        return self._tracer.start_span(name, trace.set_span_in_context(segment.root), attributes=about)

    def _end_planning(self, segment: Segment, data: PlanRevised | PlanRefused) -> None:
        span = segment.planning or self._child(segment, f"plan {data.author}", {})
        segment.planning = None
        if isinstance(data, PlanRevised):
            span.set_attribute("planner_executor.revision", data.revision)
            span.set_attribute("planner_executor.steps", len(data.plan.get("steps", ())))
        else:
            span.set_status(Status(StatusCode.ERROR, "no valid plan"))
        span.end()

    def _record_review(self, segment: Segment, data: ReviewRequested | Decided) -> None:
        about: dict[str, Any] = (
            {"decision": data.decision, "by": data.by, "approver": data.approver}
            if isinstance(data, Decided)
            else {"revision": data.revision, "asked": list(data.asked)}
        )
        named = {f"planner_executor.{name}": value for name, value in about.items() if value is not None}
        self._child(segment, "review", named).end()

    def _end(self, name: str, segment: Segment, draft: Draft) -> None:
        """Close all open spans; work in progress continues, if at all, in another segment."""
        for span in (
            *segment.calls.values(),
            *segment.steps.values(),
            *([segment.planning] if segment.planning else []),
        ):
            span.set_attribute("planner_executor.interrupted", True)
            span.end()
        ended = draft.data if isinstance(draft.data, RunEnded) else None
        status = ended.status if ended is not None else "paused" if isinstance(draft.data, Paused) else "waiting"
        segment.root.set_attribute("planner_executor.status", status)
        if ended is not None and status == "failed":
            segment.root.set_status(segment.failure(ended.reason))
        segment.root.end()
        self._last[name] = segment.root
        del self._open[name]
        # An ended run goes on only if it is reopened; nothing is kept for that.
        if ended is not None:
            del self._last[name]


def _call(step: str | None, data: CallStarted | CallFinished) -> tuple[Any, ...]:
    return step, data.item, data.call


def _close(segment: Segment, span: Span | None, result: StepResult) -> None:
    if span is None:
        return
    if result.status == "failed":
        span.set_attribute("error.type", "step_failed")
        span.set_status(segment.failure(result.error))
    span.end()


def _close_model(segment: Segment, span: Span | None, data: ModelFinished) -> None:
    if span is None:
        return
    if data.usage is not None:
        span.set_attribute("gen_ai.usage.input_tokens", data.usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", data.usage.output_tokens)
    if data.model:
        span.set_attribute("gen_ai.response.model", str(data.model))
    if data.error is not None:
        span.set_attribute("error.type", "model_failed")
        span.set_status(segment.failure(data.error))
    span.end()
