"""One watchdog for all engines of a process stops each of them, and only what is late."""

import multiprocessing
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from modularsql import connect
from modularsql.engines.base import Clock
from modularsql.engines.watchdog import WATCHDOG, Watchdog
from modularsql.records import Failure, FailureKind, Limits

SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def until(event: threading.Event) -> bool:
    return event.wait(5)


def test_the_shorter_clock_is_stopped_first_though_it_was_armed_later() -> None:
    watchdog, late, early = Watchdog(), threading.Event(), threading.Event()
    long, short = Clock(60), Clock(0.05)
    watchdog.arm(long, late.set)
    time.sleep(0.05)  # its thread now waits for the long one
    watchdog.arm(short, early.set)
    assert until(early)
    assert not late.is_set()


def test_who_is_disarmed_is_not_stopped_and_who_stays_is_stopped_again() -> None:
    watchdog, done = Watchdog(), threading.Event()
    calls: list[str] = []
    gone, stays = Clock(0.1), Clock(0.1)
    watchdog.arm(gone, lambda: calls.append("gone"))

    def stop() -> None:
        calls.append("stays")
        if len(calls) > 1:
            done.set()

    watchdog.arm(stays, stop)
    watchdog.disarm(gone)
    assert until(done)
    assert set(calls) == {"stays"}


def test_a_stop_that_fails_does_not_leave_the_others_alone() -> None:
    watchdog, stopped = Watchdog(), threading.Event()

    def fail() -> None:
        raise RuntimeError

    watchdog.arm(Clock(0), fail)
    watchdog.arm(Clock(0.05), stopped.set)
    assert until(stopped)


def test_engines_in_several_threads_are_each_stopped_in_time(tmp_path: Path) -> None:
    engines = []
    for number in range(4):
        path = tmp_path / f"{number}.sqlite"

        sqlite3.connect(path).execute("CREATE TABLE t(x)")
        engines.append(connect(path))
    start = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        limits = [Limits(seconds=0.1 + number / 10) for number in range(4)]
        outcomes = list(pool.map(lambda e, li: e.execute(SLOW, limits=li), engines, limits))
    assert time.monotonic() - start < 5
    assert all(isinstance(o, Failure) and o.kind == FailureKind.TIMEOUT for o in outcomes)


def _in_child(path: Path) -> None:
    outcome = connect(path).execute(SLOW, limits=Limits(seconds=0.1))
    assert isinstance(outcome, Failure)
    watched = threading.Event()

    WATCHDOG.arm(Clock(0.05), watched.set)
    assert until(watched)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_forked_process_has_a_watchdog_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"

    sqlite3.connect(path).execute("CREATE TABLE t(x)")
    connect(path).execute("SELECT 1", limits=Limits(seconds=1))
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=(path,))
    child.start()
    child.join(20)
    assert child.exitcode == 0
