"""The rules' pages on PostgreSQL and MySQL: what is found, what comes back.

What differs there stands in `server_gaps.toml`, and fails when it no longer does.
"""

from collections import Counter
from pathlib import Path

import pytest
from tests.multiplicity.rules.test_rule_pages import PAGES, found, line, loud
from tests.served import Served, bag, on_servers

from modularsql.ports import Engine
from modularsql.records import Limits
from modularsql.rows import Row, Rows

from ..pages import Case, shared

GAPS = Path(__file__).with_name("server_gaps.toml")
CASES = shared(PAGES)


def run(sql: str, engine: Engine) -> Counter[Row]:
    outcome = engine.execute(sql, limits=Limits())
    assert isinstance(outcome, Rows), outcome
    return bag(outcome.rows)


@pytest.mark.parametrize(("kind", "case"), list(on_servers(GAPS, CASES)))
def test_a_page_holds_on_a_server(kind: str, case: Case, served: Served) -> None:
    engine = served.open(kind, case.schema)
    seen = found(case.query, engine.catalog())
    told = Counter(f"{i.rule} line {line(i)} {i.severity}" for i in seen)
    expected = Counter(case.lines("finding"))
    required = [i for i in seen if loud(i) or i.rule == case.rule]
    assert not expected - told
    assert not Counter(f"{i.rule} line {line(i)} {i.severity}" for i in required) - expected
    assert run(case.query, engine) == bag(case.rows("rows") or [])
    if case.rewrite is not None:
        assert run(case.rewrite, engine) == bag(case.rows("rewrite rows") or [])
