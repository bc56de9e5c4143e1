"""The run that a node works on: found in the ledger, told apart from forks, and shown in the state."""

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import uuid4

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime
from pydantic import JsonValue

from graph.caller import caller_on
from graph.calls.gate import CallGate
from graph.calls.meter import Meter
from graph.calls.model_gate import ModelGate
from graph.context import Services
from graph.errors import RunPausedError, UnresolvedReferenceError
from graph.ledger.protocol import Lease, Ledger, Message, News, RunKey
from graph.ledger.values import answer_from_results, values_of
from graph.markdown import answer_markdown, fenced
from graph.plan.revision import difference
from graph.plan.schedule import waits_for
from graph.plan.schema import Plan, Step
from graph.plan.validation import Reading
from graph.policy.approval_scope import ExecutionTerms
from graph.policy.replanning import Cause, ReplanPolicy
from graph.prompts.planner import UNTRUSTED, history_shown
from graph.record.amendment import Amendment
from graph.record.ending import Ending, ending_of
from graph.record.events import CANCELLED, WORDING, Draft, Event
from graph.record.goal import Goal
from graph.record.projection import apply_events, project
from graph.record.replacement import Replaced, replaced_in, replaces_issues
from graph.record.results import StepResult
from graph.record.run_state import RunState
from graph.record.trust_label import joined, label_of_tool
from graph.record.values import Kept, keep, to_text
from graph.sanitize import escaped
from graph.state import END, StateUpdate, number, proof_of, said_before, tags_of

ANSWER_BYTES = 250_000
"""Answers up to this size stand in the state as they are."""
CLOSED = ("succeeded", "failed")
"""What a step has come to where the ledger has its result."""
SAID_CHARACTERS = 10_000
"""How much of an answer that is no text is said in the chat."""


@dataclass
class RunContext:
    """A run as a node sees it.

    `checkpoint` is the one the node runs at, `shown` the plan in the state there, `named` the run that it names.
    `opened` says that the events with which it was to be owned are written.
    """

    services: Services
    ledger: Ledger
    key: RunKey
    record: RunState
    checkpoint: str
    shown: Any = None
    lease: Lease | None = None
    named: Any = None
    opened: bool = False
    _terms: ExecutionTerms | None = field(default=None, init=False, repr=False)
    _plans: dict[int, tuple[Mapping[str, Any], Plan]] = field(default_factory=dict, init=False, repr=False)

    @property
    def here_before(self) -> bool:
        """Whether a node ran for this run at this checkpoint: the process died since, or an old answer was sent."""
        return self.checkpoint in self.record.checkpoints

    def is_fork(self, state: Mapping[str, Any]) -> bool:
        """Whether the state is from before a decision that is closed: such a state goes on as a run of its own."""
        seen = number(state["run"].get("seq"))
        closed = not self.here_before and self.record.last_decision_seq > seen
        return closed and not self._passes_again(state, seen)

    def _passes_again(self, state: Mapping[str, Any], seen: int) -> bool:
        """Whether the one decision after the state is the policy's, about the plan in it, in a run that goes on.

        With `durability="async"` a process may die after the policy has let a plan pass and before the checkpoint is
        kept at which it did. LangGraph then makes that checkpoint anew, under another id.
        """
        approval, record = self.record.approval, self.record
        if approval is None or approval.by != "policy" or record.ended or state.get("plan") != record.plan:
            return False
        return approval.seq == record.last_decision_seq and record.decision_before_seq <= seen

    @asynccontextmanager
    async def owned(self, *opening: Draft) -> AsyncIterator[None]:
        """Own the run for a while, as it is then; what others ask of it is done first.

        Args:
            opening: Events to write at once if the run is as it was read, see `opened`.

        Raises:
            RunOwnedError: Somebody else works on it.
            RunPausedError: It was asked to pause.
        """
        events = [] if self._newly_configured()[0] else self._placed(opening)
        async with self.ledger.owned_and_read(self.key, self.record.seq, events) as owned:
            self.lease, self.opened = owned.lease, owned.opened
            try:
                await self._take(owned.news)
                configured, tools = self._newly_configured()
                if configured:
                    found = await self.ledger.write(self.lease, configured, after=self.record.seq, artifacts=tools)
                    apply_events(self.record, found)
                yield
            finally:
                self.lease = None

    async def heed(self) -> None:
        """Read on, and do what the messages in the inbox ask for.

        Raises:
            RunPausedError: One of them asks to pause.
        """
        assert self.lease is not None
        await self._take(await self.ledger.news(self.lease, self.record.seq))

    async def _take(self, news: News) -> None:
        """Read on, and do what messages ask for; they are answered by the run as it is now."""
        assert self.lease is not None
        apply_events(self.record, news.events)
        messages = await self.ledger.take_messages(self.lease, self._answer) if news.has_messages else []
        if messages and not self.record.ended:
            await self.reload()
            if "pause" in messages and "cancel" not in messages:
                raise RunPausedError(self.record.id)

    def _answer(self, messages: list[Message]) -> Sequence[Draft]:
        """Return the event that says what was done about messages."""
        if self.record.ended or not messages:
            return ()
        if "cancel" in messages:
            return [Draft("run_ended", {**CANCELLED, "checkpoint": self.checkpoint}, safe=False)]
        drafts, constraints = [], self.record.constraints
        for steer in (Amendment.read(message) for message in messages if message != "pause"):
            drafts.append(steer.draft(constraints))
            constraints = steer.applied(constraints)
        return [*drafts, *([Draft("paused", {"reason": "asked to pause"})] if "pause" in messages else [])]

    def gate(self) -> CallGate:
        """Return the choke point for this run, which must be owned."""
        assert self.lease is not None
        clock, terms, turns = self.services.clock, self.terms, self.services.turns
        begun = clock()
        meter = Meter(terms.bounds, self.record.usage, terms.policy.prices, lambda: clock() - begun)
        settings = self.services.settings
        models = ModelGate(
            self.ledger,
            self.lease,
            self.record,
            meter,
            turns,
            record_prompts=settings.record_prompts,
            instructions=settings.instructions,
            constants=(self.services.offered_text,),
        )
        return CallGate(
            self.ledger,
            self.lease,
            self.record,
            self.services.toolbox,
            meter,
            turns,
            models,
            policy=terms.policy,
            asks=terms.mode != "never",
        )

    @property
    def terms(self) -> ExecutionTerms:
        """The terms under which the run goes on now."""
        if self._terms is None or self._terms.budget is not self.record.budget:
            settings, named = self.services.settings, tuple(self.services.models.named)
            specs, budget = self.services.toolbox.specs, self.record.budget
            self._terms = ExecutionTerms(specs, settings.approval, settings.policy, budget, named)
        return self._terms

    async def write(self, *drafts: Draft, artifacts: Sequence[Kept] = (), last: bool = False) -> None:
        """Write events that rest on what was read, and read on; with the `last` ones the run is given back."""
        configured, tools = self._newly_configured()
        found = await self.ledger.write(
            self.lease or self.key,
            [*configured, *self._placed(drafts)],
            after=self.record.seq,
            artifacts=[*tools, *artifacts],
            control_seq=self.record.control_seq,
            lets_go=last,
        )
        apply_events(self.record, found)

    def _placed(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Return events with the checkpoint at which the node writes them."""
        return [Draft(d.kind, {**d.payload, "checkpoint": self.checkpoint}, d.step, d.safe) for d in drafts]

    def _newly_configured(self) -> tuple[list[Draft], list[Kept]]:
        """Return the event that tells of settings, models or tools which are not those on record."""
        if self.record.ended or self.services.is_configured_as(self.record.configuration):
            return [], []
        configured, tools = self.services.configuration
        return [Draft("configured", configured)], [tools]

    async def reload(self) -> None:
        """Read what the ledger has of the run since it was last read."""
        apply_events(self.record, await self.ledger.events(self.key, after=self.record.seq))

    @property
    def replan_policy(self) -> ReplanPolicy:
        """How far ahead is planned, and when anew."""
        settings = self.services.settings
        return ReplanPolicy(settings.replan, settings.horizon, settings.max_replans, settings.max_rounds)

    def offered(self, names: Collection[str] = ()) -> list[dict[str, Any]]:
        """Return the tools as planners are shown them, denied ones left out; where given, only those in `names`."""
        offered = self.services.offered
        return [tool for tool in offered if tool["name"] in names] if names else list(offered)

    @property
    def told_limits(self) -> dict[str, Any]:
        """What planners are told of what is left to spend."""
        bounds, usage, settings = self.terms.bounds, self.record.usage, self.services.settings
        left = {name: (bounds.of(name) or 0) - usage.of(name) for name in bounds.names}
        replans = settings.max_replans - self.record.replans
        told = {"replans_left": replans, "budget_left": left, "executors": list(self.terms.executors)}
        return {name: value for name, value in told.items() if value or name == "replans_left"}

    def allowed(self, reading: Reading) -> Reading:
        """Return what was read of a plan, with all that the policy has against it."""
        if reading.plan is None:
            return reading
        issues = self.terms.issues(reading.plan)
        issues += replaces_issues(reading.plan, self.record.planned, self.record.succeeded)
        return Reading(None, tuple(issues)) if issues else reading

    def planned(self, reading: Reading) -> Reading:
        """Return what was read of a model's plan, with all that policy and horizon have against it."""
        return self.replan_policy.checked(self.allowed(reading), self.record)

    async def revise(self, plan: Plan, author: str, reason: str, *, last: bool = False, **more: Any) -> None:
        """Record a plan as the run's next revision, with what its tools foresee that it would replace."""
        draft = self.revision(plan, author, reason, **more)
        if foreseen := await self.services.toolbox.would_replace(plan):
            draft = replace(draft, payload={**draft.payload, "would_replace": foreseen})
        await self.write(draft, last=last)

    def revision(
        self,
        plan: Plan,
        author: str,
        reason: str,
        *,
        cause: Cause | Literal["refined"] = "failure",
        failures: Sequence[str] = (),
        stalled: str | None = None,
        notes: Sequence[str] = (),
    ) -> Draft:
        """Return the event that makes `plan`, which was read under the terms as they are, the run's next revision.

        Args:
            plan: The whole plan.
            author: `planner`, `replanner`, `caller`, `person` or `state`.
            reason: Why there is a revision.
            cause: What a replanner was called for; `refined` where steps are planned out and all else stands.
            failures: Fingerprints of the failures that it answers.
            stalled: Why it gets the run no further, where it does not.
            notes: What was read otherwise than its author wrote it.
        """
        payload = {
            "revision": self.record.revision + 1,
            "plan": plan.to_json(),
            "digest": plan.digest,
            "binding": self.terms.binding(plan),
            "author": author,
            "reason": reason,
            "cause": cause,
            "diff": difference(self.recorded_plan(), plan).to_json(),
            "replaced": [one.to_json() for one in self.replaced_in(plan)],
            "tainted": self._tainted(plan, author),
            "failures": list(failures),
            "stalled": stalled,
        }
        if notes:
            payload["read_as"] = list(notes)
        return Draft("plan_revised", payload, safe=False)

    def replaced_in(self, plan: Plan) -> list[Replaced]:
        """Return the failed steps that a plan leaves out or changes, and whether it makes up for them."""
        record, specs = self.record, self.services.toolbox.specs
        return replaced_in(plan, self.approved_plan(), record.results, record.replaced_before, specs)

    def _tainted(self, plan: Plan, author: str) -> list[str]:
        """Return ids of the steps that a model wrote after it had read what untrusted tools said, now or before."""
        record, before = self.record, self.recorded_plan()
        kept = {step.id for step in plan.steps if before and step.same_as(before.by_id.get(step.id))}
        specs = self.services.toolbox.specs
        read = joined(label_of_tool(specs[call.tool]) for call in record.calls.values() if call.tool in specs)
        heard = any(UNTRUSTED in said for said in record.history)
        new = (read.untrusted or heard) and author in ("planner", "replanner")
        return [step.id for step in plan.steps if (step.id in record.tainted if step.id in kept else new)]

    async def short_of(self, limit: str, by: str, plan: Plan | None) -> None:
        """Record that a limit of the budget was reached, by which node, and what is left to do."""
        left = [step.id for step in plan.steps if step.id not in self.record.succeeded] if plan else []
        payload = {
            "limit": limit,
            "by": by,
            "budget": self.terms.bounds.to_json(),
            "spent": self.record.usage.to_json(),
            "left": left,
        }
        await self.write(Draft("budget_reached", payload, safe=False))

    async def ending(self, plan: Plan) -> Ending:
        """Return how the run ends if it ends with this plan as it is."""
        record = self.record
        return ending_of(plan, record.results, await self.values(plan), record.dropped, record.missing)

    async def end(
        self,
        ending: Ending,
        *before: Draft,
        artifacts: Sequence[Kept] = (),
        notes: Sequence[str] = (),
        **keys: Any,
    ) -> StateUpdate:
        """Record the end of the run, after other events, and return what the state shows of it.

        Args:
            ending: How it ends.
            before: The events that come first.
            artifacts: What they name.
            notes: What was read otherwise than written of the answer that a model gave at once.
            keys: More keys of the state.
        """
        kept = keep(ending.answer, ANSWER_BYTES)
        answer, stored = kept.fields(), [kept]
        if kept.artifact is not None and await self._follows(kept):
            made = {"of": "results", "size": kept.artifact.size, "preview": kept.artifact.preview}
            answer, stored = {"artifact": made}, []
        payload = {"status": ending.status, "reason": ending.reason, **answer}
        if notes:
            payload["read_as"] = list(notes)
        await self.write(*before, Draft("run_ended", payload, safe=False), artifacts=[*artifacts, *stored], last=True)
        return self.ended(**keys)

    async def _follows(self, answer: Kept) -> bool:
        """Whether an answer can be had from the plan and the results on record, and so need not be stored again."""
        try:
            return to_text(await answer_from_results(self.ledger, self.record)) == answer.text
        except UnresolvedReferenceError:
            return False

    def ended(self, **keys: Any) -> StateUpdate:
        """Return what the state shows of a run that has ended, all of it as the ledger has it."""
        end, record = self.record.ended, self.record
        assert end is not None
        answer = {"artifact": end["artifact"]} if "artifact" in end else end["value"]
        said = AIMessage(_last_words(end["status"], end["reason"], answer), id=f"{record.id}{END}")
        told = {"status": end["status"], "reason": end["reason"], "answer": answer, "plan": record.plan}
        issues = [dict(issue) for issue in record.issues]
        shown = {**self.standing(self.recorded_plan()), **told, "issues": issues, "messages": [said], "doubts": []}
        state = self.update(**{**shown, **keys})
        return {**state, "proof": proof_of(state)}

    def standing(self, plan: Plan | None) -> dict[str, Any]:
        """Return what the state shows of a run beside its plan and status while `plan` waits for a decision."""
        record = self.record
        results = self.results_shown(plan) if plan is not None and record.results else {}
        return {
            "goal": record.goal,
            "constraints": list(record.constraints),
            "revision": record.revision,
            "digest": record.digest,
            "results": results,
            "reason": None,
            "issues": [],
            "answer": None,
        }

    def is_shown_by(self, state: Mapping[str, Any], plan: Plan | None) -> bool:
        """Whether the state shows the run as it waits, and nothing that a client wrote there.

        Of a step that has come to no end, or may have, the executor says more than the ledger has as its result.
        """
        told = self.standing(plan)
        same = all(state.get(key) == told[key] or not (state.get(key) or told[key]) for key in told if key != "results")
        results, record = state.get("results") or {}, self.record
        if not same or state.get("status") != "waiting" or not isinstance(results, dict):
            return False
        closed = {name: _untimed(record.results[name].to_json()) for name in results if name in record.results}
        claims = {name: _untimed(entry) for name, entry in results.items() if not _is_open(entry)}
        complete = {name for name in told["results"] if name in record.succeeded} <= set(claims)
        return complete and all(closed.get(name) == entry for name, entry in claims.items())

    def show_plan(self, plan: Plan, status: str, **keys: Any) -> StateUpdate:
        """Return what the state shows of a run that goes on with `plan`, which is not written twice."""
        told = plan.to_json()
        shown: dict[str, Any] = {**self.standing(plan), "digest": plan.digest}
        if repr(told) != repr(self.shown):  # to Python alone 1 and true are equal
            shown["plan"] = told
        return self.update(**{**shown, "status": status, **keys})

    def recorded_plan(self) -> Plan | None:
        """Return the run's latest revision."""
        return self._validated(self.record.plan)

    def approved_plan(self) -> Plan | None:
        """Return the plan that was approved last, which is the one that ran last."""
        return self._validated(self.record.approved_plan)

    def _validated(self, raw: Mapping[str, Any] | None) -> Plan | None:
        """Return a plan of the record, which is read once however often it is asked for."""
        if raw is None:
            return None
        held = self._plans.get(id(raw))
        if held is None or held[0] is not raw:
            held = self._plans[id(raw)] = raw, Plan.model_validate(raw)
        return held[1]

    def results_shown(self, plan: Plan, results: Mapping[str, StepResult] | None = None) -> dict[str, Any]:
        """Return the results of a plan's steps as the state shows them."""
        results = self.record.results if results is None else results
        pending = StepResult("pending")
        return {step.id: results.get(step.id, pending).to_json() for step in plan.steps}

    async def values(self, plan: Plan) -> dict[str, JsonValue]:
        """Return the whole value of each step of `plan` that succeeded."""
        return await values_of(self.ledger, self.record, plan)

    def seen_by(self, step: Step) -> dict[str, Any]:
        """Return the results that a step waits for as a person sees them: the whole value, or an artifact's preview."""
        found = {before: self.record.results.get(before) for before in waits_for([step])[step.id]}
        return {name: _seen(result) for name, result in found.items() if result is not None}

    def update(self, **keys: Any) -> StateUpdate:
        """Return a state update that names the run and what it has seen of the ledger."""
        record = self.record
        run: dict[str, Any] = {"thread": record.thread, "n": record.n, "id": record.id, "seq": record.seq}
        if isinstance(self.named, dict):
            run["saw"] = [self.named.get("n"), self.named.get("seq")]
        return {"run": run, **keys}


def _untimed(entry: Any) -> Any:
    """Return an entry of the results without its times, which a replay has of its own."""
    times = ("started_at", "ended_at")
    return {key: value for key, value in entry.items() if key not in times} if isinstance(entry, dict) else entry


def _is_open(entry: Any) -> bool:
    """Whether an entry of the results says that a step has come to no end, and nothing else."""
    return isinstance(entry, dict) and entry.get("status") not in CLOSED and entry.get("value") is None


def _seen(result: StepResult) -> JsonValue:
    return dict(result.artifact) if result.artifact else result.value


async def open_run_context(services: Services, state: Mapping[str, Any], config: RunnableConfig) -> RunContext | None:
    """Return the run that the state belongs to, or None where it names none on this thread.

    A later run that has been at this checkpoint already comes first: a fork's first node began it.
    """
    ledger = await services.ledger()
    named = state.get("run")
    thread = thread_of(state, config)
    if not isinstance(named, dict) or named.get("thread") != thread:
        return None
    n, latest = number(named.get("n")), await ledger.latest(thread)
    if latest is None or not 1 <= n <= latest[0].n:
        return None
    key, events = latest
    while key.n > n:
        run = _run_context(services, ledger, key, events, named)
        if run.here_before:
            return run
        key = RunKey(thread, key.n - 1)
        events = await ledger.events(key)
    return _run_context(services, ledger, key, events, named, state.get("plan"))


async def latest_run_context(services: Services, thread: str, named: Any) -> RunContext | None:
    """Return the thread's latest run as the ledger has it now; `named` is what the state says of its run."""
    ledger = await services.ledger()
    found = await ledger.latest(thread)
    return None if found is None else _run_context(services, ledger, *found, named)


def _run_context(
    services: Services, ledger: Ledger, key: RunKey, events: Sequence[Event], named: Any, shown: Any = None
) -> RunContext:
    return RunContext(services, ledger, key, project(events), checkpoint_id(), shown, named=named)


@asynccontextmanager
async def begin_run_context(
    services: Services, state: Mapping[str, Any], config: RunnableConfig, goal: Goal
) -> AsyncIterator[RunContext]:
    """Start the thread's next run, and own it for a while."""
    ledger, thread = await services.ledger(), thread_of(state, config)
    started, tools = _started(services, state, thread, goal)
    async with ledger.begun(thread, [started], [tools]) as owned:
        run = _run_context(services, ledger, owned.lease.run, owned.news.events, state.get("run"))
        run.lease = owned.lease
        yield run


async def start_run_context(
    services: Services, state: Mapping[str, Any], config: RunnableConfig, goal: Goal
) -> RunContext:
    """Start the thread's next run."""
    ledger, thread = await services.ledger(), thread_of(state, config)
    started, tools = _started(services, state, thread, goal)
    key = await ledger.open_run(thread, [started], [tools])
    return _run_context(services, ledger, key, await ledger.events(key), state.get("run"))


def _started(services: Services, state: Mapping[str, Any], thread: str, goal: Goal) -> tuple[Draft, Kept]:
    """Return the first event of a run, which holds what the facade needs to resume it, and the tools that it names."""
    configured, tools = services.configuration
    tags = tags_of(state)
    payload = {
        "goal": goal.goal,
        "constraints": list(goal.constraints),
        **({"tags": tags} if tags else {}),
        "wording": WORDING,
        "history": history_shown(said_before(state.get("messages") or (), goal.goal)),
        **caller_on(thread).started,
        "configured": configured,
        "budget": services.settings.budget.to_json(),
        "checkpoint": checkpoint_id(),
    }
    return Draft("run_started", payload), tools


def checkpoint_id() -> str:
    """Return the id of the checkpoint that the current node runs at."""
    info = get_runtime().execution_info
    return info.checkpoint_id if info is not None else ""


def thread_of(state: Mapping[str, Any], config: RunnableConfig) -> str:
    """Return the thread's id; a graph without one gets a name that lasts for this invocation."""
    given = config.get("configurable", {}).get("thread_id")
    if given is not None:
        return str(given)
    named = state.get("run")
    return str(named["thread"]) if isinstance(named, dict) and "thread" in named else f"unnamed-{uuid4().hex[:12]}"


def _last_words(status: str, reason: str, answer: JsonValue) -> str:
    """Return the end of a run in words: the answer, with the reason where it is not a plain success."""
    told = _answer_in_words(answer)
    if status == "succeeded":
        return told
    end = fenced(f"{status}: {escaped(reason)}")
    return end if answer is None else f"{end}\n\n{told}"


def _answer_in_words(answer: JsonValue) -> str:
    """Return an answer without images, HTML and hidden targets: what made it may have read words of strangers."""
    if isinstance(answer, str):
        return answer_markdown(answer)
    if not isinstance(answer, dict | list):
        return json.dumps(answer)
    return fenced(_cut(json.dumps(answer, ensure_ascii=False, indent=2)), "json")


def _cut(text: str) -> str:
    more = len(text) - SAID_CHARACTERS
    return text if more <= 0 else f"{text[:SAID_CHARACTERS]}\n… ({more} more letters; the whole is the run's answer)"
