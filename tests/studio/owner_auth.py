"""Authentication and rules for a server in tests: a token is the name of its user, and threads are their maker's."""

from typing import Any

from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Any:
    scheme, _, name = (authorization or "").partition(" ")
    if scheme != "Bearer" or not name:
        raise Auth.exceptions.HTTPException(status_code=401, detail="no token")
    return {"identity": f"{name}@example.com", "display_name": name}


@auth.on.threads
async def own_threads_only(ctx: Auth.types.AuthContext, value: Any) -> Any:
    owner = {"owner": ctx.user.identity}
    value.setdefault("metadata", {}).update(owner)
    return owner
