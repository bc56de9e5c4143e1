"""Authentication of the LangGraph server, named in `langgraph.json`; without a token, clients stay anonymous."""

from collections.abc import Mapping
from typing import Any

from langgraph_sdk import Auth

from planner_executor.graph.serving.access import Access, RequestHead

HOLDER = "token-holder"

access = Access.from_environment()
auth = Auth()


@auth.authenticate
async def authenticate(headers: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the identity of the token holder, or an anonymous one if no token is set.

    `headers` are bytes on LangGraph's server, texts on Aegra.

    Raises:
        Auth.exceptions.HTTPException: The token is missing or wrong.
    """
    # Only the headers matter here: the token is in them.
    request = RequestHead("GET", [(_text(name).lower(), _text(value)) for name, value in headers.items()])
    if refusal := access.token_refusal(request):
        raise Auth.exceptions.HTTPException(status_code=refusal.status, detail=refusal.reason)
    known = access.token is not None
    return {"identity": HOLDER if known else "", "is_authenticated": known, "display_name": HOLDER if known else ""}


def _text(header: str | bytes) -> str:
    return header.decode("latin-1") if isinstance(header, bytes) else header
