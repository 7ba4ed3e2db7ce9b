"""The rules' pages, which are documentation and tests at once: all they say must hold.

# name                      the page's rule, with a paragraph on what and why
```sql schema               tables and rows for all cases; a case may have a schema of its own
## heading                  one case, one test
```sql query                what is analysed and run
```sql rewrite              what repairs it (run, not made here)
```text expect              one line for each thing that must hold:
    finding: RULE line N SEVERITY     all errors and warnings, and all of the page's own rule
    silent                            none of these
    rows: (1, 'a'); (2, None)         what the query returns, as a bag; `none` for no row
    rewrite rows: (1)                 what the rewrite returns
    engines: sqlite                   only there
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import modularsql.multiplicity.rules as package
from modularsql.catalog import Catalog
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.registry import Analysis, Issue, issues, rules
from modularsql.ports import Engine
from modularsql.records import Limits, Severity
from modularsql.rows import Rows
from modularsql.sql.parse import Unparsed, parse_text

from ..pages import Case, Page, Row, pages

FOLDER = Path(package.__path__[0])
Open = Callable[..., Engine]


PAGES = pages(FOLDER)
CASES = [
    pytest.param(case, engine, id=f"{case.rule}: {case.heading} [{engine}]")
    for page in PAGES
    for case in page.cases
    for engine in case.engines
]
PUBLIC = (
    "G01 G02 G03 G04 G05 G07 G08 G10 G11 G12 G13 G15 G16 G18 G19 G21 G23 G25 G26 G27 G29 "
    "N01 N03 N04 N06 N07 N09 N10 N12"
).split()
"""The cases from public reports that the rules answer for."""


def found(sql: str, catalog: Catalog) -> list[Issue]:
    tree = parse_text(sql, catalog.dialect)
    assert not isinstance(tree, Unparsed), tree
    query = infer(tree, catalog)
    assert query is not None
    return issues(Analysis(query=query, catalog=catalog))


def line(issue: Issue) -> int:
    places = [part.meta for part in issue.node.walk() if "start" in part.meta]
    return int(min(places, key=lambda meta: meta["start"])["line"]) if places else 1


def run(sql: str, engine: Engine) -> Counter[Row]:
    outcome = engine.execute(sql, limits=Limits())
    assert isinstance(outcome, Rows), outcome
    return Counter(outcome.rows)


def loud(issue: Issue) -> bool:
    return issue.severity != Severity.INFO


@pytest.mark.parametrize(("case", "name"), CASES)
def test_the_page_says_what_is_found(case: Case, name: str, open_database: Open) -> None:
    issues_ = found(case.query, open_database(name, case.schema).catalog())
    told = Counter(f"{i.rule} line {line(i)} {i.severity}" for i in issues_)
    expected = Counter(case.lines("finding"))
    required = [i for i in issues_ if loud(i) or i.rule == case.rule]
    assert not expected - told, "written on the page, but not found"
    assert not Counter(f"{i.rule} line {line(i)} {i.severity}" for i in required) - expected
    assert case.is_silent == (not expected), "a case has findings, or the word `silent`"


@pytest.mark.parametrize(("case", "name"), CASES)
def test_the_page_says_what_the_query_and_its_rewrite_return(
    case: Case, name: str, open_database: Open
) -> None:
    engine = open_database(name, case.schema)
    rows = case.rows("rows")
    assert rows is not None
    assert run(case.query, engine) == Counter(rows)
    if case.rewrite is not None:
        repaired = case.rows("rewrite rows")
        assert repaired is not None
        assert run(case.rewrite, engine) == Counter(repaired)


@pytest.mark.parametrize(("case", "name"), [c for c in CASES if c.values[0].rewrite])  # type: ignore[union-attr]
def test_a_rewrite_leaves_nothing_for_its_rule_to_find(
    case: Case, name: str, open_database: Open
) -> None:
    assert case.rewrite is not None
    left = found(case.rewrite, open_database(name, case.schema).catalog())
    assert not [i.message for i in left if i.rule == case.rule]


@pytest.mark.parametrize(("case", "name"), CASES)
def test_messages_are_one_or_two_plain_sentences(
    case: Case, name: str, open_database: Open
) -> None:
    for issue in found(case.query, open_database(name, case.schema).catalog()):
        assert issue.message.endswith(".")
        assert issue.message.count(". ") <= 1, issue.message
        jargon = ("closure", "functional dep", "grain", "cardinality", "predicate", "relation ")
        assert not [word for word in jargon if word in issue.message.lower()]


@pytest.mark.parametrize(("case", "name"), CASES)
def test_the_data_bears_out_what_has_a_rewrite(case: Case, name: str, open_database: Open) -> None:
    engine = open_database(name, case.schema)
    for issue in found(case.query, engine.catalog()):
        question = issue.probe() if issue.probe is not None else None
        if question is not None:
            rows = run(question.sql(dialect=name), engine)
            assert rows or case.rewrite is None or issue.rule != case.rule


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.rule)
def test_a_page_has_an_introduction_and_a_silent_case(page: Page) -> None:
    assert len(page.introduction) > 100
    assert page.schema
    assert any(case.is_silent and case.heading.startswith("silent when") for case in page.cases)
    assert any(case.lines("finding") for case in page.cases)


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert sorted(rules()) == [page.rule for page in PAGES]
    assert sorted(rules()) == sorted(path.stem for path in FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_case_is_on_a_page(name: str) -> None:
    cases = [case for page in PAGES for case in page.cases if name in case.heading.split()]
    assert cases
    assert name[0] != "N" or any(case.is_silent for case in cases)
