"""SQLite files are read as they lie, whatever their journal, and nothing is left beside them.

Each test lists the folder before and after, also after the engine is closed.
"""

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from modularsql.config import Settings
from modularsql.engines.sqlite import SqliteEngine
from modularsql.errors import SetupError
from modularsql.records import Failure, FailureKind, Limits
from modularsql.rows import Rows

Untouched = Callable[[], AbstractContextManager[None]]
Run = Callable[[str, Path], Callable[[], None]]

WRITER = (
    "import sqlite3; c = sqlite3.connect(path, isolation_level=None)\n"
    "c.execute('PRAGMA synchronous = OFF')\n"
    "c.execute('PRAGMA journal_mode = {mode}')\n"
    "c.execute('CREATE TABLE IF NOT EXISTS t(x)')\n"
    "c.execute('INSERT INTO t VALUES (1)')\n"
)
SPILLING = (  # leaves a journal that must be rolled back
    "import sqlite3; c = sqlite3.connect(path, isolation_level=None)\n"
    "c.execute('PRAGMA cache_size = 10'); c.execute('PRAGMA cache_spill = 1')\n"
    "c.execute('BEGIN')\n"
    "for i in range(200): c.execute('INSERT INTO t VALUES (randomblob(4000))')\n"
)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "a#b ?.db"


def write(path: Path, *statements: str, mode: str = "DELETE") -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"PRAGMA journal_mode = {mode}")
        for statement in statements:
            connection.execute(statement)


def beside(path: Path) -> list[str]:
    return sorted(p.name.removeprefix(path.name) for p in path.parent.iterdir())


def count(engine: SqliteEngine, seconds: float = 10) -> Any:
    outcome = engine.execute("SELECT count(*) FROM t", limits=Limits(seconds=seconds))
    return outcome.rows[0][0] if isinstance(outcome, Rows) else outcome


def read(path: Path) -> Any:
    with contextlib.closing(SqliteEngine(path, Settings(timeout=2))) as engine:
        counted = count(engine)
        assert [t.name for t in engine.catalog()] == ["t"]
        return counted


@pytest.mark.parametrize("mode", ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"])
def test_a_database_nobody_has_open(path: Path, untouched: Untouched, mode: str) -> None:
    write(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1)", mode=mode)
    with untouched():
        assert read(path) == 1


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_in_a_folder_nobody_may_write_to(
    path: Path, untouched: Untouched, mode: str
) -> None:
    write(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1)", mode=mode)
    path.parent.chmod(0o555)
    path.chmod(0o444)
    with untouched():
        assert read(path) == 1
    path.parent.chmod(0o755)


@pytest.mark.parametrize("mode", ["DELETE", "PERSIST", "WAL"])
def test_a_database_another_process_has_open(
    path: Path, untouched: Untouched, other_process: Run, mode: str
) -> None:
    other_process(WRITER.format(mode=mode), path)
    before = beside(path)
    assert ("-wal" in before) == (mode == "WAL")
    assert read(path) == 1
    assert beside(path) == before


def test_a_database_another_process_is_writing_to(path: Path, other_process: Run) -> None:
    for mode in ("DELETE", "WAL"):
        write(path, "CREATE TABLE IF NOT EXISTS t(x)", mode=mode)
        release = other_process(WRITER.format(mode=mode) + "c.execute('BEGIN IMMEDIATE')", path)
        assert read(path) >= 1
        release()


def test_a_wal_whose_writer_was_killed(
    path: Path, untouched: Untouched, other_process: Run
) -> None:
    other_process(WRITER.format(mode="WAL"), path)()
    assert beside(path) == ["", "-shm", "-wal"]
    before = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    assert read(path) == 1
    assert beside(path) == ["", "-shm", "-wal"]
    assert (path.read_bytes(), Path(f"{path}-wal").read_bytes()) == before


def test_a_wal_that_was_copied_without_its_index(
    path: Path, folder: Path, untouched: Untouched, other_process: Run
) -> None:
    other_process(WRITER.format(mode="WAL"), path)
    (folder / "copy").mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", folder / "copy" / f"t.db{suffix}")
    with untouched():
        assert read(folder / "copy" / "t.db") == 1


def test_a_wal_database_that_was_copied_alone_is_what_was_merged(
    path: Path, folder: Path, untouched: Untouched, other_process: Run
) -> None:
    write(path, "CREATE TABLE t(x)", mode="WAL")
    other_process(WRITER.format(mode="WAL"), path)
    shutil.copy(path, folder / "alone.db")
    with untouched():
        assert read(folder / "alone.db") == 0


def test_an_empty_wal_and_a_left_index(path: Path, untouched: Untouched) -> None:
    write(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1)", mode="WAL")
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").touch()
        with untouched():
            assert read(path) == 1
        Path(f"{path}{suffix}").unlink()


def test_a_journal_that_must_be_rolled_back_is_a_setup_error(
    path: Path, untouched: Untouched, other_process: Run
) -> None:
    write(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1)")
    engine = SqliteEngine(path, Settings(timeout=1))
    other_process(SPILLING, path)()
    assert beside(path) == ["", "-journal"]
    with untouched():
        for use in (
            lambda: SqliteEngine(path, Settings(timeout=1)),
            lambda: engine.execute("SELECT 1 FROM t", limits=Limits(seconds=1)),
            engine.catalog,
        ):
            with pytest.raises(SetupError, match="must be rolled back") as caught:
                use()
            assert caught.value.kind == "needs_recovery"
        engine.close()
    write(path)  # as the hint says: opening for writing rolls back
    assert read(path) == 1


def test_a_file_that_goes_away_is_a_setup_error_until_it_comes_back(path: Path) -> None:
    for mode in ("DELETE", "WAL"):
        write(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES (1)", mode=mode)
        with contextlib.closing(SqliteEngine(path)) as engine:
            path.rename(path.with_name("moved"))
            for use in (lambda: count(engine), engine.catalog, engine.compares_bytes):
                with pytest.raises(SetupError) as caught:
                    use()
                assert caught.value.kind == "not_found"
            assert beside(path.with_name("moved")) == [""]
            path.with_name("moved").rename(path)
            assert count(engine) == 1
        path.unlink()


def test_a_file_that_becomes_something_else_is_a_setup_error(path: Path) -> None:
    write(path, "CREATE TABLE t(x)")
    with contextlib.closing(SqliteEngine(path)) as engine:
        assert count(engine) == 0
        path.unlink()
        path.write_bytes(b"no database" * 1_000)
        with pytest.raises(SetupError):
            count(engine)


def test_a_file_that_is_replaced_is_read_anew(path: Path, folder: Path) -> None:
    for mode in ("DELETE", "WAL"):
        write(path, "DROP TABLE IF EXISTS t", "CREATE TABLE t(x)", mode=mode)
        with contextlib.closing(SqliteEngine(path)) as engine:
            assert count(engine) == 0
            write(folder / "new.db", "CREATE TABLE t(x, y)", "INSERT INTO t VALUES (1, 2)")
            (folder / "new.db").replace(path)
            assert count(engine) == 1
            assert [c.name for c in engine.catalog().tables[0].columns] == ["x", "y"]


def test_a_broken_page_is_a_setup_error_and_no_crash(path: Path) -> None:
    write(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES (randomblob(100000))")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with contextlib.closing(SqliteEngine(path)) as engine, pytest.raises(SetupError):
        count(engine)


def test_a_schema_changed_by_another_program_is_noticed(path: Path) -> None:
    for mode in ("DELETE", "WAL"):
        path.unlink(missing_ok=True)
        write(path, "CREATE TABLE t(x)", mode=mode)
        with contextlib.closing(SqliteEngine(path)) as engine:
            assert len(engine.catalog().tables) == 1
            assert engine.compares_bytes()
            write(path, "CREATE TABLE u(y TEXT COLLATE NOCASE)", mode=mode)
            assert [t.name for t in engine.catalog()] == ["t", "u"]
            assert not engine.compares_bytes()
            write(path, "DROP TABLE u", mode=mode)
            assert [t.name for t in engine.catalog()] == ["t"]
            assert engine.compares_bytes()


def test_a_change_of_the_journal_mode_is_followed(path: Path, untouched: Untouched) -> None:
    write(path, "CREATE TABLE t(x)")
    with contextlib.closing(SqliteEngine(path)) as engine:
        for number, mode in enumerate(("WAL", "DELETE", "WAL", "TRUNCATE"), 1):
            assert count(engine) == number - 1
            write(path, "INSERT INTO t VALUES (1)", mode=mode)
            with untouched():
                assert count(engine) == number


def test_writers_that_come_and_go_never_leave_stale_rows(path: Path) -> None:
    write(path, "CREATE TABLE t(x)", mode="WAL")
    with contextlib.closing(SqliteEngine(path)) as engine:
        for number in range(1, 30):
            writer = sqlite3.connect(path, isolation_level=None)
            writer.execute("INSERT INTO t VALUES (1)")
            assert count(engine) == number
            if number % 3:
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                assert count(engine) == number
            writer.close()
            assert count(engine) == number


def test_rows_are_never_stale_after_our_locks_were_dropped(path: Path, other_process: Run) -> None:
    """A writer then takes itself for the only one and removes the files that we have open."""
    write(path, "CREATE TABLE t(x)", mode="WAL")
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("INSERT INTO t VALUES (1)")
    with contextlib.closing(SqliteEngine(path)) as engine:
        first.close()
        assert count(engine) == 1
        path.open("rb").close()  # as any code of this program may do
        other_process(WRITER.format(mode="WAL") + "c.close()", path)
        assert beside(path) == [""]
        other_process(WRITER.format(mode="WAL"), path)
        assert beside(path) == ["", "-shm", "-wal"]
        assert count(engine) == 3


def keep_changing(path: Path, done: threading.Event, changes: list[int]) -> None:
    while not done.wait(0.002):
        with contextlib.closing(sqlite3.connect(path, timeout=10)) as writer, writer:
            writer.execute("UPDATE t SET x = x + 1")
            writer.execute("UPDATE u SET x = x + 1")
        changes.append(1)


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_busy_writer_never_gives_mixed_rows(path: Path, mode: str) -> None:
    """Two tables are always changed together; a reader must see them so."""
    fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
    write(
        path,
        "CREATE TABLE t(x, pad)",
        "CREATE TABLE u(x, pad)",
        f"INSERT INTO t {fill} SELECT 0, zeroblob(1000) FROM n",
        f"INSERT INTO u {fill} SELECT 0, zeroblob(1000) FROM n",
        mode=mode,
    )
    done, changes, seen = threading.Event(), [0], [-1]
    writer = threading.Thread(target=keep_changing, args=(path, done, changes))
    writer.start()
    try:
        with contextlib.closing(SqliteEngine(path)) as engine:
            while len(set(seen)) < 5 and len(changes) < 3_000:
                outcome = engine.execute(
                    "SELECT DISTINCT x FROM (SELECT x FROM t UNION ALL SELECT x FROM u)",
                    limits=Limits(seconds=20),
                )
                assert isinstance(outcome, Rows), outcome
                [(value,)] = outcome.rows
                assert value >= seen[-1]
                seen.append(value)
    finally:
        done.set()
        writer.join()
    assert len(set(seen)) == 5


def change_both(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=10)) as writer, writer:
        writer.execute("UPDATE t SET x = 2")
        writer.execute("UPDATE u SET x = 2")


def test_a_write_during_a_query_without_locks_gives_no_mixed_rows(path: Path) -> None:
    write(path, "CREATE TABLE t(x)", "CREATE TABLE u(x)", "INSERT INTO t VALUES (1)", mode="WAL")
    write(path, "INSERT INTO u VALUES (1)", mode="WAL")
    slowly = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) "
    with contextlib.closing(SqliteEngine(path)) as engine:
        threading.Timer(0.1, change_both, [path]).start()
        outcome = engine.execute(
            f"{slowly} SELECT (SELECT x FROM t), (SELECT max(i) FROM n), (SELECT x FROM u)",
            limits=Limits(seconds=30),
        )
        assert isinstance(outcome, Rows), outcome
        [(t, _, u)] = outcome.rows
        assert t == u


def test_a_lock_during_a_checkpoint_is_waited_for(path: Path, other_process: Run) -> None:
    write(path, "CREATE TABLE t(x)", mode="WAL")
    with contextlib.closing(SqliteEngine(path)) as engine:
        release = other_process(
            WRITER.format(mode="WAL") + "c.execute('PRAGMA locking_mode = EXCLUSIVE')\n"
            "c.execute('INSERT INTO t VALUES (2)')",
            path,
        )
        outcome = count(engine, seconds=0.3)
        assert outcome == 2 or (isinstance(outcome, Failure) and outcome.kind == FailureKind.LOCKED)
        release()
        assert count(engine) == 2


def test_a_name_that_is_not_utf_8_opens(folder: Path) -> None:
    path = folder / os.fsdecode(b"caf\xe9.db")
    write(folder / "plain.db", "CREATE TABLE t(x)", mode="WAL")
    (folder / "plain.db").rename(path)
    assert read(path) == 0
    assert beside(path) == [""]
