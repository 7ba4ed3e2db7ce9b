"""Engines that tell cheaply whether their data is still the same."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from tests.servers import POSTGRES_SERVER

from modularsql.ports import Engine, Versioned

Make = Callable[..., Engine]


def test_a_version_stays_while_nobody_writes(make: Make) -> None:
    """MySQL's servers tell no such thing, and say nothing rather than something wrong."""
    engine = make("CREATE TABLE t(x INTEGER)", "INSERT INTO t VALUES (1)")
    if engine.dialect == "mysql":
        assert not isinstance(engine, Versioned)
        return
    assert isinstance(engine, Versioned)
    assert engine.version() is not None
    # Of a server's other databases somebody may write to at the same time.
    assert any(engine.version() == engine.version() for _ in range(50))


@pytest.mark.skipif(POSTGRES_SERVER.absent is not None, reason=str(POSTGRES_SERVER.absent))
def test_each_committed_write_changes_the_version_of_a_server(tmp_path: Path) -> None:
    from modularsql import connect

    path = tmp_path / "v.db"
    POSTGRES_SERVER.build(path, ["CREATE TABLE t(x INTEGER)"])
    url = POSTGRES_SERVER.target(path)
    engine = connect(url)
    assert isinstance(engine, Versioned)
    seen = {engine.version()}
    with psycopg.connect(url, autocommit=True) as writer:
        for statement in ("INSERT INTO t VALUES (1)", "UPDATE t SET x = 2", "DELETE FROM t"):
            writer.execute(statement)
            assert engine.version() not in seen
            seen.add(engine.version())
    engine.close()
    POSTGRES_SERVER.release(tmp_path)
