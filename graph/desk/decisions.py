"""Reading the form of an open request: its fields become the response that the review takes."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.desk.records import ShownRun
from planner_executor.graph.desk.views.plan_form import plan_of_form, plan_of_text
from planner_executor.graph.desk.views.request import answer_schema, call_fields
from planner_executor.graph.desk.views.schema_form import Faults, faults_in, fields_of, value_in
from planner_executor.graph.desk.views.standing_form import ahead_wish, standing_wish
from planner_executor.graph.desk.views.step_form import NO_TOOLS, Tools
from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.depth import parse_json_or_text
from planner_executor.graph.record.budget import read_budget
from planner_executor.graph.review.request_json import RequestJson
from planner_executor.graph.review.response import ReviewResponse, asked, call_names, describe_action, new_calls

EDITED = "it is changed below: run the plan as edited, or take the change back and approve what is shown"
Fields = Mapping[str, str]
COMMENT = "comment:"
"""Beginning of the name of a field with a comment on a step."""
AHEAD = "ahead:"
"""Beginning of the names of the fields that approve further runs of a playbook."""
LATER = "later:"
"""Beginning of the name of a box that leaves the calls of a step out of the approval."""


def response_in(shown: ShownRun, request: RequestJson, fields: Fields, tools: Tools = NO_TOOLS) -> ReviewResponse:
    """Return a person's decisions.

    Args:
        shown: The run.
        request: Its open request.
        tools: Those of the run, by name.
        fields: The fields of the form: `decision` is approve, refuse, happened, not_happened, edit, feedback, finish or
            stop; the others are `message`,
            `reason`, `edit_as`, `plan`, those of `plan_of_form`, `answer:<step>:<field>`, `happened:<number>`,
            `result:<number>`, `comment:<step>`, `later:<step>`, `limit:<name>`, `call:<name>` (approve, edit, reject or
            standing) with `:args<field>` and `:why`, and those of `standing_wish`, and `ahead:` with those of
            `ahead_wish`.

    Raises:
        InputError: A field is missing or cannot be read.
    """
    fields = _pressed(request, fields)
    decision = fields.get("decision", "")
    if decision == "stop":
        return ReviewResponse(stop=True)
    # Who has changed a field and approves may mean the plan as shown or as changed.
    if decision == "approve" and fields.get("edit_as") == "form" and _is_edited(request, fields, tools):
        raise InputError("plan", EDITED)
    if decision not in ("approve", "edit", "feedback", "finish", "answer"):
        raise InputError("decision", "choose what to decide")
    # A plan may go back first; uncertain calls are asked about again with the next one.
    says_nothing = not any(text for name, text in fields.items() if name.startswith("happened:"))
    settled = {} if decision == "feedback" and says_nothing else _settled(request, fields)
    if decision == "feedback":
        comments = tuple((name.removeprefix(COMMENT), text) for name, text in fields.items() if _is_comment(name, text))
        if not fields.get("message") and not comments:
            raise InputError("message", "say what to change, or end the run")
        return ReviewResponse(feedback=fields.get("message") or None, comments=comments, **settled)
    if decision == "finish":
        return ReviewResponse(finish=True, answers=_answers(shown, request, fields), **settled)
    can_approve = bool(asked(request, "run_plan") or asked(request, "run_step"))
    ahead = ahead_wish(below(AHEAD, fields))
    if ahead and decision != "approve":
        raise InputError(
            "plan",
            "an edited plan gives no approval of further runs; clear the fields for them",
        )
    return ReviewResponse(
        approve=can_approve,
        standing_runs=ahead,
        plan=edited_plan(request, fields, tools) if decision == "edit" else None,
        answers=_answers(shown, request, fields),
        limits=_limits(request, fields),
        reason=fields.get("reason") or (fields.get("message") if can_approve else None) or None,
        ask_later=tuple(name.removeprefix(LATER) for name in fields if name.startswith(LATER)),
        **_calls(request, fields, tools),
        **settled,
    )


def _pressed(request: RequestJson, fields: Fields) -> Fields:
    """Return the fields with what a button says of the only call that is asked about.

    Raises:
        InputError: The request asks about something else, or about more.
    """
    decision, actions = fields.get("decision", ""), request["action_requests"]
    if decision == "refuse" and len(actions) == 1 and (name := next(iter(call_names(actions)))) is not None:
        why = fields.get("message", "")
        return {**fields, "decision": "approve", f"call:{name}": "reject", f"call:{name}:why": why, "message": ""}
    if decision in ("happened", "not_happened") and [one["name"] for one in actions] == ["settle_effect"]:
        return {**fields, "decision": "answer", "happened:0": str(decision == "happened").lower()}
    if decision in ("refuse", "happened", "not_happened"):
        raise InputError("decision", "the request is not about one call alone; decide each thing that it asks")
    return fields


def _is_edited(request: RequestJson, fields: Fields, tools: Tools) -> bool:
    plans = asked(request, "run_plan")
    return bool(plans) and edited_plan(request, fields, tools) != plans[0]["args"]["plan"]


def _is_comment(name: str, text: str) -> bool:
    return name.startswith(COMMENT) and bool(text.strip())


def edited_plan(request: RequestJson, fields: Fields, tools: Tools = NO_TOOLS) -> Any:
    """Return the plan as a person edited it, in the form or as text.

    Raises:
        InputError: It cannot be read, or no plan is asked about.
    """
    plans = asked(request, "run_plan")
    if not plans:
        raise InputError("plan", "no plan is asked about")
    if fields.get("edit_as") == "text":
        return plan_of_text(fields.get("plan", ""))
    if not isinstance(plan := plans[0]["args"]["plan"], Mapping):
        raise InputError("plan", "it cannot be shown as a form; edit it as text")
    return plan_of_form(plan, fields, tools)


def _answers(shown: ShownRun, request: RequestJson, fields: Fields) -> dict[str, Any]:
    answers = {}
    for action in asked(request, "answer_question"):
        step = action["args"]["step"]
        prefix = f"answer:{step}:"
        texts = {name.removeprefix(prefix): text for name, text in fields.items() if name.startswith(prefix)}
        if any(texts.values()):
            schema = answer_schema(shown, action)
            answers[step] = value_in(fields_of(schema), None, texts)
            check_fields(step, faults_in(schema, answers[step], fields_of(schema)))
    return answers


def check_fields(name: str, faults: Faults) -> None:
    """Refuse a form whose fields have faults.

    Raises:
        InputError: They have; all are named, each with its field.
    """
    if faults:
        told = (f"{field.label}: {why}" if field is not None else why for field, why in faults)
        raise InputError(name, "; ".join(told))


def _calls(request: RequestJson, fields: Fields, tools: Tools) -> dict[str, Any]:
    """Return the decisions about single calls: approved, also for further ones, changed or rejected."""
    args: dict[str, Any] = {}
    rejected: dict[str, str] = {}
    standing: dict[str, Any] = {}
    approved: list[str] = []
    new = new_calls(request["action_requests"])
    for name, action in named_calls(request).items():
        match fields.get(f"call:{name}"):
            # A call that the plan adds is named one by one; of others the approval of the request is enough.
            case "approve" if name in new:
                approved.append(name)
            case None | "" if name in new:
                raise InputError(name, "this call is new in the plan: say whether it is made")
            case "edit":
                args[name] = edited_arguments(name, action["args"], fields, tools)
                check_fields(name, call_faults(action["args"], args[name], tools))
            case "reject":
                if not (why := fields.get(f"call:{name}:why", "")):
                    raise InputError(name, "say why the call is not to be made")
                rejected[name] = why
            case "standing":
                standing[name] = standing_wish(below(f"call:{name}:", fields))
            case said if said not in (None, "approve"):
                raise InputError(name, "choose what to decide about this call")
    return {"approved": tuple(approved), "args": args, "rejected": rejected, "standing": standing}


def below(prefix: str, fields: Fields) -> dict[str, str]:
    """Return the fields whose names begin so, by the rest of their names."""
    return {field.removeprefix(prefix): text for field, text in fields.items() if field.startswith(prefix)}


def named_calls(request: RequestJson) -> dict[str, Mapping[str, Any]]:
    """Return the calls that a request asks about, by name."""
    actions = request["action_requests"]
    return {name: one for name, one in zip(call_names(actions), actions, strict=True) if name is not None}


def edited_arguments(name: str, call: Mapping[str, Any], fields: Fields, tools: Tools) -> dict[str, Any]:
    """Return the arguments of a call as a person edited them.

    Raises:
        InputError: They are no object.
    """
    texts = {field.removeprefix(f"call:{name}:args"): text for field, text in fields.items()}
    found = value_in(call_fields(call, tools), call.get("args", {}), texts)
    if not isinstance(found, dict):
        raise InputError(name, 'the arguments of a call are a JSON object, such as {"to": "ann@example.com"}')
    return found


def call_faults(call: Mapping[str, Any], args: Mapping[str, Any], tools: Tools) -> Faults:
    """Return what is wrong with the edited arguments of a call."""
    return faults_in(tools[call["tool"]].schema, args, call_fields(call, tools)) if call["tool"] in tools else []


def _settled(request: RequestJson, fields: Fields) -> dict[str, Any]:
    """Return whether each uncertain call happened, and the results of those that did."""
    happened: list[bool] = []
    results = []
    for number, action in enumerate(asked(request, "settle_effect")):
        said = fields.get(f"happened:{number}")
        if said not in ("true", "false"):
            raise InputError("happened", f"say {describe_action(action)}")
        happened.append(said == "true")
        text = fields.get(f"result:{number}", "")
        if text and said == "false":
            raise InputError("result", f"{action['args']['tool']} has no result if it did not happen; empty the field")
        if said == "true":
            results.append(parse_json_or_text(text) if text else None)
    return {"happened": happened, "results": results}


def _limits(request: RequestJson, fields: Fields) -> dict[str, Any]:
    if not asked(request, "raise_budget"):
        return {}
    limits = limits_in(fields)
    if not limits:
        raise InputError("budget", "give a higher limit, finish with what there is, or end the run")
    return limits


def limits_in(fields: Fields) -> dict[str, Any]:
    """Return the limits of a form as plain data.

    Raises:
        InputError: One is no number.
    """
    limits: dict[str, Any] = {}
    for field, text in fields.items():
        name = field.removeprefix("limit:")
        if field == name or not text:
            continue
        number = parse_json_or_text(text)
        if name.startswith("calls."):
            limits.setdefault("calls", {})[name.removeprefix("calls.")] = number
        else:
            limits[name] = number
    for name, why in read_budget(limits)[1]:
        raise InputError(name, why)
    return limits
