"""Whether a run of 1,000 steps stays fluent at the desk: `python -m benchmarks.desk_long_run`; needs Chromium.

One process executes the run, this one serves it and counts how long its event loop is held up, and a browser with a
page of it open counts frames and long tasks.
"""

import argparse
import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from benchmarks.page import PAGE, measured_by, write_between_marks
from planner_executor import AsyncAgent
from planner_executor.graph.desk.application import desk_application
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

STEPS, WIDTH, CALL_S = 1_000, 20, 1.2
WATCHED_S = 10.0
LOOKS_S = 0.005
EXECUTE = "import asyncio, sys; from benchmarks.desk_long_run import execute; asyncio.run(execute(*sys.argv[1:]))"
PAGES = {"plan": "", "timeline": "/timeline", "results": "/results", "budget": "/budget", "audit": "/audit"}
COUNT_FRAMES = """() => {
  window.frames_ = []; window.tasks_ = [];
  const noted = (list) => window.tasks_.push(...list.getEntries().map((one) => one.duration));
  new PerformanceObserver(noted).observe({type: "longtask"});
  let last = performance.now();
  const next = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""


async def execute(database: str, thread: str) -> None:
    """Execute a run of layers, each step of which waits for two of the layer before."""

    async def slow(**_: object) -> str:
        await asyncio.sleep(CALL_S)
        return "x" * 200

    tool = LoggedTools().tool("read", effect="read")
    tool.coroutine = slow  # type: ignore[attr-defined]
    after = [[f"s{n - WIDTH}", f"s{n - WIDTH + (n % WIDTH < WIDTH - 1)}"] if n >= WIDTH else [] for n in range(STEPS)]
    plan = {"steps": [step(f"s{n}", "read", after=waits) for n, waits in enumerate(after)]}
    options: dict[str, Any] = {"tools": [tool], "approval": "never", "max_concurrency": WIDTH}
    async with AsyncAgent.open(database, planner=ScriptedModel([]), **options) as agent:
        await agent.start("a long run", plan=plan, thread=thread)


@dataclass
class Loop:
    """The desk's event loop: by how much it woke up late, in milliseconds."""

    late_ms: list[float] = field(default_factory=list)

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(LOOKS_S)
            self.late_ms.append((time.perf_counter() - begun - LOOKS_S) * 1e3)


@contextmanager
def serving(database: Path, loop: Loop) -> Iterator[str]:
    """Serve the desk of a database on a thread, and yield a link."""
    app = desk_application(database)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1, ws="none"))

        async def serve() -> None:
            watching = asyncio.create_task(loop.watch())
            await server.serve([listener])
            watching.cancel()

        thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/login?token={app.state.desk.door.links.issue()}"
        server.should_exit = True
        thread.join(20)


@contextmanager
def executing(database: Path, thread: str) -> Iterator[None]:
    """Execute a run in a process of its own."""
    with subprocess.Popen([sys.executable, "-c", EXECUTE, str(database), thread]) as worker:
        yield
        worker.terminate()


def watched(browser: Browser, link: str, run: str, loop: Loop) -> Iterator[Sequence[Any]]:
    """Yield for each page: its name, the time it took to load, frames, long tasks and the loop's delays."""
    page = browser.new_context(viewport={"width": 1180, "height": 820}).new_page()
    page.goto(link)
    origin = link.partition("/login")[0]
    while page.request.get(f"{origin}/run?run={run}").status != 200:
        time.sleep(0.5)
    for name, path in PAGES.items():
        loop.late_ms.clear()
        begun_s = time.perf_counter()
        page.goto(f"{origin}/run{path}?run={run}")
        page.locator("#connection[data-state=live]").wait_for()
        loaded_ms, held_ms = (time.perf_counter() - begun_s) * 1e3, max(loop.late_ms)
        page.wait_for_timeout(1_000)
        loop.late_ms.clear()
        page.evaluate(COUNT_FRAMES)
        page.wait_for_timeout(WATCHED_S * 1e3)
        yield name, loaded_ms, held_ms, *page.evaluate("() => [window.frames_, window.tasks_]"), [*loop.late_ms]


def row(found: Sequence[Any]) -> str:
    """Return a page's figures as a row."""
    name, loaded_ms, held_ms, frames, tasks, late_ms = found
    figures: Mapping[str, float] = {
        "loaded": loaded_ms,
        "held": held_ms,
        "frame": quantiles(frames, n=100)[98],
        "slowest": max(frames),
        "tasks": len(tasks),
        "late": quantiles(late_ms, n=100)[98],
        "latest": max(late_ms),
    }
    return f"| {name} | " + " | ".join(f"{one:.0f}" for one in figures.values()) + " |"


def main() -> None:
    """Print the figures, and write them into the page."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--print", action="store_true", help="leave the page as it is")
    is_printed = given.parse_args().print
    head = (
        "| Page | Opened within, ms | Loop held up meanwhile, ms | 99 of 100 frames within, ms | Slowest frame, ms "
        "| Tasks over 50 ms | 99 of 100 delays of the loop, ms | Longest delay, ms |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    loop, rows = Loop(), [head]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        database = Path(folder) / "runs.db"
        with serving(database, loop) as link, executing(database, "long"):
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for found in watched(browser, link, "long.1", loop):
                rows.append(row(found))
                print(rows[-1], flush=True)
            browser.close()
    text = "\n".join(rows) + f"\n\n{measured_by('python -m benchmarks.desk_long_run')}"
    print(text)
    if not is_printed:
        write_between_marks(PAGE, text, "desk long run")


if __name__ == "__main__":
    main()
