"""Pages of cases on the servers that tests run against."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.servers import SERVERS

from modularsql import Settings, connect
from modularsql.ports import Engine
from modularsql.rows import Row

HOW = ("notimpl", "notyet", "never")


WORDS: dict[str, dict[str, str]] = {
    "postgres": {},
    # A key has text of some length; text folds letters where nothing is said.
    "mysql": {" TEXT": " VARCHAR(99)", " COLLATE NOCASE": ""},
}


class Served:
    """One database on each server, which holds one schema after the other: to empty it takes less
    than to make and drop one for each."""

    def __init__(self) -> None:
        self._holds: dict[str, str] = {}
        self._engines: dict[str, dict[Settings, Engine]] = {kind: {} for kind in SERVERS}

    def open(self, kind: str, schema: str, settings: Settings | None = None) -> Engine:
        """An engine on a database that holds what the schema says, until another is asked for."""
        path, settings = Path("pages", kind), settings or Settings()
        if self._holds.get(kind) != schema:
            self._close(kind)
            self._holds.pop(kind, None)
            SERVERS[kind].build(path, statements(schema, kind))
            self._holds[kind] = schema
        if settings not in self._engines[kind]:
            self._engines[kind][settings] = connect(SERVERS[kind].target(path), settings)
        return self._engines[kind][settings]

    def close(self) -> None:
        for kind, server in SERVERS.items():
            self._close(kind)
            server.close()

    def _close(self, kind: str) -> None:
        while self._engines[kind]:
            self._engines[kind].popitem()[1].close()


def statements(schema: str, kind: str) -> list[str]:
    """The statements of a script in a server's words."""
    script = schema
    for ours, theirs in WORDS[kind].items():
        script = script.replace(ours, theirs)
    return [part for part in script.split(";") if part.strip()]


def on_servers(gaps_file: Path, cases: dict[str, Any]) -> Iterator[Any]:
    """Parameters (kind, case) for all cases by name; those in the file of gaps must fail.

    A gap is `"NAME" = "notimpl|notyet|never: why"` under its kind.
    """
    gaps = tomllib.loads(gaps_file.read_text(encoding="utf-8"))
    for kind, server in SERVERS.items():
        stale = [name for name in gaps[kind] if name not in cases]
        assert not stale, f"{gaps_file.name}: no such case: {stale}"
        assert all(why.partition(":")[0] in HOW for why in gaps[kind].values()), gaps_file.name
        for name, case in cases.items():
            marks = []
            if server.absent:
                marks.append(pytest.mark.skip(reason=server.absent))
            elif name in gaps[kind]:
                marks.append(pytest.mark.xfail(reason=gaps[kind][name], strict=True))
            yield pytest.param(kind, case, id=f"{kind}: {name}", marks=marks)


def bag(rows: Sequence[Row]) -> Counter[Row]:
    """The rows, numbers to four places: servers divide to other depths."""
    return Counter(tuple(map(_number, row)) for row in rows)


def _number(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, float | Decimal) else value
