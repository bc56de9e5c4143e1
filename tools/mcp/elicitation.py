"""Questions of a server: read from the result that ends a call for them, and answered as the protocol has it.

Source: Model Context Protocol, revision 2026-07-28, `InputRequiredResult` and `ElicitRequestFormParams`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planner_executor.tools.call_questions import CallQuestion, CallReplies, InputNeeded

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.client.context import ClientRequestContext
    from mcp.types import ElicitRequestParams, ElicitResult, ErrorData, InputRequest, InputRequiredResult

MAX_QUESTIONS = 10
MAX_FIELDS = 30
MAX_TEXT = 2_000
MAX_STATE = 64_000
"""Characters of the state that takes a call up, which is kept in the record."""

PRIMITIVE = ("string", "number", "integer", "boolean")
KEYWORDS = (
    "type", "title", "description", "default", "enum", "enumNames", "minLength", "maxLength", "minimum", "maximum",
)  # fmt: skip
"""What a field of a form may say; anything else, such as a pattern, is left for the server to check."""
HOW_ELSE = "give what it asks for as an argument, or use another tool"
HELD_OPEN = f"nobody can be asked while a call is held open, only by revision 2026-07-28 of the protocol; {HOW_ELSE}"


class Unanswerable(ValueError):
    """No person can be asked this here; the message is the reason, with the next move."""


def declare_forms(session: "ClientSession") -> None:
    """Let servers of this revision know that people answer forms here.

    Servers of earlier revisions ask while the call is held open, which no run waits in. They are told nothing, and one
    that asks nevertheless gets the reason. The package declares the capability for both or none, so it is added once
    the revision is known.
    """
    session._elicitation_callback = _refuse
    if (discovered := session.discover_result) is not None:
        session.adopt(discovered)


async def _refuse(
    context: "ClientRequestContext",  # noqa: ARG001  (the protocol's signature)
    params: "ElicitRequestParams",  # noqa: ARG001
) -> "ElicitResult | ErrorData":
    from mcp.types import INVALID_REQUEST, ErrorData

    return ErrorData(code=INVALID_REQUEST, message=HELD_OPEN)


def input_needed(result: "InputRequiredResult") -> InputNeeded:
    """Return what a call's result asks for.

    Raises:
        Unanswerable: It is no form for a person.
    """
    asked = result.input_requests or {}
    if len(asked) > MAX_QUESTIONS:
        raise Unanswerable(f"it asks {len(asked)} questions at once, {MAX_QUESTIONS} at most are put to a person")
    if len(result.request_state or "") > MAX_STATE:
        raise Unanswerable(f"it wants more than {MAX_STATE} characters kept until the answer")
    if not asked:
        raise Unanswerable("it asks to be called again later without a question; try again, or use another tool")
    return InputNeeded(tuple(_question(name, request) for name, request in asked.items()), result.request_state)


def _question(name: str, request: "InputRequest") -> CallQuestion:
    if request.method != "elicitation/create":
        raise Unanswerable(f"it asks for {request.method}, which is not offered here; use another tool")
    params = request.params
    if params.mode == "url":
        raise Unanswerable(
            f"it asks a person to open {params.url[:200]!r} ({params.message[:200]!r}), and addresses of servers are "
            "not opened here; do there what it needs, then run the step again"
        )
    return CallQuestion(name, params.message[:MAX_TEXT], form_schema(params.requested_schema))


def form_schema(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a form: an object of plain fields, with the keywords that forms have.

    Raises:
        Unanswerable: It is no such form.
    """
    fields = asked.get("properties")
    if asked.get("type") != "object" or not isinstance(fields, Mapping) or not fields:
        raise Unanswerable(f"its question has no form with fields; {HOW_ELSE}")
    if len(fields) > MAX_FIELDS:
        raise Unanswerable(f"its form has {len(fields)} fields, {MAX_FIELDS} at most are put to a person; {HOW_ELSE}")
    required = [name for name in asked.get("required") or () if name in fields]
    told = {name: _field(name, field) for name, field in fields.items()}
    return {"type": "object", "properties": told, "required": required, "additionalProperties": False}


def _field(name: str, field: Any) -> dict[str, Any]:
    if not isinstance(field, Mapping):
        raise Unanswerable(f"the field {name[:80]!r} of its form is no schema; {HOW_ELSE}")
    if field.get("type") == "array":
        return {"type": "array", "items": _choice(name, field.get("items")), **_words(field)}
    if "anyOf" in field and "type" not in field:  # an optional field, as pydantic writes it
        kinds = [part for part in field["anyOf"] if isinstance(part, Mapping) and part.get("type") != "null"]
        return _field(name, {**field, **kinds[0], "anyOf": ()} if len(kinds) == 1 else {})
    return _choice(name, field)


def _choice(name: str, field: Any) -> dict[str, Any]:
    options = [
        one for key in ("oneOf", "anyOf") for one in (field.get(key) or () if isinstance(field, Mapping) else ())
    ]
    consts = [one["const"] for one in options if isinstance(one, Mapping) and "const" in one]
    if not isinstance(field, Mapping) or (field.get("type", "string") not in PRIMITIVE) or len(consts) != len(options):
        raise Unanswerable(
            f"the field {name[:80]!r} of its form is neither text, number, yes or no, nor a choice; {HOW_ELSE}"
        )
    kept = {key: field[key] for key in KEYWORDS if key in field and key not in ("title", "description")}
    return {"type": "string", **kept, **({"enum": consts} if consts else {}), **_words(field)}


def _words(field: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(field[key])[:MAX_TEXT] for key in ("title", "description") if field.get(key)}


def responses(replies: CallReplies) -> dict[str, Any]:
    """Return the answers as the protocol has them."""
    from mcp.types import ElicitResult

    return {
        name: ElicitResult(action="decline") if form is None else ElicitResult(action="accept", content={**form})
        for name, form in replies.forms.items()
    }
