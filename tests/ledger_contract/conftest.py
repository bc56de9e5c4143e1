from pathlib import Path

import pytest
from ledger_drivers import DRIVERS, PARAMETERS, Driver


@pytest.fixture(params=PARAMETERS)
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Driver:
    return DRIVERS[request.param](tmp_path)
