"""Authentication for a server in tests: a token is the name of its user, and with `+` a role."""

from typing import Any

from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Any:
    scheme, _, name = (authorization or "").partition(" ")
    if scheme != "Bearer" or not name:
        raise Auth.exceptions.HTTPException(status_code=401, detail="no token")
    user, _, role = name.partition("+")
    return {"identity": f"{user}@example.com", "display_name": user, "roles": [role] if role else []}
