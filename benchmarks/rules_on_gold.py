"""What the static rules say of queries that are right, printed as Markdown.

    python -m benchmarks.rules_on_gold            counts by rule and severity, the queries with an
                                                  error, and the time (docs/rules-on-gold.md)
    python -m benchmarks.rules_on_gold RULE [N]   N of the queries that RULE finds

Gold is what people wrote and checked, and a good prediction returns the same rows as gold, copies
counted; so most of what is found here is a false alarm, or true of the query but not of this data.
"""

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.corpus import BIRD, SPIDER, bird_superhero, pairs, require, spider_dev
from benchmarks.corpus import spider_systems as systems
from modularsql import Settings, connect
from modularsql.catalog import Catalog
from modularsql.declared.read import read_keys
from modularsql.evaluation.datasets import database_file, read_dataset
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.registry import Analysis, Issue, issues
from modularsql.ports import Engine
from modularsql.records import Severity
from modularsql.rows import Row, Rows
from modularsql.sql.parse import Unparsed, parse_text

SETTINGS = Settings(timeout=5.0)
ERRORS = {
    "cartesian": (
        "The gold is wrong: a join without a condition, or with one that compares a column with "
        "itself, so that every row of one table meets every row of the other."
    ),
    "chasm": (
        "The gold is wrong, as a number: two children of one parent multiply each other. A "
        "citation is counted once for each author of the university, a budget once for each "
        "endowment, a patient once for each pair of an examination and a laboratory value, an "
        "atom once for each bond. An account with its loan and its transactions is right while it "
        "has one loan only, which no key says."
    ),
    "count_of_case_else": ("The gold is wrong: ELSE 0 is counted too, so it counts all rows."),
    "fan_out_sum": (
        "A parent's amount is added once for each child. That is wrong for hours of a project "
        "with two scientists, for a claim with two documents, for the views of a post once for "
        "each entry of its history and for a price once for each month; credits once for each "
        "class that is taught may be what was asked for. The schema alone cannot tell."
    ),
    "two_grains_in_one_select": (
        "The gold is wrong: posts times votes, divided by the votes (case G04 of the public "
        "reports)."
    ),
}
"""What reading each query with an error showed, by rule."""

Queries = Iterable[tuple[str, Catalog, str]]
_ENGINES: dict[Path, Engine] = {}
_CATALOGS: dict[Path, Catalog] = {}
_ROWS: dict[tuple[Path, str], Counter[Row] | None] = {}


def engine(path: Path) -> Engine:
    """The engine of a database file, opened once."""
    if path not in _ENGINES:
        _ENGINES[path] = connect(path, SETTINGS)
    return _ENGINES[path]


def catalog(path: Path) -> Catalog:
    """The catalog of a database file, read once."""
    if path not in _CATALOGS:
        _CATALOGS[path] = engine(path).catalog()
    return _CATALOGS[path]


def rows(path: Path, sql: str) -> Counter[Row] | None:
    """The rows of a query as a multiset, None where it does not run."""
    key = (path, sql)
    if key not in _ROWS:
        outcome = engine(path).execute(sql, limits=SETTINGS.limits())
        _ROWS[key] = Counter(outcome.rows) if isinstance(outcome, Rows) else None
    return _ROWS[key]


def spider_train() -> Iterator[tuple[Path, str]]:
    """Spider's training gold, where there is a database."""
    for line in (SPIDER / "train_gold.sql").read_text(encoding="utf-8").splitlines():
        sql, _, db = line.partition("\t")
        path = database_file(SPIDER / "database", db.strip())
        if path is not None:
            yield path, sql


def superhero() -> Iterator[tuple[Path, str]]:
    """BIRD's gold over the one database of it that is there."""
    dataset, _ = bird_superhero()
    for question in dataset.questions:
        path = database_file(BIRD / "databases", question.db)
        if path is not None and question.gold:
            yield path, question.gold


def good_predictions() -> Iterator[tuple[Path, str]]:
    """Predictions on Spider dev that return gold's rows, copies counted."""
    dataset = spider_dev()
    for system in systems():
        for _, path, gold, sql in pairs(dataset, system, SPIDER / "database"):
            expected = rows(path, gold)
            if expected is not None and rows(path, sql) == expected:
                yield path, sql


class Tally:
    """Counts of queries, of queries with findings, and of time."""

    def __init__(self) -> None:
        self.queries = self.unparsed = self.with_errors = 0
        self.errors: dict[str, list[str]] = {}  # a query with its database: the rules
        self.found: Counter[tuple[str, Severity]] = Counter()
        self.parsing: list[float] = []
        self.analysing: list[float] = []

    def add(self, name: str, known: Catalog, sql: str) -> list[Issue]:
        """Analyse one query."""
        self.queries += 1
        start = time.process_time()
        tree = parse_text(sql, known.dialect)
        parsed = time.process_time()
        if isinstance(tree, Unparsed):
            self.unparsed += 1
            return []
        query = infer(tree, known)
        found = issues(Analysis(query=query, catalog=known)) if query is not None else []
        self.parsing.append(parsed - start)
        self.analysing.append(time.process_time() - parsed)
        wrong = sorted({issue.rule for issue in found if issue.severity == Severity.ERROR})
        if wrong:
            self.errors[f"{name}: `{' '.join(sql.split())}`"] = wrong
            self.with_errors += 1
        self.found.update({(issue.rule, issue.severity) for issue in found})
        return found


def report(title: str, queries: Queries, listed: bool) -> None:
    """One table: how many queries each rule speaks of, by severity; then those with an error."""
    tally = Tally()
    for one in queries:
        tally.add(*one)
    share = 100 / max(tally.queries, 1)
    print(
        f"\n## {title}: {tally.queries} queries, {tally.with_errors * share:.2f} % with an error, "
        f"{tally.unparsed} not parsed\n"
    )
    print("| rule | error | warning | info | % of queries |\n|---|---|---|---|---|")
    for rule in sorted({rule for rule, _ in tally.found}):
        counts = [tally.found[rule, severity] for severity in Severity]
        print(f"| {rule} | {' | '.join(map(str, counts))} | {sum(counts) * share:.2f} |")
    wrong = {rule for rules in tally.errors.values() for rule in rules} if listed else set()
    for rule in sorted(wrong):
        queries_of_it = [text for text, rules in tally.errors.items() if rule in rules]
        print(f"\nErrors of {rule}, each query once. {ERRORS.get(rule, '')}\n")
        print("\n".join(f"- {text}" for text in queries_of_it))
    ratios = [a / p for p, a in zip(tally.parsing, tally.analysing, strict=True)]
    late = statistics.quantiles(tally.analysing, n=100)[98] * 1000
    middle = statistics.median(tally.analysing) * 1000
    print(
        f"\nAnalysis (facts and all rules) takes {middle:.2f} ms of CPU time at the median, "
        f"{statistics.median(ratios):.2f} times the parser's, and {late:.2f} ms at the 99th "
        "percentile."
    )


def show(rule: str, most: int) -> None:
    """Queries that one rule finds, evenly drawn, with what it says of them."""
    for title, queries in CORPORA:
        tally, found = Tally(), []
        for name, known, sql in queries():
            found += [(name, sql, i) for i in tally.add(name, known, sql) if i.rule == rule]
        print(f"\n## {title}: {len(found)}\n")
        for name, sql, issue in found[:: max(1, len(found) // most)][:most]:
            print(f"{name} [{issue.severity}] {sql}\n  {issue.message}\n")


def with_catalog(queries: Iterable[tuple[Path, str]]) -> Queries:
    """The queries with the catalogs that their databases declare."""
    return ((path.stem, catalog(path), sql) for path, sql in queries)


def bird_gold(file: str, dialect: str) -> Queries:
    """BIRD's gold on databases that are not here: keys as `dev_tables.json` asserts them."""
    keys: dict[str, Catalog] = {}
    for question in read_dataset(str(BIRD / file)).questions:
        if question.db not in keys:
            said = read_keys(BIRD / "dev_tables.json", question.db).catalog
            keys[question.db] = replace(said, dialect=dialect)
        if question.gold:
            yield question.db, keys[question.db], question.gold


CORPORA: tuple[tuple[str, Callable[[], Queries]], ...] = (
    ("Spider train gold", lambda: with_catalog(spider_train())),
    ("BIRD superhero gold", lambda: with_catalog(superhero())),
    ("Spider dev, predictions equal to gold", lambda: with_catalog(good_predictions())),
    ("BIRD dev gold", lambda: bird_gold("dev.json", "sqlite")),
    ("Mini-dev gold, SQLite", lambda: bird_gold("minidev/mini_dev_sqlite.json", "sqlite")),
    ("Mini-dev gold, MySQL", lambda: bird_gold("minidev/mini_dev_mysql.json", "mysql")),
    (
        "Mini-dev gold, PostgreSQL",
        lambda: bird_gold("minidev/mini_dev_postgresql.json", "postgres"),
    ),
)


def main() -> None:
    """All corpora, or the examples of one rule."""
    require()
    if len(sys.argv) > 1:
        show(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
        return
    print("# What the static rules say of queries that are right\n")
    print(
        "Written by `python -m benchmarks.rules_on_gold`; catalogs as the databases declare them; "
        "for\nBIRD dev and mini-dev, a part of it in three dialects, as `dev_tables.json` asserts "
        "them,\nsince only one of their databases is here."
    )
    for title, queries in CORPORA:
        report(title, queries(), "Mini-dev" not in title)


if __name__ == "__main__":
    main()
