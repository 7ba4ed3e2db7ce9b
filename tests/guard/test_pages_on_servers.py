"""The guard's pages on PostgreSQL and MySQL.

What differs there stands in `server_gaps.toml`, and fails when it no longer does.
"""

from pathlib import Path

import pytest
from tests.guard.test_pages import CASES, Case, assert_holds
from tests.served import Served, on_servers

GAPS = Path(__file__).with_name("server_gaps.toml")
SHARED = {str(case): case for case in CASES if len(case.engines()) > 1}


@pytest.mark.parametrize(("kind", "case"), list(on_servers(GAPS, SHARED)))
def test_a_page_holds_on_a_server(kind: str, case: Case, served: Served) -> None:
    assert_holds(case, kind, served.open)
