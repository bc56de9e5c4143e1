"""Tools of MCP servers in `langgraph dev`: one session for the life of the server."""

import json
import os
import select
from pathlib import Path
from typing import Any

PLAN = {
    "steps": [
        {"id": "look", "objective": "Look", "tool": "echo", "args": {"text": "hello"}},
        {"id": "note", "objective": "Note", "tool": "note", "args": {"text": "hello"}, "depends_on": ["look"]},
    ]
}


def test_runs_share_one_session_which_ends_with_the_server(
    serve: Any, thread_of: Any, small: Any, tmp_path: Path
) -> None:
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"small": small.entry()}}))
    server = serve(PLANNER_EXECUTOR_MCP=str(file))

    for number in (1, 2):
        thread = thread_of(server)
        thread.run({"goal": "note it", "plan": PLAN})
        assert thread.request() and len(small.calls) == 2 * (number - 1)
        assert thread.answer({"type": "approve"})["status"] == "succeeded" and len(small.calls) == 2 * number

    (process,) = small.starts
    ends = os.pidfd_open(process)
    server.kill()
    assert select.select([ends], [], [], 10)[0], "the server of tools outlived the one that started it"
    os.close(ends)
