"""What a read step costs beyond its tool, on a PostgreSQL server of the same machine."""

import time

from benchmarks.crowd import run
from benchmarks.crowd_systems import ours
from benchmarks.database import open_database
from benchmarks.figures import Figure, at_most
from benchmarks.postgres_server import no_server, postgres_server
from benchmarks.simulated import MODEL_S
from benchmarks.sizes import Sizes
from benchmarks.workloads import chain

MOST_STEP_MS = 4


async def steps_on_postgres(sizes: Sizes) -> list[Figure]:
    """Measure a chain of steps, start and end of the run included, less the one call of the model."""
    if no_server():
        return no_server()
    workload = chain(sizes.chains[-1], 0.0)
    times_s = []
    with postgres_server() as address:
        async with open_database(address) as database:
            for number in range(sizes.repeats + 1):
                app = ours(database, workload.plan())
                begun_s = time.perf_counter()
                await run(app, f"steps-{number}")
                times_s.append(time.perf_counter() - begun_s)
    each_ms = 1000 * (min(times_s[1:]) - MODEL_S) / len(workload.pieces)
    name = f"a read step on local PostgreSQL, start and end of the run included, {workload.name}"
    return [at_most(name, MOST_STEP_MS, each_ms, " ms")]
