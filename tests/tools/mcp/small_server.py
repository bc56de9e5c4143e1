"""A small MCP server that needs no package: `python small_server.py FOLDER` speaks over standard input and output,
`python small_server.py FOLDER PORT` on a port of loopback, which it prints (0 for any).

What it was asked is in FOLDER/starts and FOLDER/calls, what clients offered in FOLDER/offered; files of these names in
FOLDER change how it behaves:
`crash` (ends at its start), `deaf` (answers nothing), `chatty` (says on its standard output what is no message),
`swapped` (the tool `note` takes another argument), `tasks` (a JSON list of tools that can only be run as tasks,
among them `research`), and by HTTP `token` (what a client must send as its bearer token)
and `clingy` (has sessions, and does not answer when one is to be ended).
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LOOKS = {"readOnlyHint": True, "openWorldHint": False}
STAYS = {"openWorldHint": False}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TITLED = {"type": "object", "properties": {"text": {"type": "string"}, "title": {"type": "string"}}}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


class SmallServer:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._asks: Any = None
        self._write("starts", os.getpid())

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return what is said to a message, or None where nothing is."""
        if message.get("id") == "asks":
            said = message.get("error", {}).get("message", "answered")
            return self._result(
                self._asks, {"content": [{"type": "text", "text": said}], "isError": "error" in message}
            )
        method, number = message["method"], message.get("id")
        if number is None or (self.folder / "deaf").exists():
            return None
        if method == "initialize":
            self._write("offered", message["params"]["capabilities"])
            return self._result(number, {"capabilities": {"tools": {}}, **self._version(message)})
        if method == "tools/list":
            return self._result(number, {"tools": self.tools()})
        if method == "tools/call":
            token = message["params"].get("_meta", {}).get("progressToken")
            return self._call(number, message["params"]["name"], message["params"].get("arguments", {}), token)
        return {"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}}

    def tools(self) -> list[dict[str, Any]]:
        note = TITLED if (self.folder / "swapped").exists() else TEXT
        offered = [("echo", TEXT, LOOKS), ("environment", NOTHING, LOOKS), ("slow", NOTHING, STAYS)]
        offered += [("note", note, STAYS), ("die", NOTHING, STAYS), ("look_and_die", NOTHING, LOOKS)]
        offered += [
            ("fail", TEXT, LOOKS),
            ("refuse", NOTHING, LOOKS),
            ("swap", NOTHING, LOOKS),
            ("picture", NOTHING, LOOKS),
            ("steady", NOTHING, STAYS),
            ("survey", NOTHING, STAYS),
        ]
        if (self.folder / "tasks").exists():
            offered += [("research", NOTHING, STAYS)]
        told = [self._told(*each) for each in offered]
        task_only = json.loads((self.folder / "tasks").read_text()) if (self.folder / "tasks").exists() else []
        return [
            {**each, "execution": {"taskSupport": "required"}} if each["name"] in task_only else each for each in told
        ]

    def _told(self, name: str, schema: Any, hints: Any) -> dict[str, Any]:
        return {"name": name, "description": f"does {name}", "inputSchema": schema, "annotations": hints}

    def _call(self, number: Any, tool: str, args: dict[str, Any], token: Any) -> dict[str, Any] | None:
        self._write("calls", [tool, args])
        if tool in ("die", "look_and_die"):
            os._exit(1)
        if tool == "slow":
            return None
        if tool == "steady" and token is not None:
            for done in (1, 2, 3):
                told = {"progressToken": token, "progress": done, "total": 3, "message": f"page {done}"}
                print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": told}), flush=True)
        if tool == "swap":
            (self.folder / "swapped").touch()
        if tool == "survey":
            self._asks = number
            told = {"message": "Which size?", "requestedSchema": TEXT}
            return {"jsonrpc": "2.0", "id": "asks", "method": "elicitation/create", "params": told}
        if tool == "refuse":
            return {"jsonrpc": "2.0", "id": number, "error": {"code": -32603, "message": "it cannot be done"}}
        texts = {"environment": json.dumps(dict(os.environ)), "note": "noted"}
        text = texts.get(tool, args.get("text", "done"))
        content = [{"type": "text", "text": text}, *([PICTURE] if tool == "picture" else [])]
        return self._result(number, {"content": content, "isError": tool == "fail"})

    def _version(self, message: dict[str, Any]) -> dict[str, Any]:
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "serverInfo": {"name": "small", "version": "1"}}

    def _result(self, number: Any, result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": number, "result": result}

    def _write(self, file: str, entry: Any) -> None:
        with (self.folder / file).open("a") as log:
            log.write(json.dumps(entry) + "\n")


def over_standard_streams(server: SmallServer) -> None:
    print("small server", os.environ.get("SMALL_TOKEN", "without a token"), "\x1b[31m", file=sys.stderr, flush=True)
    if (server.folder / "crash").exists():
        sys.exit("no configuration")
    for line in sys.stdin:
        if (server.folder / "chatty").exists():
            print("listening ...\n{\n[]\n\n\x1b[31m", flush=True)
        if (said := server.answer(json.loads(line))) is not None:
            print(json.dumps(said), flush=True)


def over_http(server: SmallServer, port: int) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            token = server.folder / "token"
            if token.exists() and self.headers["authorization"] != f"Bearer {token.read_text()}":
                return self._say(401)
            said = server.answer(message)
            if said is None and "id" in message:
                threading.Event().wait()
            return self._say(200, said) if said is not None else self._say(202)

        def do_DELETE(self) -> None:
            threading.Event().wait()

        def do_GET(self) -> None:
            self._say(405)

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _say(self, status: int, said: Any = None) -> None:
            body = b"" if said is None else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            if (server.folder / "clingy").exists():
                self.send_header("mcp-session-id", "one")
            self.end_headers()
            self.wfile.write(body)

    listening = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(listening.server_port, flush=True)
    listening.serve_forever()


if __name__ == "__main__":
    small = SmallServer(Path(sys.argv[1]))
    if len(sys.argv) == 2:
        over_standard_streams(small)
    else:
        over_http(small, int(sys.argv[2]))
