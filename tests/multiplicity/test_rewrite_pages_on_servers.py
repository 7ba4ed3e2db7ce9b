"""The rewrites' pages on PostgreSQL and MySQL: what is written, what it returns, who applies it.

What differs there stands in `server_gaps.toml`, and fails when it no longer does.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.multiplicity.test_rewrite_pages import PAGES, assert_guarded, assert_written
from tests.served import Served, on_servers

from .pages import Case

GAPS = Path(__file__).with_name("server_gaps.toml")
CASES = {
    f"{case.rule}: {case.heading}": case
    for page in PAGES
    for case in page.cases
    if len(case.engines) > 1
}
WRITTEN = {name: case for name, case in CASES.items() if case.rewrite}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """Databases for the pages' schemas."""
    with closing(Served()) as opened:
        yield opened


@pytest.mark.parametrize(("kind", "case"), list(on_servers(GAPS, CASES, "written")))
def test_a_server_returns_what_the_page_says(kind: str, case: Case, served: Served) -> None:
    assert_written(case.on(kind), served.open(kind, case.schema))


@pytest.mark.parametrize(("kind", "case"), list(on_servers(GAPS, WRITTEN, "guarded")))
def test_the_guard_acts_there_as_the_page_says(kind: str, case: Case, served: Served) -> None:
    assert_guarded(case.on(kind), served.open(kind, case.schema))
