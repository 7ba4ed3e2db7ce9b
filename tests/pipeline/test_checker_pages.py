"""The checkers' pages, which are documentation and tests at once: all they say must hold.

# name                      the page's checker, with a paragraph on what and why
```sql schema               tables and rows for all cases
## heading                  one case, one test
```sql query                the candidate, which is run
```sql mended               what it should have been: it runs, and the checker has nothing to say
```text expect              one line for each thing that must hold:
    fires: WORDS                      the directive holds these words
    silent                            there is none
    question: WORDS                   what was asked
    values: no                        directives may not quote the data
    engines: sqlite                   only there
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.multiplicity.pages import blocks_of

import modularsql.pipeline.checkers as package
from modularsql.pipeline.checkers import CHECKERS, base
from modularsql.ports import Engine
from modularsql.records import Limits
from modularsql.rows import Rows

FOLDER = Path(package.__path__[0])
ENGINES = "sqlite duckdb"
BY_NAME = {checker.name: checker for checker in CHECKERS}
Open = Callable[..., Engine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One heading of a page."""

    checker: str
    heading: str
    schema: str
    query: str
    mended: str | None
    expect: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A checker's page."""

    checker: str
    introduction: str
    cases: tuple[Case, ...]


def read_page(path: Path) -> Page:
    """One page, taken apart."""
    introduction, blocks = blocks_of(path)
    schema = blocks.pop(None)["schema"]
    cases = tuple(
        Case(
            checker=path.stem,
            heading=str(name),
            schema=schema,
            query=parts["query"],
            mended=parts.get("mended"),
            expect=_expect(parts["expect"]),
        )
        for name, parts in blocks.items()
    )
    return Page(checker=path.stem, introduction=introduction, cases=cases)


def _expect(text: str) -> dict[str, str]:
    lines = (line.partition(":") for line in text.splitlines())
    return {label.strip(): value.strip() for label, _, value in lines}


PAGES = [read_page(path) for path in sorted(FOLDER.glob("*.md"))]
CASES = [
    pytest.param(case, engine, id=f"{case.checker}: {case.heading} [{engine}]")
    for page in PAGES
    for case in page.cases
    for engine in case.expect.get("engines", ENGINES).split()
]


def said(case: Case, sql: str, engine: Engine) -> str | None:
    """What the page's checker says of a query."""
    looked = base.Case(
        sql=sql,
        outcome=engine.execute(sql, limits=Limits()),
        catalog=engine.catalog(),
        engine=engine,
        limits=Limits(),
        question=case.expect.get("question", ""),
        values=case.expect.get("values") != "no",
    )
    return BY_NAME[case.checker].check(looked)


@pytest.mark.parametrize(("case", "name"), CASES)
def test_the_page_says_when_a_checker_fires(case: Case, name: str, open_database: Open) -> None:
    directive = said(case, case.query, open_database(name, case.schema))
    if "silent" in case.expect:
        assert directive is None
    else:
        assert directive is not None
        assert case.expect["fires"] in directive
        assert "\n" not in directive


@pytest.mark.parametrize(("case", "name"), [c for c in CASES if c.values[0].mended])  # type: ignore[union-attr]
def test_what_is_mended_runs_and_leaves_nothing_to_say(
    case: Case, name: str, open_database: Open
) -> None:
    engine = open_database(name, case.schema)
    assert case.mended is not None
    assert isinstance(engine.execute(case.mended, limits=Limits()), Rows)
    assert said(case, case.mended, engine) is None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.checker)
def test_a_page_has_an_introduction_and_both_kinds_of_cases(page: Page) -> None:
    assert len(page.introduction) > 100
    assert any("fires" in case.expect and case.mended for case in page.cases)
    assert any(case.heading.startswith("silent when") for case in page.cases)
    for case in page.cases:
        assert ("silent" in case.expect) == case.heading.startswith("silent when")
        assert ("silent" in case.expect) != ("fires" in case.expect)


def test_every_checker_has_a_page_and_every_page_a_checker() -> None:
    assert sorted(BY_NAME) == [page.checker for page in PAGES]
