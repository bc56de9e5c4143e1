"""Responses to review requests that a process keeps in the ledger for another one to carry out (decision 0091)."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.errors import InputError, NothingToDecideError
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.ledger.run_states import state_of
from planner_executor.graph.ledger.values import content_value
from planner_executor.graph.nodes.run.review_clock import refuse_late, settle
from planner_executor.graph.policy.approver_rule import ApproverRule, approver_refusal, people_rules
from planner_executor.graph.record.events import Content, Draft, LateAnswer, ResponseGiven
from planner_executor.graph.record.person import Approver
from planner_executor.graph.record.review_state import RecordedRequest
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.run_state import RunState
from planner_executor.graph.record.values import keep_anything
from planner_executor.graph.review.recorded import request_on_record
from planner_executor.graph.review.request_json import RequestJson, digest_of_request
from planner_executor.graph.runs.runs import Runs


async def open_request(ledger: Ledger, record: RunState) -> RequestJson | None:
    """Return the request that a run waits with, as it was shown; None if it waits with none, or has a response.

    A response on record of one who may not decide, from before such were refused, is none.
    """
    request, given = record.review_state.request, record.review_state.response
    if request is None:
        return None
    if given is not None and _refusal(record, request, Approver.of_label(given.approver, given.roles)) is None:
        return None
    shown = request.shown
    texts = await content_value(ledger, shown.shown)
    before = record.review_state.asked_before(shown.digest, shown.asked, is_open=True)
    content = await content_value(ledger, shown.content)
    return request_on_record(record.id, shown, record.plan_state.plan or {}, texts, content, before)


def _refusal(record: RunState, request: RecordedRequest, by: Approver) -> str | None:
    """Return why a person may not decide, by the rules that the request recorded; None if they may.

    A response that nobody would carry out would keep others from deciding meanwhile.
    """
    rules = people_rules(map(ApproverRule.from_json, request.shown.rules), request.escalated_s)
    return approver_refusal(rules, by, (*record.people.askers, *request.shown.askers)) if rules else None


async def store_response(runs: Runs, key: RunKey, response: Mapping[str, Any], by: Approver) -> None:
    """Keep a response to the open request of a run; whoever carries the run on takes it up.

    One of a person who may not decide is refused, which is on record and keeps nobody from deciding.

    Args:
        runs: The runs of the ledger.
        key: The run.
        response: As `graph.review.response.build_response` makes it, with the digest of the request.
        by: Who responds.

    Raises:
        NothingToDecideError: The run does not wait, or with another request; its time is over; or somebody has
            responded already.
        RunOwnedError: A process executes the run.
        InputError: A later run has taken the thread, or the policy lets others decide.
    """
    if (latest := await runs.ledger.last_run(key.thread)) not in (key, None):
        raise InputError("run", f"{latest.id} has taken the thread of {key.id} since; decide about that one")
    # First what is due: the time of the request may be over, and then it takes no response.
    await settle(runs.ledger, key)
    if (late := await refuse_late(runs.ledger, key, response, by)) is not None:
        raise NothingToDecideError(key.id, "closed", late)
    kept = keep_anything(response)
    async with runs.ledger.owned(key) as lease:
        record = await state_of(runs.ledger, key)
        request, asked = await open_request(runs.ledger, record), record.review_state.request
        if request is None or asked is None or digest_of_request(request) != response["digest"]:
            raise NothingToDecideError(record.id, record.status, responder(record))
        number, content, why = record.review_state.requests, Content.of(kept), _refusal(record, asked, by)
        given: ResponseGiven | LateAnswer
        if why is not None:
            given = LateAnswer(request=number, answer=content, error=why, approver=str(by), roles=by.roles)
        else:
            digest = digest_of_request(request)
            given = ResponseGiven(request=number, digest=digest, response=content, approver=str(by), roles=by.roles)
        await runs.ledger.append(lease, [Draft(given)], artifacts=[kept], control_seq=record.control_seq)
    if why is not None:
        raise InputError("by", why)


def responder(record: RunState) -> str:
    """Return who has responded to the open request or decided the last one, in words; empty if nobody has."""
    if (given := record.review_state.response) is not None:
        return f"{given.approver} has responded already; it is taken up when the run goes on"
    decided = list(record.review_state.decided_at.values())
    return f"{decided[-1].approver or 'somebody'} has decided already ({decided[-1].decision})" if decided else ""
