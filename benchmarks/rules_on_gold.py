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
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.corpus import BIRD, SPIDER, bird_superhero, pairs, require, spider_dev
from benchmarks.corpus import spider_systems as systems
from modularsql import Settings, connect
from modularsql.catalog import Catalog
from modularsql.evaluation.datasets import database_file
from modularsql.multiplicity.infer import infer
from modularsql.multiplicity.registry import Analysis, Issue, issues
from modularsql.ports import Engine
from modularsql.records import Severity
from modularsql.rows import Row, Rows
from modularsql.sql.parse import Unparsed, parse_text

SETTINGS = Settings(timeout=5.0)
ERRORS = {
    "cartesian": "The gold is wrong: a join without a condition, or with one that compares a "
    "column with itself, so that every row of one table meets every row of the other.",
    "chasm": "The gold is wrong, as a number: two children of one parent multiply each other in a "
    "sum. A citation is counted once for each author of the university; a budget once for each "
    "endowment.",
    "fan_out_sum": "A parent's amount is added once for each child. That is wrong for hours of a "
    "project with two scientists and for a claim with two documents; credits once for each class "
    "that is taught may be what was asked for. The schema alone cannot tell.",
}
"""What reading each query with an error showed, by rule."""

Queries = Iterable[tuple[Path, str]]
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
        self.queries = self.with_errors = 0
        self.errors: dict[str, list[str]] = {}  # a query with its database: the rules
        self.found: Counter[tuple[str, Severity]] = Counter()
        self.parsing: list[float] = []
        self.analysing: list[float] = []

    def add(self, path: Path, sql: str) -> list[Issue]:
        """Analyse one query."""
        known = catalog(path)
        start = time.process_time()
        tree = parse_text(sql, known.dialect)
        parsed = time.process_time()
        if isinstance(tree, Unparsed):
            return []
        query = infer(tree, known)
        found = issues(Analysis(query=query, catalog=known)) if query is not None else []
        self.parsing.append(parsed - start)
        self.analysing.append(time.process_time() - parsed)
        self.queries += 1
        wrong = sorted({issue.rule for issue in found if issue.severity == Severity.ERROR})
        if wrong:
            self.errors[f"{path.stem}: `{' '.join(sql.split())}`"] = wrong
            self.with_errors += 1
        self.found.update({(issue.rule, issue.severity) for issue in found})
        return found


def report(title: str, queries: Queries) -> None:
    """One table: how many queries each rule speaks of, by severity."""
    tally = Tally()
    for path, sql in queries:
        tally.add(path, sql)
    share = 100 / max(tally.queries, 1)
    print(
        f"\n## {title}: {tally.queries} queries, {tally.with_errors * share:.2f} % with an error\n"
    )
    print("| rule | error | warning | info | % of queries |\n|---|---|---|---|---|")
    for rule in sorted({rule for rule, _ in tally.found}):
        counts = [tally.found[rule, severity] for severity in Severity]
        print(f"| {rule} | {' | '.join(map(str, counts))} | {sum(counts) * share:.2f} |")
    for rule in sorted({rule for rules in tally.errors.values() for rule in rules}):
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
        for path, sql in dict.fromkeys(queries()):
            found += [(path, sql, i) for i in tally.add(path, sql) if i.rule == rule]
        print(f"\n## {title}: {len(found)}\n")
        for path, sql, issue in found[:: max(1, len(found) // most)][:most]:
            print(f"{path.stem} [{issue.severity}] {sql}\n  {issue.message}\n")


CORPORA = (
    ("Spider train gold", spider_train),
    ("BIRD superhero gold", superhero),
    ("Spider dev, predictions equal to gold", good_predictions),
)


def main() -> None:
    """All corpora, or the examples of one rule."""
    require()
    if len(sys.argv) > 1:
        show(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
        return
    print("# What the static rules say of queries that are right\n")
    print(
        "Written by `python -m benchmarks.rules_on_gold`; catalogs as the databases declare them."
    )
    for title, queries in CORPORA:
        report(title, queries())


if __name__ == "__main__":
    main()
