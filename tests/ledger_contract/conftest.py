from pathlib import Path

import pytest
from ledger_drivers import DRIVERS, Driver


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Driver:
    return DRIVERS[request.param](tmp_path)
