"""Runs random queries over random data and looks for counterexamples to what is inferred of them.

    python -m tests.multiplicity.soundness --engine sqlite --seeds 0 6000

One seed is one schema, sets of data for it, and twenty queries; a case is one of them on one set.
It prints the counts, and every violation with its seed; a range that was stopped can go on from
the seed it names last.
"""

import argparse
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import duckdb

from modularsql.catalog import Catalog
from modularsql.engines import duckdb_catalog, sqlite_catalog
from modularsql.multiplicity.infer import infer
from modularsql.sql.parse import Unparsed, parse_text

from .claims import Claim, Claimed, claimed
from .random_queries import Queries
from .random_schemas import (
    Part,
    RandomSchema,
    duckdb_database,
    random_schema,
    sqlite_database,
)

QUERIES = 20
"""How many queries a seed draws."""

COPIES = {"sqlite": 4, "duckdb": 1}
"""How many sets of data a query is tested on. In SQLite to read it costs more than to run it."""

Connection = sqlite3.Connection | duckdb.DuckDBPyConnection
ENGINE_ERRORS = (sqlite3.Error, duckdb.Error)


class WrongClaimError(AssertionError):
    """A claim with a counterexample in the data."""


def check_seed(seed: int, dialect: str, seen: Counter[str], deep: bool = False) -> None:
    """Draw a schema, data and queries; test every claim; count what was done."""
    random = Random(seed)
    schema = random_schema(random, dialect)
    make = sqlite_database if dialect == "sqlite" else duckdb_database
    databases: list[Connection] = [make(random, schema) for _ in range(COPIES[dialect])]
    schema = with_views(schema, databases, random)
    catalog = catalog_of(databases[0])
    try:
        for _ in range(QUERIES):
            check_query(Queries(random, schema, deep=deep).whole(), databases, catalog, seen)
    except WrongClaimError as wrong:
        wrong.add_note(f"seed {seed}, {dialect}{', deep' if deep else ''}")
        raise
    finally:
        for database in databases:
            database.close()


def with_views(
    schema: RandomSchema, databases: Sequence[Connection], random: Random
) -> RandomSchema:
    """The schema with a view or two of random queries, made in each database."""
    for number in range(random.choice([0, 1, 2])):
        name = f"v{number}"
        query = Queries(random, schema, deep=False).query(1).sql
        try:
            for database in databases:
                database.execute(f"CREATE VIEW {name} AS {query}")
                database.execute(f"SELECT * FROM {name}").fetchall()
        except ENGINE_ERRORS:
            continue
        made = catalog_of(databases[0]).table(name)
        if made is not None and made.columns:
            view = Part(name, tuple(column.name for column in made.columns))
            schema = replace(schema, views=(*schema.views, view))
    return schema


def catalog_of(database: Connection) -> Catalog:
    """The catalog as the engines read it."""
    if isinstance(database, sqlite3.Connection):
        return sqlite_catalog.read_catalog(database)
    return duckdb_catalog.read_catalog(database)


def check_query(
    sql: str, databases: Sequence[Connection], catalog: Catalog, seen: Counter[str]
) -> None:
    """Test all claims of one query; count it, and what was claimed."""
    try:
        for database in databases:
            database.execute(sql).fetchall()
    except ENGINE_ERRORS:
        seen["failed"] += 1
        return
    tree = parse_text(sql, catalog.dialect)
    if isinstance(tree, Unparsed):
        seen["failed"] += 1
        return
    query = infer(tree, catalog)
    assert query is not None, sql
    kinds = set()
    for one in claimed(query, sql, catalog.dialect):
        for database in databases:
            wrong = counterexample(one, database, seen)
            if wrong is not None:
                raise WrongClaimError(f"{wrong.kind}: {wrong.words}\n of {one.rows}\n in {sql}")
        seen["correlated relations"] += one.rows.around is not None
        seen.update(f"{claim.kind} claims" for claim in one.claims)
        kinds |= {claim.kind for claim in one.claims if claim.bold}
    seen["queries"] += 1
    seen["cases"] += len(databases)
    seen.update(f"with {kind}" for kind in kinds)


def counterexample(one: Claimed, database: Connection, seen: Counter[str]) -> Claim | None:
    """The first claim about a relation that the data refutes; one query asks for all."""
    names = ", ".join(f"c{i}" for i in range(one.width))
    cases = "".join(f" WHEN EXISTS ({c.test}) THEN {n}" for n, c in enumerate(one.claims, 1))
    found = f"SELECT CASE{cases} ELSE 0 END"
    # Materialized: SQLite 3.40 pushes conditions into outer joins below, and errs.
    question = f"WITH q({names}) AS MATERIALIZED ({one.rows.sql}) {found}"
    try:
        if one.rows.around is not None:
            question = one.rows.around.format(question)
        elif one.stored:
            database.execute("DROP TABLE IF EXISTS temp.q")
            database.execute(f"CREATE TEMP TABLE q ({names})")
            database.execute(f"INSERT INTO temp.q {one.rows.sql}")
            question = found
        (at,) = database.execute(question).fetchall()[0]
    except ENGINE_ERRORS:
        seen["not checked"] += 1  # names in a nested join, for one, are not seen outside it
        return None
    seen["relations"] += 1
    return one.claims[at - 1] if at else None


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=["sqlite", "duckdb"], default="sqlite")
    parser.add_argument("--deep", action="store_true", help="queries in queries in queries")
    parser.add_argument("--seeds", nargs=2, type=int, default=[0, 600], metavar=("FROM", "TO"))
    options = parser.parse_args()
    first, last = options.seeds
    seen: Counter[str] = Counter()
    say = sys.stdout.write
    for seed in range(first, last):
        try:
            check_seed(seed, options.engine, seen, options.deep)
        except WrongClaimError as wrong:
            seen["VIOLATIONS"] += 1
            say(f"seed {seed}: {wrong}\n")
        if (seed + 1 - first) % 100 == 0 or seed + 1 == last:
            say(
                f"{options.engine}, seeds {first} to {seed}: {seen['cases']:,} cases, "
                f"{seen['VIOLATIONS']} violations, {time.process_time():,.0f} s of CPU\n"
            )
            sys.stdout.flush()
    for name, count in sorted(seen.items()):
        say(f"{count:>10,}  {name}\n")


if __name__ == "__main__":
    main()
