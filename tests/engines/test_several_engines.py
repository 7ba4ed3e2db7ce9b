"""A few engines behind one port run queries at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from modularsql.catalog import Catalog
from modularsql.engines.several import SeveralEngines
from modularsql.errors import SetupError
from modularsql.ports import Outcome
from modularsql.records import Limits, Params
from modularsql.rows import Rows


class Busy:
    """An engine that waits until as many queries run as a barrier wants."""

    name, dialect = "busy", "sqlite"

    def __init__(self, barrier: threading.Barrier) -> None:
        self.barrier = barrier
        self.closed = False

    def execute(self, sql: str, params: Params = None, *, limits: Limits) -> Outcome:
        self.barrier.wait(10)
        return Rows(columns=("a",), types=(None,), rows=[(sql,)])

    def catalog(self) -> Catalog:
        return Catalog(dialect="sqlite")

    def compares_bytes(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def test_so_many_queries_run_at_a_time_and_no_more() -> None:
    opened: list[Busy] = []
    barrier = threading.Barrier(3)

    def open_() -> Busy:
        opened.append(Busy(barrier))
        return opened[-1]

    several = SeveralEngines(open_, 3)
    assert len(opened) == 1
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda i: several.execute(str(i), limits=Limits()), range(6)))
    assert [outcome.rows[0][0] for outcome in found if isinstance(outcome, Rows)] == list("012345")
    assert len(opened) == 3
    several.close()
    assert all(engine.closed for engine in opened)


def test_an_engine_that_cannot_be_opened_leaves_the_work_to_the_others() -> None:
    first = Busy(threading.Barrier(1))
    engines = iter([first])

    def open_() -> Busy:
        for engine in engines:
            return engine
        raise SetupError("locked")

    several = SeveralEngines(open_, 4)
    with ThreadPoolExecutor(4) as threads:
        outcomes = threads.map(lambda i: several.execute(str(i), limits=Limits()), range(4))
        assert all(isinstance(outcome, Rows) for outcome in outcomes)


def test_what_the_first_engine_raises_is_raised() -> None:
    def open_() -> Busy:
        raise SetupError("no such file")

    with pytest.raises(SetupError):
        SeveralEngines(open_, 2)
