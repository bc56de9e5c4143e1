"""Requests that are alike: one plan but for arguments, so that a person can decide them together (decision 149)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from planner_executor.graph.plan.canonical import digest
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.request_json import RequestJson
from planner_executor.graph.review.response import can_approve

MOST_CHARACTERS = 400
"""How long an argument that differs may be: a table shows it whole."""
OWN_WORDS = ("does", "settles")
"""What the content of a step says with its arguments."""
REVISED = ("changes", "comments", "notes")
"""What a plan has that is to be read by itself: differences to one before, and warnings."""


class Batch(NamedTuple):
    """Requests for the same plan, which differ in arguments alone; `columns` are those, as (step, argument)."""

    requests: tuple[RequestJson, ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def rows(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """For each request its run, the goal, and the arguments that differ, as JSON text."""
        return [(one["run"], one["review"]["goal"], self._values(one)) for one in self.requests]

    def _values(self, request: RequestJson) -> tuple[str, ...]:
        args = _args(request)
        return tuple(to_text(args[column]) for column in self.columns)

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON."""
        columns = [{"step": step, "argument": name} for step, name in self.columns]
        rows = [{"run": run, "goal": goal, "values": list(values)} for run, goal, values in self.rows]
        return {"columns": columns, "rows": rows}


def batches(requests: Sequence[RequestJson]) -> list[Batch]:
    """Return the requests that can be decided together, two or more at a time, in their order."""
    found: dict[str, list[RequestJson]] = {}
    for request in requests:
        if alone_because(request) is None:
            found.setdefault(_shape(request), []).append(request)
    made = (Batch(tuple(group), _differing(group)) for group in found.values() if len(group) > 1)
    return [batch for batch in made if not _is_long(batch)]


def alone_because(request: RequestJson) -> str | None:
    """Return why a request is decided by itself, None if it may be decided with others.

    Only a plan that can run and was never shown differently: no call, question, gate, budget or uncertain effect beside
    it, no step that has run, nothing that an untrusted result reaches, and no call that is held back for what it is.
    """
    if [action["name"] for action in request["action_requests"]] != ["run_plan"] or not can_approve(request):
        return "it asks about something else than one plan that can run"
    if request["issues"] or request["error"]:
        return "an answer to it was turned down"
    content = request.get("review")
    if not isinstance(content, Mapping) or len(content.get("actions", ())) != 1:
        return "its content is not on record"
    plan, steps = content["actions"][0], content["actions"][0].get("steps", ())
    if any(plan.get(name) for name in REVISED) or any(step["status"] != "pending" for step in steps):
        return "its plan is a revision, has begun, or comes with a warning"
    # Those two are asked about when they are due in any case; the others want somebody to look at this very run.
    if any(step.get("asked_later") not in (None, "unknown", "long") for step in steps):
        return "it has a call that is new, uncertain, or written after untrusted data was read"
    if any(one["trust"] == "untrusted" or one.get("asked") for step in steps for one in _sources(step)):
        return "an untrusted value reaches a call"
    return None


def _sources(step: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for args in step.get("args", {}).values():
        yield from args.values()


def _shape(request: RequestJson) -> str:
    """Return the digest of all that alike requests have in common: the plan without values of arguments, and terms."""
    plan, content = request["action_requests"][0]["args"]["plan"], request["review"]
    # The names of arguments are part of the shape and their values are not: those are the columns of the table.
    steps: list[JsonValue] = [{**step, "args": sorted(step.get("args", {}))} for step in plan["steps"]]
    told = content["actions"][0]
    said: list[JsonValue] = [
        {name: value for name, value in one.items() if name not in OWN_WORDS} for one in told.get("steps", ())
    ]
    # Who has voted and until when differs from run to run, and is no reason to decide apart.
    people = {name: value for name, value in content.get("people", {}).items() if name in ("rules", "on_expire")}
    terms: list[JsonValue] = [told.get("tools"), told.get("decisions"), people, content.get("reason_for")]
    return digest([{**plan, "steps": steps}, said, terms])


def _args(request: RequestJson) -> dict[tuple[str, str], Any]:
    steps = request["action_requests"][0]["args"]["plan"]["steps"]
    return {(step["id"], name): value for step in steps for name, value in step.get("args", {}).items()}


def _differing(requests: Sequence[RequestJson]) -> tuple[tuple[str, str], ...]:
    args = [_args(one) for one in requests]
    # Alike plans have the same arguments, so the first names them all. By digest: in Python 1, 1.0 and true are equal.
    return tuple(place for place in args[0] if len({digest([one[place]]) for one in args}) > 1)


def _is_long(batch: Batch) -> bool:
    return any(len(value) > MOST_CHARACTERS for _, _, values in batch.rows for value in values)
