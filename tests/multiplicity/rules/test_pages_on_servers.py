"""The rules' pages on PostgreSQL and MySQL: what is found, what comes back.

What differs there stands in `server_gaps.toml`, and fails when it no longer does.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.multiplicity.rules.test_rule_pages import PAGES, found, line, loud
from tests.servers import SERVERS

from modularsql import connect
from modularsql.ports import Engine
from modularsql.records import Limits
from modularsql.rows import Row, Rows

from ..pages import Case

GAPS = tomllib.loads(Path(__file__).with_name("server_gaps.toml").read_text(encoding="utf-8"))
CASES = [case for page in PAGES for case in page.cases if len(case.engines) > 1]


def parameters() -> Iterator[Any]:
    for kind, server in SERVERS.items():
        for case in CASES:
            name = f"{case.rule}: {case.heading}"
            marks = []
            if server.absent:
                marks.append(pytest.mark.skip(reason=server.absent))
            elif name in GAPS[kind]:
                marks.append(pytest.mark.xfail(reason=GAPS[kind][name], strict=True))
            yield pytest.param(kind, case, id=f"{kind}: {name}", marks=marks)


@pytest.fixture(scope="module")
def opened() -> Iterator[dict[tuple[str, str], Engine]]:
    """Engines by kind and schema."""
    engines: dict[tuple[str, str], Engine] = {}
    yield engines
    for engine in engines.values():
        engine.close()
    for server in SERVERS.values():
        server.close()


def open_case(kind: str, case: Case, opened: dict[tuple[str, str], Engine]) -> Engine:
    key = (kind, case.schema)
    if key not in opened:
        # MySQL wants a length where text is a key.
        script = case.schema.replace(" TEXT", " VARCHAR(99)") if kind == "mysql" else case.schema
        path = Path("pages") / str(len(opened))
        SERVERS[kind].build(path, [part for part in script.split(";") if part.strip()])
        opened[key] = connect(SERVERS[kind].target(path))
    return opened[key]


def bag(rows: list[Row]) -> Counter[Row]:
    """The rows, numbers to four places: servers divide to other depths."""
    return Counter(tuple(map(_number, row)) for row in rows)


def _number(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, float | Decimal) else value


def run(sql: str, engine: Engine) -> Counter[Row]:
    outcome = engine.execute(sql, limits=Limits())
    assert isinstance(outcome, Rows), outcome
    return bag(outcome.rows)


@pytest.mark.parametrize(("kind", "case"), list(parameters()))
def test_a_page_holds_on_a_server(
    kind: str, case: Case, opened: dict[tuple[str, str], Engine]
) -> None:
    engine = open_case(kind, case, opened)
    seen = found(case.query, engine.catalog())
    told = Counter(f"{i.rule} line {line(i)} {i.severity}" for i in seen)
    expected = Counter(case.lines("finding"))
    required = [i for i in seen if loud(i) or i.rule == case.rule]
    assert not expected - told
    assert not Counter(f"{i.rule} line {line(i)} {i.severity}" for i in required) - expected
    assert run(case.query, engine) == bag(case.rows("rows") or [])
    if case.rewrite is not None:
        assert run(case.rewrite, engine) == bag(case.rows("rewrite rows") or [])
