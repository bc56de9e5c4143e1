"""Whom the LangGraph server takes a client for; `langgraph.json` names `auth`. Without a token nobody is verified."""

from collections.abc import Mapping
from typing import Any

from langgraph_sdk import Auth

from graph.serving.access import Access, Heard

HOLDER = "token-holder"

access = Access.from_environment()
auth = Auth()


@auth.authenticate
async def authenticate(headers: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return the holder of the token, or somebody unknown where none is set.

    Raises:
        Auth.exceptions.HTTPException: The request does not hold the token.
    """
    heard = Heard("GET", [(name.decode("latin-1").lower(), it.decode("latin-1")) for name, it in headers.items()])
    if refusal := access.unproven(heard):
        raise Auth.exceptions.HTTPException(status_code=refusal.status, detail=refusal.why)
    known = access.token is not None
    return {"identity": HOLDER if known else "", "is_authenticated": known, "display_name": HOLDER if known else ""}
