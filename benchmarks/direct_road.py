"""The direct road: a goal that needs no plan, and what answering it costs beyond the one model call."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from langchain_core.messages import AIMessage, BaseMessage

from benchmarks.database import open_database
from benchmarks.figures import Figure
from benchmarks.meter import Meter
from benchmarks.simulated import Script, SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from benchmarks.systems import OURS, REACT, System
from benchmarks.trial import config

MOST_MS = 50
ROUNDS = 5
ANSWER = "Paris"
AS_PLAN = json.dumps({"steps": [], "answer": ANSWER})


async def answering(sizes: Sizes) -> list[Figure]:
    """Measure a goal that the planner answers at once, beside an agent whose model does."""
    rounds = range(ROUNDS * sizes.repeats)
    runs = [[await _answered(system, words) for system, words in ((OURS, AS_PLAN), (REACT, ANSWER))] for _ in rounds]
    ours, react = ([each[place] for each in runs] for place in (0, 1))
    calls = {len(meter.prompts) for meter in ours}
    ours_ms, react_ms = (1000 * median(meter.orchestration_s for meter in meters) for meters in (ours, react))
    told = f"{max(calls)} call, {ours_ms:.3g} ms (ReAct {react_ms:.3g} ms)"
    must = f"1 model call, at most {MOST_MS} ms beyond it"
    return [Figure("a goal that needs no plan", must, told, calls == {1} and ours_ms <= MOST_MS)]


async def _answered(system: System, words: str) -> Meter:
    """Return what a run cost that asked its model and called no tool."""
    meter = Meter()
    with tempfile.TemporaryDirectory() as folder:
        async with open_database(Path(folder) / "run.db") as database:
            app = system.build(SimulatedModel(_says(words), meter), simulated_tools(meter), database)
            with meter.run():
                await app.ainvoke(system.given, config(), durability="sync")
    assert not meter.tools, f"{system.name} called a tool"
    return meter


def _says(words: str) -> Script:
    def answer(_messages: Sequence[BaseMessage]) -> AIMessage:
        return AIMessage(words)

    return answer
