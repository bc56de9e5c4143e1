"""The page for newcomers is followed, block by block, in a folder that is not this project's."""

import json
import os
import pty
import re
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from warm_process import WarmProcess
from webhook_receiver import SECRET, receiver

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "start.md").read_text()
README = (DOCS.parent / "README.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
INSTALLED = ("python3 -m venv", "pip install")
"""Lines that were followed before this test: it runs where the package is installed."""
ANSWERS = {
    "until a change? [y/N] ": "y",
    "replan with this feedback: ": "y",
    "no, for this reason: ": "y",
    "or stop to end the run: ": "yes",
    "(empty: none): ": "paid 129.0 EUR",
}
"""What the page tells one to answer, by the end of the question."""
READS = [{"id": "i", "objective": "Read", "tool": "read_invoice", "args": {"supplier": "Harbour Cranes"}}]


class Model(BaseHTTPRequestHandler):
    """A server of OpenAI's form whose model writes one plan."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": json.dumps({"steps": READS, "answer": "{i_result.amount}"})}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps(
            {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


class Reader:
    """Who follows the page: a folder, an environment, and what was said last."""

    def __init__(self, folder: Path, given: dict[str, str], read_until: Callable[..., str]) -> None:
        self.folder, self.given, self.said = folder, given, ""
        self.environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **given}
        self._read_until = read_until

    def follow(self, line: str) -> None:
        line = line.replace("RUN", self.latest) if "RUN" in line else line
        words = shlex.split(line, comments=True)
        before = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
        match words:
            case ["cd", where]:
                self.folder = (self.folder / where).resolve()
            case ["export"]:
                self.environment |= before | self.given
            case ["sed", script, source, ">", target]:
                _, old, new, _ = script.split("/")
                (self.folder / target).write_text((self.folder / source).read_text().replace(old, new))
            case ["echo", text, ">", target]:
                (self.folder / target).write_text(text)
            case ["planner-executor", "serve"]:
                self.decide_in_a_browser()
            case ["planner-executor", *given, "<", "/dev/null"]:
                self.said = self.of_a_process(["-m", "planner_executor", *given], terminal=False)
            case ["planner-executor", *given]:
                self.said = self.of_a_process(["-m", "planner_executor", *given])
                assert "--planner" not in given or "succeeded: 1 of 1 steps succeeded" in self.said
            case ["python", script]:
                self.said = self.of_a_process([str(self.folder / script)], before)
            case _:
                raise AssertionError(f"nobody knows how to follow: {line}")

    def of_a_process(self, words: list[str], more: dict[str, str] | None = None, *, terminal: bool = True) -> str:
        """Return all that a process says; on a terminal it is answered as the page tells."""
        environment = {**self.environment, **(more or {})}
        file, its_end = pty.openpty()
        stdin = its_end if terminal else None
        process = WarmProcess(words, stdin=stdin, stdout=its_end, env=environment, cwd=self.folder, terminal=terminal)
        os.close(its_end)
        said = ""
        while more_said := self._read_until(file, " " if terminal else "\0 never said"):
            said += more_said
            tail = re.sub(r"\s+", " ", re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", said))
            for question, answer in ANSWERS.items():
                if terminal and tail.endswith(question):
                    os.write(file, f"{answer}\n".encode())
        process.wait()
        os.close(file)
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", said)

    @property
    def latest(self) -> str:
        said = self.of_a_process(["-m", "planner_executor", "runs", "--json"], terminal=False)
        return str(json.loads(said)["runs"][0]["id"])

    def decide_in_a_browser(self) -> None:
        run = self.latest
        file, its_end = pty.openpty()
        words = ["-m", "planner_executor", "serve", "--port", "0"]
        serving = WarmProcess(words, stdout=its_end, env=self.environment, cwd=self.folder)
        os.close(its_end)
        try:
            link = httpx.URL(re.findall(r"http://\S+", self._read_until(file, "\n"))[0])
            here = {"Origin": f"http://{link.host}:{link.port}", "Host": f"{link.host}:{link.port}"}
            patient = httpx.HTTPTransport(retries=9)  # the link is printed before the desk listens
            where = f"http://127.0.0.1:{link.port}"
            with httpx.Client(base_url=where, headers=here, timeout=30, transport=patient) as browser:
                browser.get(link.raw_path.decode())
                page = browser.get("/run/review", params={"run": run}).text
                hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
                calls = re.findall(r'<select name="(call:[^":]+)"', page)
                chosen = {"decision": "approve", **dict.fromkeys(calls, "approve")}
                answer = browser.post("/run/decide", params={"run": run}, data={**hidden, **chosen})
                assert answer.status_code < 400, answer.text
                while "NR-7" not in (self.folder / "bank.csv").read_text():
                    time.sleep(0.1)
        finally:
            serving.kill()
            os.close(file)


@pytest.mark.slow
def test_every_block_of_the_page_does_what_the_page_says(tmp_path: Path, read_until: Callable[..., str]) -> None:
    start = tmp_path / "project"
    start.mkdir()
    with model() as server, receiver() as hooks:
        given = {
            "NOTIFY_ADDRESS": hooks.url,
            "NOTIFY_SECRET": SECRET,
            "OPENAI_API_KEY": "sk-of-a-test",
            "OPENAI_BASE_URL": server,
        }
        reader = Reader(start, given, read_until)
        for language, block in BLOCKS:
            if language == "sh":
                for line in block.splitlines():
                    if not line.startswith(INSTALLED):
                        reader.follow(line)
            elif language == "python":
                (reader.folder / block.splitlines()[0].removeprefix("# ")).write_text(block)
            elif language == "toml":
                with (reader.folder / "planner-executor.toml").open("a") as settings:
                    settings.write(block)
            else:
                known = " ".join((reader.said + (reader.folder / "payables.py").read_text()).split())
                lost = [line for line in block.splitlines() if " ".join(line.split()) not in known]
                assert lost == [], known

        assert hooks.await_one()
    paid = (reader.folder / "bank.csv").read_text().split()
    assert [line.rpartition(",")[2] for line in paid] == ["HC-2041", "DL-88", "NR-7"]


def test_a_goal_of_ones_own_is_done_after_twelve_commands_two_pages_and_2500_words() -> None:
    way = PAGE.split("\n## A model that plans")[0]
    lines = [line for text in (README.split("\n## Use it")[0], way) for line in commands(text)]

    assert len(lines) <= 12
    assert len((README + PAGE).split()) <= 2_500
    assert "](docs/start.md)" in README


def commands(text: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [part for block in blocks for line in block.splitlines() for part in line.split("&&")]
