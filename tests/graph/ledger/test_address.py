from pathlib import Path

import pytest

from planner_executor.graph.errors import LedgerUnavailableError
from planner_executor.graph.ledger.address import address_fault, is_address, shown_address
from planner_executor.graph.ledger.drivers import open_ledger
from planner_executor.graph.ledger.postgres.server import parameters

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"postgresql://ada:{SECRET}@h:5432/runs", "postgresql://ada@h:5432/runs"),
        (f"postgres://:{SECRET}@h/runs", "postgres://h/runs"),
        (f"postgresql://h/runs?user=ada&password={SECRET}", "postgresql://h/runs?user=ada"),
        (f"postgresql://h/runs?sslpassword={SECRET}&sslmode=require", "postgresql://h/runs"),
        (f"postgresql://a:{SECRET}@h1:1,h2:2/runs", "postgresql://a@h1:1,h2:2/runs"),
        (f"postgresql://a:{SECRET}@[::1]:5432/runs", "postgresql://a@[::1]:5432/runs"),
        (f"postgresql://a:x/{SECRET}@h/runs", "postgresql://..."),
        (f"postgresql://a:x@{SECRET}@h/runs", "postgresql://..."),
        (f"postgresql://a:x#{SECRET}@h/runs", "postgresql://..."),
        (f"postgresql://a:1/{SECRET}@h/runs", "postgresql://..."),
        (f"postgresql://a:1#{SECRET}@h/runs", "postgresql://..."),
        (f"postgresql://a:{SECRET}", "postgresql://..."),
        (f"postgresql://h:1,a:{SECRET}", "postgresql://..."),
        (f"postgresql://a:{SECRET}@[::1/runs", "postgresql://..."),
        ("postgresql:///runs?host=/tmp", "postgresql:///runs?host=/tmp"),
        ("postgresql://h/r?options=-ca%3D1%20-cb%3D2", "postgresql://h/r?options=-ca%3D1%20-cb%3D2"),
        (f"mysql://a:{SECRET}@h/runs", "mysql://..."),
        (f"postgresql+psycopg://a:{SECRET}@h/runs", "postgresql+psycopg://..."),
        (f"postgresql:/a:{SECRET}@h/runs", "postgresql://..."),
        (f" POSTGRESQL://a:{SECRET}@h/runs", "POSTGRESQL://..."),
        (f"host=h user=a password={SECRET}", "(not shown)"),
        ("dbname=runs", "(not shown)"),
        ("connect_timeout=3 host = /tmp", "(not shown)"),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert is_address(address) and shown_address(address) == shown


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://a:x/{SECRET}@h/runs",
        f"postgresql://a:{SECRET}",
        f"postgresql://a:{SECRET}@h/runs?unheard_of={SECRET}",
        f"postgresql://a:{SECRET}%zz@h/runs",
        f"postgresql://a:{SECRET}%00@h/runs",
    ],
)
def test_an_address_that_cannot_be_read_is_refused_without_a_part_of_it(address: str) -> None:
    with pytest.raises(LedgerUnavailableError) as caught:
        parameters(address)

    assert SECRET not in str(caught.value) and caught.value.__cause__ is None


def test_of_a_text_that_is_no_address_nothing_is_shown() -> None:
    assert shown_address(SECRET) == "(not shown)"


def test_a_host_without_a_number_after_its_colon_has_the_usual_port() -> None:
    assert shown_address(f"postgresql://ada:{SECRET}@h:/runs") == "postgresql://ada@h:/runs"


@pytest.mark.parametrize(
    "text",
    ["runs.db", ":memory:", "postgresql", "/data/postgresql:/x", "C:/runs.db", "./a:/b", "ghost=1.db", "d/host=1.db"],
)
def test_paths_are_no_addresses(text: str) -> None:
    assert not is_address(text)


def test_a_password_with_escaped_characters_is_read() -> None:
    address = "postgresql://ada:p%40s%2Fs@h/runs"

    assert address_fault(address) is None and parameters(address)["password"] == "p@s/s"


@pytest.mark.parametrize(
    "text", [f"mysql://a:{SECRET}@h/runs", f"host=h password={SECRET}", f"postgresql:/a:{SECRET}@h"]
)
def test_what_is_neither_a_path_nor_an_address_becomes_no_file(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(LedgerUnavailableError) as caught:
        open_ledger(text)

    assert SECRET not in str(caught.value) and list(tmp_path.iterdir()) == []
