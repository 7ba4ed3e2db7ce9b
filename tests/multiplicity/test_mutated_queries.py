"""Whatever text comes, reading and analysing it raises nothing: gold queries are mutated at random.

Words are dropped, doubled, swapped, replaced; the text is cut or spliced; parts of the tree change
places with those of another query. What becomes of it need not be SQL. The corpora lie beside the
checkout (../shared); without them those of the inference tests are mutated alone.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import pytest
from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from modularsql.catalog import Catalog
from modularsql.declared.read import read_keys
from modularsql.guard.absent import absent
from modularsql.guard.grain import static
from modularsql.multiplicity.measure import entity_rows
from modularsql.multiplicity.rewrites import REWRITES, rewritten
from modularsql.sql.parse import Unparsed, parse_text, tokenize
from modularsql.sql.statement import Statement, read_statement

from .inference_cases import DUCKDB_KEYS, KEYS, REPEATED, cases
from .test_inference import CATALOGS

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
WORDS = (
    "SELECT FROM WHERE JOIN LEFT RIGHT FULL OUTER CROSS NATURAL ON USING GROUP BY HAVING ORDER "
    "LIMIT DISTINCT UNION ALL INTERSECT EXCEPT WITH RECURSIVE AS IN EXISTS NOT NULL IS CASE WHEN "
    "THEN ELSE END OVER PARTITION ROW_NUMBER() COUNT(*) SUM MAX LATERAL QUALIFY ROLLUP VALUES ( ) "
    "() , . .* * ; = < || :: -> ? :x $1 @x # -- /* */ ' \" ` [ ] 1 0 1e999 'a' \"b\" x t1 é %"
).split(" ")


@dataclass(frozen=True, slots=True)
class Gold:
    """A query that somebody wrote, its dialect, and what is known of its tables."""

    sql: str
    dialect: str
    catalog: Callable[[], Catalog]


@cache
def corpus(name: str) -> list[Gold]:
    """The queries of one corpus; none where it is not there."""
    if name in ("sqlite", "duckdb"):
        texts = KEYS + REPEATED if name == "sqlite" else DUCKDB_KEYS
        known = CATALOGS[name]
        return [Gold(sql, name, lambda: known) for sql, _ in cases(texts, "=>")]
    if not SHARED.is_dir():
        return []
    if name == "spider":
        lines = (SHARED / "spider/train_gold.sql").read_text(encoding="utf-8").splitlines()
        pairs = [line.rpartition("\t")[::2] for line in lines if line.strip()]
        return [gold(sql, "sqlite", "spider/tables.json", db) for sql, db in pairs]
    file = "bird/dev.json" if name == "bird" else f"bird/minidev/mini_dev_{name}.json"
    dialect = {"bird": "sqlite", "postgresql": "postgres"}.get(name, name)
    items = json.loads((SHARED / file).read_text(encoding="utf-8"))
    return [gold(i["SQL"], dialect, "bird/dev_tables.json", i["db_id"]) for i in items]


def gold(sql: str, dialect: str, schemas: str, database: str) -> Gold:
    return Gold(sql, dialect, lambda: replace(schema(schemas, database), dialect=dialect))


@cache
def schema(schemas: str, database: str) -> Catalog:
    return read_keys(SHARED / schemas, database).catalog


def mutated(random: Random, queries: list[Gold], one: Gold) -> str:
    """A query with one to four changes."""
    text = one.sql
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        change = random.choice([in_words, in_text, in_tree, in_tree])
        text = change(random, text, random.choice(queries))
    return text


def in_words(random: Random, text: str, other: Gold) -> str:
    """Some word dropped, doubled, replaced, or swapped with another."""
    tokens = tokenize(text, other.dialect)
    if isinstance(tokens, Unparsed) or not tokens:
        return text
    places = [(token.start, token.end + 1) for token in tokens]
    (a, b), (c, d) = sorted([random.choice(places), random.choice(places)])
    return random.choice(
        [
            text[:a] + text[b:],
            text[:b] + " " + text[a:],
            f"{text[:a]} {random.choice(WORDS)} {text[b:]}",
            f"{text[:b]} {random.choice(WORDS)} {text[b:]}",
            text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:] if b <= c else text,
        ]
    )


def in_text(random: Random, text: str, other: Gold) -> str:
    """The text cut, spliced with another query, or put into one."""
    at, to = random.randrange(len(text) + 1), random.randrange(len(other.sql) + 1)
    return random.choice(
        [
            text[:at],
            text[at:],
            text[:at] + other.sql[to:],
            f"{text[:at]}({other.sql}){text[at:]}",
            f"{text} {random.choice(['UNION', 'EXCEPT', 'JOIN', ','])} {other.sql}",
            f"WITH t1 AS ({other.sql}) {text}",
        ]
    )


def in_tree(random: Random, text: str, other: Gold) -> str:
    """A part of the tree replaced by a part of another query's, or taken out."""
    mine, theirs = parse_text(text, other.dialect), parse_text(other.sql, other.dialect)
    if isinstance(mine, Unparsed) or isinstance(theirs, Unparsed):
        return text
    node = random.choice([part for part in mine.walk() if part.parent] or [mine])
    alike = [part for part in theirs.walk() if isinstance(part, type(node))]
    new = random.choice(alike or list(theirs.walk())).copy()
    try:
        node.replace(None if random.random() < 0.2 else new)
        written: str = Dialect.get_or_raise(other.dialect).generator().generate(mine)
    except (SqlglotError, AttributeError, TypeError, KeyError, ValueError, RecursionError):
        return text  # what sqlglot cannot write
    return written


def look(text: str, dialect: str, catalog: Catalog) -> bool:
    """Everything that is done without a database; whether there was a query to analyse."""
    statement = read_statement(text, dialect, 100_000)
    if not isinstance(statement, Statement):
        return False
    seen = static(statement, catalog)
    if seen.query is None:
        return False
    assert isinstance(seen.query.node, exp.Expr)
    absent(seen.query, statement, catalog)
    for one in seen.issues:
        if one.issue.entity and one.issue.multipliers:
            entity_rows(one.issue, seen.query, dialect)
        if one.issue.probe is not None:
            one.issue.probe()
        for rewrite in REWRITES:
            if rewrite.__name__ in one.issue.rewrites:
                rewritten(rewrite, statement, one.issue, dialect)
    return True


def run(name: str, seeds: range) -> None:
    queries = corpus(name)
    if not queries:
        pytest.skip("no corpus beside the checkout")
    analysed = 0
    for seed in seeds:
        random = Random(seed)
        one = random.choice(queries)
        text = mutated(random, queries, one)
        try:
            analysed += look(text, one.dialect, one.catalog())
        except Exception as error:
            error.add_note(f"{name}, seed {seed}: {text!r}")
            raise
    assert analysed > 0.25 * len(seeds)


NAMES = ["sqlite", "duckdb", "spider", "bird", "mysql", "postgresql"]


@pytest.mark.parametrize("name", NAMES)
def test_mutated_queries_raise_nothing(name: str) -> None:
    run(name, range(100))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", NAMES)
def test_many_mutated_queries_raise_nothing(name: str) -> None:
    run(name, range(1000, 6000))


@pytest.mark.parametrize("name", NAMES[2:])
def test_gold_itself_raises_nothing(name: str) -> None:
    queries = corpus(name)
    if not queries:
        pytest.skip("no corpus beside the checkout")
    some = Random(0).sample(queries, 100)
    assert sum(look(one.sql, one.dialect, one.catalog()) for one in some) > 95
