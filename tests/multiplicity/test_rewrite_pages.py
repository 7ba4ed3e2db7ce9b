"""The rewrites' pages, which are documentation and tests at once: all they say must hold.

As the rules' pages (pages.py), but `sql rewrite` is what the rewrite writes, applied until it has
nothing more to do, and a case says:

    answers: RULE            whose finding it repairs; afterwards that rule finds nothing
    rows: (1, 'a')           what the query returns, as a bag; `none` for no row
    rewrite rows: (1)        what the rewrite returns
    level: proven            what the guard makes of it; `suggested` is never applied
    declined: WORDS          instead: why it does nothing here; no `sql rewrite` then
    engines: sqlite          only there
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.served import bag

import modularsql.multiplicity.rewrites as package
from modularsql import Guard, Limits
from modularsql.guard.grain import static
from modularsql.multiplicity.rewrites import REWRITES, rewritten
from modularsql.multiplicity.rewrites.edits import Edit
from modularsql.ports import Engine
from modularsql.rows import Rows
from modularsql.service.ruling import one_rule
from modularsql.sql.statement import Statement, read_statement

from .pages import Case, Page, Row, pages

FOLDER = Path(package.__path__[0])
BY_NAME = {rewrite.__name__: rewrite for rewrite in REWRITES}
PAGES = pages(FOLDER)
CASES = [
    pytest.param(case, engine, id=f"{case.rule}: {case.heading} [{engine}]")
    for page in PAGES
    for case in page.cases
    for engine in case.engines
]
Open = Callable[..., Engine]


def read(sql: str, engine: Engine) -> Statement:
    statement = read_statement(sql, engine.dialect, 100_000)
    assert isinstance(statement, Statement)
    return statement


def step(name: str, sql: str, engine: Engine) -> tuple[str, str] | list[str]:
    """What a rewrite makes of a statement, with the rule it answers; else its reasons."""
    statement = read(sql, engine)
    reasons = []
    for one in static(statement, engine.catalog()).issues:
        if name in one.issue.rewrites:
            edit = rewritten(BY_NAME[name], statement, one.issue, engine.dialect)
            if isinstance(edit, Edit):
                return edit.text, one.issue.rule
            reasons.append(edit.reason)
    return reasons


def run(sql: str, engine: Engine) -> Counter[Row]:
    outcome = engine.execute(sql, limits=Limits())
    assert isinstance(outcome, Rows), (outcome, sql)
    return bag(outcome.rows)


@pytest.mark.parametrize(("case", "kind"), CASES)
def test_the_page_says_what_is_written_and_what_it_returns(
    case: Case, kind: str, open_database: Open
) -> None:
    assert_written(case, open_database(kind, case.schema))


def assert_written(case: Case, engine: Engine) -> None:
    """The rewrite writes what the page shows, and both queries return the page's rows."""
    rows = case.rows("rows")
    assert rows is not None
    assert run(case.query, engine) == bag(rows)
    made, seen = case.query, 0
    while not isinstance(found := step(case.rule, made, engine), list):
        made, rule = found
        seen += 1
        assert seen < 5, "it never comes to an end"
        assert [rule] == case.lines("answers")
    if case.rewrite is None:
        assert seen == 0, made
        assert case.lines("declined")[0] in [*found, "no finding names it"]
        return
    assert made.strip() == case.rewrite
    repaired = case.rows("rewrite rows")
    assert repaired is not None
    assert run(made, engine) == bag(repaired)
    left = static(read(made, engine), engine.catalog()).issues
    assert case.lines("answers")[0] not in [one.issue.rule for one in left]


@pytest.mark.parametrize(("case", "kind"), [c for c in CASES if c.values[0].rewrite])  # type: ignore[union-attr]
def test_the_guard_applies_it_or_only_suggests_it_as_the_page_says(
    case: Case, kind: str, open_database: Open
) -> None:
    assert_guarded(case, open_database(kind, case.schema))


def assert_guarded(case: Case, engine: Engine) -> None:
    """The guard gives the rewrite the page's safety level, and acts by it."""
    answer = Guard(engine, "grain").run(case.query, fix=True)
    repairs = [r for f in answer.findings for r in f.repairs if r.name == case.rule]
    [level] = case.lines("level")
    assert {str(repair.safety) for repair in repairs} == {level}
    repaired = case.rows("rewrite rows") or []
    if level == "suggested":
        assert answer.final_sql == case.query
        assert case.rewrite in [repair.sql.strip() for repair in repairs]
    else:
        assert set(answer.applied) == {case.rule}
        assert answer.final_sql.strip() == case.rewrite
        assert bag(answer.rows) == bag(repaired)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_a_page_shows_a_rewrite_and_where_it_declines(page: Page) -> None:
    assert len(page.introduction) > 100
    assert any(case.rewrite for case in page.cases)
    assert any(case.heading.startswith("not ") and not case.rewrite for case in page.cases)
    assert one_rule(page.rule).page.startswith(f"# {page.rule}\n")


def test_every_rewrite_has_a_page_and_every_page_a_rewrite() -> None:
    assert sorted(BY_NAME) == [page.rule for page in PAGES]
