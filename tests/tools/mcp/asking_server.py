"""A server of the package `mcp` whose tools ask: `python asking_server.py FOLDER [PORT]`, over HTTP with a port.

FOLDER/orders has a line for each order that was made. FOLDER/key holds the key of the states that calls are taken up
by; without it, a process does not know the states of another.
"""

import sys
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.request_state import RequestStateSecurity
from mcp.types import ElicitRequest, ElicitRequestURLParams, InputRequiredResult, ToolAnnotations
from pydantic import BaseModel


class Choice(BaseModel):
    size: str
    count: int = 1


def choice(article: str) -> Elicit[Choice]:
    return Elicit(f"Which size of {article}?", Choice)


def server(folder: Path) -> MCPServer:
    key = folder / "key"
    security = RequestStateSecurity(keys=[key.read_bytes()]) if key.exists() else None
    shop = MCPServer("shop", request_state_security=security)

    def note(article: str, chosen: Choice) -> str:
        with (folder / "orders").open("a") as orders:
            orders.write(f"{chosen.count} {article} {chosen.size}\n")
        return f"{chosen.count} {article} in {chosen.size}"

    @shop.tool(annotations=ToolAnnotations(read_only_hint=False, open_world_hint=False))
    def order(article: str, chosen: Annotated[Choice, Resolve(choice)]) -> str:
        """Order an article."""
        return note(article, chosen)

    @shop.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    def price(article: str, chosen: Annotated[Choice, Resolve(choice)]) -> str:
        """Say what an article costs in a size."""
        return f"{article} in {chosen.size}: {4 * chosen.count}"

    @shop.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    def sign_in() -> InputRequiredResult | str:
        """Ask a person to open an address."""
        params = ElicitRequestURLParams(message="Please sign in", url="https://example.com/sign-in")
        return InputRequiredResult(input_requests={"door": ElicitRequest(params=params)})

    return shop


if __name__ == "__main__":
    if len(sys.argv) > 2:
        server(Path(sys.argv[1])).run(transport="streamable-http", port=int(sys.argv[2]))
    else:
        server(Path(sys.argv[1])).run()
