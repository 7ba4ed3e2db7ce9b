"""`run` calls a command as the console script does; `shop` is a small database to call it on."""

import io
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from modularsql.cli import main
from modularsql.engines.connect import connect

Ran = subprocess.CompletedProcess


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two customers, ten orders of the first one, one of the second."""
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer);
            INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob');
            """
        )
        rows = [(at, 1) for at in range(1, 11)] + [(11, 2)]
        connection.executemany("INSERT INTO orders VALUES (?, ?)", rows)
    connection.close()
    return path


@pytest.fixture
def books(shop: Path) -> Path:
    """The shop with three bills, one of them paid in two parts, and two members of one name."""
    with sqlite3.connect(shop) as connection:
        connection.executescript(
            """
            CREATE TABLE bill(id INTEGER PRIMARY KEY, amount INTEGER);
            CREATE TABLE payment(id INTEGER PRIMARY KEY, bill INTEGER REFERENCES bill);
            INSERT INTO bill VALUES (1, 300), (2, 50), (3, 9);
            INSERT INTO payment VALUES (1, 1), (2, 1), (3, 2);
            CREATE TABLE member(id INTEGER PRIMARY KEY, name TEXT);
            """
        )
        names = [(f"member {at % 19}",) for at in range(20)]
        connection.executemany("INSERT INTO member(name) VALUES (?)", names)
    connection.close()
    return shop


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[..., "Ran[str]"]]:
    """The command in this process, its queries too (`really` starts processes)."""
    monkeypatch.setattr("modularsql.service.guarding.IsolatedEngine", connect)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGTERM)

    def call(*arguments: object, stdin: bytes = b"", **environ: str) -> "Ran[str]":
        given = [str(argument) for argument in arguments]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            for name, value in environ.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as stop:
                main(given)
        assert isinstance(stop.value.code, int)
        printed = capsys.readouterr()
        return Ran(given, stop.value.code, printed.out, printed.err)

    yield call
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def really(tmp_path: Path) -> Callable[..., "Ran[str]"]:
    """The command in a process of its own, piped, in an empty folder."""

    def call(*arguments: object, stdin: bytes = b"") -> "Ran[str]":
        given = [sys.executable, "-m", "modularsql", *map(str, arguments)]
        ran = subprocess.run(
            given, input=stdin, capture_output=True, cwd=tmp_path, timeout=60, check=False
        )
        return Ran(given, ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    return call
