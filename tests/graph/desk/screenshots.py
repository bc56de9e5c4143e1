"""Make the pictures of the review desk for the documentation: desktop, phone and dark."""

import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from desk_server import DeskServer, query, served
from playwright.sync_api import Browser, sync_playwright

from planner_executor import default_tools
from planner_executor.graph.agent import Agent

REPOSITORY = Path(__file__).parents[3]
GOAL = "Tell the operators what our notes say about the cost of offshore wind, and keep a report"
DESKTOP, PHONE = {"width": 1180, "height": 820}, {"width": 360, "height": 740}
PLAN = {
    "steps": [
        {
            "id": "cost",
            "objective": "Find what the notes say about cost",
            "tool": "search_documents",
            "args": {"query": "offshore wind cost"},
        },
        {
            "id": "trend",
            "objective": "Find the trend of the last years",
            "tool": "search_documents",
            "args": {"query": "offshore wind trend"},
        },
        {
            "id": "share",
            "objective": "Compute the share of offshore in all wind power",
            "tool": "calculator",
            "args": {"expression": "75 / 1017 * 100"},
        },
        {
            "id": "audience",
            "objective": "Learn who reads it",
            "ask": "Who will read the report?",
            "output": {
                "type": "object",
                "properties": {"readers": {"type": "string", "enum": ["operators", "managers"]}},
                "required": ["readers"],
            },
        },
        {
            "id": "write",
            "objective": "Keep the report in the workspace",
            "tool": "write_report",
            "args": {"content": "For {audience_result.readers}: {cost_result} {trend_result} {share_result}"},
            "success_criteria": "a file is written",
        },
    ]
}


def main(folder: Path) -> None:
    """Write the pictures into a folder."""
    folder = folder.absolute()
    with tempfile.TemporaryDirectory() as home, chdir(home), served(Path("planner-executor.db")) as server:
        options = {"tools": default_tools(REPOSITORY / "examples" / "renewable-energy", Path(home) / "workspace")}
        with Agent.open(server.database, planner="offline", **options) as agent:
            waiting = agent.start(GOAL, constraints=["name every source"], tags=["energy"], plan=PLAN, thread="wind").id
            short = {
                "steps": [
                    *PLAN["steps"][:3],
                    {**PLAN["steps"][4], "args": {"content": "{cost_result} {trend_result} {share_result}"}},
                ]
            }
            agent.start("Keep what the notes say about offshore wind", tags=["energy"], plan=short, thread="notes")
            ended = agent.resume("notes", "approve").id
            agent.start("What is 12 * 4 + 5?", thread="sum")
            agent.resume("sum", "approve")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, path, options in (
                ("desk-review", query("/review", waiting), {"viewport": DESKTOP}),
                ("desk-run-dark", query("", ended), {"viewport": DESKTOP, "color_scheme": "dark"}),
                ("desk-timeline", query("/timeline", ended), {"viewport": DESKTOP}),
                ("desk-phone", query("/review", waiting), {"viewport": PHONE}),
                ("desk-runs", "/runs", {"viewport": DESKTOP}),
            ):
                shoot(browser, server, path, folder / f"{name}.png", **options)


def shoot(browser: Browser, server: DeskServer, path: str, file: Path, **options: object) -> None:
    """Write what a page shows in a window of that size."""
    page = browser.new_context(**options, timezone_id="UTC", locale="en-GB").new_page()  # type: ignore[arg-type]
    page.goto(f"{server.url}/login?token={server.desk.door.links.issue()}")
    page.goto(server.url + path)
    page.wait_for_timeout(800)
    page.screenshot(path=file)
    page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
