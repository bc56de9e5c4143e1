import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from planner_executor.graph.ledger.sqlite.file import prepare
from planner_executor.graph.ledger.sqlite.vacuum import STEP_PAGES, give_back


def test_writers_go_on_while_a_file_with_a_reader_is_made_smaller(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    prepare(path, 1.0)
    with (
        closing(sqlite3.connect(path, isolation_level=None, timeout=1.0)) as writer,
        closing(sqlite3.connect(path, isolation_level=None)) as reader,
    ):
        writer.execute("CREATE TABLE texts (text TEXT)")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM texts").fetchall()
        writer.execute("INSERT INTO texts VALUES ('after what is read')")
        smaller = threading.Thread(target=give_back, args=(str(path),))
        smaller.start()
        while smaller.is_alive():
            writer.execute("INSERT INTO texts VALUES ('written meanwhile')")
            smaller.join(0.02)
        reader.execute("COMMIT")

        assert writer.execute("SELECT count(*) FROM texts").fetchone()[0] > 1


def test_writers_have_time_between_the_steps_in_which_a_large_file_is_made_smaller(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    prepare(path, 1.0)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as writer:
        writer.execute("CREATE TABLE texts (text BLOB)")
        writer.execute("INSERT INTO texts VALUES (zeroblob(?))", (2.5 * STEP_PAGES * 8192,))
        writer.execute("DELETE FROM texts")
        rests = []

        def rest(seconds: float) -> None:
            writer.execute("INSERT INTO texts VALUES ('written meanwhile')")
            rests.append(seconds)

        assert give_back(str(path), rest)
    assert len(rests) == 2 and min(rests) >= 0.1, "SQLite looks at a lock ten times a second"
