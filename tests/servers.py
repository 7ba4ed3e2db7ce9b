"""Databases on the servers that tests run against, made for one test and given back after it.

Where the servers are is read here, and only here: `TEST_POSTGRES_URL`, `TEST_MYSQL_URL`. Tests skip
where there is none, unless `TEST_SERVERS=needed`, as in CI.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pymysql

from modularsql.engines.connect import connect
from modularsql.ports import Engine

POSTGRES = os.environ.get("TEST_POSTGRES_URL") or "postgresql://root@127.0.0.1:5432/test"
MYSQL = os.environ.get("TEST_MYSQL_URL") or "mysql://root@127.0.0.1:3306/test"
NEEDED = os.environ.get("TEST_SERVERS") == "needed"
Script = Sequence[str]


@dataclass
class Server:
    """One server. `run(url, statements)` runs them; `clear` makes a database new again.

    A database is new in what tests put into it; making one anew takes half a second.
    """

    name: str
    url: str
    run: Callable[[str, Script], list[Any]]
    fresh: Script
    clear: Callable[[str], None]
    drop: str
    _of: dict[Path, str] = field(default_factory=dict)
    _free: list[str] = field(default_factory=list)
    _made: list[str] = field(default_factory=list)
    _numbers: Any = field(default_factory=itertools.count)

    @cached_property
    def absent(self) -> str | None:
        """Why there is no server to test on, None where there is one."""
        try:
            self.run(self.url, ["SELECT 1"])
        except Exception as error:
            return f"no {self.name} server at {urlsplit(self.url).netloc}: {error}".splitlines()[0]
        return None

    def target(self, path: Path | str) -> str:
        """The URL of the database that stands for a path."""
        path = Path(path)
        if path not in self._of:
            self._of[path] = self._free.pop() if self._free else self._new()
        return self.of(self._of[path])

    def build(self, path: Path, statements: Script) -> None:
        """A new database for a path, with what the statements put into it."""
        self.release(path)
        self.run(self.target(path), statements)

    def release(self, folder: Path) -> None:
        """What stands for paths in a folder may be used again."""
        for path in [p for p in self._of if p == folder or folder in p.parents]:
            name = self._of.pop(path)
            self.clear(self.of(name))
            self.run(self.of(name), self.fresh)
            self._free.append(name)

    def close(self) -> None:
        """Drop all that was made."""
        while self._made:
            self.run(self.url, [self.drop.format(self._made.pop())])
        self._of.clear()
        self._free.clear()

    def of(self, name: str) -> str:
        """The URL of a database."""
        return urlunsplit(urlsplit(self.url)._replace(path="/" + name))

    def _new(self) -> str:
        name = f"modularsql_{os.getpid()}_{next(self._numbers)}"
        self.run(self.url, [f"CREATE DATABASE {name}"])
        self._made.append(name)
        self.run(self.of(name), self.fresh)
        return name


def run_postgres(url: str, statements: Script) -> list[Any]:
    """Run statements one by one; the rows of the last one, if it has any."""
    with closing(psycopg.connect(url, autocommit=True, connect_timeout=5)) as connection:
        cursor = connection.cursor()
        for statement in statements:
            cursor.execute(statement.encode())
        return cursor.fetchall() if statements and cursor.description else []


def clear_postgres(url: str) -> None:
    """Drop all schemas of a database, and make `public` again."""
    schemas = run_postgres(
        url,
        ["SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'"],
    )
    drops = [f'DROP SCHEMA "{name}" CASCADE' for (name,) in schemas]
    run_postgres(url, ["SET client_min_messages = error", *drops, "CREATE SCHEMA public"])


POSTGRES_SERVER = Server(
    name="PostgreSQL",
    url=POSTGRES,
    run=run_postgres,
    clear=clear_postgres,
    drop="DROP DATABASE {} WITH (FORCE)",
    fresh=(
        "GRANT ALL ON SCHEMA public TO public",
        "CREATE DOMAIN blob AS bytea",
        # As SQLite's NOCASE.
        "CREATE COLLATION nocase "
        "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    ),
)


def run_mysql(url: str, statements: Script) -> list[Any]:
    """Run statements one by one, in the standard's quotes; the rows of the last one."""
    at = urlsplit(url)
    connection = pymysql.connect(
        host=at.hostname,
        port=at.port or 3306,
        user=at.username,
        password=at.password or "",
        database=at.path[1:],
        autocommit=True,
        sql_mode="ANSI_QUOTES",
        connect_timeout=5,
    )
    with closing(connection), connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall()) if statements else []


def clear_mysql(url: str) -> None:
    """Make a database anew."""
    name = urlsplit(url).path[1:]
    run_mysql(MYSQL_SERVER.url, [f"DROP DATABASE {name}", f"CREATE DATABASE {name}"])


MYSQL_SERVER = Server(
    name="MySQL",
    url=MYSQL,
    run=run_mysql,
    clear=clear_mysql,
    drop="DROP DATABASE {}",
    fresh=(),
)
SERVERS = {"postgres": POSTGRES_SERVER, "mysql": MYSQL_SERVER}


@contextmanager
def making(server: Server, url: str) -> Iterator[Callable[..., Any]]:
    """`make(*statements)`: an engine on a database after these; all are closed in the end."""
    with ExitStack() as opened:

        def make(*statements: str) -> Engine:
            server.run(url, statements)
            return opened.enter_context(closing(connect(url)))

        yield make
