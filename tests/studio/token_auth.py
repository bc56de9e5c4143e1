"""Authentication for a server in tests: a token is the name of its user."""

from typing import Any

from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Any:
    scheme, _, name = (authorization or "").partition(" ")
    if scheme != "Bearer" or not name:
        raise Auth.exceptions.HTTPException(status_code=401, detail="no token")
    return {"identity": f"{name}@example.com", "display_name": name}
