"""What the pages of a run show of runs that are large."""

from pathlib import Path

from desk_server import Visit, query, served

from graph.testing import step

LONG = "wind " * 10_000


def whole(visit: Visit, path: str, run: str, **more: str) -> str:
    answer = visit.get(query(path, run, **more))
    assert answer.status_code == 200, answer.text
    return answer.text


def test_long_audits_and_results_are_shown_a_part_at_a_time(tmp_path: Path) -> None:
    steps = [step(f"s{number}", "read", what=number) for number in range(120)]

    def tools(log: object) -> list[object]:
        return [log.tool("read", lambda **_: LONG, effect="read")]  # type: ignore[attr-defined]

    with served(tmp_path / "runs.db", tools=tools) as server:
        with server.agent() as agent:
            agent.start("read a lot", plan={"steps": steps}, thread="t")
            run = agent.resume("t", "approve").id
        with server.visit() as visit:
            last, first = whole(visit, "/audit", run), whole(visit, "/audit", run, part="1")
            decisions = whole(visit, "/audit", run, section="decisions")
            parts = [whole(visit, "/value", run, step="s1", part=str(number)) for number in (1, 3)]
            plan = whole(visit, "", run)
            story = visit.get(query("/audit.txt", run))

    assert "Page 2 of 2" in last and "ended as succeeded" in last and "Earlier" in last
    assert "Page 1 of 2" in first and "started for the goal" in first and "Later" in first
    assert "decided" in decisions or "approved" in decisions
    assert "Part 1 of 3" in parts[0] and "Part 3 of 3" in parts[1] and len(parts[0]) < 40_000
    assert plan.count('data-status="succeeded"') >= 240
    assert story.headers["content-disposition"] == 'attachment; filename="audit.txt"' and "read a lot" in story.text


def test_a_run_that_is_not_there_is_a_page_that_says_so(tmp_path: Path) -> None:
    with served(tmp_path / "runs.db") as server, server.visit() as visit:
        for path in ("", "/review", "/audit", "/live", "/step"):
            answer = visit.get(query(path, "nowhere.1"))
            assert answer.status_code == 404 and "nowhere.1" in answer.text
        assert visit.get("/run").status_code == 404
