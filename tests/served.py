"""The schemas of pages on the servers: one database for each schema, kept while a script runs."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.servers import SERVERS

from modularsql import Settings, connect
from modularsql.ports import Engine
from modularsql.rows import Row

HOW = ("notimpl", "notyet", "never")


class Served:
    """Opens databases on servers by kind and schema."""

    def __init__(self) -> None:
        self._urls: dict[tuple[str, str], str] = {}
        self._engines: dict[tuple[str, str, Settings], Engine] = {}

    def open(self, kind: str, schema: str, settings: Settings | None = None) -> Engine:
        """An engine on a database that holds what the schema, in words of SQLite, says."""
        if (kind, schema) not in self._urls:
            path = Path("pages", str(len(self._urls)))
            SERVERS[kind].build(path, statements(schema, kind))
            self._urls[kind, schema] = str(SERVERS[kind].target(path))
        key = (kind, schema, settings or Settings())
        if key not in self._engines:
            self._engines[key] = connect(self._urls[kind, schema], key[2])
        return self._engines[key]

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()
        for server in SERVERS.values():
            server.close()


def statements(schema: str, kind: str) -> list[str]:
    """The statements of a script as a server takes them: MySQL wants a length where text is a
    key, and an end of a comment's line."""
    script = schema.replace(" TEXT", " VARCHAR(99)") if kind == "mysql" else schema
    return [part for part in script.split(";") if part.strip()]


def on_servers(gaps_file: Path, cases: dict[str, Any], of: str = "") -> Iterator[Any]:
    """Parameters (kind, case) for all cases by name; those in the file of gaps must fail.

    A gap is `"NAME" = "notimpl|notyet|never: why"` under the kind, and under `of` where a script
    has several tests.
    """
    gaps = tomllib.loads(gaps_file.read_text(encoding="utf-8"))
    for kind, server in SERVERS.items():
        known = gaps[kind].get(of, {}) if of else gaps[kind]
        stale = [name for name in known if name not in cases]
        assert not stale, f"{gaps_file.name}: no such case: {stale}"
        assert all(why.partition(":")[0] in HOW for why in known.values()), gaps_file.name
        for name, case in cases.items():
            marks = []
            if server.absent:
                marks.append(pytest.mark.skip(reason=server.absent))
            elif name in known:
                marks.append(pytest.mark.xfail(reason=known[name], strict=True))
            yield pytest.param(kind, case, id=f"{kind}: {name}", marks=marks)


def bag(rows: list[Row]) -> Counter[Row]:
    """The rows, numbers to four places: servers divide to other depths."""
    return Counter(tuple(map(_number, row)) for row in rows)


def _number(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, float | Decimal) else value
