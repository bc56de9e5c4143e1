"""A playbook beside the same plan that the caller brings: both are values by then; reading the file is told beside."""

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from benchmarks.figures import Figure, at_most
from benchmarks.meter import Meter
from benchmarks.simulated import SimulatedModel, simulated_tools
from benchmarks.sizes import Sizes
from planner_executor import AsyncAgent, Playbook

RUNS = 20
STEPS = 8
MOST_TIMES = 1.1


async def playbooks(sizes: Sizes) -> list[Figure]:
    """Measure runs of a playbook and of its plan, as they take turns in one database."""
    meter = Meter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chain.yaml"
        file.write_text(json.dumps(_playbook()))
        options: dict[str, Any] = {"planner": SimulatedModel(_no_plan, meter, 0.0), "tools": simulated_tools(meter)}
        async with AsyncAgent.open(Path(folder) / "runs.db", **options) as agent:
            turns = [await _turn_ms(agent, file, f"run {number}") for number in range(3 + RUNS * sizes.repeats)][3:]
    reading, kept, brought = (median(turn[place] for turn in turns) for place in range(3))
    name = f"a playbook of {STEPS} steps"
    beside = f"{kept:.3g} ms and {brought:.3g} ms, reading its file {reading:.2g} ms"
    calls = len(meter.prompts)
    return [
        Figure(f"{name}: planner calls", "0", str(calls), calls == 0),
        at_most(
            f"{name}: processor time over the same plan brought by the caller",
            MOST_TIMES,
            kept / brought,
            beside=beside,
        ),
    ]


async def _turn_ms(agent: AsyncAgent, file: Path, value: str) -> tuple[float, float, float]:
    begun_s = time.process_time()
    playbook = Playbook.load(file)
    read_s = time.process_time()
    await _approved(agent, playbook=playbook, params={"value": value})
    between_s = time.process_time()
    await _approved(agent, goal=f"look at {value}", plan=playbook.plan({"value": value}))
    ended_s = time.process_time()
    return 1000 * (read_s - begun_s), 1000 * (between_s - read_s), 1000 * (ended_s - between_s)


async def _approved(agent: AsyncAgent, **asked: Any) -> None:
    run = await agent.start(**asked)
    ended = await agent.resume(run.id, "approve")
    assert ended.status == "succeeded", ended.reason


def _playbook() -> dict[str, Any]:
    steps = [
        {
            "id": f"s{number}",
            "objective": "look at {param.value}",
            "tool": "look",
            "args": {
                "step": "{param.value}",
                "seconds": 0.0,
                "given": [f"{{s{number - 1}_result.text}}"] if number else [],
            },
        }
        for number in range(STEPS)
    ]
    described = {"name": "chain", "version": 1, "description": "look at {param.value}"}
    return {**described, "parameters": {"value": {"type": "string"}}, "steps": steps}


def _no_plan(_messages: Sequence[BaseMessage]) -> AIMessage:
    return AIMessage("a playbook asks no planner")
