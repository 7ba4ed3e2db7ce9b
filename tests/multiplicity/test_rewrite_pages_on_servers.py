"""The rewrites' pages on PostgreSQL and MySQL: what is written, what it returns, who applies it.

What differs there stands in `server_gaps.toml`, and fails when it no longer does.
"""

from pathlib import Path

import pytest
from tests.multiplicity.test_rewrite_pages import PAGES, assert_guarded, assert_written
from tests.served import Served, on_servers

from .pages import Case, shared

GAPS = Path(__file__).with_name("server_gaps.toml")
CASES = shared(PAGES)


@pytest.mark.parametrize(("kind", "case"), list(on_servers(GAPS, CASES)))
def test_a_page_holds_on_a_server(kind: str, case: Case, served: Served) -> None:
    engine, there = served.open(kind, case.schema), case.on(kind)
    assert_written(there, engine)
    if there.rewrite is not None:
        assert_guarded(there, engine)
