"""LangSmith works by its environment variables: its own client, sending to a server on loopback."""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e
RUN = """
from langchain_core.tracers.langchain import wait_for_all_tracers
from planner_executor import build_graph
from planner_executor.graph.testing import LoggedTools, ScriptedModel, on_thread, step
plan = {"steps": [step("a", "search", query="q"), {"id": "c", "objective": "think", "depends_on": ["a"]}]}
tools = [LoggedTools().tool("search", lambda query: query, effect="read")]
graph = build_graph(ScriptedModel([plan, "a thought"]), tools=tools, approval="never")
assert graph.invoke({"goal": "g"}, on_thread())["status"] == "succeeded"
wait_for_all_tracers()
"""
BATCHES = {
    "use_multipart_endpoint": False,
    "scale_up_qsize_trigger": 1000,
    "scale_up_nthreads_limit": 1,
    "scale_down_nempty_trigger": 4,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
}


BODIES: list[bytes] = []


class Collector(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(json.dumps({"version": "0.12.0", "batch_ingest_config": BATCHES}).encode())

    def do_POST(self) -> None:
        BODIES.append(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(b"{}")

    do_PATCH = do_POST

    def _answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        return


def test_roles_steps_and_revisions_reach_langsmith_by_name_and_the_key_does_not(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        env = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_API_KEY": "lsv2-key-of-a-test",
            "LANGSMITH_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        }
        subprocess.run([sys.executable, "-c", RUN], env=env, cwd=tmp_path, check=True, timeout=120)
        server.shutdown()

    told = b"".join(BODIES).decode(errors="replace")
    assert '"name":"executor c"' in told and '"name":"planner"' in told and '"name":"search"' in told
    assert '"role":"executor"' in told and '"step":"a"' in told and '"revision":1' in told
    assert "lsv2-key-of-a-test" not in told
